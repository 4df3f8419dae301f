//! ConfigMaps and Secrets.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use super::causes::{Causes, quoted};
use super::defaults::{Default::Text, add, object_in};
use super::spot::Spot;
use crate::words;

/// Most bytes of all values together.
const MOST: usize = 1024 * 1024;

const IMMUTABLE: &str = "field is immutable when `immutable` is set";

/// Adds defaults to a Secret, and writes its `stringData` into `data`.
pub(super) fn default_secret(secret: &mut Value) {
    add(secret, &[("type", Text("Opaque"))]);
    let Some(fields) = secret.as_object_mut() else {
        return;
    };
    let Some(Value::Object(texts)) = fields.remove("stringData") else {
        return;
    };
    if texts.is_empty() {
        return;
    }
    if let Some(data) = object_in(fields, "data").as_object_mut() {
        for (key, text) in texts {
            let text = text.as_str().unwrap_or_default();
            data.insert(key, BASE64_STANDARD.encode(text).into());
        }
    }
}

/// What is wrong with a ConfigMap.
pub(super) fn check_config_map(causes: &mut Causes, object: &Spot<'_>) {
    let (data, binary) = (object.field("data"), object.field("binaryData"));
    let mut size = 0;
    for (key, value) in data.entries() {
        causes.text_invalid(&value, key, &words::config_key(key));
        if binary.value.get(key).is_some() {
            causes.invalid_as(
                &value,
                &quoted(key),
                "duplicate of key present in binaryData",
            );
        }
        size += value.text().len();
    }
    for (key, value) in binary.entries() {
        causes.text_invalid(&value, key, &words::config_key(key));
        size += bytes(value.text()).len();
    }
    if size > MOST {
        causes.too_long(&Spot::root(object.value), MOST);
    }
}

/// What is wrong with a Secret.
pub(super) fn check_secret(causes: &mut Causes, object: &Spot<'_>) {
    let data = object.field("data");
    let mut size = 0;
    for (key, value) in data.entries() {
        causes.text_invalid(&value, key, &words::config_key(key));
        size += bytes(value.text()).len();
    }
    if size > MOST {
        causes.too_long(&data, MOST);
    }
    let mut require = |key| {
        let value = data.key(key);
        if value.absent() {
            causes.required(&value, "");
        }
    };
    match object.field("type").text() {
        "kubernetes.io/tls" => {
            require("tls.crt");
            require("tls.key");
        }
        "kubernetes.io/dockercfg" => check_registry(causes, &data.key(".dockercfg")),
        "kubernetes.io/dockerconfigjson" => check_registry(causes, &data.key(".dockerconfigjson")),
        // The API server forgets to put the field's name into these paths.
        "kubernetes.io/basic-auth" => {
            let said = data.key("%s");
            if data.key("username").absent() && data.key("password").absent() {
                causes.required(&said.key("username"), "");
                causes.required(&said.key("password"), "");
            }
        }
        "kubernetes.io/ssh-auth" if data.key("ssh-privatekey").text().is_empty() => {
            let said = data.key("%s");
            causes.required(&said.key("ssh-privatekey"), "");
        }
        "kubernetes.io/service-account-token" => {
            let metadata = object.field("metadata");
            let annotations = metadata.field("annotations");
            let account = annotations.key("kubernetes.io/service-account.name");
            if account.text().is_empty() {
                causes.required(&account, "");
            }
        }
        _ => {}
    }
}

fn check_registry(causes: &mut Causes, value: &Spot<'_>) {
    if value.absent() {
        causes.required(value, "");
        return;
    }
    let bytes = bytes(value.text());
    let why = match serde_json::from_slice::<Value>(&bytes) {
        Ok(Value::Object(_) | Value::Null) => return,
        Ok(other) => {
            let what = match other {
                Value::Array(_) => "array",
                Value::String(_) => "string",
                Value::Number(_) => "number",
                _ => "bool",
            };
            format!("json: cannot unmarshal {what} into Go value of type map[string]interface {{}}")
        }
        Err(_) => match bytes.iter().find(|b| !b.is_ascii_whitespace()) {
            None => "unexpected end of JSON input".to_owned(),
            Some(first) => format!(
                "invalid character '{}' looking for beginning of value",
                char::from(*first)
            ),
        },
    };
    causes.invalid_as(value, "\"<secret contents redacted>\"", &why);
}

fn bytes(text: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(text).unwrap_or_default()
}

/// What may not change of a ConfigMap or Secret that says so.
pub(super) fn check_update(causes: &mut Causes, new: &Spot<'_>, old: &Value, secret: bool) {
    if secret {
        causes.unchanged(&new.field("type"), old.get("type").unwrap_or(&Value::Null));
    }
    if old.get("immutable") != Some(&Value::Bool(true)) {
        return;
    }
    let immutable = new.field("immutable");
    if !immutable.is_true() {
        causes.forbidden(&immutable, IMMUTABLE);
    }
    let empty = Map::new();
    let entries = |object: &Value, field: &str| {
        object
            .get(field)
            .and_then(Value::as_object)
            .unwrap_or(&empty)
            .clone()
    };
    for field in ["data", "binaryData"] {
        if entries(new.value, field) != entries(old, field) {
            causes.forbidden(&new.field(field), IMMUTABLE);
        }
    }
}

/// Takes over the type of a Secret that does not say one any more.
pub(super) fn prepare_secret_update(new: &mut Value, old: &Value) {
    let said = new.get("type").and_then(Value::as_str).unwrap_or_default();
    if said.is_empty()
        && let (Some(kind), Some(fields)) = (old.get("type"), new.as_object_mut())
    {
        fields.insert("type".to_owned(), kind.clone());
    }
}
