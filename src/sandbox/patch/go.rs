//! Values as Go prints them (`%v`), for messages that quote them.

use serde_json::Value;

/// Prints a value.
pub fn print(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(print).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| key.as_str());
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{key}:{}", print(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
    }
}
