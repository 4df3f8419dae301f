//! Bounds that a CRD's schema sets: allowed values, least and greatest, length, number of items.

use super::check::Walk;
use super::custom::Custom;
use crate::load::{Node, NodeKind, Position};

impl Walk {
    /// Checks against the values that are listed as allowed.
    pub(super) fn listed(&mut self, node: &Node, at: Position, schema: &Custom) {
        let allowed = &schema.allowed;
        if !allowed.is_empty() && node.kind != NodeKind::Null && !allowed.contains(&node.to_json())
        {
            let allowed: Vec<String> = allowed.iter().map(|v| format!("`{}`", plain(v))).collect();
            let message = format!("`{}` must be one of {}", self.name(), allowed.join(", "));
            self.find(at, message);
        }
    }

    /// Checks size and length.
    pub(super) fn bounds(&mut self, node: &Node, at: Position, schema: &Custom) {
        let name = self.name();
        match &node.kind {
            NodeKind::Number(number) => {
                let value = number.as_f64().unwrap_or_default();
                if let Some((least, itself)) = schema.minimum
                    && (value < least || (value == least && !itself))
                {
                    let than = if itself { "at least" } else { "more than" };
                    self.find(at, format!("`{name}` must be {than} {least}"));
                }
                if let Some((most, itself)) = schema.maximum
                    && (value > most || (value == most && !itself))
                {
                    let than = if itself { "at most" } else { "less than" };
                    self.find(at, format!("`{name}` must be {than} {most}"));
                }
            }
            NodeKind::String(text) => {
                self.size(at, text.chars().count(), schema.length, "characters")
            }
            NodeKind::List(items) => self.size(at, items.len(), schema.count, "items"),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Map(_) => {}
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
        let name = self.name();
        if let Some(least) = least.filter(|least| size < *least) {
            self.find(at, format!("`{name}` must have at least {least} {what}"));
        }
        if let Some(most) = most.filter(|most| size > *most) {
            self.find(at, format!("`{name}` must have at most {most} {what}"));
        }
    }
}

fn plain(value: &serde_json::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
