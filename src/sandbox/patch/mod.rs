//! Patches: from an object and a change of it to the changed object.

mod merge;

pub use self::merge::merge;
