//! The fields of the policy kinds, for located errors about misspelt ones. The table of built-in kinds is that of the
//! oldest Kubernetes that we promise, which has none of them.

use serde_json::{Value, json};

use super::model::{BINDING, GROUP, POLICY, VERSIONS};

/// The policy kinds as definitions.
pub(super) fn definitions() -> [Value; 2] {
    [
        definition(POLICY, "validatingadmissionpolicies", &policy()),
        definition(BINDING, "validatingadmissionpolicybindings", &binding()),
    ]
}

fn definition(kind: &str, plural: &str, spec: &Value) -> Value {
    let schema = json!({
        "type": "object",
        "required": ["spec"],
        "properties": { "spec": spec, "status": open() },
    });
    let versions: Vec<Value> = VERSIONS
        .iter()
        .map(|name| json!({ "name": name, "schema": { "openAPIV3Schema": schema } }))
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": { "kind": kind, "plural": plural },
            "versions": versions,
        },
    })
}

fn policy() -> Value {
    let named = |key: &str, value: &str| {
        list(&object(
            &[key, value],
            json!({ key: text(), value: text() }),
        ))
    };
    let validation = object(
        &["expression"],
        json!({
            "expression": text(),
            "message": text(),
            "messageExpression": text(),
            "reason": choice(&["Unauthorized", "Forbidden", "Invalid", "RequestEntityTooLarge"]),
        }),
    );
    object(
        &["matchConstraints"],
        json!({
            "paramKind": object(&["apiVersion", "kind"], json!({ "apiVersion": text(), "kind": text() })),
            "matchConstraints": resources(&["resourceRules"]),
            "matchConditions": named("name", "expression"),
            "variables": named("name", "expression"),
            "validations": list(&validation),
            "auditAnnotations": named("key", "valueExpression"),
            "failurePolicy": choice(&["Fail", "Ignore"]),
        }),
    )
}

fn binding() -> Value {
    let param_ref = object(
        &[],
        json!({
            "name": text(),
            "namespace": text(),
            "selector": selector(),
            "parameterNotFoundAction": choice(&["Allow", "Deny"]),
        }),
    );
    object(
        &["policyName", "validationActions"],
        json!({
            "policyName": text(),
            "paramRef": param_ref,
            "matchResources": resources(&[]),
            "validationActions": list(&choice(&["Deny", "Warn", "Audit"])),
        }),
    )
}

fn resources(required: &[&str]) -> Value {
    let rule = object(
        &["apiGroups", "apiVersions", "operations", "resources"],
        json!({
            "apiGroups": list(&text()),
            "apiVersions": list(&text()),
            "operations": list(&choice(&["*", "CREATE", "UPDATE", "DELETE", "CONNECT"])),
            "resources": list(&text()),
            "resourceNames": list(&text()),
            "scope": choice(&["*", "Cluster", "Namespaced"]),
        }),
    );
    object(
        required,
        json!({
            "namespaceSelector": selector(),
            "objectSelector": selector(),
            "resourceRules": list(&rule),
            "excludeResourceRules": list(&rule),
            "matchPolicy": choice(&["Exact", "Equivalent"]),
        }),
    )
}

fn selector() -> Value {
    let requirement = object(
        &["key", "operator"],
        json!({
            "key": text(),
            "operator": choice(&["In", "NotIn", "Exists", "DoesNotExist"]),
            "values": list(&text()),
        }),
    );
    let labels = json!({ "type": "object", "additionalProperties": text() });
    object(
        &[],
        json!({ "matchLabels": labels, "matchExpressions": list(&requirement) }),
    )
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn choice(allowed: &[&str]) -> Value {
    json!({ "type": "string", "enum": allowed })
}

fn open() -> Value {
    json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}
