//! Where go-yaml, and so kubectl, ends a plain scalar in brackets elsewhere than YAML 1.2 does.

use crate::load::Position;
use crate::load::fault::Fault;

/// A plain scalar in brackets or braces.
pub(super) struct InFlow<'t> {
    /// The scalar.
    pub text: &'t str,
    /// What follows it in the file.
    pub after: &'t str,
    /// Whether a tag stands before it.
    pub is_tagged: bool,
    /// Whether it is a key.
    pub is_key: bool,
}

/// Says that a scalar is read in two ways.
pub(super) fn doubt(position: Position, scalar: &InFlow<'_>) -> Option<Fault> {
    let InFlow {
        text,
        after,
        is_tagged,
        is_key,
    } = scalar;
    if text.starts_with('?') {
        let message = "kubectl takes a `?` in brackets for the sign of a key";
        return Some(Fault::error(position, message).hint("put the value in quotes"));
    }
    if text.is_empty() && *is_tagged {
        let message = "kubectl takes what follows this tag for a part of it";
        return Some(Fault::error(position, message).hint("write a value, if only \"\""));
    }
    let colon = after.trim_start_matches([' ', '\t']).strip_prefix(':');
    let ends = colon.filter(|_| *is_key);
    ends.is_some_and(|rest| rest.starts_with([',', ']', '}']))
        .then(|| {
            Fault::error(position, "kubectl takes the `:` for a part of this word")
                .hint("write a blank after the `:`, or put the word in quotes")
        })
}
