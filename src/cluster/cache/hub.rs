//! Where the watches meet: what one of them sees may matter to the others, and may be our own doing.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::changes::{Change, Pending};
use super::discovery::Discovery;
use super::locked;
use crate::api::ObjectId;

/// Takes what all watches see.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Hub {
    pub(super) pending: Pending,
    pub(super) discovery: Discovery,
    writes: Mutex<HashMap<ObjectId, Unanswered>>,
    definitions: Notify,
    /// How often watches had to list again.
    pub(super) relisted: AtomicU64,
}

/// Writes of one object that have no answer yet. A watch may tell of a write before its answer is here.
#[derive(Debug, Default)]
struct Unanswered {
    writes: usize,
    /// Versions that earlier ones of them made.
    versions: Vec<String>,
    /// uids that they deleted.
    deleted: Vec<String>,
    /// What watches have told meanwhile: an echo, or what somebody else did.
    told: Vec<Change>,
}

impl Unanswered {
    fn is_echo(&self, change: &Change) -> bool {
        match (&change.before, &change.after) {
            (_, Some(after)) => self.versions.contains(&after.resource_version),
            (Some(before), None) => self.deleted.contains(&before.uid),
            (None, None) => true,
        }
    }
}

impl Hub {
    /// Takes a change.
    pub fn tell(&self, change: Change) {
        self.note_definition(&change.id);
        match locked(&self.writes).get_mut(&change.id) {
            Some(unanswered) => unanswered.told.push(change),
            None => self.pending.add(change),
        }
    }

    fn note_definition(&self, id: &ObjectId) {
        if id.group_kind.is_definition() {
            self.discovery.note_definition(&id.name);
            self.definitions.notify_waiters();
        }
    }

    /// Waits until a definition of a group changes.
    pub async fn defined(&self, group: &str) {
        let begin = self.discovery.changed(group);
        while self.discovery.changed(group) == begin {
            let changes = self.definitions.notified();
            if self.discovery.changed(group) == begin {
                changes.await;
            }
        }
    }

    /// Is told that an object is about to be written.
    pub fn begin_write(self: &Arc<Self>, id: ObjectId) -> Writing {
        let mut writes = locked(&self.writes);
        writes.entry(id.clone()).or_default().writes += 1;
        Writing {
            hub: Arc::clone(self),
            id,
        }
    }
}

/// A write under way; when it is dropped, what others did meanwhile is told.
pub(in crate::cluster) struct Writing {
    hub: Arc<Hub>,
    id: ObjectId,
}

impl Writing {
    pub fn id(&self) -> &ObjectId {
        &self.id
    }

    /// Is told which version the write made.
    pub fn made(&self, version: &str) {
        self.note(|unanswered| unanswered.versions.push(version.to_owned()));
    }

    /// Is told which object the write deleted.
    pub fn deleted(&self, uid: &str) {
        self.note(|unanswered| unanswered.deleted.push(uid.to_owned()));
    }

    fn note(&self, note: impl FnOnce(&mut Unanswered)) {
        if let Some(unanswered) = locked(&self.hub.writes).get_mut(&self.id) {
            note(unanswered);
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.hub.note_definition(&self.id);
        let mut writes = locked(&self.hub.writes);
        if let Some(unanswered) = writes.get_mut(&self.id) {
            unanswered.writes -= 1;
            if unanswered.writes > 0 {
                return;
            }
        }
        if let Some(mut unanswered) = writes.remove(&self.id) {
            for change in std::mem::take(&mut unanswered.told) {
                if !unanswered.is_echo(&change) {
                    self.hub.pending.add(change);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::changes::Changes;
    use super::*;
    use crate::api::GroupKind;
    use crate::plan::Live;

    fn id() -> ObjectId {
        ObjectId {
            group_kind: GroupKind::new("", "ConfigMap"),
            namespace: Some("shop".into()),
            name: "a".into(),
        }
    }

    fn live(version: &str) -> Arc<Live> {
        Arc::new(Live {
            uid: "uid".into(),
            resource_version: version.into(),
            ..Live::default()
        })
    }

    fn change(before: Option<&str>, after: Option<&str>) -> Change {
        Change {
            id: id(),
            before: before.map(live),
            after: after.map(live),
        }
    }

    /// The version before all that is told, and after; nothing when nothing is.
    fn told(hub: &Arc<Hub>) -> Option<(Option<String>, Option<String>)> {
        use futures_util::FutureExt;
        let changes = Changes(Arc::clone(hub)).next().now_or_never()?;
        let version = |live: &Option<Arc<Live>>| live.as_ref().map(|l| l.resource_version.clone());
        let change = changes.first()?;
        assert_eq!(changes.len(), 1);
        Some((version(&change.before), version(&change.after)))
    }

    #[test]
    fn an_echo_that_comes_before_the_answer_is_no_news() {
        let hub = Arc::<Hub>::default();
        let first = hub.begin_write(id());
        let second = hub.begin_write(id());
        hub.tell(change(Some("1"), Some("2")));
        first.made("2");
        drop(first);
        hub.tell(change(Some("2"), None));
        second.deleted("uid");
        drop(second);
        assert_eq!(told(&hub), None);
        hub.tell(change(None, Some("9")));
        assert_eq!(told(&hub), Some((None, Some("9".into()))));
    }

    #[test]
    fn what_others_do_during_a_write_is_told_after_it() {
        let hub = Arc::<Hub>::default();
        let write = hub.begin_write(id());
        hub.tell(change(Some("1"), Some("2")));
        assert_eq!(told(&hub), None);
        hub.tell(change(Some("2"), Some("3")));
        write.made("3");
        drop(write);
        assert_eq!(told(&hub), Some((Some("1".into()), Some("2".into()))));
        // One that fails made nothing.
        let write = hub.begin_write(id());
        hub.tell(change(Some("3"), Some("4")));
        drop(write);
        assert_eq!(told(&hub), Some((Some("3".into()), Some("4".into()))));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_a_definition_is_woken_by_one_of_its_group() {
        let hub = Arc::<Hub>::default();
        let define = |name: &str| {
            let id = ObjectId {
                group_kind: GroupKind::definition(),
                namespace: None,
                name: name.into(),
            };
            hub.tell(Change {
                id,
                before: None,
                after: Some(live("1")),
            });
        };
        define("things.a.io");
        let mut waits = std::pin::pin!(hub.defined("a.io"));
        let minute = std::time::Duration::from_secs(60);
        assert!(tokio::time::timeout(minute, &mut waits).await.is_err());
        define("things.b.io");
        assert!(tokio::time::timeout(minute, &mut waits).await.is_err());
        define("others.a.io");
        waits.await;
    }
}
