//! Types as merging looks at them.

use serde_json::{Map, Value};

use super::item;
use super::schema::{Key, ListKind, Node, Scalar, Schema, Struct};
use super::{NodeId, Typed};

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type<'a> {
    schema: &'a Schema,
    node: &'a Node,
}

/// What a value of a type consists of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'a> {
    /// Of nothing: it is taken whole.
    Leaf,
    /// Of fields.
    Object,
    /// Of items.
    List(Items<'a>),
}

/// The items of a list that are matched one by one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items<'a> {
    /// The fields that identify them; `None` for a set.
    keys: Option<&'a [Key]>,
    /// Their type.
    pub(super) of: Type<'a>,
}

impl<'a> Type<'a> {
    /// The type of a whole object.
    pub(super) fn root(typed: &Typed<'a>) -> Self {
        Self::at(typed.schema, typed.root)
    }

    fn at(schema: &'a Schema, node: NodeId) -> Self {
        let node = schema.node(node);
        Self { schema, node }
    }

    /// The type of a field and whether the type names it; `None` for a field that it does not have.
    pub(super) fn field(&self, name: &str) -> Option<(Self, bool)> {
        let any = Self {
            schema: self.schema,
            node: &Node::Any,
        };
        match self.node {
            Node::Struct(Struct { fields, open, .. }) => match fields.get(name) {
                Some(field) => Some((Self::at(self.schema, field.node), true)),
                None => open.then_some((any, false)),
            },
            Node::Map { values, .. } => Some((Self::at(self.schema, *values), false)),
            Node::Any => Some((any, false)),
            Node::Scalar(_) | Node::List { .. } => None,
        }
    }

    /// The same, where what is not known is anything.
    pub(super) fn field_or_any(&self, name: &str) -> (Self, bool) {
        self.field(name).unwrap_or((
            Self {
                schema: self.schema,
                node: &Node::Any,
            },
            false,
        ))
    }

    /// What a value consists of.
    pub(super) fn shape(&self, value: &Value) -> Shape<'a> {
        match self.node {
            Node::Struct(Struct { atomic: false, .. }) | Node::Map { atomic: false, .. } => {
                Shape::Object
            }
            Node::List { items, kind } => {
                let keys = match kind {
                    ListKind::Atomic => return Shape::Leaf,
                    ListKind::Set => None,
                    ListKind::Map(keys) => Some(keys.as_ref()),
                };
                let of = Self::at(self.schema, *items);
                Shape::List(Items { keys, of })
            }
            Node::Any if value.is_object() => Shape::Object,
            _ => Shape::Leaf,
        }
    }

    /// The type of the items of a list, whatever it is.
    pub(super) fn items(&self) -> Option<Self> {
        match self.node {
            Node::List { items, .. } => Some(Self::at(self.schema, *items)),
            _ => None,
        }
    }

    /// Whether it is of this kind of value.
    pub(super) fn class(&self) -> Class {
        match self.node {
            Node::Scalar(scalar) => Class::Scalar(*scalar),
            Node::Struct(_) | Node::Map { .. } => Class::Object,
            Node::List { .. } => Class::List,
            Node::Any => Class::Any,
        }
    }
}

/// The kind of values of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Scalar(Scalar),
    Object,
    List,
    Any,
}

impl Items<'_> {
    /// What identifies an item.
    ///
    /// # Errors
    /// Says why nothing does.
    pub(super) fn identify(&self, item: &Value) -> Result<Box<str>, String> {
        match self.keys {
            Some(keys) => item::keyed(keys, item),
            None => item::member(item),
        }
    }
}

/// The fields of an object; none for anything else.
pub(super) fn object(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value?.as_object().filter(|fields| !fields.is_empty())
}

/// The items of a list; none for anything else.
pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}
