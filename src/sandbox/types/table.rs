//! Kinds as bytes: the table of the built-in ones, and those of a cluster in a snapshot.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Kind, Registry};
use crate::merge::Schema;

/// Counted up when older programs could not read what newer ones write.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Row {
    /// Place of its schema.
    schema: usize,
    kind: Kind,
}

#[derive(Deserialize)]
struct Table {
    format: u32,
    schemas: Vec<Schema>,
    kinds: Vec<Row>,
}

/// The kinds as text, with a kind a line. Kinds that share a schema do so afterwards.
pub fn to_bytes(registry: &Registry) -> Vec<u8> {
    let mut schemas: Vec<Arc<Schema>> = Vec::new();
    let mut kinds = Vec::new();
    for kind in registry.all() {
        let known = schemas.iter().position(|it| Arc::ptr_eq(it, &kind.schema));
        let schema = known.unwrap_or_else(|| {
            schemas.push(kind.schema.clone());
            schemas.len() - 1
        });
        kinds.push(Row {
            schema,
            kind: (**kind).clone(),
        });
    }
    let schemas: Vec<String> = schemas.iter().map(|schema| json(&**schema)).collect();
    let kinds: Vec<String> = kinds.iter().map(json).collect();
    let text = format!(
        "{{\"format\":{FORMAT},\"schemas\":[\n{}\n],\"kinds\":[\n{}\n]}}\n",
        schemas.join(",\n"),
        kinds.join(",\n")
    );
    text.into_bytes()
}

/// Kinds out of [`to_bytes`].
///
/// # Errors
/// What is wrong with the bytes.
pub fn from_bytes(bytes: &[u8]) -> Result<Registry, String> {
    let table: Table = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if table.format != FORMAT {
        return Err(format!("format {} of kinds is not known", table.format));
    }
    let schemas: Vec<Arc<Schema>> = table.schemas.into_iter().map(Arc::new).collect();
    let mut registry = Registry::default();
    for Row { schema, mut kind } in table.kinds {
        kind.schema = schemas
            .get(schema)
            .cloned()
            .ok_or("a kind without schema")?;
        registry.add(kind);
    }
    Ok(registry)
}

fn json(value: &impl Serialize) -> String {
    // Maps have text for keys here, so this cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}
