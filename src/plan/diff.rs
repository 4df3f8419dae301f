//! What people see of a change: a unified diff without what only servers write.

use serde_json::{Map, Value};
use similar::TextDiff;

use super::redact::redact_pair;
use crate::api::names::APPLIED_DIGEST;
use crate::load::to_yaml;
use crate::render::SERVER_METADATA;

/// Makes the unified diff between two states of an object, or `None` when people would see no difference.
///
/// `Value::Null` stands for an object that is not there.
pub fn diff(live: &Value, merged: &Value, name: &str) -> Option<String> {
    let (mut live, mut merged) = (visible(live), visible(merged));
    redact_pair(&mut live, &mut merged);
    if live == merged {
        return None;
    }
    let text = |value: &Value| {
        if value.is_null() {
            String::new()
        } else {
            to_yaml(value)
        }
    };
    let (before, after) = (text(&live), text(&merged));
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let header = |side: &str, value: &Value| {
        if value.is_null() {
            "/dev/null".to_owned()
        } else {
            format!("{side}/{name}")
        }
    };
    Some(
        diff.unified_diff()
            .context_radius(3)
            .header(&header("live", &live), &header("merged", &merged))
            .to_string(),
    )
}

/// Leaves out what the server fills in, and our own digest, which changes with everything else.
fn visible(object: &Value) -> Value {
    let mut object = object.clone();
    let Some(fields) = object.as_object_mut() else {
        return object;
    };
    fields.remove("status");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in SERVER_METADATA {
            metadata.remove(field);
        }
        if let Some(annotations) = metadata
            .get_mut("annotations")
            .and_then(Value::as_object_mut)
        {
            annotations.remove(APPLIED_DIGEST);
        }
        if metadata
            .get("annotations")
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
        {
            metadata.remove("annotations");
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let object = |version: &str, value: &str| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {
                    "name": "a", "resourceVersion": version, "managedFields": [{ "manager": version }],
                    "annotations": { APPLIED_DIGEST: version },
                },
                "data": { "k": value },
            })
        };
        assert_eq!(diff(&object("1", "x"), &object("2", "x"), "a"), None);
        let shown = diff(&object("1", "x"), &object("2", "z"), "v1.ConfigMap.n.a").unwrap();
        insta::assert_snapshot!(shown, @r"
        --- live/v1.ConfigMap.n.a
        +++ merged/v1.ConfigMap.n.a
        @@ -1,6 +1,6 @@
         apiVersion: v1
         data:
        -  k: x
        +  k: z
         kind: ConfigMap
         metadata:
           name: a
        ");
    }
}
