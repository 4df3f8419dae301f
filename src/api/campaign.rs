//! `ClosureJVMCampaign`: the coverage of a Target, collected again and again into one file.

// Each printed column has a type of its own; the lint takes them for repetitions.
#![allow(clippy::duplicated_attributes)]

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::sync::{Duration, LocalRef};

/// The shortest interval: an agent answers one collector at a time, and others want their turn.
pub const SHORTEST_COLLECTION: std::time::Duration = std::time::Duration::from_secs(5);

/// How often it is collected when nobody says.
pub const COLLECTION: std::time::Duration = std::time::Duration::from_secs(5 * 60);

/// What a user asks for.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "closurejvm.io",
    version = "v1alpha1",
    kind = "ClosureJVMCampaign",
    plural = "closurejvmcampaigns",
    shortname = "cjc",
    namespaced,
    status = "CampaignStatus",
    doc = "Collects the coverage of all replicas of a Target again and again, and keeps the union of all that was ever seen in one file.",
    printcolumn(name = "Target", type_ = "string", json_path = ".spec.targetRef.name"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Runs", type_ = "integer", json_path = ".status.runs"),
    printcolumn(name = "Probes", type_ = "integer", json_path = ".status.probesHit"),
    printcolumn(name = "Last-Growth", type_ = "date", json_path = ".status.lastGrowth"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ),
    printcolumn(
        name = "File",
        type_ = "string",
        priority = 1,
        json_path = ".status.file"
    ),
    printcolumn(
        name = "Why",
        type_ = "string",
        priority = 1,
        json_path = ".status.conditions[?(@.type==\"Ready\")].message"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct CampaignSpec {
    /// The Target, in the Campaign's own namespace.
    pub target_ref: LocalRef,
    /// How often all replicas are asked, for instance `10m`; at least `5s`, and `5m` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Whether the agents forget what they have recorded once it is stored: others who ask them then see only what came after.
    /// The file holds the union of all runs either way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
    /// When it ends; never by itself when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Whether nothing is to be collected for now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,
    /// Where the file is kept.
    pub storage: Storage,
}

/// The end of a Campaign: whatever comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Until {
    /// A time (RFC 3339). A last run is made then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub time: Option<String>,
    /// How long no run that reached all pods has found a new probe, for instance `24h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_new_probes_for: Option<Duration>,
}

/// Where the file is kept: exactly one of the two. It is called after the Campaign, `<name>.exec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("oneOf" = [{ "required": ["path"] }, { "required": ["s3"] }]))]
pub struct Storage {
    /// A folder, below that of this namespace on the volume that the controller was given (`campaigns.root` of its Config).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 512),
        regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$")
    )]
    pub path: Option<String>,
    /// A bucket of an S3-compatible server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s3: Option<S3>,
}

/// A bucket of an S3-compatible server, which must know conditional writes (`If-Match`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct S3 {
    /// `s3://bucket` or `s3://bucket/prefix`.
    #[schemars(
        length(min = 6, max = 1024),
        regex(pattern = r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._/-]*)?$")
    )]
    pub url: String,
    /// The server, for instance `https://minio.example:9000`; that of AWS in the region when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 8, max = 512),
        regex(pattern = r"^https?://[^\s/?#@]+/?$")
    )]
    pub endpoint: Option<String>,
    /// The region; `us-east-1` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z0-9-]+$"))]
    pub region: Option<String>,
    /// Secret in the Campaign's namespace with `accesskey` and `secretkey`, and `ca.crt` where the server's certificate needs it.
    pub secret_ref: LocalRef,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignStatus {
    /// One word for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<CampaignPhase>,
    /// How often the pods were asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runs: i64,
    /// When they were last asked (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_run: Option<String>,
    /// When they are asked next (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub next_run: Option<String>,
    /// The pods of the last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodCount>,
    /// Classes of the union.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<i64>,
    /// Probes of the union that were hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes_hit: Option<i64>,
    /// Probes of the classes of the union.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes_total: Option<i64>,
    /// How the union grew. A long series is thinned; its first and its last points stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub growth: Vec<GrowthPoint>,
    /// When a run last found a new probe (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_growth: Option<String>,
    /// Where the union is, once it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The `reconcile.fluxcd.io/requestedAt` that was last answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
    /// Generation of the spec that this status speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Aspects: `Ready`; `ClassMismatch` and `Stalled` only while true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// How many pods were asked.
///
/// One value for server-side apply, as [`EndpointCount`](super::target::EndpointCount).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct PodCount {
    /// Those that answered completely.
    pub reached: i32,
    /// All of them.
    pub total: i32,
}

/// How far the union was at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrowthPoint {
    /// When (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub time: String,
    /// Probes that were hit by then.
    pub probes_hit: i64,
}

/// Where a Campaign stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CampaignPhase {
    /// Something it needs is not there yet.
    Pending,
    /// It asks the pods again and again.
    Collecting,
    /// It has come to its end.
    Finished,
    /// Nothing is collected for now, and that is meant.
    Suspended,
    /// It will not come right by itself.
    Failed,
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}
