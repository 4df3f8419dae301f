//! Covergence: GitOps for JVM coverage.

pub mod api;
pub mod load;
pub mod render;
pub mod plan;
pub mod cluster;
pub mod reconcile;
