//! What came back from an apply with another value than was sent: an admission webhook has rewritten it.
//!
//! Field owners do not tell: up to v1.20 at least, such a value counts as ours.

use serde_json::{Map, Value};

use crate::api::names::{APPLIED_DIGEST, APPLYSET_PART_OF};

/// Names the fields that came back with another value; nothing when there are none.
///
/// What is missing in the answer is none of them: servers drop what a schema does not know. Items of lists are found by
/// their name; other lists count as a whole.
pub fn rewritten(sent: &Value, answer: &Value) -> Option<String> {
    let mut paths = Vec::new();
    for part in ["metadata/labels", "metadata/annotations", "spec", "data"] {
        let pointer = format!("/{part}");
        if let (Some(sent), Some(answer)) = (sent.pointer(&pointer), answer.pointer(&pointer)) {
            walk(
                &format!(".{}", part.replace('/', ".")),
                sent,
                answer,
                &mut paths,
            );
        }
    }
    let named = paths.iter().take(3).map(String::as_str);
    let mut told: Vec<&str> = named.collect();
    let more = format!("{} more", paths.len().saturating_sub(told.len()));
    if paths.len() > told.len() {
        told.push(&more);
    }
    (!told.is_empty()).then(|| told.join(", "))
}

fn walk(path: &str, sent: &Value, answer: &Value, paths: &mut Vec<String>) {
    match (sent, answer) {
        (Value::Object(sent), Value::Object(answer)) => maps(path, sent, answer, paths),
        (Value::Array(sent), Value::Array(answer))
            if !sent.is_empty() && sent.iter().all(is_named) =>
        {
            for item in sent {
                let name = item.get("name");
                if let Some(found) = answer.iter().find(|other| other.get("name") == name) {
                    let name = name.and_then(Value::as_str).unwrap_or_default();
                    walk(&format!("{path}[{name}]"), item, found, paths);
                }
            }
        }
        // The server spells quantities and the like in its own way.
        (sent, answer) if is_scalar(sent) != is_scalar(answer) => {}
        (sent, answer) if sent != answer => paths.push(path.to_owned()),
        _ => {}
    }
}

fn maps(
    path: &str,
    sent: &Map<String, Value>,
    answer: &Map<String, Value>,
    paths: &mut Vec<String>,
) {
    // Our own marks are looked at by their owners.
    let marks = [APPLIED_DIGEST, APPLYSET_PART_OF];
    for (key, value) in sent
        .iter()
        .filter(|(key, _)| !marks.contains(&key.as_str()))
    {
        if let Some(found) = answer.get(key) {
            walk(&format!("{path}.{key}"), value, found, paths);
        }
    }
}

fn is_named(item: &Value) -> bool {
    item.get("name").is_some_and(Value::is_string)
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_values_are_named_and_what_the_server_adds_or_drops_is_not() {
        let sent = json!({
            "metadata": { "labels": { "a": "1" } },
            "spec": { "replicas": 2, "unknown": 1, "template": { "containers": [
                { "name": "app", "image": "shop/pet:1" },
                { "name": "side", "image": "proxy:1" },
            ] } },
        });
        let mut answer = sent.clone();
        answer["spec"]["template"]["containers"] = json!([
            { "name": "injected", "image": "x" },
            { "name": "app", "image": "mirror/shop/pet:1", "imagePullPolicy": "Always" },
            { "name": "side", "image": "proxy:1" },
        ]);
        answer["spec"].as_object_mut().unwrap().remove("unknown");
        answer["spec"]["paused"] = json!(false);
        assert_eq!(
            rewritten(&sent, &answer).as_deref(),
            Some(".spec.template.containers[app].image")
        );
        assert_eq!(rewritten(&sent, &sent), None);
    }
}
