//! Webhooks: a git server says that something was pushed, and we look at once instead of at the next interval.
//!
//! A request's body is read only to check its signature. What it says is never looked at: it cannot choose what is
//! fetched, from where, or as whom.

mod answer;
mod pace;
#[cfg(test)]
mod property_tests;
mod provider;
mod receiver;
mod secret;
mod signature;
mod trigger;

pub use provider::Provider;
pub use receiver::{KnownSyncs, Receiver};
pub use secret::Auth;
pub use trigger::HookTarget;
