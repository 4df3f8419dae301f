//! `Sync`: a source and what to do with it; the parent of an ApplySet.

// Each printed column has a type of its own; the lint takes them for repetitions.
#![allow(clippy::duplicated_attributes)]

use std::borrow::Cow;

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::condition::Condition;

/// The shortest interval: servers take it for an attack when one asks more often.
pub const SHORTEST_INTERVAL: std::time::Duration = std::time::Duration::from_secs(5);

/// What a user asks for.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "closurejvm.io",
    version = "v1alpha1",
    kind = "Sync",
    plural = "syncs",
    namespaced,
    status = "SyncStatus",
    doc = "A source of manifests and what to do with it. It is the parent of the ApplySet that its objects are members of.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(
        name = "Revision",
        type_ = "string",
        json_path = ".status.lastAppliedRevision"
    ),
    printcolumn(
        name = "Objects",
        type_ = "integer",
        json_path = ".status.objects.total"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ),
    printcolumn(
        name = "Why",
        type_ = "string",
        priority = 1,
        json_path = ".status.conditions[?(@.type==\"Ready\")].message"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct SyncSpec {
    /// Where the manifests are. Absent on the inventory that `covergence sync PATH` keeps: no controller acts on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// How often the source is looked at, for instance `1m`; at least `5s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Whether objects that leave the source are deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prune: bool,
    /// Whether a source without any object may prune everything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_empty: bool,
    /// The most that one run may prune: a count, or a percentage of the members. More means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune_limit: Option<PruneLimit>,
    /// The same for objects of some kinds; all limits hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prune_limits: Vec<KindLimit>,
    /// What is done about changes made by others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftPolicy>,
    /// Whether nothing is to be done for now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,
    /// Syncs that must be ready first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<SyncRef>,
    /// ServiceAccount in this namespace that every request is made as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
    )]
    pub service_account_name: Option<String>,
    /// Namespace for objects that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub target_namespace: Option<String>,
    /// What becomes of the members when this Sync is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// Files or folders of the source, relative to its root, with ValidatingAdmissionPolicies that every object must pass.
    /// What they hold is not applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 4096)))]
    pub policies: Vec<String>,
    /// Whether a run is done only when all objects are healthy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wait: bool,
    /// How long a run may take, for instance `5m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

/// Where manifests come from: exactly one of git and directory. The folder of a kustomization or a Helm chart is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("oneOf" = [{ "required": ["git"] }, { "required": ["directory"] }]))]
pub struct Source {
    /// A git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitSource>,
    /// A directory the controller can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<DirectorySource>,
    /// What a Helm chart is rendered with, if the source is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm: Option<HelmSource>,
}

/// What a Helm chart is rendered with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelmSource {
    /// Name of the release; the Sync's name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 53),
        regex(pattern = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
    )]
    pub release_name: Option<String>,
    /// Files of the source with values, as paths from the chart's folder; later ones win.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 4096)))]
    pub values_files: Vec<String>,
}

/// A git repository at a ref.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitSource {
    /// `https://…`, `ssh://…`, `user@host:path`, `file://…` or a path.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// Branch, tag, full ref name or commit; the remote's default branch when absent.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub reference: Option<String>,
    /// Folder of the repository that holds the manifests; what an overlay refers to may be anywhere in the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub path: Option<String>,
    /// Secret in the Sync's namespace with the credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalRef>,
    /// Secret in the Sync's namespace with the keys that commits must be signed by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<LocalRef>,
}

/// A directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectorySource {
    /// Path on the controller's file system.
    #[schemars(length(min = 1, max = 4096))]
    pub path: String,
    /// Folder in it that holds the manifests; what an overlay refers to may be anywhere in the directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub sub_path: Option<String>,
}

impl DirectorySource {
    /// The folder with the manifests, as people write it.
    pub fn location(&self) -> String {
        match &self.sub_path {
            Some(folder) => format!(
                "{}/{}",
                self.path.trim_end_matches('/'),
                folder.trim_matches('/')
            ),
            None => self.path.clone(),
        }
    }
}

/// An object in the same namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalRef {
    /// Its name.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
    )]
    pub name: String,
}

/// Another Sync.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncRef {
    /// Its name.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
    )]
    pub name: String,
    /// Its namespace; this one's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub namespace: Option<String>,
}

/// A length of time as Go prints it: `30s`, `1m30s`, `250ms`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Duration(
    #[schemars(length(max = 32), regex(pattern = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"))] pub String,
);

/// The most that one run may prune.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PruneLimit {
    /// So many objects.
    Count(u32),
    /// A part of the members, for instance `25%`.
    Percent(String),
}

/// The most objects of a kind that one run may prune.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindLimit {
    /// The kind, for instance `Deployment`.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[A-Z][A-Za-z0-9]*$"))]
    pub kind: String,
    /// Its API group, `""` for the core group; whatever group when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 253),
        regex(pattern = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$")
    )]
    pub group: Option<String>,
    /// A count, or a percentage of the members of that kind.
    pub limit: PruneLimit,
}

impl JsonSchema for PruneLimit {
    fn schema_name() -> Cow<'static, str> {
        "PruneLimit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-kubernetes-int-or-string": true,
            "anyOf": [{ "type": "integer" }, { "type": "string" }],
            "minimum": 0,
            "pattern": "^(100|[0-9]{1,2})%$",
        })
    }
}

/// What is done about changes made by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DriftPolicy {
    /// They are undone.
    Correct,
    /// They are reported.
    Detect,
}

/// What becomes of the members when the Sync is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeletionPolicy {
    /// They stay, as nobody's.
    Orphan,
    /// They go, in reverse order.
    Delete,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncStatus {
    /// Generation of the spec that this status speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Revision of the last run, whatever became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_revision: Option<String>,
    /// Revision that the cluster was last made to look like, completely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_applied_revision: Option<String>,
    /// Digest of what was rendered from `lastAttemptedRevision`, `sha256:<hex>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered_digest: Option<String>,
    /// The `reconcile.fluxcd.io/requestedAt` that was last answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
    /// How many objects there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectCount>,
    /// The last five runs that changed something, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Run>,
    /// Aspects: `Ready`; `Drifted`, `PruneWaits` and `Stalled` only while true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Objects of a Sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectCount {
    /// All that the source asks for.
    pub total: i32,
    /// Those that could not be applied, or were refused.
    pub failed: i32,
}

/// One run that changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// When it ended (RFC 3339, seconds).
    #[schemars(extend("format" = "date-time"))]
    pub time: String,
    /// What it applied.
    pub revision: String,
    /// Objects created.
    pub created: i32,
    /// Objects changed.
    pub configured: i32,
    /// Objects deleted.
    pub deleted: i32,
    /// Objects that failed or were refused.
    pub failed: i32,
}
