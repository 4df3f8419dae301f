//! A small Kubernetes API, in memory: for the demo, fast tests, and previews without a cluster.
//!
//! It knows nothing of the rest of Covergence, which talks to it as to any other API server.

pub mod auth;
pub mod controllers;
pub mod crd;
pub mod error;
mod http;
mod instance;
pub mod kinds;
pub mod merge;
pub mod patch;
pub mod read;
pub mod request;
mod requests;
mod start;
pub mod state;
pub mod store;
mod tls;
pub mod types;
mod words;
pub mod write;

pub use self::http::Yaml;
pub use self::instance::{Locked, Options, Sandbox};
