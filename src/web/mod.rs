//! What operators and git servers reach over HTTP: health, metrics and the webhook receiver.

mod connection;
mod health;
mod probes;
mod server;
mod webhook;

pub use health::{Gate, Health, Running};
pub use probes::probes;
pub use server::{BindError, bind, serve};
pub use webhook::{Auth, HookTarget, KnownSyncs, Provider, Receiver};
