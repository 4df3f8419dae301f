//! Webhooks: a git server says that something was pushed, and we look at once instead of at the next interval.

mod provider;

pub use provider::Provider;
