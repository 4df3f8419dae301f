//! JSON merge patches (RFC 7386), with lists that hold no nulls, as the API server has them.

use serde_json::{Map, Value};

/// Changes a value: objects are merged, `null` takes away, everything else takes the place of what was there.
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = without_nulls(patch);
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

/// A value that takes the place of another one.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            fields
                .map(|(name, value)| (name.clone(), without_nulls(value)))
                .collect()
        }
        Value::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null());
            items.map(without_nulls).collect()
        }
        value => value.clone(),
    }
}
