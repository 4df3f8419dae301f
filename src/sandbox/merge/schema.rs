//! What merging knows of a type: which lists are keyed, which values are taken whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All nodes of a schema; they refer to each other by [`NodeId`], so types may contain themselves.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Schema {
    nodes: Vec<Node>,
    /// What is known of some nodes beside their shape.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    about: BTreeMap<NodeId, About>,
}

/// What a type's definition says beside its shape: for reading objects as Go does, and for OpenAPI.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Name of its definition, such as `io.k8s.api.core.v1.PodSpec`, or of its scalar in Go, such as `int32`.
    pub name: Box<str>,
    /// Fields that Go writes even when nothing is in them.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub always: Box<[Box<str>]>,
    /// Fields whose zero (`0`, `false`, `""`) is something else than their absence.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub kept: Box<[Box<str>]>,
}

/// The place of a node in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(u32);

/// The type of a value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
        #[serde(default, skip_serializing_if = "is_false")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Struct {
    /// Fields by their names in JSON.
    pub fields: BTreeMap<Box<str>, Field>,
    /// Whether it is owned and replaced whole.
    #[serde(default, skip_serializing_if = "is_false")]
    pub atomic: bool,
    /// Whether fields that are not listed are kept (`x-kubernetes-preserve-unknown-fields`) or are none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub open: bool,
}

/// A field of a [`Struct`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Field {
    /// Type of its value.
    pub node: NodeId,
    /// How strategic merge patches treat it; `None` replaces lists and merges objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<PatchStrategy>,
    /// Whether it must be there.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
}

/// `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchStrategy {
    /// Whether lists are merged.
    #[serde(default, skip_serializing_if = "is_false")]
    pub merge: bool,
    /// Key of a merged list's items; `None` for a set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Box<str>>,
    /// Whether keys that are not in `$retainKeys` go.
    #[serde(default, skip_serializing_if = "is_false")]
    pub retain_keys: bool,
}

/// How items of two lists are matched (`x-kubernetes-list-type`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListKind {
    /// Not at all.
    Atomic,
    /// By their values.
    Set,
    /// By the values of some of their fields.
    Map(Box<[Key]>),
}

/// A field that identifies items of a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Key {
    /// Its name.
    pub name: Box<str>,
    /// What it counts as when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

    /// Notes what is known of a node beside its shape.
    pub fn describe(&mut self, id: NodeId, about: About) {
        self.about.insert(id, about);
    }

    /// What is known of a node beside its shape.
    pub fn about(&self, id: NodeId) -> Option<&About> {
        self.about.get(&id)
    }

    /// All nodes, in the order of their places.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The place that has a number, counted from 0.
    pub fn place(number: u32) -> NodeId {
        NodeId(number)
    }
}

impl NodeId {
    /// The number of a place, counted from 0.
    pub fn number(self) -> u32 {
        self.0
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
