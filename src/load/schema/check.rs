//! Walks a value along its schema and notes what does not fit.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::builtin::{self, Fields};
use super::custom::Custom;
use super::quantity::is_quantity;
use super::shape::Shape;
use super::suggest::nearest;
use crate::load::{Diagnostic, Entry, Node, NodeKind, Origin, Position};

/// Past this many findings in one document the rest would not be read.
const MOST: usize = 50;

/// The findings in one document. Messages name fields and types and never quote a value: it may be a Secret's.
pub(super) struct Walk {
    file: Arc<str>,
    path: Vec<String>,
    pub findings: Vec<Diagnostic>,
}

impl Walk {
    pub(super) fn new(file: Arc<str>) -> Self {
        Self {
            file,
            path: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Checks an object of a built-in kind.
    pub(super) fn builtin_root(&mut self, root: &Node, fields: &'static Fields) {
        self.each_entry(root, |walk, entry| match entry.key.as_str() {
            // What the server fills in; what stands here is ignored.
            "status" if fields.contains_key("status") => {}
            key => walk.builtin_field(entry, key, fields),
        });
        self.required(root, root.position, required_of(fields));
    }

    /// Checks an object of a kind that a CRD defines.
    pub(super) fn custom_root(&mut self, root: &Node, schema: &Custom) {
        self.custom_fields(root, root.position, schema, true);
    }

    fn value(&mut self, node: &Node, at: Position, shape: &Shape<'_>) {
        if node.kind == NodeKind::Null {
            // The same as nothing at all, to the API and to what is sent.
            return;
        }
        match (shape, &node.kind) {
            (Shape::Any, _)
            | (Shape::Text | Shape::IntOrString, NodeKind::String(_))
            | (Shape::Bool, NodeKind::Bool(_))
            | (Shape::Number | Shape::Quantity, NodeKind::Number(_)) => {}
            (Shape::Int32 | Shape::IntOrString, NodeKind::Number(n)) if !n.is_f64() => {
                if n.as_i64().is_none_or(|n| i32::try_from(n).is_err()) {
                    self.find(at, format!("`{}` does not fit into 32 bits", self.name()));
                }
            }
            (Shape::Int64, NodeKind::Number(n)) if !n.is_f64() => {
                if n.as_i64().is_none() {
                    self.find(at, format!("`{}` does not fit into 64 bits", self.name()));
                }
            }
            (Shape::Quantity, NodeKind::String(text)) => {
                if !is_quantity(text) {
                    let message = format!("`{}` is not a quantity", self.name());
                    self.find_with(at, message, Some("write it like `500m`, `2` or `1Gi`"));
                }
            }
            (Shape::Bytes, NodeKind::String(text)) => {
                let packed: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
                if STANDARD.decode(packed).is_err() {
                    let message = format!("`{}` is not base64", self.name());
                    let data = self.path.first().is_some_and(|field| field == ".data");
                    let hint = data.then_some("plain text goes under `stringData`");
                    self.find_with(at, message, hint);
                }
            }
            (Shape::List(shape), NodeKind::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(format!("[{index}]"));
                    self.value(item, item.position, shape);
                    self.path.pop();
                }
            }
            (Shape::Map(shape), NodeKind::Map(_)) => {
                self.each_entry(node, |walk, entry| {
                    walk.value(&entry.value, entry.position, shape)
                });
            }
            (Shape::Builtin(fields), NodeKind::Map(_)) => {
                self.each_entry(node, |walk, entry| {
                    walk.builtin_field(entry, &entry.key, fields)
                });
                self.required(node, at, required_of(fields));
            }
            (Shape::Custom(schema), _) => self.custom(node, at, schema),
            (expected, found) => self.mistyped(at, expected, found),
        }
    }

    fn builtin_field(&mut self, entry: &Entry, key: &str, fields: &'static Fields) {
        match fields.get(key) {
            Some(code) => self.value(&entry.value, entry.position, &builtin::field(code).0),
            None => self.unknown(entry, fields.keys().copied()),
        }
    }

    fn custom(&mut self, node: &Node, at: Position, schema: &Custom) {
        let before = self.findings.len();
        match (schema.shape(), &node.kind) {
            (Shape::Custom(schema), NodeKind::Map(_)) => {
                self.custom_fields(node, at, schema, false)
            }
            (expected @ Shape::Custom(_), found) => self.mistyped(at, &expected, found),
            (shape, _) => self.value(node, at, &shape),
        }
        // Of a value of the wrong type it need not be said as well that it is none of those allowed.
        if self.findings.len() == before {
            self.listed(node, at, schema);
        }
        self.bounds(node, at, schema);
    }

    fn custom_fields(&mut self, node: &Node, at: Position, schema: &Custom, root: bool) {
        self.each_entry(node, |walk, entry| {
            let known = schema.fields.get(&entry.key);
            match entry.key.as_str() {
                "status" if root && known.is_some() => {}
                "metadata" if root || schema.embedded => {
                    let shape = builtin::metadata().map_or(Shape::Any, Shape::Builtin);
                    walk.value(&entry.value, entry.position, &shape);
                }
                "apiVersion" | "kind" if root || schema.embedded => {
                    walk.value(&entry.value, entry.position, &Shape::Text);
                }
                _ => match known {
                    Some(schema) => {
                        walk.value(&entry.value, entry.position, &Shape::Custom(schema))
                    }
                    None if schema.open => {}
                    None => {
                        let own = ["apiVersion", "kind", "metadata"]
                            .into_iter()
                            .filter(|_| root || schema.embedded);
                        walk.unknown(entry, schema.fields.keys().map(String::as_str).chain(own));
                    }
                },
            }
        });
        self.required(node, at, schema.required.iter().map(String::as_str));
    }

    fn each_entry(&mut self, node: &Node, mut check: impl FnMut(&mut Self, &Entry)) {
        if let NodeKind::Map(entries) = &node.kind {
            for entry in entries {
                self.path.push(format!(".{}", entry.key));
                check(self, entry);
                self.path.pop();
            }
        }
    }

    fn required<'n>(&mut self, node: &Node, at: Position, names: impl Iterator<Item = &'n str>) {
        for name in names {
            if node
                .get(name)
                .is_none_or(|value| value.kind == NodeKind::Null)
            {
                self.path.push(format!(".{name}"));
                self.find(at, format!("`{}` is missing", self.name()));
                self.path.pop();
            }
        }
    }

    fn unknown<'n>(&mut self, entry: &Entry, known: impl Iterator<Item = &'n str>) {
        let suggestion = nearest(&entry.key, known);
        let message = format!("unknown field `{}`", self.name());
        let hint = suggestion.map(|name| format!("did you mean `{name}`?"));
        self.find_with(entry.position, message, hint.as_deref());
    }

    fn mistyped(&mut self, at: Position, expected: &Shape<'_>, found: &NodeKind) {
        let hint = match (expected, found) {
            (Shape::Text | Shape::Bytes, NodeKind::Bool(_) | NodeKind::Number(_)) => {
                Some("put the value in quotes")
            }
            (Shape::Int32 | Shape::Int64 | Shape::Number | Shape::Bool, NodeKind::String(_)) => {
                Some("write the value without quotes")
            }
            _ => None,
        };
        let message = format!(
            "`{}` must be {}, not {}",
            self.name(),
            expected.describe(),
            found.describe()
        );
        self.find_with(at, message, hint);
    }

    /// The path to the value at hand: `spec.ports[0].port`.
    pub(super) fn name(&self) -> String {
        self.path.concat().trim_start_matches('.').to_owned()
    }

    pub(super) fn find(&mut self, position: Position, message: String) {
        self.find_with(position, message, None);
    }

    fn find_with(&mut self, position: Position, message: String, hint: Option<&str>) {
        if self.findings.len() < MOST {
            let origin = Origin {
                file: self.file.clone(),
                position,
            };
            let mut finding = Diagnostic::error_at(&origin, message);
            finding.hint = hint.map(str::to_owned);
            self.findings.push(finding);
        }
    }
}

fn required_of(fields: &'static Fields) -> impl Iterator<Item = &'static str> {
    fields
        .iter()
        .filter(|(_, code)| code.starts_with('!'))
        .map(|(name, _)| *name)
}
