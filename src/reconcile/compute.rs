//! Work that takes a processor for long, within tasks that share threads.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Computes something that may take long: other tasks of this thread go on elsewhere meanwhile. A Lease must be renewed in
/// time however large a source is.
pub fn compute<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        _ => work(),
    }
}
