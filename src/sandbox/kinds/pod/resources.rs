//! What is wrong with requests and limits.

use serde_json::Value;

use crate::kinds::causes::{Causes, quoted};
use crate::kinds::quantity;
use crate::kinds::spot::Spot;
use crate::words;

/// Resources of containers that have no domain.
const STANDARD: [&str; 3] = ["cpu", "ephemeral-storage", "memory"];

/// Other resources without a domain, which containers cannot have.
const ELSEWHERE: [&str; 25] = [
    "storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "replicationcontrollers",
    "services",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
    "events",
    "limitranges",
    "endpoints",
    "nodes",
    "namespaces",
    "serviceaccounts",
    "podtemplates",
    "volumes",
];

/// A quantity's size.
pub(super) fn size(quantity: &Value) -> Option<i128> {
    quantity::billionths(quantity)
}

/// What is wrong with a container's resources.
pub(super) fn check(causes: &mut Causes, resources: &Spot<'_>) {
    let (limits, requests) = (resources.field("limits"), resources.field("requests"));
    let mut basic = false;
    let mut huge = false;
    for (name, limit) in limits.entries() {
        check_entry(causes, &limit, name);
        basic |= matches!(name, "cpu" | "memory");
        huge |= is_huge(name);
    }
    for (name, request) in requests.entries() {
        check_entry(causes, &request, name);
        basic |= matches!(name, "cpu" | "memory");
        huge |= is_huge(name);
        check_request(causes, &requests, &limits, name);
    }
    if huge && !basic {
        causes.forbidden(resources, "HugePages require cpu or memory");
    }
}

fn check_request(causes: &mut Causes, requests: &Spot<'_>, limits: &Spot<'_>, name: &str) {
    let overcommits = !is_huge(name) && !is_extended(name);
    let (request, limit) = (requests.key(name), limits.key(name));
    if limit.absent() {
        if !overcommits {
            causes.required(limits, "Limit must be set for non overcommitable resources");
        }
        return;
    }
    let (Some(wanted), Some(most)) = (size(request.value), size(limit.value)) else {
        return;
    };
    let shown = quoted(request.text());
    if !overcommits && wanted != most {
        causes.invalid_as(requests, &shown, &format!("must be equal to {name} limit"));
    } else if overcommits && wanted > most {
        causes.invalid_as(
            requests,
            &shown,
            &format!("must be less than or equal to {name} limit"),
        );
    }
}

fn check_entry(causes: &mut Causes, quantity: &Spot<'_>, name: &str) {
    check_resource_name(causes, quantity, name);
    check_quantity(causes, quantity);
    let whole = is_extended(name) || is_huge(name);
    if whole && size(quantity.value).is_some() && !quantity::is_whole(quantity.value) {
        causes.invalid(quantity, "must be an integer");
    }
}

fn check_resource_name(causes: &mut Causes, spot: &Spot<'_>, name: &str) {
    causes.text_invalid(spot, name, &words::qualified(name));
    if name.contains('/') || STANDARD.contains(&name) || is_huge(name) {
        return;
    }
    if !ELSEWHERE.contains(&name) {
        causes.invalid_as(
            spot,
            &quoted(name),
            "must be a standard resource type or fully qualified",
        );
    }
    causes.invalid_as(
        spot,
        &quoted(name),
        "must be a standard resource for containers",
    );
}

/// Says that a quantity is below zero.
pub(in super::super) fn check_quantity(causes: &mut Causes, quantity: &Spot<'_>) {
    if size(quantity.value).is_some_and(|size| size < 0) {
        causes.invalid(quantity, "must be greater than or equal to 0");
    }
}

fn is_huge(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// Whether it is a resource of somebody else, of which there is only as much as there is.
fn is_extended(name: &str) -> bool {
    name.split_once('/')
        .is_some_and(|(domain, _)| domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io"))
}

/// What a resource may be divided by, unless it is.
pub(super) fn divisors(resource: &str, divisor: &Value) -> Option<String> {
    let (_, name) = resource.split_once('.')?;
    let allowed: &[&str] = match name {
        "cpu" => &["1m", "1"],
        "memory" | "ephemeral-storage" => &[
            "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
        ],
        _ => return None,
    };
    let size = size(divisor).unwrap_or(0);
    let sizes = allowed
        .iter()
        .map(|text| quantity::billionths(&Value::from(*text)));
    let good = size == 0 || sizes.flatten().any(|allowed| allowed == size);
    let listed = match name {
        "cpu" => "1m and 1".to_owned(),
        _ => allowed.join(", "),
    };
    (!good)
        .then(|| format!("only divisor's values {listed} are supported with the {name} resource"))
}
