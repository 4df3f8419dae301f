//! What operators and git servers reach over HTTP: health, metrics and the webhook receiver.

mod webhook;

pub use webhook::Provider;
