//! JSON merge patches (RFC 7386).

use serde_json::{Map, Value};

/// Changes a value: objects are merged, `null` takes away, everything else takes the place of what was there.
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Map::new().into();
    }
    let Value::Object(target) = target else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge(target.entry(key.as_str()).or_insert(Value::Null), value);
        }
    }
}
