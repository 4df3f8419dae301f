//! Field selectors.

use serde_json::Value;

use crate::types::Kind;

/// A field selector; all its requirements must hold.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<Requirement>);

#[derive(Clone, Debug)]
struct Requirement {
    /// As a JSON pointer.
    field: String,
    /// What the field counts as when it is absent.
    absent: &'static str,
    value: String,
    equal: bool,
}

/// Fields that objects are selected by beside name and namespace, by resource.
const SELECTABLE: &[(&str, &[&str])] = &[
    (
        "pods",
        &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
    ),
    (
        "events",
        &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
    ),
    (
        "events.events.k8s.io",
        &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
    ),
    ("namespaces", &["status.phase"]),
    ("nodes", &["spec.unschedulable"]),
    ("secrets", &["type"]),
    ("services", &["spec.clusterIP", "spec.type"]),
    ("replicationcontrollers", &["status.replicas"]),
    ("replicasets.apps", &["status.replicas"]),
    ("jobs.batch", &["status.successful"]),
    (
        "certificatesigningrequests.certificates.k8s.io",
        &["spec.signerName"],
    ),
];

impl Fields {
    /// Reads `metadata.name=a,status.phase!=b`; a backslash keeps a comma, a `=` and itself from parting.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, kind: &Kind) -> Result<Self, String> {
        let terms = split(text);
        let requirements = terms
            .iter()
            .filter(|term| !term.is_empty())
            .map(|term| requirement(text, term, kind));
        requirements.collect::<Result<_, _>>().map(Self)
    }

    /// Whether an object's fields are as they must be.
    pub fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|requirement| {
            let is = match object.pointer(&requirement.field) {
                Some(Value::String(text)) => *text == requirement.value,
                Some(Value::Null) | None => requirement.absent == requirement.value,
                Some(other) => requirement.value == other.to_string().as_str(),
            };
            is == requirement.equal
        })
    }

    /// Whether nothing is required.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }
}

/// Parts a text at commas that no backslash protects.
fn split(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(|c| {
        let parts = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        parts
    })
    .collect()
}

fn requirement(whole: &str, term: &str, kind: &Kind) -> Result<Requirement, String> {
    let operator = ["!=", "==", "="]
        .into_iter()
        .filter_map(|operator| Some((term.find(operator)?, operator)))
        .min_by_key(|(at, operator)| (*at, std::cmp::Reverse(operator.len())));
    let Some((at, operator)) = operator else {
        return Err(format!(
            "invalid selector: '{whole}'; can't understand '{term}'"
        ));
    };
    let field = term.get(..at).unwrap_or_default();
    let value = term.get(at + operator.len()..).unwrap_or_default();
    if !is_selectable(field, kind) {
        return Err(format!("field label not supported: {field}"));
    }
    let path = match field {
        // A word of its own for a field below.
        "source" => "source.component",
        "status.successful" => "status.succeeded",
        other => other,
    };
    Ok(Requirement {
        field: format!("/{}", path.replace('.', "/")),
        absent: absent(field),
        value: unescape(value),
        equal: operator != "!=",
    })
}

fn is_selectable(field: &str, kind: &Kind) -> bool {
    if matches!(field, "metadata.name" | "metadata.namespace") {
        return true;
    }
    let resource = kind.resource();
    let known = SELECTABLE.iter().find(|(of, _)| *of == resource);
    known.is_some_and(|(_, fields)| fields.contains(&field))
}

fn absent(field: &str) -> &'static str {
    match field {
        "spec.unschedulable" | "spec.hostNetwork" => "false",
        "status.replicas" | "status.successful" => "0",
        _ => "",
    }
}

fn unescape(text: &str) -> String {
    let mut escaped = false;
    text.chars()
        .filter(|c| {
            escaped = *c == '\\' && !escaped;
            !escaped
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::tests::kind;
    use serde_json::json;

    fn matches(selector: &str) -> bool {
        let pod = json!({
            "metadata": { "name": "a", "namespace": "b" },
            "spec": { "nodeName": "n", "hostNetwork": true, "schedulerName": "x,y=z" },
        });
        Fields::parse(selector, &kind("", "pods", "Pod"))
            .unwrap()
            .matches(&pod)
    }

    #[test]
    fn fields_are_equal_or_are_not() {
        for selector in [
            "",
            "metadata.name=a",
            "metadata.name==a,metadata.namespace=b",
            "metadata.name!=x",
            "status.phase=",
            "spec.hostNetwork=true",
            r"spec.schedulerName=x\,y\=z",
            ",metadata.name=a,",
        ] {
            assert!(matches(selector), "{selector}");
        }
        for selector in [
            "metadata.name=b",
            "spec.nodeName!=n",
            "status.phase=Running",
            "spec.hostNetwork=false",
        ] {
            assert!(!matches(selector), "{selector}");
        }
    }

    #[test]
    fn fields_that_are_not_indexed_are_refused() {
        let kind = kind("apps", "deployments", "Deployment");
        let error = |selector| Fields::parse(selector, &kind).unwrap_err();
        assert_eq!(
            error("spec.replicas=1"),
            "field label not supported: spec.replicas"
        );
        assert_eq!(error("a"), "invalid selector: 'a'; can't understand 'a'");
    }
}
