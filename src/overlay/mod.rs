//! A folder that has to be built -> the manifests that come of it.
//!
//! The programs that people use do the building: `kustomize`, or the one in `kubectl`, and `helm`, as a child that gets a copy of
//! the files (`copy`), nothing of our environment, no network, and bounds on what it may use (`child`, `confine`). What a
//! repository asks of them that they would fetch or run is refused before (`check`).

mod build;
mod cache;
mod check;
mod child;
pub mod confine;
mod copy;
mod limits;
mod options;
mod program;
mod schemas;
mod secrets;
mod words;

pub use build::{Builder, Failed};
pub use limits::Limits;
pub use options::{Options, Values};
