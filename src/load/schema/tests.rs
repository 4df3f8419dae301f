//! Documents against schemas: what is found, where, and what is suggested.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::load::{Limits, Severity, Snapshot, SourceFile, load};

/// `line:column message (hint)` for each finding in a text.
fn found(schemas: &Schemas, text: &str) -> Vec<String> {
    let snapshot = Snapshot {
        revision: String::new(),
        files: vec![SourceFile {
            path: Arc::from("a.yaml"),
            bytes: text.as_bytes().to_vec(),
        }],
        diagnostics: Vec::new(),
    };
    let loaded = load(&snapshot, &Limits::default());
    assert_eq!(loaded.diagnostics, []);
    let findings = loaded.documents.iter().flat_map(|d| schemas.check(d));
    findings
        .map(|d| {
            let at = d.position.unwrap();
            let hint = d.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{}:{} {}{hint}", at.line, at.column, d.message)
        })
        .collect()
}

#[test]
fn a_sound_deployment_has_no_findings() {
    let text = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, labels: {a: b}, annotations: {}, creationTimestamp: null}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: c
        image: x
        resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 0.5, memory: \"100\"}}
        ports: [{containerPort: 8080}]
        livenessProbe: {httpGet: {port: http}}
        volumeMounts: [{name: v, mountPath: /v}]
      volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]
status: {whatever: 1}
";
    assert_eq!(found(&Schemas::default(), text), [""; 0]);
}

#[test]
fn misspelt_mistyped_and_missing_fields_are_found_at_their_keys() {
    let text = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: a
  lables: {a: b}
spec:
  replicas: \"2\"
  paused: yes please
  template:
    metadata:
      labels: {a: 1}
    spec:
      containers:
      - nam: c
        resources: {limits: {memory: 1 GB}}
        ports:
        - containerPort: 1.5
        - containerPort: 3000000000
        args: all
        env: [{name: X, value: 1}]
";
    assert_eq!(
        found(&Schemas::default(), text),
        [
            "5:3 unknown field `metadata.lables` (did you mean `labels`?)",
            "7:3 `spec.replicas` must be an integer, not a string (write the value without quotes)",
            "8:3 `spec.paused` must be a boolean, not a string (write the value without quotes)",
            "11:16 `spec.template.metadata.labels.a` must be a string, not a number (put the value in quotes)",
            "14:9 unknown field `spec.template.spec.containers[0].nam` (did you mean `name`?)",
            "15:30 `spec.template.spec.containers[0].resources.limits.memory` is not a quantity (write it like `500m`, `2` or `1Gi`)",
            "17:11 `spec.template.spec.containers[0].ports[0].containerPort` must be an integer, not a fraction",
            "18:11 `spec.template.spec.containers[0].ports[1].containerPort` does not fit into 32 bits",
            "19:9 `spec.template.spec.containers[0].args` must be a list, not a string (write it as a list, also when it has one item)",
            "20:25 `spec.template.spec.containers[0].env[0].value` must be a string, not a number (put the value in quotes)",
            "14:9 `spec.template.spec.containers[0].name` is missing",
            "6:1 `spec.selector` is missing",
        ]
    );
}

#[test]
fn secrets_need_base64_and_values_are_not_repeated() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata:\n  good: aGk=\n  bad: hunter2\nstringData: {no1: 1}\n";
    let found = found(&Schemas::default(), text);
    assert_eq!(
        found,
        [
            "6:3 `data.bad` is not base64 (plain text goes under `stringData`)",
            "7:14 `stringData.no1` must be a string, not a number (put the value in quotes)",
        ]
    );
    assert!(!found.concat().contains("hunter2"));
}

#[test]
fn kinds_and_versions_without_a_schema_are_left_to_the_cluster() {
    let hints = [
        (
            "example.org/v1",
            "give the file of its CustomResourceDefinition with --schema",
        ),
        ("apps/v9", "it is known in: v1"),
    ];
    for (api_version, hint) in hints {
        let text = format!("apiVersion: {api_version}\nkind: Deployment\nmetadata: {{name: a}}\n");
        let expected = format!("1:1 not checked: no schema for {api_version} Deployment ({hint})");
        assert_eq!(found(&Schemas::default(), &text), [expected]);
    }
    let old = "apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: a}\nspec: {privileged: 1}\n";
    assert_eq!(
        found(&Schemas::default(), old)[0],
        "4:8 `spec.privileged` must be a boolean, not a number"
    );
}

fn crd() -> Value {
    let schema = json!({"type": "object", "required": ["spec"], "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
        "spec": {"type": "object", "required": ["size", "mode"], "properties": {
            "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 10, "exclusiveMaximum": true},
            "mode": {"type": "string", "enum": ["Auto", "None"], "default": "Auto"},
            "name": {"type": "string", "maxLength": 3, "minLength": 1},
            "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "tags": {"type": "array", "maxItems": 2, "items": {"type": "object", "properties": {"key": {"type": "string"}}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"type": "boolean"}}},
            "unsaid": {"type": "object"},
            "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {
                "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }},
            "ratio": {"type": "number"},
            "blob": {"type": "string", "format": "byte"},
            "big": {"type": "integer"},
        }},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Cluster",
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

#[test]
fn custom_resources_are_checked_with_their_crd() {
    let crd = crd();
    let schemas = Schemas::new([&crd, &json!({"kind": "Other"})]);
    let sound = "\
apiVersion: example.org/v1
kind: Widget
metadata: {name: a, labels: {a: b}}
spec:
  size: 9
  name: äöü
  port: http
  labels: {a: b}
  tags: [{key: a}]
  free: {x: 1, known: true}
  unsaid: {x: 1}
  pod: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {x: 1}}
  ratio: 1
  big: 9123456789012345678
status: {anything: 1}
";
    assert_eq!(found(&schemas, sound), [""; 0]);
    let wrong = "\
apiVersion: example.org/v1
kind: Widget
metadata: {name: a, annotation: {}}
spec:
  size: 10
  mode: auto
  name: abcd
  port: 1.5
  labels: {a: 1}
  tags: [{kee: a}, {}, {}]
  free: {known: 1}
  pod: {metadata: {lables: {}}, other: 1}
  blob: \"?\"
  naem: a
top: 1
---
apiVersion: example.org/v1
kind: Widget
metadata: {name: b}
---
apiVersion: example.org/v1
kind: Widget
metadata: {name: c}
spec: {size: 0, name: \"\"}
";
    assert_eq!(
        found(&schemas, wrong),
        [
            "3:21 unknown field `metadata.annotation` (did you mean `annotations`?)",
            "5:3 `spec.size` must be less than 10",
            "6:3 `spec.mode` must be one of `Auto`, `None` (did you mean `Auto`?)",
            "7:3 `spec.name` must have at most 3 characters",
            "8:3 `spec.port` must be an integer or a string, not a fraction",
            "9:12 `spec.labels.a` must be a string, not a number (put the value in quotes)",
            "10:11 unknown field `spec.tags[0].kee` (did you mean `key`?)",
            "10:3 `spec.tags` must have at most 2 items",
            "11:10 `spec.free.known` must be a boolean, not a number",
            "12:20 unknown field `spec.pod.metadata.lables` (did you mean `labels`?)",
            "12:33 unknown field `spec.pod.other`",
            "12:3 `spec.pod.apiVersion` is missing",
            "12:3 `spec.pod.kind` is missing",
            "13:3 `spec.blob` is not base64",
            "14:3 unknown field `spec.naem` (did you mean `name`?)",
            "15:1 unknown field `top`",
            "17:1 `spec` is missing",
            "24:8 `spec.size` must be at least 1",
            "24:17 `spec.name` must have at least 1 character",
        ]
    );
}

#[test]
fn scopes_come_from_crds_first() {
    let crd = crd();
    let schemas = Schemas::new([&crd]);
    assert_eq!(
        schemas.scope(&GroupKind::new("example.org", "Widget")),
        Some(Scope::Cluster)
    );
    assert_eq!(
        schemas.scope(&GroupKind::new("apps", "Deployment")),
        Some(Scope::Namespaced)
    );
    assert_eq!(
        schemas.scope(&GroupKind::new("example.org", "Gadget")),
        None
    );
}

#[test]
fn old_crds_keep_unknown_fields_unless_they_say_otherwise() {
    let mut crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition",
        "spec": {"group": "example.org", "version": "v1", "names": {"kind": "Widget"}, "validation": {"openAPIV3Schema": {"properties": {"spec": {"type": "object",
            "properties": {"size": {"type": "integer"}}}}, "type": "object"}}},
    });
    let text =
        "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a}\nspec: {sise: 1, size: x}\n";
    let mistyped =
        "4:17 `spec.size` must be an integer, not a string (write the value without quotes)";
    assert_eq!(found(&Schemas::new([&crd]), text), [mistyped]);
    assert_eq!(
        Schemas::new([&crd]).scope(&GroupKind::new("example.org", "Widget")),
        Some(Scope::Namespaced)
    );
    crd["spec"]["preserveUnknownFields"] = json!(false);
    assert_eq!(
        found(&Schemas::new([&crd]), text),
        [
            "4:8 unknown field `spec.sise` (did you mean `size`?)",
            mistyped
        ]
    );
}

#[test]
fn findings_are_bounded_and_errors() {
    let items: String = (0..200).map(|i| format!("  x{i}: 1\n")).collect();
    let text = format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n{items}");
    assert_eq!(found(&Schemas::default(), &text).len(), 50);
    let unknown = Schemas::default();
    let snapshot = Snapshot {
        revision: String::new(),
        files: vec![SourceFile {
            path: Arc::from("a.yaml"),
            bytes: b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nx: 1\n".to_vec(),
        }],
        diagnostics: Vec::new(),
    };
    let loaded = load(&snapshot, &Limits::default());
    assert_eq!(
        unknown.check(&loaded.documents[0])[0].severity,
        Severity::Error
    );
}
