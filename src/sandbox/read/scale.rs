//! `/scale` as it is read.

use serde_json::{Map, Value, json};

use crate::error::{ApiError, Cause};
use crate::types::Scale;

/// The numbers of an object as an `autoscaling/v1` Scale.
pub fn of(object: &Value, scale: &Scale) -> Value {
    let number = |path: &str| at(object, path).and_then(Value::as_i64).unwrap_or(0);
    let metadata = object.get("metadata");
    let mut kept = Map::new();
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        if let Some(value) = metadata.and_then(|metadata| metadata.get(field)) {
            kept.insert(field.to_owned(), value.clone());
        }
    }
    let mut status = Map::new();
    status.insert("replicas".to_owned(), number(&scale.status_replicas).into());
    let selector = scale
        .label_selector
        .as_deref()
        .and_then(|path| at(object, path));
    if let Some(selector) = selector.map(selector_text).filter(|text| !text.is_empty()) {
        status.insert("selector".to_owned(), selector.into());
    }
    let mut spec = Map::new();
    let wanted = number(&scale.spec_replicas);
    if wanted != 0 {
        spec.insert("replicas".to_owned(), wanted.into());
    }
    json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": kept,
        "spec": spec,
        "status": status,
    })
}

/// The same for a custom object, which need not have such numbers.
///
/// # Errors
/// 500 when it does not say how many replicas are wanted.
pub fn of_custom(object: &Value, scale: &Scale) -> Result<Value, ApiError> {
    let path = &scale.spec_replicas;
    if at(object, path).is_none() {
        let why = format!("the spec replicas field {path:?} does not exist");
        let message = format!("Internal error occurred: {why}");
        let mut error = ApiError::new(500, "InternalError", message);
        error.details_mut().causes.push(Cause {
            reason: "",
            message: why,
            field: String::new(),
        });
        return Err(error);
    }
    Ok(of(object, scale))
}

/// The value at a JSON path such as `.spec.replicas`.
fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.').filter(|name| !name.is_empty());
    names.try_fold(object, |value, name| value.get(name))
}

/// A selector as text; custom objects have it so already.
fn selector_text(selector: &Value) -> String {
    if let Some(text) = selector.as_str() {
        return text.to_owned();
    }
    let structured =
        selector.get("matchLabels").is_some() || selector.get("matchExpressions").is_some();
    let labels = if structured {
        selector.get("matchLabels")
    } else {
        Some(selector)
    };
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let mut terms: Vec<String> = labels
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    terms.extend(
        expressions
            .into_iter()
            .flatten()
            .filter_map(expression_text),
    );
    terms.join(",")
}

fn expression_text(expression: &Value) -> Option<String> {
    let key = expression.get("key")?.as_str()?;
    let values = expression.get("values").and_then(Value::as_array);
    let values: Vec<&str> = values
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let values = values.join(",");
    match expression.get("operator")?.as_str()? {
        "In" => Some(format!("{key} in ({values})")),
        "NotIn" => Some(format!("{key} notin ({values})")),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_the_numbers_and_the_selector() {
        let paths = |selector: &str| Scale {
            spec_replicas: ".spec.replicas".into(),
            status_replicas: ".status.replicas".into(),
            label_selector: Some(selector.into()),
        };
        let object = json!({
            "metadata": { "name": "a", "namespace": "b", "uid": "c", "labels": {} },
            "spec": { "replicas": 3, "selector": {
                "matchLabels": { "app": "x" },
                "matchExpressions": [
                    { "key": "k", "operator": "In", "values": ["1", "2"] },
                    { "key": "l", "operator": "DoesNotExist" },
                ],
            } },
            "status": { "replicas": 2, "selector": "y=z" },
        });
        let scale = of(&object, &paths(".spec.selector"));
        assert_eq!(scale["spec"], json!({ "replicas": 3 }));
        assert_eq!(
            scale["status"],
            json!({ "replicas": 2, "selector": "app=x,k in (1,2),!l" })
        );
        assert_eq!(
            scale["metadata"],
            json!({ "name": "a", "namespace": "b", "uid": "c" })
        );
        assert_eq!(
            of(&object, &paths(".status.selector"))["status"]["selector"],
            "y=z"
        );
        let empty = of(&json!({ "metadata": {} }), &paths(".spec.selector"));
        assert_eq!(empty["status"], json!({ "replicas": 0 }));
    }
}
