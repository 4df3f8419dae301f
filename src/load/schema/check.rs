//! Walks a value along its schema and notes what does not fit.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::builtin::{self, Fields};
use super::custom::Custom;
use super::nesting::{Level, belongs};
use super::quantity::is_quantity;
use super::shape::Shape;
use super::suggest::nearest;
use crate::load::path::{Step, name_of};
use crate::load::{Diagnostic, Entry, MOST_FINDINGS, Node, NodeKind, Origin, Position};

/// The findings in one document. Messages name fields and types and never quote a value: it may be a Secret's.
pub(super) struct Walk<'d> {
    file: Arc<str>,
    path: Vec<Step<'d>>,
    /// The mappings around the value at hand that have named fields, each with the length of its path.
    levels: Vec<(usize, Level<'d>)>,
    pub findings: Vec<Diagnostic>,
}

impl<'d> Walk<'d> {
    pub(super) fn new(file: Arc<str>) -> Self {
        Self {
            file,
            path: Vec::new(),
            levels: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Checks an object of a built-in kind.
    pub(super) fn builtin_root(&mut self, root: &'d Node, fields: &'static Fields) {
        self.within(Level::Builtin(fields), |walk| {
            walk.each_entry(root, |walk, entry| match entry.key.as_str() {
                // What the server fills in; what stands here is ignored.
                "status" if fields.contains_key("status") => {}
                _ => walk.builtin_field(entry, fields),
            });
        });
        self.required(root, root.position, required_of(fields));
    }

    /// Checks an object of a kind that a CRD defines.
    pub(super) fn custom_root(&mut self, root: &'d Node, schema: &'d Custom) {
        self.custom_fields(root, root.position, schema, true);
    }

    fn value(&mut self, node: &'d Node, at: Position, shape: Shape<'d>) {
        if node.kind == NodeKind::Null {
            // The same as nothing at all, to the API and to what is sent.
            return;
        }
        match (shape, &node.kind) {
            (Shape::Any, _)
            | (Shape::Text | Shape::IntOrString | Shape::AnyIntOrString, NodeKind::String(_))
            | (Shape::Bool, NodeKind::Bool(_))
            | (Shape::Number | Shape::Quantity, NodeKind::Number(_)) => {}
            (Shape::AnyIntOrString, NodeKind::Number(n)) if !n.is_f64() => {}
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
            (Shape::Bytes, NodeKind::String(text)) => self.bytes(at, text),
            (Shape::List(inner), NodeKind::List(items)) => {
                let shape = inner.shape();
                for (index, item) in items.iter().enumerate() {
                    self.path.push(Step::Index(index));
                    self.value(item, item.position, shape);
                    self.path.pop();
                }
            }
            (Shape::Map(inner), NodeKind::Map(_)) => {
                let shape = inner.shape();
                self.each_entry(node, |walk, entry| {
                    walk.value(&entry.value, entry.position, shape)
                });
            }
            (Shape::Builtin(fields), NodeKind::Map(_)) => {
                self.within(Level::Builtin(fields), |walk| {
                    walk.each_entry(node, |walk, entry| walk.builtin_field(entry, fields));
                });
                self.required(node, at, required_of(fields));
            }
            (Shape::Custom(schema), _) => self.custom(node, at, schema),
            (expected, found) => self.mistyped(at, expected, found),
        }
    }

    fn bytes(&mut self, at: Position, text: &str) {
        // The server passes over line breaks, as `base64 -w` makes them.
        let sound = if text.contains(['\r', '\n']) {
            let packed: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
            STANDARD.decode(packed).is_ok()
        } else {
            STANDARD.decode(text).is_ok()
        };
        if !sound {
            let message = format!("`{}` is not base64", self.name());
            let data = self.path.first() == Some(&Step::Key("data"));
            let hint = data.then_some("plain text goes under `stringData`");
            self.find_with(at, message, hint);
        }
    }

    fn builtin_field(&mut self, entry: &'d Entry, fields: &'static Fields) {
        match fields.get(entry.key.as_str()) {
            Some(code) => self.value(&entry.value, entry.position, builtin::field(code)),
            None => self.unknown(entry, fields.keys().copied()),
        }
    }

    pub(super) fn custom(&mut self, node: &'d Node, at: Position, schema: &'d Custom) {
        let before = self.findings.len();
        match (schema.shape(), &node.kind) {
            (Shape::Custom(schema), NodeKind::Map(_)) => {
                self.custom_fields(node, at, schema, false)
            }
            (expected @ Shape::Custom(_), found) => self.mistyped(at, expected, found),
            (shape, _) => self.value(node, at, shape),
        }
        // Of a value of the wrong type it need not be said as well that it is none of those allowed.
        if self.findings.len() == before {
            self.listed(node, at, schema);
            self.forms(node, at, schema);
        }
        self.bounds(node, at, schema);
    }

    fn custom_fields(&mut self, node: &'d Node, at: Position, schema: &'d Custom, root: bool) {
        let object = root || schema.embedded;
        self.within(Level::Custom(schema), |walk| {
            walk.each_entry(node, |walk, entry| {
                let known = schema.fields.get(&entry.key);
                match entry.key.as_str() {
                    "status" if root && known.is_some() => {}
                    "metadata" if object => {
                        let shape = builtin::metadata().map_or(Shape::Any, Shape::Builtin);
                        walk.value(&entry.value, entry.position, shape);
                    }
                    "apiVersion" | "kind" if object => {
                        walk.value(&entry.value, entry.position, Shape::Text);
                    }
                    _ => match known {
                        Some(schema) => {
                            walk.value(&entry.value, entry.position, Shape::Custom(schema))
                        }
                        None if schema.open => {}
                        None => {
                            let own = ["apiVersion", "kind", "metadata"];
                            let own = own.into_iter().filter(|_| object);
                            let known = schema.fields.keys().map(String::as_str);
                            walk.unknown(entry, known.chain(own));
                        }
                    },
                }
            });
        });
        let identity = ["apiVersion", "kind"].into_iter();
        self.required(node, at, identity.filter(|_| schema.embedded && !root));
        self.required(node, at, schema.required.iter().map(String::as_str));
    }

    fn within(&mut self, level: Level<'d>, check: impl FnOnce(&mut Self)) {
        self.levels.push((self.path.len(), level));
        check(self);
        self.levels.pop();
    }

    fn each_entry(&mut self, node: &'d Node, mut check: impl FnMut(&mut Self, &'d Entry)) {
        if let NodeKind::Map(entries) = &node.kind {
            for entry in entries {
                self.path.push(Step::Key(&entry.key));
                check(self, entry);
                self.path.pop();
            }
        }
    }

    fn required(&mut self, node: &Node, at: Position, names: impl Iterator<Item = &'d str>) {
        for name in names {
            if node
                .get(name)
                .is_none_or(|value| value.kind == NodeKind::Null)
            {
                self.path.push(Step::Key(name));
                self.find(at, format!("`{}` is missing", self.name()));
                self.path.pop();
            }
        }
    }

    fn unknown<'n>(&mut self, entry: &Entry, known: impl Iterator<Item = &'n str>) {
        let around = self.path.split_last().map_or(&[][..], |(_, around)| around);
        let hint = belongs(&self.levels, around, &entry.key, || {
            nearest(&entry.key, known).map(|name| format!("did you mean `{name}`?"))
        });
        let message = format!("unknown field `{}`", self.name());
        self.find_with(entry.position, message, hint.as_deref());
    }

    fn mistyped(&mut self, at: Position, expected: Shape<'_>, found: &NodeKind) {
        let hint = match (expected, found) {
            (Shape::Text | Shape::Bytes, NodeKind::Bool(_) | NodeKind::Number(_)) => {
                Some("put the value in quotes")
            }
            (Shape::Int32 | Shape::Int64 | Shape::Number | Shape::Bool, NodeKind::String(_)) => {
                Some("write the value without quotes")
            }
            (Shape::List(_), NodeKind::Map(_)) => Some("begin each item with a dash: `- `"),
            (Shape::List(_), _) => Some("write it as a list, also when it has one item"),
            (Shape::Map(_) | Shape::Builtin(_) | Shape::Custom(_), NodeKind::List(_)) => {
                Some("write it without the dash")
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
        name_of(&self.path)
    }

    /// Whether a value fits a schema, whatever does not; nothing is noted.
    pub(super) fn fits(&self, node: &'d Node, at: Position, schema: &'d Custom) -> bool {
        let mut other = Walk::new(self.file.clone());
        other.custom(node, at, schema);
        other.findings.is_empty()
    }

    pub(super) fn find(&mut self, position: Position, message: String) {
        self.find_with(position, message, None);
    }

    pub(super) fn find_with(&mut self, position: Position, message: String, hint: Option<&str>) {
        if self.findings.len() < MOST_FINDINGS {
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

fn required_of<'d>(fields: &'static Fields) -> impl Iterator<Item = &'d str> {
    fields
        .iter()
        .filter(|(_, code)| code.starts_with('!'))
        .map(|(name, _)| *name)
}
