//! libgit2's process-wide options, set once before its first use.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use git2::{ConfigLevel, opts};

use super::memory;

static ONCE: Once = Once::new();

/// Sets libgit2 up. The first call in a process decides: the options cannot be changed while other threads read them.
pub(super) fn initialise(timeout: Duration) {
    ONCE.call_once(|| {
        memory::bound();
        set(timeout);
    });
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

/// The home directory that libgit2 is told of, and what its `known_hosts` says.
static HOME: Mutex<Option<(PathBuf, BTreeSet<String>)>> = Mutex::new(None);

/// Lets libgit2 ask a server for a key of a kind that is on record, rather than for the kind it likes best
/// (source-controller#397, flux2#5385).
///
/// It looks for that in its home directory's `.ssh/known_hosts` and nowhere else. So it gets a home directory of its own,
/// whose file has the lines of all sources of this process: they only order the kinds, the key itself is judged by the
/// source's own lines. A failure to write it is therefore no error here; the key may then be of an unknown kind, and is
/// refused with that reason.
pub(super) fn prefer_host_keys(cache_dir: &Path, lines: &[String]) {
    let mut home = HOME.lock().unwrap_or_else(PoisonError::into_inner);
    let (path, known) = home.get_or_insert_with(|| {
        let path = cache_dir.join("home");
        set_home(&path);
        (path, BTreeSet::new())
    });
    let before = known.len();
    known.extend(lines.iter().cloned());
    if known.len() > before {
        let _ = write_known_hosts(path, known);
    }
}

/// For as long as it lives, libgit2 asks for keys of one source's kinds only: two sources may have different kinds of the
/// same server's keys on record.
pub(super) struct OnlyHostKeys {
    /// One at a time; also among processes, which may share the directory.
    _lock: Option<File>,
}

impl OnlyHostKeys {
    pub(super) fn new(lines: &[String]) -> Self {
        let path = HOME
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .map(|(path, _)| path.clone());
        let locked = path.and_then(|path| {
            let lock = File::create(path.join("lock")).ok()?;
            lock.lock().ok()?;
            write_known_hosts(&path, &lines.iter().cloned().collect()).ok()?;
            Some(lock)
        });
        Self { _lock: locked }
    }
}

impl Drop for OnlyHostKeys {
    fn drop(&mut self) {
        if let Some((path, known)) = &*HOME.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = write_known_hosts(path, known);
        }
    }
}

fn write_known_hosts(home: &Path, lines: &BTreeSet<String>) -> io::Result<()> {
    let file = home.join(".ssh/known_hosts");
    // Other threads and processes may be reading the old one, or writing their own.
    let new = file.with_extension(format!("{}", std::process::id()));
    fs::create_dir_all(home.join(".ssh"))?;
    fs::write(&new, lines.iter().map(String::as_str).collect::<String>())?;
    fs::rename(&new, &file)
}

#[allow(unsafe_code)]
fn set_home(path: &Path) {
    if let Ok(path) = CString::new(path.as_os_str().as_bytes()) {
        // SAFETY: the option takes one C string, which libgit2 copies. It is set before the process's first ssh connection,
        // and only ssh connections read it.
        let _ = unsafe {
            libgit2_sys::git_libgit2_opts(
                libgit2_sys::GIT_OPT_SET_HOMEDIR as libc::c_int,
                path.as_ptr(),
            )
        };
    }
}
