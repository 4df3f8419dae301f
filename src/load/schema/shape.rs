//! What a value may be.

use super::builtin::{self, Fields};
use super::custom::Custom;

/// The type of a value, of a built-in kind or of a CRD's.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    /// Anything at all.
    Any,
    Text,
    /// Text in base64.
    Bytes,
    Bool,
    Int32,
    Int64,
    Number,
    Quantity,
    IntOrString,
    /// The same in a CRD, where integers have no bounds.
    AnyIntOrString,
    List(Inner<'a>),
    /// A mapping with keys of the user's choice.
    Map(Inner<'a>),
    /// A mapping with the fields of a built-in type.
    Builtin(&'static Fields),
    /// What a CRD's schema says.
    Custom(&'a Custom),
}

/// The type of what is in a list or a map.
#[derive(Clone, Copy)]
pub(super) enum Inner<'a> {
    /// Of a built-in kind, not yet decoded.
    Code(&'static str),
    /// Of a CRD; without a schema anything goes.
    Schema(Option<&'a Custom>),
}

impl<'a> Inner<'a> {
    /// The type itself.
    pub(super) fn shape(self) -> Shape<'a> {
        match self {
            Self::Code(code) => builtin::shape(code),
            Self::Schema(schema) => schema.map_or(Shape::Any, Shape::Custom),
        }
    }
}

impl Shape<'_> {
    /// Names the type with its article, for messages; nothing where everything is allowed.
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Any => "anything",
            Self::Text => "a string",
            Self::Bytes => "a string in base64",
            Self::Bool => "a boolean",
            Self::Int32 | Self::Int64 => "an integer",
            Self::Number => "a number",
            Self::Quantity => "a quantity",
            Self::IntOrString | Self::AnyIntOrString => "an integer or a string",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Builtin(_) | Self::Custom(_) => "a mapping",
        }
    }
}
