//! Leadership and sharding: replicas of the controller share the work by the keys of what is worked on.
//!
//! Each replica has a Lease, and a key belongs to one of the replicas whose Lease is renewed. `machine.rs` decides and does
//! no IO, `keeper.rs` does what it says, `shards.rs` is what the rest of the controller sees of it.

mod identity;
mod keeper;
mod machine;
#[cfg(test)]
mod machine_tests;
mod members;
mod ownership;
mod peers;
mod record;
mod shards;
#[cfg(test)]
mod simulation;
mod terms;

use std::time::Instant;

pub use identity::identity;
pub use keeper::{Keeper, Options};
pub use machine::LEADER;
pub use shards::{Permit, Shards};

/// The monotonic clock, which tests of tokio can stop.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
