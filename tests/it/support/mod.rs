//! What several tests need.

pub mod git;
pub mod http;
pub mod server;
