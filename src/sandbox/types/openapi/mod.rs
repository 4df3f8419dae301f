//! OpenAPI documents of what is served, as far as clients use them: types with how they are merged, and which parameters
//! requests take. They hold no descriptions.

mod definitions;
mod paths;
pub mod protobuf;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::definitions::{Definitions, Dialect};
use super::Registry;

/// The whole document in version 2 (`/openapi/v2`).
pub fn v2(kinds: &Registry) -> Value {
    let mut definitions = Definitions::new(Dialect::V2);
    let mut paths = Map::new();
    for kind in kinds.all() {
        let name = definitions.root(kind);
        paths.extend(paths::of(kind, &name, Dialect::V2));
    }
    definitions.parts(kinds);
    json!({
        "swagger": "2.0", "info": info(), "paths": paths, "definitions": definitions.finish(),
    })
}

/// Where the documents of version 3 are, one for each group and version (`/openapi/v3`).
pub fn v3_index(kinds: &Registry) -> Value {
    let places: BTreeSet<String> = kinds
        .all()
        .map(|kind| paths::prefix(&kind.group, &kind.version))
        .collect();
    let paths: Map<String, Value> = places
        .into_iter()
        .map(|place| {
            let url = format!("/openapi/v3{place}");
            let key = place.trim_start_matches('/').to_owned();
            (key, json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

/// The document of a group's version (`/openapi/v3/apis/{group}/{version}`, `/openapi/v3/api/v1`); `None` when there is none.
pub fn v3(kinds: &Registry, group: &str, version: &str) -> Option<Value> {
    let mut definitions = Definitions::new(Dialect::V3);
    let mut paths = Map::new();
    for kind in kinds.all() {
        if kind.group == group && kind.version == version {
            let name = definitions.root(kind);
            paths.extend(paths::of(kind, &name, Dialect::V3));
        }
    }
    if paths.is_empty() {
        return None;
    }
    Some(json!({
        "openapi": "3.0.0", "info": info(), "paths": paths, "components": { "schemas": definitions.finish() },
    }))
}

fn info() -> Value {
    json!({ "title": "Covergence sandbox", "version": env!("CARGO_PKG_VERSION") })
}

#[cfg(test)]
mod tests;
