//! What merging knows of a type: which lists are keyed, which values are taken whole.

use std::collections::BTreeMap;

use serde_json::Value;

/// All nodes of a schema; they refer to each other by [`NodeId`], so types may contain themselves.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    nodes: Vec<Node>,
}

/// The place of a node in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// The type of a value.
#[derive(Clone, Debug)]
pub enum Node {
    /// A value without parts.
    Scalar(Scalar),
    /// An object with known fields.
    Struct(Struct),
    /// An object with any keys.
    Map {
        /// Type of its values.
        values: NodeId,
        /// Whether it is owned and replaced whole.
        atomic: bool,
    },
    /// An array.
    List {
        /// Type of its items.
        items: NodeId,
        /// How items of two lists are matched.
        kind: ListKind,
    },
    /// Anything: objects have granular keys, arrays are atomic (`x-kubernetes-preserve-unknown-fields`, kinds without a
    /// schema).
    Any,
}

/// Types of values without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Text.
    String,
    /// Base64 text.
    Bytes,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A whole number or text.
    IntOrString,
    /// A quantity: text, or a number that becomes text.
    Quantity,
    /// A time, RFC 3339.
    Time,
}

/// An object with known fields.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    /// Fields by their names in JSON.
    pub fields: BTreeMap<Box<str>, Field>,
    /// Whether it is owned and replaced whole.
    pub atomic: bool,
    /// Whether fields that are not listed are kept (`x-kubernetes-preserve-unknown-fields`) or are none.
    pub open: bool,
}

/// A field of a [`Struct`].
#[derive(Clone, Debug)]
pub struct Field {
    /// Type of its value.
    pub node: NodeId,
    /// How strategic merge patches treat it; `None` replaces lists and merges objects.
    pub patch: Option<PatchStrategy>,
    /// Whether it must be there.
    pub required: bool,
}

/// `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchStrategy {
    /// Whether lists are merged.
    pub merge: bool,
    /// Key of a merged list's items; `None` for a set.
    pub key: Option<Box<str>>,
    /// Whether keys that are not in `$retainKeys` go.
    pub retain_keys: bool,
}

/// How items of two lists are matched (`x-kubernetes-list-type`).
#[derive(Clone, Debug)]
pub enum ListKind {
    /// Not at all.
    Atomic,
    /// By their values.
    Set,
    /// By the values of some of their fields.
    Map(Box<[Key]>),
}

/// A field that identifies items of a list.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: Box<str>,
    /// What it counts as when it is absent.
    pub default: Option<Value>,
}

impl Schema {
    /// Adds a node and gives its place.
    pub fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// Puts a node in the place of one, as for a type that is mentioned before it is known.
    pub fn set(&mut self, id: NodeId, node: Node) {
        if let Some(place) = self.nodes.get_mut(id.0 as usize) {
            *place = node;
        }
    }

    /// The node at a place.
    pub fn node(&self, id: NodeId) -> &Node {
        const ANY: &Node = &Node::Any;
        self.nodes.get(id.0 as usize).unwrap_or(ANY)
    }
}
