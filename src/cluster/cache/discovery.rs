//! What the server has answered about its kinds, for as long as that holds.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use super::locked;
use crate::api::split_api_version;
use crate::cluster::Kinds;

/// Servers are upgraded and aggregated APIs come and go, which no watch of definitions tells.
const HOLDS: Duration = Duration::from_secs(600);

/// What is not there, or may change without our seeing it, is soon asked for again.
const HOLDS_HARDLY: Duration = Duration::from_secs(30);

/// Discovery follows a definition within a second or two (`Established` comes first), also on a busy server.
const SETTLES: Duration = Duration::from_secs(10);

/// An answer, and when it was asked for.
type Answer<T> = (Instant, T);

/// Answers about kinds.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Discovery {
    versions: Mutex<Option<Answer<BTreeSet<String>>>>,
    kinds: Mutex<HashMap<String, Answer<Option<Kinds>>>>,
    /// When a definition of a group last changed.
    changed: Mutex<HashMap<String, Instant>>,
}

impl Discovery {
    /// Notes that a definition, named `<plural>.<group>`, has changed: what its group holds is to be asked for anew.
    pub fn note_definition(&self, name: &str) {
        let (_, group) = name.split_once('.').unwrap_or(("", name));
        locked(&self.changed).insert(group.to_owned(), Instant::now());
    }

    /// When a definition of a group last changed, if any did.
    pub fn changed(&self, group: &str) -> Option<Instant> {
        locked(&self.changed).get(group).copied()
    }

    /// What was answered about an `apiVersion`: its kinds, or that there is none. `watched` tells whether definitions are
    /// watched.
    pub fn kinds(&self, api_version: &str, watched: bool) -> Option<Option<Kinds>> {
        let kinds = locked(&self.kinds);
        let (asked, answer) = kinds.get(api_version)?;
        let long = watched && answer.is_some();
        let (group, _) = split_api_version(api_version);
        holds(*asked, long, self.changed(group)).then(|| answer.clone())
    }

    /// Keeps an answer about an `apiVersion`.
    pub fn keep_kinds(&self, api_version: &str, asked: Instant, answer: Option<Kinds>) {
        let mut kinds = locked(&self.kinds);
        // Manifests may name whatever they like: what has been asked for once must not be remembered for ever.
        kinds.retain(|_, (asked, _)| asked.elapsed() < HOLDS);
        kinds.insert(api_version.to_owned(), (asked, answer));
    }

    /// What was answered about all `apiVersion`s. It is asked for only when something is not found.
    pub fn versions(&self) -> Option<BTreeSet<String>> {
        let versions = locked(&self.versions);
        let (asked, answer) = versions.as_ref()?;
        let changed = locked(&self.changed).values().max().copied();
        holds(*asked, false, changed).then(|| answer.clone())
    }

    /// Keeps an answer about all `apiVersion`s.
    pub fn keep_versions(&self, asked: Instant, answer: BTreeSet<String>) {
        *locked(&self.versions) = Some((asked, answer));
    }
}

fn holds(asked: Instant, long: bool, changed: Option<Instant>) -> bool {
    let within = if long { HOLDS } else { HOLDS_HARDLY };
    asked.elapsed() < within && changed.is_none_or(|changed| asked > changed + SETTLES)
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_not_there_is_asked_for_again_sooner() {
        let discovery = Discovery::default();
        discovery.keep_kinds("a/v1", Instant::now(), Some(Kinds::default()));
        discovery.keep_kinds("b/v1", Instant::now(), None);
        assert!(discovery.kinds("a/v1", true).is_some());
        assert!(discovery.kinds("b/v1", true).is_some());
        assert!(discovery.kinds("c/v1", true).is_none());
        advance(HOLDS_HARDLY).await;
        assert!(discovery.kinds("a/v1", true).is_some());
        assert!(discovery.kinds("a/v1", false).is_none());
        assert!(discovery.kinds("b/v1", true).is_none());
        advance(HOLDS).await;
        assert!(discovery.kinds("a/v1", true).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_changed_definition_ends_what_is_known_of_its_group() {
        let discovery = Discovery::default();
        let keep = || {
            for version in ["a.io/v1", "b.io/v1"] {
                discovery.keep_kinds(version, Instant::now(), Some(Kinds::default()));
            }
        };
        keep();
        discovery.note_definition("things.a.io");
        assert!(discovery.kinds("a.io/v1", true).is_none());
        assert!(discovery.kinds("b.io/v1", true).is_some());
        // Too early to be trusted: discovery lags behind.
        sleep(SETTLES / 2).await;
        keep();
        assert!(discovery.kinds("a.io/v1", true).is_none());
        sleep(SETTLES).await;
        keep();
        assert!(discovery.kinds("a.io/v1", true).is_some());
    }
}
