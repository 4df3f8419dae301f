//! What several tests need.

pub mod git;
