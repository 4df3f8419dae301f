//! What a value may be.

use super::builtin::Fields;
use super::custom::Custom;

/// The type of a value, of a built-in kind or of a CRD's.
#[derive(Clone)]
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
    List(Box<Shape<'a>>),
    /// A mapping with keys of the user's choice.
    Map(Box<Shape<'a>>),
    /// A mapping with the fields of a built-in type.
    Builtin(&'static Fields),
    /// What a CRD's schema says.
    Custom(&'a Custom),
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
            Self::IntOrString => "an integer or a string",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Builtin(_) | Self::Custom(_) => "a mapping",
        }
    }
}
