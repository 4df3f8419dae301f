//! The contract: kinds, names, annotations. Plain data, no IO.

mod object;

pub use object::{GroupKind, ObjectId, split_api_version};
