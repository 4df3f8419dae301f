//! A Deployment's selector as a Service can express it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Lowers a Deployment's `spec.selector` to the equality selector of a Service.
///
/// Takes `matchLabels` and `In` expressions of one value; both select the same pods as the Deployment does.
///
/// # Errors
/// A sentence that says why no Service can select exactly these pods: leaving an expression out would select
/// pods of others, whose coverage would be read and reset.
pub fn service_selector(selector: &Value) -> Result<BTreeMap<String, String>, String> {
    let mut labels = BTreeMap::new();
    let pairs = selector.get("matchLabels").and_then(Value::as_object);
    for (key, value) in pairs.into_iter().flatten() {
        let value = value
            .as_str()
            .ok_or_else(|| format!("the value of label {key} is not a string"))?;
        labels.insert(key.clone(), value.to_owned());
    }
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let (key, value) = single_value(expression)?;
        if labels
            .insert(key.to_owned(), value.to_owned())
            .is_some_and(|old| old != value)
        {
            return Err(format!(
                "it asks for two values of label {key}, which no pod has"
            ));
        }
    }
    if labels.is_empty() {
        return Err("it names no label".to_owned());
    }
    Ok(labels)
}

fn single_value(expression: &Value) -> Result<(&str, &str), String> {
    let text = |field| {
        expression
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (key, operator) = (text("key"), text("operator"));
    let values = expression
        .get("values")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    match (operator, values) {
        ("In", [Value::String(value)]) => Ok((key, value)),
        ("In", _) => Err(format!(
            "a Service cannot express \"{key} In ({} values)\"",
            values.len()
        )),
        _ => Err(format!("a Service cannot express \"{key} {operator}\"")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_and_single_values_are_kept() {
        let selector = service_selector(&json!({
            "matchLabels": { "app": "pet" },
            "matchExpressions": [{ "key": "tier", "operator": "In", "values": ["web"] }],
        }));
        let expected = [("app", "pet"), ("tier", "web")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(selector, Ok(BTreeMap::from(expected)));
    }

    #[test]
    fn what_a_service_cannot_express_is_refused_whole() {
        for (operator, values) in [
            ("In", json!(["a", "b"])),
            ("In", json!([])),
            ("NotIn", json!(["a"])),
            ("Exists", json!(null)),
        ] {
            let selector = json!({
                "matchLabels": { "app": "pet" },
                "matchExpressions": [{ "key": "tier", "operator": operator, "values": values }],
            });
            assert!(
                service_selector(&selector).is_err_and(|e| e.contains("tier")),
                "{operator}"
            );
        }
        assert!(service_selector(&json!({})).is_err());
        assert!(service_selector(&json!({ "matchLabels": {} })).is_err());
        let twice = json!({
            "matchLabels": { "app": "a" },
            "matchExpressions": [{ "key": "app", "operator": "In", "values": ["b"] }],
        });
        assert!(service_selector(&twice).is_err_and(|e| e.contains("two values")));
    }
}
