//! Why an expression has no value.

use std::fmt;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It means nothing for these values.
    Error(String),
    /// It needs something that is not known here.
    Unknown(String),
    /// It takes more than the budget allows. Nothing absorbs this, or `costly || true` would go on for ever.
    TooExpensive,
}

impl Fault {
    /// Makes an error.
    pub fn error(message: impl Into<String>) -> Self {
        Self::Error(message.into())
    }

    /// Tells whether it came from the values, which may be secret, so that its words must not be shown.
    pub fn tells_values(&self) -> bool {
        matches!(self, Self::Error(_))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(message) | Self::Unknown(message) => f.write_str(message),
            Self::TooExpensive => f.write_str("it takes more work than a policy may"),
        }
    }
}
