//! Objects as `kubectl get` shows them.

mod age;
mod cluster;
mod columns;
mod custom;
mod network;
mod text;
mod workloads;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use self::columns::{Cells, Head};
use super::{Kind, Origin};
use crate::merge;

/// How much of each object is in its row (`includeObject`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Include {
    /// Nothing.
    Nothing,
    /// Its metadata.
    Metadata,
    /// All of it.
    Object,
}

/// Objects of a kind as a `meta.k8s.io/v1` `Table`; `metadata` is that of their list.
pub fn table(kind: &Kind, objects: &[Arc<Value>], include: Include, metadata: Value) -> Value {
    let now = Timestamp::now();
    let shown = Columns::of(kind);
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut row = json!({ "cells": shown.cells(object, now) });
            if let Some(row) = row.as_object_mut().filter(|_| include != Include::Nothing) {
                row.insert("object".to_owned(), included(kind, object, include));
            }
            row
        })
        .collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": shown.definitions(), "rows": rows,
    })
}

fn included(kind: &Kind, object: &Value, include: Include) -> Value {
    let mut included = match include {
        Include::Object => {
            let mut object = object.clone();
            if let Some(fields) = object.as_object_mut() {
                fields.insert("apiVersion".to_owned(), kind.api_version().into());
                fields.insert("kind".to_owned(), kind.kind.as_str().into());
            }
            object
        }
        _ => json!({
            "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object.get("metadata"),
        }),
    };
    merge::expand(&mut included);
    included
}

/// The columns of a kind.
enum Columns<'a> {
    BuiltIn(&'static [Head], Cells),
    Custom(&'a Kind),
}

impl<'a> Columns<'a> {
    fn of(kind: &'a Kind) -> Self {
        match kind.origin {
            Origin::BuiltIn => {
                let (heads, cells) = columns::of(&kind.resource());
                Self::BuiltIn(heads, cells)
            }
            Origin::Custom(_) | Origin::Assumed => Self::Custom(kind),
        }
    }

    fn definitions(&self) -> Vec<Value> {
        match self {
            Self::BuiltIn(heads, _) => heads.iter().map(Head::definition).collect(),
            Self::Custom(kind) => custom::definitions(kind),
        }
    }

    fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        match self {
            Self::BuiltIn(_, cells) => cells(object, now),
            Self::Custom(kind) => custom::cells(kind, object, now),
        }
    }
}

#[cfg(test)]
mod tests;
