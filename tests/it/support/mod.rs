//! What several tests need.

pub mod admission;
pub mod api;
pub mod audit;
pub mod controller;
pub mod covergence;
pub mod deploy;
pub mod fake_api;
pub mod git;
pub mod history;
pub mod http;
pub mod kubectl;
pub mod lab;
pub mod manifest;
pub mod namespace;
pub mod outcome;
pub mod overlay;
pub mod proxy;
pub mod remote;
pub mod request;
pub mod rights;
pub mod served;
pub mod server;
pub mod shipped;
pub mod site;
pub mod source;
pub mod watcher;
