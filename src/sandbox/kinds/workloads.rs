//! Deployments, ReplicaSets, StatefulSets, DaemonSets and ReplicationControllers.

use serde_json::{Map, Value};

use super::causes::{Causes, labels_shown, quoted};
use super::defaults::{
    Default::{Empty, Int, Text},
    Table, add, has, object_in, put, text,
};
use super::labels;
use super::pod;
use super::scaling;
use super::spot::Spot;

const DEPLOYMENT: &Table = &[
    ("spec+.replicas", Int(1)),
    ("spec.strategy+.type", Text("RollingUpdate")),
    ("spec.revisionHistoryLimit", Int(10)),
    ("spec.progressDeadlineSeconds", Int(600)),
];

const REPLICAS: &Table = &[("spec+.replicas", Int(1))];

const STATEFUL_SET: &Table = &[
    ("spec+.podManagementPolicy", Text("OrderedReady")),
    ("spec.updateStrategy+.type", Text("RollingUpdate")),
    ("spec.replicas", Int(1)),
    ("spec.revisionHistoryLimit", Int(10)),
    ("spec.volumeClaimTemplates[].apiVersion", Text("v1")),
    (
        "spec.volumeClaimTemplates[].kind",
        Text("PersistentVolumeClaim"),
    ),
    (
        "spec.volumeClaimTemplates[].spec+.volumeMode",
        Text("Filesystem"),
    ),
    ("spec.volumeClaimTemplates[].status+.phase", Text("Pending")),
];

const DAEMON_SET: &Table = &[
    ("spec+.updateStrategy+.type", Text("RollingUpdate")),
    ("spec.revisionHistoryLimit", Int(10)),
];

/// Adds defaults to the template in a spec.
pub(super) fn default_template(object: &mut Value) {
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    let spec = object_in(fields, "spec");
    if let Some(fields) = spec.as_object_mut() {
        let template = object_in(fields, "template");
        add(template, &[("metadata", Empty), ("spec", Empty)]);
        if let Some(spec) = template.get_mut("spec") {
            pod::default_spec(spec);
        }
    }
}

/// Adds defaults to a Deployment.
pub(super) fn default_deployment(object: &mut Value) {
    default_template(object);
    add(object, DEPLOYMENT);
    let strategy = object.pointer_mut("/spec/strategy");
    if let Some(strategy) = strategy.filter(|strategy| text(strategy, "type") == "RollingUpdate") {
        add(strategy, &[("rollingUpdate+.maxUnavailable", Text("25%"))]);
        add(strategy, &[("rollingUpdate.maxSurge", Text("25%"))]);
    }
}

/// Adds defaults to a ReplicaSet.
pub(super) fn default_replica_set(object: &mut Value) {
    default_template(object);
    add(object, REPLICAS);
}

/// Adds defaults to a StatefulSet.
pub(super) fn default_stateful_set(object: &mut Value) {
    default_template(object);
    let strategy = object.pointer("/spec/updateStrategy");
    let is_said = strategy.is_some_and(|strategy| !text(strategy, "type").is_empty());
    add(object, STATEFUL_SET);
    let strategy = object.pointer_mut("/spec/updateStrategy");
    if let Some(strategy) = strategy.filter(|strategy| text(strategy, "type") == "RollingUpdate") {
        if !is_said {
            add(strategy, &[("rollingUpdate", Empty)]);
        }
        add(strategy, &[("rollingUpdate.partition", Int(0))]);
    }
}

/// Adds defaults to a DaemonSet.
pub(super) fn default_daemon_set(object: &mut Value) {
    default_template(object);
    add(object, DAEMON_SET);
    let strategy = object.pointer_mut("/spec/updateStrategy");
    if let Some(strategy) = strategy.filter(|strategy| text(strategy, "type") == "RollingUpdate") {
        add(strategy, &[("rollingUpdate+.maxUnavailable", Int(1))]);
    }
    generation(object, None);
}

/// Where a DaemonSet has the generation of its template, as it did in its first versions.
const GENERATION: &str = "deprecated.daemonset.template.generation";

/// Sets the template's generation, unless some is there and none is wanted.
fn generation(object: &mut Value, wanted: Option<i64>) {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    let Some(annotations) = metadata.map(|metadata| object_in(metadata, "annotations")) else {
        return;
    };
    match wanted {
        Some(generation) => put(annotations, GENERATION, generation.to_string()),
        None if !has(annotations, GENERATION) => put(annotations, GENERATION, "0"),
        None => {}
    }
}

/// Begins to count the templates of a DaemonSet.
pub(super) fn create_daemon_set(object: &mut Value) {
    generation(object, Some(1));
}

/// Counts a template that is another one than before.
pub(super) fn prepare_daemon_set_update(new: &mut Value, old: &Value) {
    let annotations = old.pointer("/metadata/annotations");
    let before = annotations
        .map(|annotations| text(annotations, GENERATION))
        .unwrap_or_default();
    let before: i64 = before.parse().unwrap_or(0);
    let changed = new.pointer("/spec/template") != old.pointer("/spec/template");
    generation(new, Some(before + i64::from(changed)));
}

/// Adds defaults to a ReplicationController, which selects what its template says.
pub(super) fn default_replication_controller(object: &mut Value) {
    let template = object
        .pointer("/spec/template")
        .is_some_and(Value::is_object);
    if template {
        default_template(object);
    }
    add(object, REPLICAS);
    let template = object.pointer("/spec/template/metadata/labels");
    let Some(labels) = template
        .and_then(Value::as_object)
        .filter(|labels| !labels.is_empty())
    else {
        return;
    };
    let labels = Value::Object(labels.clone());
    let empty = |value: Option<&Value>| value.and_then(Value::as_object).is_none_or(Map::is_empty);
    if empty(object.pointer("/spec/selector"))
        && let Some(spec) = object.get_mut("spec")
    {
        put(spec, "selector", labels.clone());
    }
    if empty(object.pointer("/metadata/labels"))
        && let Some(metadata) = object.get_mut("metadata")
    {
        put(metadata, "labels", labels);
    }
}

/// What is wrong with a Deployment.
pub(super) fn check_deployment(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    causes.not_negative(&spec.field("replicas"));
    check_selector(causes, &spec, "deployment", true);
    check_template(causes, &spec, "ReplicaSet");
    check_strategy(causes, &spec.field("strategy"));
    causes.not_negative(&spec.field("minReadySeconds"));
    causes.not_negative(&spec.field("revisionHistoryLimit"));
    let deadline = spec.field("progressDeadlineSeconds");
    causes.not_negative(&deadline);
    let ready = spec.field("minReadySeconds").int().unwrap_or(0);
    if deadline.int().is_some_and(|seconds| seconds <= ready) {
        causes.invalid(&deadline, "must be greater than minReadySeconds");
    }
}

/// What is wrong with a ReplicaSet.
pub(super) fn check_replica_set(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    causes.not_negative(&spec.field("replicas"));
    causes.not_negative(&spec.field("minReadySeconds"));
    check_selector(causes, &spec, "deployment", true);
    check_template(causes, &spec, "ReplicaSet");
}

/// What is wrong with a DaemonSet.
pub(super) fn check_daemon_set(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    check_selector(causes, &spec, "daemonset", false);
    check_template(causes, &spec, "DaemonSet");
    causes.not_negative(&spec.field("minReadySeconds"));
    causes.not_negative(&spec.field("revisionHistoryLimit"));
    let strategy = spec.field("updateStrategy");
    match strategy.field("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let most = strategy.field("rollingUpdate");
            let most = most.field("maxUnavailable");
            scaling::check_number_or_percent(causes, &most);
            if scaling::is_zero(most.value) {
                causes.invalid(&most, "cannot be 0");
            }
            scaling::check_percent(causes, &most);
        }
        _ => causes.unsupported(&strategy, &["RollingUpdate", "OnDelete"]),
    }
}

/// What is wrong with a StatefulSet.
pub(super) fn check_stateful_set(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let policy = spec.field("podManagementPolicy");
    if !matches!(policy.text(), "OrderedReady" | "Parallel") {
        causes.invalid(&policy, "must be 'OrderedReady' or 'Parallel'");
    }
    let strategy = spec.field("updateStrategy");
    let rolling = strategy.field("rollingUpdate");
    match strategy.field("type").text() {
        "OnDelete" if rolling.present() => {
            causes.invalid(&rolling, "only allowed for updateStrategy 'RollingUpdate'");
        }
        "OnDelete" => {}
        "RollingUpdate" => causes.not_negative(&rolling.field("partition")),
        _ => causes.invalid(&strategy, "must be 'RollingUpdate' or 'OnDelete'"),
    }
    causes.not_negative(&spec.field("replicas"));
    check_selector(causes, &spec, "statefulset", true);
    check_template(causes, &spec, "StatefulSet");
}

/// What is wrong with a ReplicationController.
pub(super) fn check_replication_controller(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    causes.not_negative(&spec.field("minReadySeconds"));
    let selector = spec.field("selector");
    if selector.len() == 0 {
        causes.required(&selector, "");
    }
    causes.not_negative(&spec.field("replicas"));
    let template = spec.field("template");
    if template.absent() {
        causes.required(&template, "");
        return;
    }
    let metadata = template.field("metadata");
    let labels = metadata.field("labels");
    let selected = selector
        .entries()
        .all(|(key, value)| labels.value.get(key) == Some(value.value));
    if selector.len() > 0 && !selected {
        causes.invalid_as(
            &labels,
            &labels_shown(labels.value),
            "`selector` does not match template `labels`",
        );
    }
    check_pods(causes, &template, "ReplicationController");
}

/// What may not change of a StatefulSet.
pub(super) fn check_stateful_set_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    let rest = |spec: &Value| {
        let mut spec = spec.clone();
        if let Some(fields) = spec.as_object_mut() {
            fields.retain(|field, _| {
                !matches!(field.as_str(), "replicas" | "template" | "updateStrategy")
            });
        }
        spec
    };
    if rest(spec.value) != rest(old.get("spec").unwrap_or(&Value::Null)) {
        causes.forbidden(
            &spec,
            "updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden",
        );
    }
    causes.not_negative(&spec.field("replicas"));
}

/// What may not change of all that have selectors.
pub(super) fn check_selector_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    let old = old.pointer("/spec/selector").unwrap_or(&Value::Null);
    causes.unchanged(&spec.field("selector"), old);
}

fn check_selector(causes: &mut Causes, spec: &Spot<'_>, owner: &str, required: bool) {
    let selector = spec.field("selector");
    if selector.absent() {
        if required {
            causes.required(&selector, "");
        }
        return;
    }
    labels::check_selector(causes, &selector);
    if labels::is_empty(&selector) {
        causes.invalid(&selector, &format!("empty selector is invalid for {owner}"));
    }
}

fn check_template(causes: &mut Causes, spec: &Spot<'_>, owner: &str) {
    let selector = spec.field("selector");
    if selector.present() && !labels::is_readable(&selector) {
        causes.invalid(&selector, "invalid label selector");
        if owner != "DaemonSet" {
            return;
        }
    } else {
        labels::check_template(causes, spec);
    }
    check_pods(causes, &spec.field("template"), owner);
}

fn check_pods(causes: &mut Causes, template: &Spot<'_>, owner: &str) {
    // The API server does not look into the pods of StatefulSets.
    if owner == "StatefulSet" {
        pod::check_template_metadata(causes, template);
    } else {
        pod::check_template(causes, template);
    }
    let spec = template.field("spec");
    let policy = spec.field("restartPolicy");
    if has(template.value, "spec") && policy.text() != "Always" {
        causes.unsupported_as(&policy, &quoted(policy.text()), &["Always"]);
    }
    let deadline = spec.field("activeDeadlineSeconds");
    if deadline.present() {
        causes.forbidden(
            &deadline,
            &format!("activeDeadlineSeconds in {owner} is not Supported"),
        );
    }
}

fn check_strategy(causes: &mut Causes, strategy: &Spot<'_>) {
    let rolling = strategy.field("rollingUpdate");
    match strategy.field("type").text() {
        "Recreate" if rolling.present() => causes.forbidden(
            &rolling,
            "may not be specified when strategy `type` is 'Recreate'",
        ),
        "Recreate" => {}
        "RollingUpdate" => {
            let (fewer, more) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
            scaling::check_number_or_percent(causes, &fewer);
            scaling::check_number_or_percent(causes, &more);
            if scaling::is_zero(fewer.value) && scaling::is_zero(more.value) {
                causes.invalid(&fewer, "may not be 0 when `maxSurge` is 0");
            }
            scaling::check_percent(causes, &fewer);
        }
        _ => causes.unsupported(strategy, &["Recreate", "RollingUpdate"]),
    }
}
