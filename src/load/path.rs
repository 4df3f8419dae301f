//! The way from an object to a value in it: `spec.ports[0].port`.

use std::fmt::Write;

/// One step of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'n> {
    /// Into the value of a key.
    Key(&'n str),
    /// Into an item of a list.
    Index(usize),
}

/// Spells a path; nothing at all for the object itself.
pub(super) fn name_of(path: &[Step<'_>]) -> String {
    let mut name = String::new();
    for step in path {
        match step {
            Step::Key(key) if name.is_empty() => name.push_str(key),
            Step::Key(key) => {
                name.push('.');
                name.push_str(key);
            }
            // A String takes everything.
            Step::Index(index) => drop(write!(name, "[{index}]")),
        }
    }
    name
}
