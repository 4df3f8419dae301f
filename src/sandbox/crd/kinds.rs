//! From a definition to kinds.

use std::sync::Arc;

use serde_json::Value;

use super::fields::{flag, items, text, texts};
use super::schema;
use crate::types::{Column, Kind, Origin, Scale};

/// The kinds that an established definition makes, one for each served version.
pub fn kinds(definition: &Value) -> Vec<Kind> {
    let Some(spec) = definition.get("spec") else {
        return Vec::new();
    };
    let name = definition
        .get("metadata")
        .map_or("", |metadata| text(metadata, "name"));
    items(spec, "versions")
        .filter(|version| flag(version, "served"))
        .map(|version| kind(name, spec, version))
        .collect()
}

fn kind(definition: &str, spec: &Value, version: &Value) -> Kind {
    let names = spec.get("names").unwrap_or(&Value::Null);
    let kind = text(names, "kind");
    let validation = version.pointer("/schema/openAPIV3Schema");
    let (schema, root) = schema::merging(validation.unwrap_or(&Value::Null));
    Kind {
        group: text(spec, "group").to_owned(),
        version: text(version, "name").to_owned(),
        kind: kind.to_owned(),
        list_kind: or(text(names, "listKind"), || format!("{kind}List")),
        plural: text(names, "plural").to_owned(),
        singular: or(text(names, "singular"), || kind.to_lowercase()),
        short_names: owned(texts(names, "shortNames")),
        categories: owned(texts(names, "categories")),
        namespaced: text(spec, "scope") == "Namespaced",
        status: version.pointer("/subresources/status").is_some(),
        scale: version.pointer("/subresources/scale").map(scale),
        generation: true,
        origin: Origin::Custom(definition.to_owned()),
        schema: Arc::new(schema),
        root,
        validation: validation.cloned().map(Arc::new),
        columns: items(version, "additionalPrinterColumns")
            .map(column)
            .collect(),
    }
}

fn scale(scale: &Value) -> Scale {
    let selector = text(scale, "labelSelectorPath");
    Scale {
        spec_replicas: text(scale, "specReplicasPath").to_owned(),
        status_replicas: text(scale, "statusReplicasPath").to_owned(),
        label_selector: (!selector.is_empty()).then(|| selector.to_owned()),
    }
}

fn column(column: &Value) -> Column {
    let priority = column.get("priority").and_then(Value::as_u64);
    Column {
        name: text(column, "name").to_owned(),
        r#type: text(column, "type").to_owned(),
        path: text(column, "jsonPath").to_owned(),
        priority: priority
            .and_then(|priority| priority.try_into().ok())
            .unwrap_or(0),
    }
}

fn or(text: &str, other: impl FnOnce() -> String) -> String {
    match text {
        "" => other(),
        text => text.to_owned(),
    }
}

fn owned(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}
