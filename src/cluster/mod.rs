//! The only module that talks to the API server.

mod agent;
mod cache;
mod connect;
mod endpoints;
mod error;
mod events;
mod forward;
mod gather;
mod identity;
mod kinds;
mod leases;
mod members;
mod pod_states;
mod pods;
mod read;
mod recording;
mod release;
mod send;
mod targets;
mod watch;
mod workloads;
mod write;

pub use cache::{Change, Changes, NamespaceState, Watches};
pub use connect::{Cluster, ConnectOptions, context_namespace};
pub use endpoints::{SERVICE_NAME, Slice};
pub use error::ClusterError;
pub use events::{EventRecorder, EventType, EventWriter, ObjectRef};
pub use forward::PortForward;
pub use gather::Place;
pub use kinds::{Kind, Kinds};
pub use pods::CoveragePod;
pub use read::Part;
pub use recording::{Asked, Recording, Refusals, Which};
pub use send::{Observer, WriteGuard};
pub use targets::SeenTarget;
pub use workloads::{Facts, Workload};
