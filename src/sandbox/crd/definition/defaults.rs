//! Defaults of definitions.

use serde_json::{Value, json};

use super::super::fields::{object, text};

/// Adds defaults to a definition (names, versions' conversion strategy).
pub fn default(definition: &mut Value) {
    let Some(spec) = definition.get_mut("spec") else {
        return;
    };
    if let Some(names) = spec.get_mut("names") {
        let kind = text(names, "kind").to_owned();
        if !kind.is_empty() {
            fill(names, "listKind", format!("{kind}List").into());
            fill(names, "singular", kind.to_lowercase().into());
        }
    }
    if let Some(conversion) = object(spec, "conversion") {
        conversion
            .entry("strategy")
            .or_insert_with(|| "None".into());
        let service = conversion
            .get_mut("webhook")
            .and_then(|webhook| webhook.pointer_mut("/clientConfig/service"));
        if let Some(Value::Object(service)) = service {
            service.entry("port").or_insert_with(|| json!(443));
        }
    }
    for version in spec
        .get_mut("versions")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            drop_null_defaults(schema);
        }
    }
}

/// A default of `null` is none, as Go reads it.
fn drop_null_defaults(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            fields.values_mut().for_each(drop_null_defaults);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null_defaults),
        _ => {}
    }
}

fn fill(value: &mut Value, field: &str, default: Value) {
    if text(value, field).is_empty()
        && let Some(fields) = value.as_object_mut()
    {
        fields.insert(field.to_owned(), default);
    }
}
