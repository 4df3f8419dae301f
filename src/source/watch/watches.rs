//! The directories that the kernel tells us about.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::event::{AccessKind, AccessMode};
use notify::{ErrorKind, Event, EventKind, INotifyWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use super::Reason;

/// One inotify instance, and which of its events matter.
///
/// Each look arms every directory anew: to do that twice is harmless, and whichever of them was replaced since, the new one is
/// watched.
pub(super) struct Watches {
    inotify: INotifyWatcher,
    /// What the look at hand has armed.
    armed: Interests,
    heard: Arc<Mutex<Interests>>,
    failure: Option<Reason>,
}

impl Watches {
    /// Makes the bell ring at each change of what is armed.
    pub(super) fn new(bell: Arc<Notify>) -> Result<Self, Reason> {
        let heard = Arc::new(Mutex::new(Interests::default()));
        let interests = Arc::clone(&heard);
        let on_event = move |event: notify::Result<Event>| {
            // An error is that of reading the events: some may be lost.
            if event.is_err() || event.is_ok_and(|event| lock(&interests).concerns(&event)) {
                bell.notify_one();
            }
        };
        let inotify = INotifyWatcher::new(on_event, notify::Config::default());
        let inotify = inotify.map_err(|error| {
            let text = error.to_string();
            fallback(error.kind).unwrap_or(Reason::Unavailable(text))
        })?;
        Ok(Self {
            inotify,
            armed: Interests::default(),
            heard,
            failure: None,
        })
    }

    /// Asks to be told of one name in a directory, or of everything in it.
    pub(super) fn arm(&mut self, directory: &Path, name: Option<&OsStr>) {
        if self.failure.is_some() {
            return;
        }
        // Not locked while the thread that listens has to answer.
        lock(&self.heard).add(directory, name);
        if self.armed.add(directory, name) {
            let armed = self.inotify.watch(directory, RecursiveMode::NonRecursive);
            self.failure = armed.err().and_then(|error| fallback(error.kind));
        }
    }

    /// Ends a look: what it did not arm is of no interest any more.
    pub(super) fn end_look(&mut self) -> Result<(), Reason> {
        let armed = take(&mut self.armed);
        let gone: Vec<PathBuf> = {
            let mut heard = lock(&self.heard);
            let before = std::mem::replace(&mut *heard, armed);
            let is_gone = |directory: &PathBuf| !heard.0.contains_key(directory);
            before.0.into_keys().filter(is_gone).collect()
        };
        for directory in gone {
            // Fails for what has been deleted: its watch went with it.
            let _ = self.inotify.unwatch(&directory);
        }
        match self.failure.take() {
            Some(reason) => Err(reason),
            None => Ok(()),
        }
    }
}

fn lock(interests: &Mutex<Interests>) -> MutexGuard<'_, Interests> {
    interests.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Directories, and the names in them that matter; none for all.
#[derive(Default)]
struct Interests(BTreeMap<PathBuf, Option<BTreeSet<OsString>>>);

impl Interests {
    /// Tells whether the directory is new here.
    fn add(&mut self, directory: &Path, name: Option<&OsStr>) -> bool {
        let known = self.0.get_mut(directory);
        let is_new = known.is_none();
        match (known, name) {
            (Some(all), None) => *all = None,
            (Some(Some(names)), Some(name)) => {
                names.insert(name.to_owned());
            }
            (Some(None), Some(_)) => {}
            (None, name) => {
                let names = name.map(|name| BTreeSet::from([name.to_owned()]));
                self.0.insert(directory.to_owned(), names);
            }
        }
        is_new
    }

    fn concerns(&self, event: &Event) -> bool {
        let is_change = match event.kind {
            // We open and close files ourselves.
            EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
            _ => true,
        };
        // After an overflow nothing is known any more.
        event.need_rescan() || is_change && event.paths.iter().any(|path| self.covers(path))
    }

    fn covers(&self, path: &Path) -> bool {
        let within = || match self.0.get(path.parent()?)? {
            None => Some(true),
            Some(names) => Some(names.contains(path.file_name()?)),
        };
        // Of a directory itself: it was moved or deleted, or may be read by others now.
        self.0.contains_key(path) || within().unwrap_or(false)
    }
}

/// Tells whether an error is a reason to look from time to time instead. What is gone or closed to us is none: the reader has
/// nothing of it either.
fn fallback(error: ErrorKind) -> Option<Reason> {
    match error {
        ErrorKind::MaxFilesWatch => Some(Reason::NoWatches),
        ErrorKind::PathNotFound => None,
        ErrorKind::Io(error) => match (error.raw_os_error(), error.kind()) {
            (Some(libc::EMFILE | libc::ENFILE), _) => Some(Reason::NoInstances),
            (
                _,
                io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::PermissionDenied,
            ) => None,
            _ => Some(Reason::Unavailable(error.to_string())),
        },
        ErrorKind::Generic(text) => Some(Reason::Unavailable(text)),
        ErrorKind::WatchNotFound | ErrorKind::InvalidConfig(_) => {
            Some(Reason::Unavailable("it does not know the watch".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, Flag, ModifyKind, RenameMode};

    use super::*;

    fn event(kind: EventKind, path: &str) -> Event {
        Event::new(kind).add_path(path.into())
    }

    #[test]
    fn only_changes_of_what_matters_ring_the_bell() {
        let mut interests = Interests::default();
        assert!(interests.add(Path::new("/tmp"), Some(OsStr::new("shop"))));
        assert!(interests.add(Path::new("/tmp/shop"), Some(OsStr::new("a.yaml"))));
        assert!(!interests.add(Path::new("/tmp/shop"), None));
        assert!(!interests.add(Path::new("/tmp/shop"), Some(OsStr::new("a.yaml"))));

        let create = EventKind::Create(CreateKind::Any);
        let rename = EventKind::Modify(ModifyKind::Name(RenameMode::To));
        let open = EventKind::Access(AccessKind::Open(AccessMode::Any));
        let saved = EventKind::Access(AccessKind::Close(AccessMode::Write));
        for (kind, path, expected) in [
            (create, "/tmp/other", false),
            (create, "/tmp/other/a.yaml", false),
            (rename, "/tmp/shop", true),
            (create, "/tmp/shop/b.yaml", true),
            (saved, "/tmp/shop/a.yaml", true),
            (open, "/tmp/shop/a.yaml", false),
            (open, "/tmp/shop", false),
        ] {
            let event = event(kind, path);
            assert_eq!(interests.concerns(&event), expected, "{event:?}");
        }
        assert!(interests.concerns(&Event::new(EventKind::Other).set_flag(Flag::Rescan)));
    }

    #[test]
    fn c49_exhaustion_is_a_reason_to_poll_and_a_closed_directory_is_not() {
        let of = |code| fallback(ErrorKind::Io(io::Error::from_raw_os_error(code)));
        assert_eq!(fallback(ErrorKind::MaxFilesWatch), Some(Reason::NoWatches));
        assert_eq!(of(libc::EMFILE), Some(Reason::NoInstances));
        assert!(matches!(of(libc::ENOSYS), Some(Reason::Unavailable(_))));
        for code in [libc::EACCES, libc::ENOENT, libc::ENOTDIR] {
            assert_eq!(of(code), None, "{code}");
        }
    }
}
