//! Makes an object fit for server-side apply, and gives it a digest.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::api::digest::sha256;
use crate::api::names::{APPLIED_DIGEST, APPLYSET_PART_OF};
use crate::load::spell_quantities;

/// Fields of `metadata` that only the server writes.
pub(crate) const SERVER_METADATA: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Turns a manifest into the body of an apply request.
///
/// - `null`s go: sent, they would become fields that we own (measured on v1.20.2).
/// - `status` and server-written metadata go: they are not the author's to say.
/// - `stringData` becomes `data`: the server copies its values without an owner, so that an edit would go unseen.
/// - quantities that are numbers become strings (see [`spell_quantities`]).
/// - an aggregated ClusterRole's `rules` and a StorageClass's empty `parameters` go: see there.
/// - `protocol: TCP` is filled in: it is part of a list key, for which v1.20 knows no default.
pub fn sendable(mut object: Value) -> Value {
    strip_nulls(&mut object);
    spell_quantities(&mut object);
    let kind = object
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let api_version = object
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let Some(fields) = object.as_object_mut() else {
        return object;
    };
    fields.remove("status");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in SERVER_METADATA {
            metadata.remove(field);
        }
    }
    if api_version == "v1" && kind == "Secret" {
        merge_string_data(fields);
    }
    if kind == "ClusterRole" && fields.contains_key("aggregationRule") {
        // The controller's to fill; usually written as `[]`.
        fields.remove("rules");
    }
    if kind == "StorageClass" && fields.get("parameters").is_some_and(|p| p == &json!({})) {
        // Not stored, so that every later apply would look like a forbidden change (seen on v1.20.2).
        fields.remove("parameters");
    }
    if let Some(spec) = fields.get_mut("spec") {
        match (api_version.as_str(), kind.as_str()) {
            ("v1", "Service") => fill_protocol(spec),
            ("v1", "Pod") => fill_pod_protocols(spec),
            ("batch/v1" | "batch/v1beta1", "CronJob") => {
                if let Some(pod) = spec.pointer_mut("/jobTemplate/spec/template/spec") {
                    fill_pod_protocols(pod);
                }
            }
            (
                "v1" | "apps/v1" | "batch/v1" | "extensions/v1beta1" | "apps/v1beta1"
                | "apps/v1beta2",
                _,
            ) => {
                if let Some(pod) = spec.pointer_mut("/template/spec") {
                    fill_pod_protocols(pod);
                }
            }
            _ => {}
        }
    }
    object
}

/// Adds the label that makes the object a member of an apply set, and the digest of everything else.
///
/// Returns the digest.
pub fn stamp(object: &mut Value, applyset: Option<&str>) -> String {
    if let Some(id) = applyset {
        set_in_metadata(object, "labels", APPLYSET_PART_OF, id);
    }
    let digest = digest(object);
    set_in_metadata(object, "annotations", APPLIED_DIGEST, &digest);
    digest
}

/// Gives an object that was changed after it was stamped the digest of what it is now. Returns the digest.
pub(super) fn stamp_again(object: &mut Value) -> String {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata
        && let Some(annotations) = metadata
            .get_mut("annotations")
            .and_then(Value::as_object_mut)
    {
        annotations.remove(APPLIED_DIGEST);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    stamp(object, None)
}

/// Gives `sha256:<hex>` of the object's canonical JSON (keys sorted, no white space).
fn digest(object: &Value) -> String {
    // serde_json keeps maps sorted unless its `preserve_order` feature is on, so this text is canonical.
    sha256(object.to_string())
}

fn set_in_metadata(object: &mut Value, map: &str, key: &str, value: &str) {
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
    let Some(metadata) = metadata.as_object_mut() else {
        return;
    };
    let map = metadata.entry(map).or_insert_with(|| json!({}));
    if let Some(map) = map.as_object_mut() {
        map.insert(key.to_owned(), Value::String(value.to_owned()));
    }
}

fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, v| !v.is_null());
            map.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        _ => {}
    }
}

fn merge_string_data(secret: &mut Map<String, Value>) {
    // Anything but a map of strings stays, for the server to refuse by name.
    let all_strings = |v: &Value| {
        v.as_object()
            .is_some_and(|m| m.values().all(Value::is_string))
    };
    if !secret.get("stringData").is_some_and(all_strings) {
        return;
    }
    let Some(Value::Object(plain)) = secret.remove("stringData") else {
        return;
    };
    let data = secret.entry("data").or_insert_with(|| json!({}));
    let Some(data) = data.as_object_mut() else {
        return;
    };
    for (key, value) in plain {
        if let Value::String(text) = value {
            data.insert(key, Value::String(STANDARD.encode(text)));
        }
    }
}

fn fill_pod_protocols(pod: &mut Value) {
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        if let Some(containers) = pod.get_mut(list).and_then(Value::as_array_mut) {
            containers.iter_mut().for_each(fill_protocol);
        }
    }
}

fn fill_protocol(holder: &mut Value) {
    let ports = holder.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        port.entry("protocol").or_insert_with(|| json!("TCP"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c25_nulls_and_server_fields_are_not_sent() {
        let sent = sendable(json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": "a", "creationTimestamp": null, "uid": "u", "managedFields": [] },
            "spec": { "ports": [{ "port": 80, "nodePort": null }] },
            "status": { "loadBalancer": {} },
        }));
        assert_eq!(
            sent,
            json!({
                "apiVersion": "v1", "kind": "Service", "metadata": { "name": "a" },
                "spec": { "ports": [{ "port": 80, "protocol": "TCP" }] },
            })
        );
    }

    #[test]
    fn string_data_becomes_data_and_wins() {
        let sent = sendable(json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a" },
            "data": { "a": "eA==", "b": "eQ==" }, "stringData": { "a": "z" },
        }));
        assert_eq!(sent["data"], json!({ "a": "eg==", "b": "eQ==" }));
        assert!(sent.get("stringData").is_none());
    }

    #[test]
    fn container_ports_get_their_protocol_in_every_workload() {
        let pod = json!({ "containers": [{ "name": "a", "ports": [{ "containerPort": 1 }] }] });
        for (api_version, kind, path) in [
            ("apps/v1", "Deployment", "/spec/template/spec"),
            ("batch/v1", "Job", "/spec/template/spec"),
            (
                "batch/v1",
                "CronJob",
                "/spec/jobTemplate/spec/template/spec",
            ),
            ("v1", "Pod", "/spec"),
        ] {
            let mut spec = pod.clone();
            for key in path
                .split('/')
                .skip(2)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
            {
                spec = json!({ key: spec });
            }
            let sent = sendable(json!({ "apiVersion": api_version, "kind": kind, "spec": spec }));
            let protocol = sent.pointer(&format!("{path}/containers/0/ports/0/protocol"));
            assert_eq!(protocol, Some(&json!("TCP")), "{kind}");
        }
    }

    #[test]
    fn the_digest_does_not_depend_on_the_order_of_keys_and_covers_the_label() {
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let mut a = parse(r#"{"kind":"A","metadata":{"name":"x"}}"#);
        let mut b = parse(r#"{"metadata":{"name":"x"},"kind":"A"}"#);
        assert_eq!(stamp(&mut a, Some("set")), stamp(&mut b, Some("set")));
        assert_eq!(a, b);
        let mut c = parse(r#"{"kind":"A","metadata":{"name":"x"}}"#);
        assert_ne!(stamp(&mut c, Some("other")), stamp(&mut a, Some("set")));
    }
}
