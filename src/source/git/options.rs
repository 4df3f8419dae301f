//! libgit2's process-wide options, set once before its first use.

use std::sync::Once;
use std::time::Duration;

use git2::{ConfigLevel, opts};

static ONCE: Once = Once::new();

/// Sets libgit2 up. The first call in a process decides: the options cannot be changed while other threads read them.
pub(super) fn initialise(timeout: Duration) {
    ONCE.call_once(|| set(timeout));
}

#[allow(unsafe_code)]
fn set(timeout: Duration) {
    let milliseconds = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: these write plain global variables of libgit2, which asks that no other thread uses it meanwhile. All uses
    // in this crate come after `initialise`, which blocks until the one call has returned.
    let results = unsafe {
        [
            // A volume's or a work tree's owner is often not the user of a pod. git checks owners because a work tree's
            // configuration names commands (hooks, filters, fsmonitor) to run; we read objects only and run none.
            // libgit2 also refuses cases that git's `safe.directory = *` allows (libgit2#6663).
            opts::set_verify_owner_validation(false),
            // Without these a server that accepts the connection and says nothing blocks its thread for ever.
            opts::set_server_connect_timeout_in_milliseconds(milliseconds),
            opts::set_server_timeout_in_milliseconds(milliseconds),
            // The user's and the system's git configuration may send a URL elsewhere (`insteadOf`): what is fetched is
            // what the source says.
            opts::set_search_path(ConfigLevel::ProgramData, ""),
            opts::set_search_path(ConfigLevel::System, ""),
            opts::set_search_path(ConfigLevel::XDG, ""),
            opts::set_search_path(ConfigLevel::Global, ""),
        ]
    };
    // They fail only for option names that this libgit2 does not know; it is built from the same crate.
    debug_assert!(results.iter().all(Result::is_ok), "{results:?}");
}
