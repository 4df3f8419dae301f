//! Namespaces, nodes, priorities and runtimes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::causes::{Causes, quoted, texts_shown};
use super::defaults::{
    Default::{Count, Int, Text},
    Table, add, put, text,
};
use super::labels;
use super::pod;
use super::spot::Spot;
use crate::words;

/// Adds defaults to a PriorityClass.
pub(super) const PRIORITY: &Table = &[("preemptionPolicy", Text("PreemptLowerPriority"))];

/// What a FlowSchema gets.
pub(super) const FLOW: &Table = &[("spec+.matchingPrecedence", Count(1000))];

const LEVEL: &Table = &[("spec.limited.assuredConcurrencyShares", Count(30))];

const QUEUES: &Table = &[
    ("queuing.queues", Count(64)),
    ("queuing.handSize", Count(8)),
    ("queuing.queueLengthLimit", Count(50)),
];

/// What is never absent of a Node's status.
const NODE: &Table = &[
    ("status+.daemonEndpoints+.kubeletEndpoint+.Port", Int(0)),
    ("status.nodeInfo+.architecture", Text("")),
    ("status.nodeInfo.bootID", Text("")),
    ("status.nodeInfo.containerRuntimeVersion", Text("")),
    ("status.nodeInfo.kernelVersion", Text("")),
    ("status.nodeInfo.kubeProxyVersion", Text("")),
    ("status.nodeInfo.kubeletVersion", Text("")),
    ("status.nodeInfo.machineID", Text("")),
    ("status.nodeInfo.operatingSystem", Text("")),
    ("status.nodeInfo.osImage", Text("")),
    ("status.nodeInfo.systemUUID", Text("")),
];

/// Adds defaults to a PriorityLevelConfiguration.
pub(super) fn default_level(level: &mut Value) {
    add(level, LEVEL);
    let response = level.pointer_mut("/spec/limited/limitResponse");
    if let Some(response) = response.filter(|response| text(response, "type") == "Queue") {
        add(response, QUEUES);
    }
}

/// The highest priority that is not the system's.
const HIGHEST: i64 = 1_000_000_000;

/// Adds defaults to a Namespace.
pub(super) fn default_namespace(namespace: &mut Value) {
    add(namespace, &[("status+.phase", Text("Active"))]);
}

/// Lets a new Namespace be active, and end by Kubernetes' own hand.
pub(super) fn create_namespace(namespace: &mut Value) {
    let finalizers = namespace
        .pointer("/spec/finalizers")
        .and_then(Value::as_array);
    let mut finalizers = finalizers.cloned().unwrap_or_default();
    if !finalizers.iter().any(|finalizer| finalizer == "kubernetes") {
        finalizers.push("kubernetes".into());
    }
    put(namespace, "spec", json!({ "finalizers": finalizers }));
    put(namespace, "status", json!({ "phase": "Active" }));
}

/// Keeps the finalizers of a Namespace, which only `/finalize` changes.
pub(super) fn prepare_namespace_update(new: &mut Value, old: &Value) {
    if let (Some(spec), Some(fields)) = (old.get("spec"), new.as_object_mut()) {
        fields.insert("spec".to_owned(), spec.clone());
    }
}

/// What is wrong with a Namespace.
pub(super) fn check_namespace(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let finalizers = spec.field("finalizers");
    for finalizer in finalizers.value.as_array().into_iter().flatten() {
        let name = finalizer.as_str().unwrap_or_default();
        causes.text_invalid(&finalizers, name, &words::qualified(name));
        let known = matches!(name, "kubernetes" | "orphan" | "foregroundDeletion");
        if !known && !name.contains('/') {
            causes.invalid_as(
                &finalizers,
                &quoted(name),
                "name is neither a standard finalizer name nor is it fully qualified",
            );
        }
    }
}

/// Adds defaults to a Node.
pub(super) fn default_node(node: &mut Value) {
    add(node, NODE);
    let range = node.pointer("/spec/podCIDR").and_then(Value::as_str);
    let range = range.unwrap_or_default().to_owned();
    if let Some(spec) = node.get_mut("spec")
        && !range.is_empty()
        && spec.get("podCIDRs").is_none_or(Value::is_null)
    {
        put(spec, "podCIDRs", json!([range]));
    }
    let capacity = node.pointer("/status/capacity").cloned();
    if let (Some(capacity), Some(status)) = (capacity, node.get_mut("status"))
        && status.get("allocatable").is_none_or(Value::is_null)
    {
        put(status, "allocatable", capacity);
    }
}

/// Taints a new node until somebody says that it is ready.
pub(super) fn create_node(node: &mut Value) {
    let Some(spec) = node.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let taints = spec.entry("taints").or_insert(Value::Null);
    if taints.is_null() {
        *taints = json!([]);
    }
    let key = "node.kubernetes.io/not-ready";
    if let Some(taints) = taints.as_array_mut()
        && !taints
            .iter()
            .any(|taint| taint.get("key").is_some_and(|said| said == key))
    {
        taints.push(json!({ "key": key, "effect": "NoSchedule" }));
    }
}

/// What is wrong with a Node.
pub(super) fn check_node(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let metadata = object.field("metadata");
    // The API server looks for the taints in `metadata`, where they once were.
    let taints = metadata.named("taints", spec.field("taints").value);
    let mut said = BTreeSet::new();
    for taint in taints.items() {
        let (key, value, effect) = (
            taint.field("key"),
            taint.field("value"),
            taint.field("effect"),
        );
        causes.text_invalid(&key, key.text(), &words::qualified(key.text()));
        causes.text_invalid(&value, value.text(), &words::label_value(value.text()));
        causes.one_of(&effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        if !said.insert((key.text().to_owned(), effect.text().to_owned())) {
            let shown = format!(
                "{}: taints must be unique by key and effect pair",
                taint.value
            );
            causes.duplicate_as(&taint, &shown);
        }
    }
    let ranges = spec.field("podCIDRs");
    let texts = ranges.texts();
    for range in ranges.items() {
        if !words::is_network(range.text()) {
            causes.invalid_as(&range, &texts_shown(&texts), "must be valid CIDR");
        }
    }
}

/// What may not change of a Node.
pub(super) fn check_node_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    let mut changed = false;
    for (field, name) in [("podCIDRs", "podCIDR"), ("providerID", "providerID")] {
        let before = old
            .pointer(&format!("/spec/{field}"))
            .unwrap_or(&Value::Null);
        let field = spec.field(field);
        if !before.is_null() && field.value != before {
            let why = format!("node updates may not change {name} except from \"\" to valid");
            causes.forbidden(&field, &why);
            changed = true;
        }
    }
    if changed {
        causes.forbidden(
            &Spot::root(new.value).field("[]"),
            "node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)",
        );
    }
}

/// What is wrong with a PriorityClass.
pub(super) fn check_priority(causes: &mut Causes, object: &Spot<'_>) {
    let metadata = object.field("metadata");
    let name = metadata.field("name");
    let value = object.field("value");
    let system = matches!(
        (name.text(), value.int()),
        ("system-cluster-critical", Some(2_000_000_000))
            | ("system-node-critical", Some(2_000_001_000))
    );
    if name.text().starts_with("system-") {
        if !system {
            let why = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {} is not a known system priority class",
                name.text()
            );
            causes.forbidden(&name, &why);
        }
    } else if value.int().is_some_and(|value| value > HIGHEST) {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        causes.forbidden(&value, &why);
    }
    let policy = object.field("preemptionPolicy");
    causes.one_of(&policy, &["PreemptLowerPriority", "Never"]);
}

/// What may not change of a PriorityClass.
pub(super) fn check_priority_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let number = |object: &Value| object.get("value").and_then(Value::as_i64).unwrap_or(0);
    if number(new.value) != number(old) {
        causes.forbidden(&new.field("Value"), "may not be changed in an update.");
    }
    let before = old.get("preemptionPolicy").unwrap_or(&Value::Null);
    causes.unchanged(&new.field("preemptionPolicy"), before);
}

/// What is wrong with a RuntimeClass.
pub(super) fn check_runtime(causes: &mut Causes, object: &Spot<'_>) {
    let handler = object.field("handler");
    causes.text_invalid(&handler, handler.text(), &words::label(handler.text()));
    let scheduling = object.field("scheduling");
    labels::check(causes, &scheduling.field("nodeSelector"));
    let tolerations = scheduling.field("tolerations");
    pod::check_tolerations(causes, &tolerations.named("tolerations", tolerations.value));
}

/// What may not change of a RuntimeClass.
pub(super) fn check_runtime_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let before = old.get("handler").unwrap_or(&Value::Null);
    causes.unchanged(&new.field("handler"), before);
}
