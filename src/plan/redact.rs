//! Keeps the values of Secrets out of everything that people and logs get to see (invariant 6).

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

const MASK: &str = "***";
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";

/// Tells by the object itself, not by what a caller says, whether it is a Secret.
pub fn is_secret(object: &Value) -> bool {
    let text = |field| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    text("kind") == "Secret" && text("apiVersion") == "v1"
}

/// Masks the values of a Secret in both states; values that differ get different masks, as in `kubectl diff`.
///
/// Annotations that hold a value, plain or in base64, or that copy the whole object, are masked as well.
pub fn redact_pair(before: &mut Value, after: &mut Value) {
    if !is_secret(before) && !is_secret(after) {
        return;
    }
    let values: BTreeSet<String> = [&*before, &*after]
        .into_iter()
        .flat_map(secret_values)
        .collect();
    // What a Secret should not have, such as `stringdata`, may hold its values as well.
    mask_maps(Some(before), Some(after), |field, _| !is_shown(field));
    for object in [&mut *before, &mut *after] {
        mask_odd_keys(object);
    }
    for field in ["data", "stringData"] {
        mask_maps(before.get_mut(field), after.get_mut(field), |_, _| true);
    }
    let copies = |key: &str, text: &str| {
        key == "kubectl.kubernetes.io/last-applied-configuration"
            || text.trim_start().starts_with(['{', '['])
            || looks_encoded(text)
            || values
                .iter()
                .any(|value| text == value || value.len() >= 3 && text.contains(value.as_str()))
    };
    for map in ["annotations", "labels"] {
        let path = format!("/metadata/{map}");
        mask_maps(before.pointer_mut(&path), after.pointer_mut(&path), copies);
    }
}

/// Tells whether a text may hold an encoded copy, as some tools keep one of the whole object in an annotation. Digests
/// of ours are told by their length and alphabet.
fn looks_encoded(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-');
    let digest = |text: &str| {
        text.strip_prefix("sha256:")
            .is_some_and(|hex| hex.len() == 64)
    };
    !digest(text)
        && !text.starts_with("applyset-")
        && text.split(|c| !word(c)).any(|part| part.len() >= 24)
}

/// Tells which fields of a Secret are shown. `data` and `stringData` are, as long as they are mappings, for their keys.
fn is_shown(field: &str) -> bool {
    matches!(
        field,
        "apiVersion" | "kind" | "metadata" | "type" | "data" | "stringData"
    )
}

/// Masks what stands where a mapping belongs, and keys that no Secret can have: they may be values gone astray.
fn mask_odd_keys(secret: &mut Value) {
    let valid = |key: &str| {
        key.chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    for field in ["data", "stringData"] {
        match secret.get_mut(field) {
            Some(Value::Object(map)) => {
                let odd: Vec<String> = map.keys().filter(|key| !valid(key)).cloned().collect();
                for key in odd {
                    map.remove(&key);
                    map.insert(MASK.into(), Value::String(MASK.into()));
                }
            }
            Some(other) if !other.is_null() => *other = Value::String(MASK.into()),
            _ => {}
        }
    }
    if let Some(type_) = secret.get_mut("type").filter(|type_| !type_.is_string()) {
        *type_ = Value::String(MASK.into());
    }
}

fn mask_maps(
    before: Option<&mut Value>,
    after: Option<&mut Value>,
    secret: impl Fn(&str, &str) -> bool,
) {
    let mut empty = (Map::new(), Map::new());
    let before = before
        .and_then(Value::as_object_mut)
        .unwrap_or(&mut empty.0);
    let after = after.and_then(Value::as_object_mut).unwrap_or(&mut empty.1);
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let keys: BTreeSet<String> = before.keys().chain(after.keys()).cloned().collect();
    for key in keys {
        let hidden = [before.get(&key), after.get(&key)]
            .into_iter()
            .flatten()
            .any(|value| secret(&key, &text(value)));
        if !hidden {
            continue;
        }
        let differ = matches!((before.get(&key), after.get(&key)), (Some(a), Some(b)) if a != b);
        let (old, new) = if differ {
            (BEFORE, AFTER)
        } else {
            (MASK, MASK)
        };
        for (map, mask) in [(&mut *before, old), (&mut *after, new)] {
            if let Some(value) = map.get_mut(&key) {
                *value = Value::String(mask.into());
            }
        }
    }
}

/// All values of a Secret, as they stand there and decoded; the latter also without the line break that `echo` leaves.
fn secret_values(object: &Value) -> Vec<String> {
    let mut values = Vec::new();
    for field in ["data", "stringData"] {
        for value in object
            .get(field)
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::values)
        {
            let Some(text) = value.as_str().filter(|text| !text.is_empty()) else {
                continue;
            };
            values.push(text.to_owned());
            if let Some(plain) = STANDARD
                .decode(text)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok())
            {
                values.push(plain.trim_end().to_owned());
                values.push(plain);
            }
        }
    }
    values.retain(|value| !value.is_empty());
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_and_their_copies_are_masked() {
        let secret = |password: &str| {
            json!({
                "apiVersion": "v1", "kind": "Secret",
                "metadata": { "name": "s", "annotations": {
                    "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"data\":{{\"p\":\"{}\"}}}}", STANDARD.encode(password)),
                    "note": format!("the password is {}", password.trim_end()),
                    "team": "web",
                } },
                "data": { "p": STANDARD.encode(password), "same": "c2FtZQ==" },
            })
        };
        let (mut before, mut after) = (secret("hunter2"), secret("hunter3\n"));
        redact_pair(&mut before, &mut after);
        assert_eq!(before["data"], json!({ "p": BEFORE, "same": MASK }));
        assert_eq!(after["data"], json!({ "p": AFTER, "same": MASK }));
        assert_eq!(before["metadata"]["annotations"]["team"], "web");
        let shown = format!("{before}{after}");
        for value in [
            "hunter",
            &STANDARD.encode("hunter2"),
            &STANDARD.encode("hunter3\n"),
            "c2FtZQ",
        ] {
            assert!(!shown.contains(value), "{value} in {shown}");
        }
    }

    #[test]
    fn a_secret_that_is_not_well_formed_shows_nothing_either() {
        for field in [
            json!({ "stringdata": { "password": "hunter2" } }),
            json!({ "stringData": "hunter2" }),
            json!({ "data": ["hunter2"] }),
            json!({ "spec": { "password": "hunter2" } }),
            json!({ "immutable": "hunter2" }),
            json!({ "type": { "hunter2": "hunter2" } }),
            json!({ "stringData": { "bad key hunter2": "x" } }),
        ] {
            let mut secret =
                json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" } });
            secret
                .as_object_mut()
                .unwrap()
                .extend(field.as_object().unwrap().clone());
            redact_pair(&mut secret, &mut Value::Null);
            assert!(!secret.to_string().contains("hunter2"), "{secret}");
            assert_eq!(secret["metadata"]["name"], "s");
        }
    }

    #[test]
    fn other_kinds_are_left_as_they_are() {
        let config = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": "b" } });
        let mut shown = config.clone();
        redact_pair(&mut shown, &mut Value::Null);
        assert_eq!(shown, config);
        // A custom kind of that name is not the core Secret.
        let custom =
            json!({ "apiVersion": "example.com/v1", "kind": "Secret", "data": { "a": "b" } });
        assert!(!is_secret(&custom));
    }
}
