//! Patches: from an object and a change of it to the changed object.

mod go;
mod json;
mod merge;
mod order;
mod strategic;

pub use self::go::print;
pub use self::json::json;
pub use self::merge::merge;
pub use self::strategic::strategic;

/// Why a patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchError {
    /// It is no patch of its kind: 400.
    Malformed(String),
    /// It does not fit the object, without a word why: 422.
    Unfit,
    /// It does not fit the object, as the API server says with an answer that it did not mean to give: 500.
    Failed(String),
}
