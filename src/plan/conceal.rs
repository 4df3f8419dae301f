//! Secrets without their values, of which can be told whether they are the same.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::redact::{is_secret, redact_pair};
use crate::api::names::APPLIED_DIGEST;

/// Makes a token of a value: the first argument is where it stands, such as `shop/db/data/password`. The same value in
/// the same place gives the same token, which tells nothing else about it.
pub type Token<'a> = &'a dyn Fn(&str, &[u8]) -> [u8; 32];

/// Puts tokens in the place of a Secret's values, and of all that is masked when it is shown. Other kinds stay as they are.
pub fn conceal(object: &mut Value, token: Token<'_>) {
    if !is_secret(object) {
        return;
    }
    let mut masked = object.clone();
    redact_pair(&mut masked, &mut Value::Null);
    // A digest of the whole object, by which a guess of one value could be tried.
    if let Some(annotations) = masked.pointer_mut("/metadata/annotations")
        && let Some(digest) = annotations.get_mut(APPLIED_DIGEST)
    {
        *digest = "***".into();
    }
    let path = place(object);
    replace(object, masked, &path, &[], token);
}

/// Puts the values of another state of a Secret in the place of tokens that were made of the same values.
pub fn reveal(concealed: &mut Value, other: &Value, token: Token<'_>) {
    if is_secret(concealed) {
        let path = place(concealed);
        compare(concealed, other, &path, &[], token);
    }
}

fn place(secret: &Value) -> String {
    let name = |field| {
        let metadata = secret.get("metadata");
        metadata
            .and_then(|it| it.get(field)?.as_str())
            .unwrap_or_default()
    };
    format!("{}/{}", name("namespace"), name("name"))
}

/// Makes `object` what `masked` is, with tokens where that has masks.
fn replace(object: &mut Value, masked: Value, place: &str, path: &[&str], token: Token<'_>) {
    match (object, masked) {
        (Value::Object(fields), Value::Object(masked)) => {
            // Keys that were values gone astray are gone there.
            fields.retain(|key, _| masked.contains_key(key));
            for (key, masked) in masked {
                let path = [path, &[key.as_str()]].concat();
                match fields.get_mut(&key) {
                    Some(field) => replace(field, masked, place, &path, token),
                    None => drop(fields.insert(key, masked)),
                }
            }
        }
        // What is no text is no value.
        (Value::Bool(_), _) => {}
        (object, masked) if *object != masked => *object = tokened(object, place, path, token),
        _ => {}
    }
}

fn compare(concealed: &mut Value, other: &Value, place: &str, path: &[&str], token: Token<'_>) {
    match (concealed, other) {
        (Value::Object(fields), Value::Object(others)) => {
            for (key, field) in fields {
                if let Some(other) = others.get(key) {
                    compare(
                        field,
                        other,
                        place,
                        &[path, &[key.as_str()]].concat(),
                        token,
                    );
                }
            }
        }
        // What was never concealed differs from a token as well.
        (concealed @ Value::String(_), other @ Value::String(_))
            if concealed != other && *concealed == tokened(other, place, path, token) =>
        {
            *concealed = canonical(other, path);
        }
        _ => {}
    }
}

fn tokened(value: &Value, place: &str, path: &[&str], token: Token<'_>) -> Value {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let bytes = match path {
        ["data", _] => STANDARD.decode(&text).unwrap_or_else(|_| text.into_bytes()),
        _ => text.into_bytes(),
    };
    let place = format!("{place}/{}", path.join("/"));
    STANDARD.encode(token(&place, &bytes)).into()
}

/// A value as the API server keeps it.
fn canonical(value: &Value, path: &[&str]) -> Value {
    let decoded = match path {
        ["data", _] => value.as_str().and_then(|text| STANDARD.decode(text).ok()),
        _ => None,
    };
    decoded.map_or_else(|| value.clone(), |bytes| STANDARD.encode(bytes).into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::plan::diff;

    fn token(place: &str, value: &[u8]) -> [u8; 32] {
        Sha256::new_with_prefix(place)
            .chain_update(value)
            .finalize()
            .into()
    }

    fn secret(password: &str, digest: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true,
            "metadata": {
                "name": "db", "namespace": "shop", "uid": "1",
                "annotations": {
                    "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"stringData\":{{\"p\":\"{password}\"}}}}"),
                    "note": format!("it is {password}"),
                    "team": "web",
                    APPLIED_DIGEST: digest,
                },
            },
            "data": { "p": STANDARD.encode(password), "user": "YWRtaW4=" },
        })
    }

    #[test]
    fn a_concealed_secret_holds_no_value_and_nothing_to_try_one_by() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let mut concealed = secret("hunter2", &digest);
        conceal(&mut concealed, &token);
        let text = concealed.to_string();
        for value in [
            "hunter2",
            &STANDARD.encode("hunter2"),
            "YWRtaW4",
            "stringData",
            &digest,
        ] {
            assert!(!text.contains(value), "{value} in {text}");
        }
        assert_eq!(concealed["metadata"]["annotations"]["team"], "web");
        assert_eq!(concealed["metadata"]["uid"], "1");
        assert_eq!(
            (&concealed["type"], &concealed["immutable"]),
            (&json!("Opaque"), &json!(true))
        );
        // The same value elsewhere looks otherwise.
        let mut other = secret("hunter2", &digest);
        other["metadata"]["name"] = "other".into();
        conceal(&mut other, &token);
        assert_ne!(concealed["data"]["p"], other["data"]["p"]);
    }

    #[test]
    fn what_is_the_same_comes_back_and_what_changes_is_told_as_with_the_values() {
        for (live, desired) in [("hunter2", "hunter2"), ("hunter2", "hunter3")] {
            let (live, desired) = (secret(live, "sha256:a"), secret(desired, "sha256:a"));
            let mut known = live.clone();
            conceal(&mut known, &token);
            reveal(&mut known, &desired, &token);
            assert_eq!(known == live, live == desired);
            assert_eq!(diff(&known, &desired, "s"), diff(&live, &desired, "s"));
            assert_eq!(known["metadata"]["annotations"][APPLIED_DIGEST], "sha256:a");
        }
    }

    #[test]
    fn a_value_counts_however_its_base64_is_written() {
        let mut known = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a" }, "data": { "p": "aGk=" },
        });
        let live = known.clone();
        conceal(&mut known, &token);
        reveal(&mut known, &live, &token);
        assert_eq!(known, live);
    }

    #[test]
    fn other_kinds_are_left_as_they_are() {
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": "b" } });
        let mut concealed = map.clone();
        conceal(&mut concealed, &token);
        assert_eq!(concealed, map);
    }
}
