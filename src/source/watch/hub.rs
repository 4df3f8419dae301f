//! The one inotify instance of the process: a user has few of them (128 by default), and each takes a thread.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use notify::event::{AccessKind, AccessMode};
use notify::{ErrorKind, Event, EventKind, INotifyWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use super::Reason;
use super::interests::Interests;

/// Watches directories for all followers, and tells each of what it is interested in.
///
/// A directory that is mounted twice is known by the path that was watched last, and only who follows that one hears.
pub(super) struct Hub {
    /// Locked before the listeners, which are free again when it is called: it waits for the thread that tells them.
    inotify: Mutex<INotifyWatcher>,
    /// Owned by that thread: without it, as when none could be started, nobody listens.
    listeners: Weak<Mutex<Listeners>>,
}

impl Hub {
    /// Gives the hub of the process, and starts it for the first who asks. If that fails, the next one tries again.
    pub(super) fn shared() -> Result<Arc<Self>, Reason> {
        static SHARED: Mutex<Option<Arc<Hub>>> = Mutex::new(None);
        Ok(Arc::clone(match &mut *lock(&SHARED) {
            Some(hub) => hub,
            none => none.insert(Arc::new(Self::start()?)),
        }))
    }

    fn start() -> Result<Self, Reason> {
        let listeners = Arc::new(Mutex::new(Listeners::default()));
        let known = Arc::downgrade(&listeners);
        let on_event = move |event| lock(&listeners).tell(event);
        let inotify = INotifyWatcher::new(on_event, notify::Config::default());
        let inotify = inotify.map_err(|error| {
            let text = error.to_string();
            fallback(error.kind).unwrap_or(Reason::Unavailable(text))
        })?;
        Ok(Self {
            inotify: Mutex::new(inotify),
            listeners: known,
        })
    }

    /// Has a listener told of a directory. Blocks.
    pub(super) fn watch(&self, directory: &Path, listener: &Arc<Listener>) -> Result<(), Reason> {
        // To the end: else somebody who leaves now would take the watch away.
        let mut inotify = lock(&self.inotify);
        let Some(listeners) = self.listeners.upgrade() else {
            return Err(Reason::Unavailable("its thread has ended".to_owned()));
        };
        lock(&listeners).join(directory, listener);
        let watched = inotify.watch(directory, RecursiveMode::NonRecursive);
        let failure = watched.err().and_then(|error| fallback(error.kind));
        failure.map_or(Ok(()), Err)
    }

    /// Tells a listener no more of a directory, and watches it no more after the last one. Blocks.
    pub(super) fn unwatch(&self, directory: &Path, listener: &Arc<Listener>) {
        let mut inotify = lock(&self.inotify);
        let Some(listeners) = self.listeners.upgrade() else {
            return;
        };
        let was_last = lock(&listeners).leave(directory, listener);
        if was_last {
            // Fails for what has been deleted: its watch went with it.
            let _ = inotify.unwatch(directory);
        }
    }
}

/// Has a bell that rings at each change that is of interest.
pub(super) struct Listener {
    bell: Arc<Notify>,
    interests: Mutex<Interests>,
}

impl Listener {
    /// Has no interests yet.
    pub(super) fn new(bell: Arc<Notify>) -> Self {
        Self {
            bell,
            interests: Mutex::default(),
        }
    }

    /// Locks them: not while the hub is called.
    pub(super) fn interests(&self) -> MutexGuard<'_, Interests> {
        lock(&self.interests)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who has an interest in a directory.
#[derive(Default)]
struct Listeners(HashMap<PathBuf, Vec<Arc<Listener>>>);

impl Listeners {
    fn join(&mut self, directory: &Path, listener: &Arc<Listener>) {
        let listeners = self.0.entry(directory.to_owned()).or_default();
        if !listeners.iter().any(|it| Arc::ptr_eq(it, listener)) {
            listeners.push(Arc::clone(listener));
        }
    }

    /// Tells whether it was the last there.
    fn leave(&mut self, directory: &Path, listener: &Arc<Listener>) -> bool {
        let Some(listeners) = self.0.get_mut(directory) else {
            return false;
        };
        listeners.retain(|it| !Arc::ptr_eq(it, listener));
        let was_last = listeners.is_empty();
        if was_last {
            self.0.remove(directory);
        }
        was_last
    }

    fn tell(&self, event: notify::Result<Event>) {
        match event {
            Ok(event) if !event.need_rescan() => {
                if is_change(event.kind) {
                    event.paths.iter().for_each(|path| self.tell_of(path));
                }
            }
            // An error is that of reading the events. Some are lost, as after an overflow: nothing is known any more.
            _ => self
                .0
                .values()
                .flatten()
                .for_each(|it| it.bell.notify_one()),
        }
    }

    fn tell_of(&self, path: &Path) {
        let itself_and_parent = path.ancestors().take(2);
        for listener in itself_and_parent.filter_map(|it| self.0.get(it)).flatten() {
            if listener.interests().covers(path) {
                listener.bell.notify_one();
            }
        }
    }
}

fn is_change(kind: EventKind) -> bool {
    match kind {
        // We open and close files ourselves.
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
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
    use std::ffi::OsStr;

    use futures_util::FutureExt as _;
    use notify::event::{CreateKind, Flag, ModifyKind, RenameMode};

    use super::*;

    fn event(kind: EventKind, path: &str) -> Event {
        Event::new(kind).add_path(path.into())
    }

    /// Joins with an interest in one name in a directory, or in all of it.
    fn listener(among: &mut Listeners, directory: &str, name: Option<&str>) -> Arc<Listener> {
        let listener = Arc::new(Listener::new(Arc::default()));
        let directory = Path::new(directory);
        listener.interests().add(directory, name.map(OsStr::new));
        among.join(directory, &listener);
        listener
    }

    /// Tells whether the bell has rung since the last call.
    fn has_heard(listener: &Listener) -> bool {
        listener.bell.notified().now_or_never().is_some()
    }

    #[test]
    fn each_hears_of_what_concerns_it() {
        let mut listeners = Listeners::default();
        let name = listener(&mut listeners, "/tmp", Some("shop"));
        let whole = listener(&mut listeners, "/tmp/shop", None);

        let create = EventKind::Create(CreateKind::Any);
        let rename = EventKind::Modify(ModifyKind::Name(RenameMode::To));
        let open = EventKind::Access(AccessKind::Open(AccessMode::Any));
        let saved = EventKind::Access(AccessKind::Close(AccessMode::Write));
        for (kind, path, expected) in [
            (create, "/tmp/other", (false, false)),
            (create, "/tmp/other/a.yaml", (false, false)),
            (rename, "/tmp", (true, false)),
            (rename, "/tmp/shop", (true, true)),
            (create, "/tmp/shop/b.yaml", (false, true)),
            (saved, "/tmp/shop/a.yaml", (false, true)),
            (open, "/tmp/shop/a.yaml", (false, false)),
            (open, "/tmp/shop", (false, false)),
        ] {
            let event = event(kind, path);
            listeners.tell(Ok(event.clone()));
            assert_eq!((has_heard(&name), has_heard(&whole)), expected, "{event:?}");
        }
    }

    #[test]
    fn lost_events_concern_everyone() {
        let mut listeners = Listeners::default();
        let here = listener(&mut listeners, "/here", None);
        let there = listener(&mut listeners, "/there", Some("a.yaml"));
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        for lost in [Ok(overflow), Err(notify::Error::generic("a read failed"))] {
            listeners.tell(lost);
            assert!(has_heard(&here) && has_heard(&there));
        }
    }

    #[test]
    fn the_last_one_to_leave_ends_the_watch() {
        let mut listeners = Listeners::default();
        let one = listener(&mut listeners, "/tmp", None);
        let other = listener(&mut listeners, "/tmp", None);
        // As at the next look.
        listeners.join(Path::new("/tmp"), &one);
        assert!(!listeners.leave(Path::new("/tmp"), &one));
        assert!(!listeners.leave(Path::new("/never"), &one));
        assert!(listeners.leave(Path::new("/tmp"), &other));
        assert!(listeners.0.is_empty());
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
