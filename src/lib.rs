//! Covergence: GitOps for JVM coverage.

pub mod agent;
pub mod api;
pub mod cli;
pub mod cluster;
pub mod coverage;
pub mod durable;
pub mod lease;
pub mod load;
pub mod metrics;
pub mod overlay;
pub mod plan;
pub mod policy;
pub mod reconcile;
pub mod render;
pub mod source;
pub mod storage;
pub mod web;

pub use covergence_sandbox as sandbox;
