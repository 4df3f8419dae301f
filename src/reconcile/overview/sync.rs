//! A Sync in the overview.

use serde::Serialize;
use serde_json::Value;

use super::super::record::previous;
use super::{Readiness, Ready, applyset_id, text};
use crate::api::names::SOURCE;
use crate::api::sync::{DirectorySource, ObjectCount};
use crate::source::git::RepositoryUrl;

/// A Sync, for people and programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncView {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Whether it is ready, and why not.
    #[serde(flatten)]
    pub readiness: Readiness,
    /// Where its manifests come from.
    pub source: SourceView,
    /// The revision that the cluster was last made to look like, completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_applied_revision: Option<String>,
    /// The revision of the last run, whatever became of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_attempted_revision: Option<String>,
    /// How many objects there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectCount>,
    /// What others have changed and is left so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
    /// What waits until somebody approves its prune, and how that is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune_waits: Option<String>,
    /// When a run last changed something (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_change: Option<String>,
    /// When it was made (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<String>,
}

/// Where manifests come from, without passwords.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceView {
    /// In one word.
    pub kind: SourceKind,
    /// A path, or a repository's URL and a path in it; absent when it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The ref that is followed.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Who brings the manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// The controller, from a repository.
    Git,
    /// The controller, from a directory.
    Directory,
    /// Whoever calls `covergence sync`: no controller acts on it.
    OneShot,
}

impl SourceKind {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Directory => "directory",
            Self::OneShot => "one-shot",
        }
    }
}

impl SyncView {
    /// Reads a live Sync. What it cannot read it leaves out: one broken Sync must not hide the others.
    pub fn read(sync: &Value) -> Self {
        let status = previous(Some(sync));
        let mut readiness = Readiness::judge(sync, &status.conditions, status.observed_generation);
        if sync.pointer("/spec/suspend") == Some(&Value::Bool(true)) {
            readiness.ready = Ready::Suspended;
        }
        let told = |type_| {
            let found = status.conditions.iter().find(|c| c.type_ == type_);
            found.map(|condition| condition.message.clone())
        };
        let (drift, prune_waits) = (told("Drifted"), told("PruneWaits"));
        Self {
            namespace: text(sync, "/metadata/namespace").unwrap_or_default(),
            name: text(sync, "/metadata/name").unwrap_or_default(),
            readiness,
            source: SourceView::read(sync),
            last_applied_revision: status.last_applied_revision,
            last_attempted_revision: status.last_attempted_revision,
            objects: status.objects,
            drift,
            prune_waits,
            last_change: status.runs.into_iter().next().map(|run| run.time),
            creation_timestamp: text(sync, "/metadata/creationTimestamp"),
        }
    }

    /// The id of its apply set.
    pub fn applyset(&self) -> String {
        applyset_id(&self.namespace, &self.name)
    }
}

impl SourceView {
    fn read(sync: &Value) -> Self {
        let spec = |field: &str| text(sync, &format!("/spec/source/{field}"));
        let kind = match sync.pointer("/spec/source") {
            None => SourceKind::OneShot,
            Some(source) if source.get("git").is_some() => SourceKind::Git,
            Some(_) => SourceKind::Directory,
        };
        let location = match kind {
            SourceKind::Git => spec("git/url").and_then(|url| {
                let url: RepositoryUrl = url.parse().ok()?;
                Some(match spec("git/path") {
                    Some(path) => format!("{url}//{}", path.trim_matches('/')),
                    None => url.to_string(),
                })
            }),
            SourceKind::Directory => spec("directory/path").map(|path| {
                let sub_path = spec("directory/subPath");
                DirectorySource { path, sub_path }.location()
            }),
            SourceKind::OneShot => {
                let annotations = sync.pointer("/metadata/annotations");
                let source = annotations.and_then(|all| all.get(SOURCE)?.as_str());
                source.map(str::to_owned)
            }
        };
        Self {
            kind,
            location,
            reference: spec("git/ref"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sync(spec: Value, status: Value) -> Value {
        json!({ "metadata": { "namespace": "n", "name": "a", "generation": 2 }, "spec": spec, "status": status })
    }

    fn ready(observed: i64) -> Value {
        json!({ "observedGeneration": observed, "conditions": [{
            "type": "Ready", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "t",
        }] })
    }

    #[test]
    fn ready_counts_only_for_the_spec_as_it_is() {
        let judge =
            |spec: Value, status: Value| SyncView::read(&sync(spec, status)).readiness.ready;
        assert_eq!(judge(json!({}), ready(2)), Ready::True);
        assert_eq!(judge(json!({}), ready(1)), Ready::Unknown);
        assert_eq!(judge(json!({}), json!(null)), Ready::Unknown);
        assert_eq!(judge(json!({}), json!({ "conditions": 7 })), Ready::Unknown);
        assert_eq!(
            judge(json!({ "suspend": true }), ready(1)),
            Ready::Suspended
        );
    }

    #[test]
    fn the_source_is_shown_without_passwords() {
        let source = |spec: Value| SyncView::read(&sync(spec, json!(null))).source;
        let git = source(json!({ "source": { "git": {
            "url": "https://user:hunter2@git.example/shop.git", "ref": "main", "path": "/deploy/",
        } } }));
        assert_eq!(git.kind, SourceKind::Git);
        assert_eq!(
            git.location.as_deref(),
            Some("https://user:***@git.example/shop.git//deploy")
        );
        assert_eq!(git.reference.as_deref(), Some("main"));
        let unreadable = source(json!({ "source": { "git": { "url": "ftp://user:hunter2@x" } } }));
        assert_eq!(unreadable.location, None);
        let directory = source(json!({ "source": { "directory": { "path": "/srv/shop" } } }));
        assert_eq!(directory.location.as_deref(), Some("/srv/shop"));
        assert_eq!(source(json!({})).kind, SourceKind::OneShot);
    }
}
