//! The only module that talks to the API server.

mod connect;
mod error;
mod gather;
mod kinds;
mod leases;
mod read;
mod write;

pub use connect::{Cluster, ConnectOptions, context_namespace};
pub use error::ClusterError;
pub use gather::Place;
pub use kinds::{Kind, Kinds};
pub use read::Parts;
