//! A value of a manifest with the place it stands at.

use serde_json::{Map, Number, Value};

use super::Position;

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value begins.
    pub position: Position,
    /// The value, read as kubectl reads it.
    pub kind: NodeKind,
}

/// The value of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// `null`, `~`, or nothing at all.
    Null,
    /// `true`, `yes`, `on`, … as YAML 1.1 has it.
    Bool(bool),
    /// A number; integers keep all their digits.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file, without duplicate keys.
    Map(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key as a string, as kubectl makes it one (`1:` is `"1"`, `on:` is `"true"`).
    pub key: String,
    /// Where the key begins.
    pub position: Position,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Finds the value of a key, when this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.kind {
            NodeKind::Map(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.value),
            _ => None,
        }
    }

    /// Finds a key with its value, when this is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            NodeKind::Map(entries) => entries.iter().find(|e| e.key == key),
            _ => None,
        }
    }

    /// Follows keys from mapping to mapping.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Gives the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Counts the values, keys included.
    pub fn size(&self) -> usize {
        match &self.kind {
            NodeKind::List(items) => 1 + items.iter().map(Node::size).sum::<usize>(),
            NodeKind::Map(entries) => 1 + entries.iter().map(|e| 1 + e.value.size()).sum::<usize>(),
            _ => 1,
        }
    }

    /// Makes the plain JSON value, without places.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(b) => Value::Bool(*b),
            NodeKind::Number(n) => Value::Number(n.clone()),
            NodeKind::String(s) => Value::String(s.clone()),
            NodeKind::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            NodeKind::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|e| (e.key.clone(), e.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

impl NodeKind {
    /// Names the type with its article, for messages: `a string`.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(number) if number.is_f64() => "a fraction",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}
