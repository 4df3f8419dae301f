//! From the receiver to whoever looks at sources.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

/// Whose sources are to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookTarget {
    /// Those of all Syncs that read git.
    All,
    /// That of one Sync.
    One {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
}

/// A queue of triggers that never makes a request wait, and loses none.
#[derive(Debug)]
pub(super) struct Triggers {
    queue: Sender<HookTarget>,
    /// Whether the queue is full and [`HookTarget::All`] waits to be put behind it, which stands for all that did not fit.
    overflow: Arc<AtomicBool>,
}

/// Nobody takes triggers any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gone;

impl Triggers {
    pub(super) fn new(queue: Sender<HookTarget>) -> Self {
        Self {
            queue,
            overflow: Arc::default(),
        }
    }

    pub(super) fn send(&self, target: HookTarget) -> Result<(), Gone> {
        match self.queue.try_send(target) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(_)) => Err(Gone),
            Err(TrySendError::Full(_)) => {
                self.send_all_later();
                Ok(())
            }
        }
    }

    fn send_all_later(&self) {
        if self.overflow.swap(true, Ordering::AcqRel) {
            return;
        }
        let (queue, overflow) = (self.queue.clone(), Arc::clone(&self.overflow));
        tokio::spawn(async move {
            let place = queue.reserve().await;
            // Before it is sent: what overflows from now on may come too late for it.
            overflow.store(false, Ordering::Release);
            if let Ok(place) = place {
                place.send(HookTarget::All);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::channel;

    use super::*;

    fn one(name: &str) -> HookTarget {
        HookTarget::One {
            namespace: "shop".into(),
            name: name.into(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_fit_becomes_one_look_at_everything() {
        let (sender, mut queue) = channel(1);
        let triggers = Triggers::new(sender);
        for name in ["a", "b", "c", "d"] {
            assert_eq!(triggers.send(one(name)), Ok(()));
        }
        assert_eq!(queue.recv().await, Some(one("a")));
        assert_eq!(queue.recv().await, Some(HookTarget::All));
        assert!(queue.try_recv().is_err());
        for name in ["e", "f"] {
            assert_eq!(triggers.send(one(name)), Ok(()));
        }
        assert_eq!(queue.recv().await, Some(one("e")));
        assert_eq!(queue.recv().await, Some(HookTarget::All));
    }

    #[tokio::test]
    async fn a_queue_that_nobody_reads_is_said_to_be_gone() {
        let (sender, queue) = channel(1);
        drop(queue);
        assert_eq!(Triggers::new(sender).send(HookTarget::All), Err(Gone));
    }
}
