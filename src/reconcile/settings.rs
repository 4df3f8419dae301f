//! What one run is asked to do.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::api::names;
use crate::load::Limits;
use crate::plan::Limit;
use crate::policy;
use crate::render::AgentImage;

/// What one run is asked to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the Sync that is the parent of the apply set.
    pub name: String,
    /// Whether the name was given, and not made from the source's.
    pub named: bool,
    /// The source, for people: a folder's absolute path, or a repository's URL and a path in it.
    pub source: String,
    /// Its namespace.
    pub namespace: String,
    /// Namespace of objects that name none.
    pub target_namespace: String,
    /// Whether what has left the source is deleted.
    pub prune: bool,
    /// Whether an empty source may prune everything.
    pub allow_empty: bool,
    /// The most that may be pruned at once; all of them hold.
    pub prune_limits: Vec<Limit>,
    /// The revision whose prunes are approved for this run, whatever the Sync says.
    pub approved_prune: Option<String>,
    /// Namespace of the controller itself, if one is at work.
    pub home: Option<String>,
    /// How kubectl is called for this cluster.
    pub kubectl: String,
    /// What else is to be told of the spec.
    pub remarks: Vec<String>,
    /// Whether fields that other managers own are taken.
    pub force_conflicts: bool,
    /// How long to wait until all objects are healthy; not at all when absent.
    pub wait: Option<Duration>,
    /// Ends all waiting when it is cancelled: there is something newer to do.
    pub give_way: CancellationToken,
    /// Whether the run makes the Services of Targets and writes their status; a controller serves each by itself.
    pub serve_targets: bool,
    /// Whether what comes back from an apply is compared with what was sent, to see what webhooks rewrite.
    pub compares: bool,
    /// Whether the Sync's status tells of the run.
    pub writes_status: bool,
    /// Whether the Sync, when it is deleted, stays until its members are gone.
    pub outlives_members: bool,
    /// The `reconcile.fluxcd.io/requestedAt` that this run answers.
    pub requested_at: Option<String>,
    /// Generation of the Sync's spec that this says; when absent, that of the Sync as it is written.
    pub generation: Option<i64>,
    /// Domain of the cluster's Services.
    pub cluster_domain: String,
    /// The image that carries the agent, where a Target names none.
    pub agent_image: AgentImage,
    /// The policies that objects must pass.
    pub policies: Arc<policy::Asked>,
    /// Who makes the requests, when that is known.
    pub user: Option<policy::User>,
    /// The most requests in flight.
    pub concurrency: usize,
    /// How much of what was read is taken.
    pub limits: Limits,
}

impl Settings {
    /// The apply set's id.
    pub fn applyset(&self) -> String {
        applyset_id(&self.namespace, &self.name)
    }
}

/// The id of a Sync's apply set: `applyset-<base64url(sha256(name.namespace.kind.group))>-v1`, as in kubectl.
pub fn applyset_id(namespace: &str, name: &str) -> String {
    let parent = format!("{name}.{namespace}.{}.{}", names::SYNC, names::GROUP);
    let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(parent));
    format!("applyset-{digest}-v1")
}
