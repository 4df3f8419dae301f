//! What identifies an item of a list: `k:{"name":"c"}` for keyed lists, `v:"x"` for sets, `i:0` for what is neither.
//!
//! The texts are those of `fieldsV1`, in one form only: keys in order, no spaces.

use std::cmp::Ordering;
use std::fmt::Write;

use serde_json::Value;

use super::schema::Key;

/// What identifies an item of a keyed list.
///
/// # Errors
/// Says why nothing does, as the API server says it.
pub(super) fn keyed(keys: &[Key], item: &Value) -> Result<Box<str>, String> {
    let Some(object) = item.as_object() else {
        let what = match item {
            Value::Null => "a null element",
            _ => "non-map elements",
        };
        return Err(format!("associative list with keys may not have {what}"));
    };
    let mut text = String::from("k:{");
    for key in keys {
        let Some(value) = object.get(key.name.as_ref()).or(key.default.as_ref()) else {
            return Err(format!(
                "associative list with keys has an element that omits key field {:?} (and doesn't have default value)",
                key.name
            ));
        };
        let comma = if text.len() > 3 { "," } else { "" };
        let _ = write!(text, "{comma}{:?}:", key.name);
        match value.as_str().filter(|value| is_plain(value)) {
            Some(plain) => text.extend(["\"", plain, "\""]),
            None => text.push_str(&value.to_string()),
        }
    }
    text.push('}');
    Ok(text.into())
}

/// What identifies an item of a set.
///
/// # Errors
/// Says why nothing does, as the API server says it.
pub(super) fn member(item: &Value) -> Result<Box<str>, String> {
    match item {
        Value::Null => {
            Err("associative list without keys has an element that's an explicit null".to_owned())
        }
        Value::Object(_) => {
            Err("associative list without keys has an element that's a map type".to_owned())
        }
        Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
        scalar => Ok(format!("v:{scalar}").into()),
    }
}

/// The one form of what somebody wrote.
pub(super) fn canonical(kind: &str, text: &str) -> Option<Box<str>> {
    if let Some(inner) = text.strip_prefix("{\"name\":\"")
        && let Some(name) = inner.strip_suffix("\"}")
        && kind == "k"
        && is_plain(name)
    {
        // So are most items identified: there is no need to read it.
        return Some(format!("k:{text}").into());
    }
    match kind {
        "k" | "v" => {
            let value: Value = serde_json::from_str(text).ok()?;
            Some(format!("{kind}:{value}").into())
        }
        "i" => Some(format!("i:{}", text.parse::<i64>().ok()?).into()),
        _ => None,
    }
}

/// Whether JSON has a text as it is.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

/// As messages show it: `[name="c"]`, `[="x"]`, `[0]`.
pub(super) fn shown(item: &str) -> String {
    match (item.get(..2), parts(item)) {
        (Some("k:"), Value::Object(keys)) => {
            let keys: Vec<String> = keys.iter().map(|(k, v)| format!("{k}={v}")).collect();
            format!("[{}]", keys.join(","))
        }
        (Some("v:"), value) => format!("[={value}]"),
        (_, value) => format!("[{value}]"),
    }
}

/// The order in which messages list items: numbers by their size.
pub(super) fn order(left: &str, right: &str) -> Ordering {
    values(&parts(left), &parts(right))
}

fn parts(item: &str) -> Value {
    let text = item.get(2..).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

fn values(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => left
            .values()
            .zip(right.values())
            .map(|(left, right)| values(left, right))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal),
        (Value::Number(left), Value::Number(right)) => left
            .as_f64()
            .partial_cmp(&right.as_f64())
            .unwrap_or(Ordering::Equal),
        (left, right) => left.to_string().cmp(&right.to_string()),
    }
}
