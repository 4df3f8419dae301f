//! Bounds that a CRD's schema sets: allowed values, least and greatest, length, pattern, number of items, items that differ.

use std::collections::BTreeMap;

use super::check::Walk;
use super::custom::{Custom, Unique};
use super::suggest::nearest;
use crate::load::{Node, NodeKind, Position};

impl<'d> Walk<'d> {
    /// Checks against the values that are listed as allowed.
    pub(super) fn listed(&mut self, node: &Node, at: Position, schema: &Custom) {
        let allowed = &schema.allowed;
        if !allowed.is_empty() && node.kind != NodeKind::Null && !allowed.contains(&node.to_json())
        {
            let names: Vec<String> = allowed.iter().map(plain).collect();
            let near = node
                .as_str()
                .and_then(|text| nearest(text, names.iter().map(String::as_str)));
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = match names.as_slice() {
                [only] => format!("`{}` must be {only}", self.name()),
                names => format!("`{}` must be one of {}", self.name(), names.join(", ")),
            };
            self.find_with(at, message, hint.as_deref());
        }
    }

    /// Checks size and length.
    pub(super) fn bounds(&mut self, node: &Node, at: Position, schema: &Custom) {
        match &node.kind {
            NodeKind::Number(number) => {
                let value = number.as_f64().unwrap_or_default();
                if let Some((least, itself)) = schema.minimum
                    && (value < least || (value == least && !itself))
                {
                    let than = if itself { "at least" } else { "more than" };
                    self.find(at, format!("`{}` must be {than} {least}", self.name()));
                }
                if let Some((most, itself)) = schema.maximum
                    && (value > most || (value == most && !itself))
                {
                    let than = if itself { "at most" } else { "less than" };
                    self.find(at, format!("`{}` must be {than} {most}", self.name()));
                }
                self.multiple(at, value, schema);
            }
            NodeKind::String(text) => {
                if schema.length != (None, None) {
                    self.size(at, text.chars().count(), schema.length, "character");
                }
                if let Some(pattern) = schema.pattern.as_ref().and_then(|it| it.refuses(text)) {
                    self.find(at, format!("`{}` must match `{pattern}`", self.name()));
                }
            }
            NodeKind::List(items) => {
                self.size(at, items.len(), schema.count, "item");
                if let Some(unique) = &schema.unique {
                    self.different(items, unique);
                }
            }
            NodeKind::Map(entries) => self.size(at, entries.len(), schema.size, "field"),
            NodeKind::Null | NodeKind::Bool(_) => {}
        }
    }

    fn multiple(&mut self, at: Position, value: f64, schema: &Custom) {
        if let Some(of) = schema.multiple.filter(|of| (value / of).fract() != 0.0) {
            self.find(at, format!("`{}` must be a multiple of {of}", self.name()));
        }
    }

    /// Checks that no two items are alike, by what the definition says makes them differ.
    fn different(&mut self, items: &[Node], unique: &Unique) {
        let key = |item: &Node| match unique {
            Unique::Set => Some(item.to_json()),
            // A key that is left out may have a default.
            Unique::Map(fields) => fields
                .iter()
                .map(|field| item.get(field).map(Node::to_json))
                .collect(),
        };
        let mut seen = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let Some(key) = key(item) else { continue };
            if let Some(first) = seen.insert(key.to_string(), index) {
                let name = self.name();
                let by = match unique {
                    Unique::Set => String::new(),
                    Unique::Map(fields) => format!(" by its `{}`", fields.join("` and `")),
                };
                let message = format!("`{name}[{index}]` is the same as `{name}[{first}]`{by}");
                self.find(item.position, message);
            }
        }
    }

    fn size(
        &mut self,
        at: Position,
        size: usize,
        (least, most): (Option<u64>, Option<u64>),
        what: &str,
    ) {
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        let plural = |n: u64| if n == 1 { "" } else { "s" };
        if let Some(least) = least.filter(|least| size < *least) {
            let s = plural(least);
            let name = self.name();
            self.find(at, format!("`{name}` must have at least {least} {what}{s}"));
        }
        if let Some(most) = most.filter(|most| size > *most) {
            let s = plural(most);
            let name = self.name();
            self.find(at, format!("`{name}` must have at most {most} {what}{s}"));
        }
    }
}

fn plain(value: &serde_json::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
