//! Parts of objects as text.

use serde_json::{Map, Value};

/// The text at a JSON pointer; empty when there is none.
pub fn at<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The number at a JSON pointer; 0 when there is none.
pub fn number(object: &Value, pointer: &str) -> i64 {
    object
        .pointer(pointer)
        .and_then(Value::as_i64)
        .unwrap_or_default()
}

/// The items at a JSON pointer.
pub fn items<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The object at a JSON pointer.
pub fn map<'a>(object: &'a Value, pointer: &str) -> Option<&'a Map<String, Value>> {
    object.pointer(pointer).and_then(Value::as_object)
}

/// The name of an object.
pub fn name(object: &Value) -> Value {
    at(object, "/metadata/name").into()
}

/// A text, or what stands for none.
pub fn or<'a>(text: &'a str, none: &'a str) -> &'a str {
    if text.is_empty() { none } else { text }
}

/// A number or text as text; `none` for anything else.
pub fn scalar(value: Option<&Value>, none: &str) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => none.to_owned(),
    }
}

/// The first three of some texts.
pub fn some(all: &[String]) -> String {
    const MOST: usize = 3;
    let shown: Vec<&str> = all.iter().take(MOST).map(String::as_str).collect();
    match all.len().checked_sub(MOST) {
        None | Some(0) => shown.join(","),
        Some(more) => format!("{} + {more} more...", shown.join(",")),
    }
}

/// Labels as `a=b,c=d`, in order.
pub fn labels(labels: Option<&Map<String, Value>>) -> String {
    let pairs: Vec<String> = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    or(&pairs.join(","), "<none>").to_owned()
}

/// A label selector as text.
pub fn selector(selector: Option<&Value>) -> String {
    let Some(selector) = selector else {
        return "<none>".to_owned();
    };
    let mut parts: Vec<(String, String)> = Vec::new();
    for (key, value) in map(selector, "/matchLabels").into_iter().flatten() {
        parts.push((
            key.clone(),
            format!("{key}={}", value.as_str().unwrap_or_default()),
        ));
    }
    for rule in items(selector, "/matchExpressions") {
        let key = at(rule, "/key");
        let mut values: Vec<&str> = items(rule, "/values")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        let said = match at(rule, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key.to_owned(), said));
    }
    parts.sort();
    let parts: Vec<String> = parts.into_iter().map(|(_, said)| said).collect();
    or(&parts.join(","), "<none>").to_owned()
}

/// The names of a template's containers, and their images.
pub fn containers(object: &Value, pointer: &str) -> [Value; 2] {
    let containers = items(object, pointer);
    let all = |pointer: &str| {
        let all: Vec<&str> = containers.iter().map(|it| at(it, pointer)).collect();
        Value::from(all.join(","))
    };
    [all("/name"), all("/image")]
}
