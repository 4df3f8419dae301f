//! Covergence: GitOps for JVM coverage.

pub mod api;
pub mod load;
pub mod plan;
pub mod render;
