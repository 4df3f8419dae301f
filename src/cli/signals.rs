//! What tells a command to end.

use tokio::signal::unix::{SignalKind, signal};

use super::error::CliError;

/// Is there when SIGINT or SIGTERM comes.
pub fn asked_to_end() -> Result<impl Future<Output = ()>, CliError> {
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}
