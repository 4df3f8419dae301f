//! ResourceQuotas and LimitRanges.

use std::collections::BTreeSet;

use serde_json::Value;

use super::causes::{Causes, quoted};
use super::defaults::{has, items, object_in, text};
use super::quantity;
use super::spot::Spot;

/// Resources of quotas that have no domain.
const STANDARD: [&str; 18] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
];

const SCOPES: [&str; 6] = [
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "PriorityClass",
    "Terminating",
];

/// What is wrong with a ResourceQuota.
pub(super) fn check_quota(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let hard = spec.field("hard");
    for (name, quantity) in hard.entries() {
        let known = name.contains('/')
            || STANDARD.contains(&name)
            || name == "services.loadbalancers"
            || name.starts_with("hugepages-")
            || name.starts_with("requests.hugepages-");
        if !known {
            causes.invalid_as(
                &quantity,
                &quoted(name),
                "must be a standard resource type or fully qualified",
            );
            causes.invalid_as(
                &quantity,
                &quoted(name),
                "must be a standard resource for quota",
            );
        }
        super::pod::check_quantity(causes, &quantity);
        let counted = STANDARD.iter().skip(10).any(|counted| *counted == name);
        if counted && !quantity::is_whole(quantity.value) {
            causes.invalid(&quantity, "must be an integer");
        }
    }
    let scopes = spec.field("scopes");
    check_scopes(
        causes,
        &scopes,
        scopes.items().map(|scope| scope.text()),
        &hard,
    );
    let selector = spec.field("scopeSelector");
    let expressions = selector.field("matchExpressions");
    let names = selector
        .value
        .get("matchExpressions")
        .and_then(Value::as_array);
    let names = names
        .into_iter()
        .flatten()
        .map(|expression| text(expression, "scopeName"));
    // The API server shows the whole selector, whichever scope of it is meant.
    check_scopes(
        causes,
        &selector.named("matchExpressions", selector.value),
        names,
        &hard,
    );
    for expression in expressions.items() {
        let values = expression.field("values");
        if matches!(expression.field("operator").text(), "In" | "NotIn") && values.len() == 0 {
            let said = expressions.named("values", values.value);
            causes.required(
                &said,
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            );
        }
    }
}

/// Says where scopes exclude each other, or do not limit what is counted.
fn check_scopes<'a>(
    causes: &mut Causes,
    spot: &Spot<'_>,
    scopes: impl Iterator<Item = &'a str>,
    hard: &Spot<'_>,
) {
    let scopes: BTreeSet<&str> = scopes.collect();
    for scope in &scopes {
        if !SCOPES.contains(scope) {
            causes.invalid(spot, "unsupported scope");
        }
        for (resource, _) in hard.entries() {
            if !limits(scope, resource) {
                causes.invalid(spot, "unsupported scope applied to resource");
            }
        }
    }
    for pair in [
        ["BestEffort", "NotBestEffort"],
        ["Terminating", "NotTerminating"],
    ] {
        if pair.iter().all(|scope| scopes.contains(scope)) {
            causes.invalid(spot, "conflicting scopes");
        }
    }
}

/// Whether a scope says which of a resource's users are counted.
fn limits(scope: &str, resource: &str) -> bool {
    let of_pods = resource == "pods"
        || [
            "cpu",
            "memory",
            "requests.cpu",
            "requests.memory",
            "limits.cpu",
            "limits.memory",
        ]
        .contains(&resource);
    match scope {
        "BestEffort" => resource == "pods",
        "NotBestEffort"
        | "Terminating"
        | "NotTerminating"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => {
            of_pods || resource.contains('/') && !resource.starts_with("count/")
        }
        _ => true,
    }
}

/// What may not change of a ResourceQuota.
pub(super) fn check_quota_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    let before = old.pointer("/spec/scopes").unwrap_or(&Value::Null);
    causes.unchanged(&spec.field("scopes"), before);
}

/// Fills in what a LimitRange's other limits imply for containers.
pub(super) fn default_limits(object: &mut Value) {
    for limit in items(object, "/spec/limits") {
        if text(limit, "type") != "Container" {
            continue;
        }
        for (to, from) in [
            ("default", "max"),
            ("defaultRequest", "default"),
            ("defaultRequest", "min"),
        ] {
            imply(limit, to, from);
        }
    }
}

fn imply(limit: &mut Value, to: &str, from: &str) {
    let Some(from) = limit.get(from).and_then(Value::as_object).cloned() else {
        return;
    };
    if from.is_empty() && !has(limit, to) {
        return;
    }
    let Some(fields) = limit.as_object_mut() else {
        return;
    };
    if let Some(to) = object_in(fields, to).as_object_mut() {
        for (name, quantity) in from {
            to.entry(name).or_insert(quantity);
        }
    }
}

/// What is wrong with a LimitRange.
pub(super) fn check_limits(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let limits = spec.field("limits");
    let mut kinds = BTreeSet::new();
    for limit in limits.items() {
        let kind = limit.field("type");
        let known = matches!(kind.text(), "Container" | "Pod" | "PersistentVolumeClaim");
        if !known && !kind.text().contains('/') {
            causes.invalid_as(
                &kind,
                &quoted(kind.text()),
                "must be a standard limit type or fully qualified",
            );
        }
        if !kinds.insert(kind.text().to_owned()) {
            causes.duplicate(&kind);
        }
        if kind.text() == "Pod" {
            for field in ["default", "defaultRequest"] {
                let field = limit.field(field);
                if field.len() > 0 {
                    causes.forbidden(&field, "may not be specified when `type` is 'Pod'");
                }
            }
        }
        if kind.text() == "PersistentVolumeClaim" {
            let (least, most) = (limit.field("min"), limit.field("max"));
            if least.key("storage").absent() && most.key("storage").absent() {
                let said = limit.field("limits");
                causes.required(
                    &said,
                    "either minimum or maximum storage value is required, but neither was provided",
                );
            }
        }
        check_order(causes, &limit);
    }
}

/// Pairs of limits of which the first must not be greater, and the words for when it is: which of both is wrong, and its
/// name and the other's.
const ORDER: [(&str, &str, &str, &str, &str); 5] = [
    ("min", "max", "min", "min", "max"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "min",
        "default request",
    ),
    ("min", "default", "default", "min", "default"),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "default request",
        "default limit",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "default request",
        "max",
    ),
];

fn check_order(causes: &mut Causes, limit: &Spot<'_>) {
    for (fewer, more, wrong, name, other) in ORDER {
        compare(causes, limit, [fewer, more, wrong, name, other]);
    }
    compare(
        causes,
        limit,
        ["default", "max", "default", "default", "max"],
    );
    let ratios = limit.field("maxLimitRequestRatio");
    for (_, ratio) in ratios.entries() {
        let size = quantity::billionths(ratio.value);
        if size.is_some_and(|size| size < 1_000_000_000) {
            causes.invalid(&ratio, &format!("ratio {} is less than 1", ratio.text()));
        }
    }
}

fn compare(causes: &mut Causes, limit: &Spot<'_>, [fewer, more, wrong, name, other]: [&str; 5]) {
    let (low, high) = (limit.field(fewer), limit.field(more));
    let wrong = limit.field(wrong);
    for (resource, least) in low.entries() {
        let most = high.key(resource);
        let sizes = (
            quantity::billionths(least.value),
            quantity::billionths(most.value),
        );
        if let (Some(a), Some(b)) = sizes
            && a > b
        {
            let why = format!(
                "{name} value {} is greater than {other} value {}",
                least.text(),
                most.text()
            );
            causes.invalid(&wrong.key(resource), &why);
        }
    }
}
