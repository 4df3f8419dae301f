//! What one run is asked to do.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::api::names;
use crate::api::sync::PruneLimit;

/// What one run is asked to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the Sync that is the parent of the apply set.
    pub name: String,
    /// Whether the name was given, and not made from the source's.
    pub named: bool,
    /// The source, for people: a folder's absolute path, or a repository's URL and a path in it.
    pub source: String,
    /// Its namespace, and that of objects that name none.
    pub namespace: String,
    /// Whether what has left the source is deleted.
    pub prune: bool,
    /// Whether an empty source may prune everything.
    pub allow_empty: bool,
    /// The most that may be pruned at once.
    pub prune_limit: Option<PruneLimit>,
    /// Whether fields that other managers own are taken.
    pub force_conflicts: bool,
    /// How long to wait until all objects are healthy; not at all when absent.
    pub wait: Option<Duration>,
    /// Domain of the cluster's Services.
    pub cluster_domain: String,
    /// The most requests in flight.
    pub concurrency: usize,
}

impl Settings {
    /// The apply set's id.
    pub fn applyset(&self) -> String {
        applyset(&self.namespace, &self.name)
    }
}

/// The id of a Sync's apply set: `applyset-<base64url(sha256(name.namespace.kind.group))>-v1`, as in kubectl.
pub fn applyset(namespace: &str, name: &str) -> String {
    let parent = format!("{name}.{namespace}.{}.{}", names::SYNC, names::GROUP);
    format!(
        "applyset-{}-v1",
        URL_SAFE_NO_PAD.encode(Sha256::digest(parent))
    )
}
