//! Pods and their templates.

use std::collections::BTreeMap;

use super::container::{self, Kind};
use super::finding::Finding;
use super::read::{each, empty_list, entries, field, integer, is_true, items, text};
use super::rules::{Rule, apply, distinct};
use super::syntax::{address, label, label_value, qualified, subdomain, sysctl};
use super::{affinity, selector, volumes};
use crate::load::Node;

const RULES: &[(&str, Rule)] = &[
    (
        "restartPolicy",
        Rule::OneOf(&["Always", "OnFailure", "Never"]),
    ),
    (
        "dnsPolicy",
        Rule::OneOf(&["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]),
    ),
    (
        "preemptionPolicy",
        Rule::OneOf(&["PreemptLowerPriority", "Never"]),
    ),
    ("activeDeadlineSeconds", Rule::Between(1, i32::MAX as i64)),
    ("hostname", Rule::Text(label)),
    ("subdomain", Rule::Text(label)),
    ("serviceAccountName", Rule::Text(subdomain)),
    ("nodeName", Rule::Text(subdomain)),
    ("priorityClassName", Rule::Text(subdomain)),
    ("runtimeClassName", Rule::Text(subdomain)),
    ("hostAliases[].ip", Rule::Text(address)),
    ("hostAliases[].hostnames[]", Rule::Text(subdomain)),
    ("tolerations[].key", Rule::Text(qualified)),
    ("tolerations[].value", Rule::Text(label_value)),
    (
        "tolerations[].operator",
        Rule::OneOf(&["Equal", "Exists", "Gt", "Lt"]),
    ),
    (
        "tolerations[].effect",
        Rule::OneOf(&["NoSchedule", "PreferNoSchedule", "NoExecute"]),
    ),
    (
        "topologySpreadConstraints[].maxSkew",
        Rule::Between(1, i32::MAX as i64),
    ),
    ("topologySpreadConstraints[].topologyKey", Rule::Filled),
    (
        "topologySpreadConstraints[].whenUnsatisfiable",
        Rule::OneOf(&["DoNotSchedule", "ScheduleAnyway"]),
    ),
    ("dnsConfig.nameservers[]", Rule::Text(address)),
    ("readinessGates[].conditionType", Rule::Text(qualified)),
    ("securityContext.sysctls[].name", Rule::Text(sysctl)),
    ("securityContext.supplementalGroups[]", Rule::Natural),
    ("securityContext.runAsUser", Rule::Natural),
    ("securityContext.runAsGroup", Rule::Natural),
    ("securityContext.fsGroup", Rule::Natural),
    (
        "securityContext.fsGroupChangePolicy",
        Rule::OneOf(&["Always", "OnRootMismatch"]),
    ),
    (
        "securityContext.seccompProfile.type",
        Rule::OneOf(&["RuntimeDefault", "Unconfined", "Localhost"]),
    ),
];

/// Lists whose items are told apart by these fields.
const DISTINCT: [(&str, &[&str]); 3] = [
    ("imagePullSecrets", &["name"]),
    ("hostAliases", &["ip"]),
    (
        "topologySpreadConstraints",
        &["topologyKey", "whenUnsatisfiable"],
    ),
];

/// Selectors of other pods.
const SELECTORS: [&str; 5] = [
    "topologySpreadConstraints[].labelSelector",
    "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[].labelSelector",
    "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.labelSelector",
    "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].labelSelector",
    "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.labelSelector",
];

/// Checks the spec of a pod. `claims` are the templates of volumes that a StatefulSet makes for each of its pods.
pub(super) fn spec<'n>(pod: &'n Node, claims: &'n [Node], out: &mut Vec<Finding<'n>>) {
    apply(pod, RULES, out);
    for path in SELECTORS {
        each(pod, path, &mut |found| selector::syntax(found, out));
    }
    selector::labels(pod.get("nodeSelector"), out);
    affinity::check(pod, out);
    tolerations(pod, out);
    together(pod, out);
    for (list, keys) in DISTINCT {
        distinct(pod, list, keys, out);
    }
    let unnamed = items(pod, "hostAliases")
        .iter()
        .filter(|alias| field(alias, "ip").is_none());
    out.extend(unnamed.map(|alias| Finding::lacks(alias, "ip")));
    let volumes = volumes::all(pod, claims, out);
    let none = empty_list(pod, "containers");
    out.extend(none.map(|list| Finding::error(list, "must have at least one container")));
    let mut names: BTreeMap<&str, &Node> = BTreeMap::new();
    for (list, kind) in [("containers", Kind::Main), ("initContainers", Kind::Init)] {
        for node in items(pod, list) {
            container::check(node, kind, &volumes, out);
            if let Some(name) = text(node, "name")
                && names.insert(name, node).is_some()
            {
                let at = node.get("name").unwrap_or(node);
                out.push(Finding::error(
                    at,
                    "is the name of another container of the pod",
                ));
            }
        }
    }
    ports(pod, out);
}

/// Ports of the node that two containers want, and those of a pod on the node's own network.
fn ports<'n>(pod: &'n Node, out: &mut Vec<Finding<'n>>) {
    let on_host = is_true(pod, "hostNetwork");
    let mut taken: BTreeMap<(i64, &str, &str), ()> = BTreeMap::new();
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, container) in items(pod, "containers").iter().enumerate() {
        for port in items(container, "ports") {
            let of_host = port.get("hostPort").filter(|port| integer(port) != Some(0));
            let number = of_host.and_then(integer);
            if let (Some(at), Some(number)) = (of_host, number) {
                let protocol = text(port, "protocol").unwrap_or("TCP");
                let host = text(port, "hostIP").unwrap_or_default();
                if taken.insert((number, protocol, host), ()).is_some() {
                    out.push(Finding::error(at, "is taken by another port of the pod"));
                }
                let own = port.get("containerPort").and_then(integer);
                if on_host && own.is_some_and(|own| own != number) {
                    let says = "must be the `containerPort` when the pod has `hostNetwork`";
                    out.push(Finding::error(at, says));
                }
            }
            let Some(name) = text(port, "name") else {
                continue;
            };
            // Within one container the API refuses it.
            if *named.entry(name).or_insert(index) != index {
                let at = port.get("name").unwrap_or(port);
                let says = "is the name of another container's port: a Service that names it has but one of them";
                out.push(Finding::warning(at, says));
            }
        }
    }
}

/// Settings that ask for others, or exclude them.
fn together<'n>(pod: &'n Node, out: &mut Vec<Finding<'n>>) {
    let config = field(pod, "dnsConfig");
    let none = |policy: &&Node| policy.as_str() == Some("None");
    let servers = config.is_some_and(|config| !items(config, "nameservers").is_empty());
    let alone = pod.get("dnsPolicy").filter(none).filter(|_| !servers);
    let says = "needs `dnsConfig` with `nameservers`";
    out.extend(alone.map(|policy| Finding::error(policy, says)));
    let many = config.filter(|config| items(config, "nameservers").len() > 3);
    let many = many.and_then(|config| config.get("nameservers"));
    out.extend(many.map(|list| Finding::error(list, "must have no more than three")));
    if let Some(shared) = pod.get("shareProcessNamespace")
        && is_true(pod, "shareProcessNamespace")
        && is_true(pod, "hostPID")
    {
        out.push(Finding::error(shared, "cannot be `true` beside `hostPID`"));
    }
}

fn tolerations<'n>(pod: &'n Node, out: &mut Vec<Finding<'n>>) {
    for toleration in items(pod, "tolerations") {
        let exists = text(toleration, "operator") == Some("Exists");
        if exists && let Some(value) = toleration.get("value").filter(|v| v.as_str() != Some("")) {
            out.push(Finding::error(
                value,
                "must not be there with the operator `Exists`",
            ));
        }
        if !exists && text(toleration, "key").is_none() {
            out.push(
                Finding::lacks(toleration, "key")
                    .hint("write `operator: Exists` to tolerate everything"),
            );
        }
        let effect = text(toleration, "effect");
        if let Some(seconds) = field(toleration, "tolerationSeconds")
            && effect != Some("NoExecute")
        {
            let says = "has no meaning but with `effect: NoExecute`, and is refused";
            out.push(Finding::error(seconds, says));
        }
    }
}

/// Checks the metadata of a template.
pub(super) fn metadata<'n>(template: &'n Node, out: &mut Vec<Finding<'n>>) {
    if let Some(metadata) = field(template, "metadata") {
        selector::labels(metadata.get("labels"), out);
        annotations(metadata, out);
    }
}

/// The most bytes that the annotations of an object may have, keys and values together.
const ANNOTATIONS: usize = 256 << 10;

/// Checks the keys of annotations, and how much they are.
pub(super) fn annotations<'n>(metadata: &'n Node, out: &mut Vec<Finding<'n>>) {
    let Some(annotations) = field(metadata, "annotations") else {
        return;
    };
    let mut bytes = 0;
    for entry in entries(Some(annotations)) {
        bytes += entry.key.len() + entry.value.as_str().map_or(0, str::len);
        // Unlike labels, the domain may have capitals.
        let must = qualified(&entry.key).and_then(|_| qualified(&entry.key.to_lowercase()));
        out.extend(must.map(|must| Finding::key(entry, must)));
    }
    if bytes > ANNOTATIONS {
        let says = format!(
            "has {} KiB, and may have no more than 256",
            bytes.div_ceil(1024)
        );
        let hint = "keep large values in a ConfigMap";
        out.push(Finding::error(annotations, says).hint(hint));
    }
}
