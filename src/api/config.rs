//! `Config`: the settings of `covergence run`. A document in a file, and never an object in a cluster.

// Plain data: an address is not a connection.
use core::net::SocketAddr;
use std::path::PathBuf;

use kube::{CustomResource, CustomResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sync::Duration;
use super::target::PullPolicy;

/// What the controller is told, under `spec`. Everything may be left out; a flag or a variable of the environment overrides it.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "closurejvm.io",
    version = "v1alpha1",
    kind = "Config",
    root = "ConfigDocument",
    doc = "The settings of `covergence run`, as a file has them."
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Domain of the cluster's Services; `cluster.local` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_domain: Option<String>,
    /// Image that carries the agent, where a Target names none; `covergence` of the controller's version when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub agent_image: Option<String>,
    /// When that image is pulled; as Kubernetes has it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_image_pull_policy: Option<PullPolicy>,
    /// The most requests in flight for one Sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub concurrency: Option<u32>,
    /// Directory for what was fetched from git servers. It is private to the controller, and may be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_directory: Option<PathBuf>,
    /// Where it can be reached.
    #[serde(default)]
    pub listen: Listen,
    /// Who may call the webhook; needed to have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// What it writes to stderr.
    #[serde(default)]
    pub log: Log,
    /// How several replicas share the work.
    #[serde(default)]
    pub leases: Leases,
    /// The only namespaces whose Syncs and Targets are looked after; all of them when there are none here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Absolute paths below which the directories and the local git repositories must be that a Sync made in the cluster names.
    /// None are allowed when there are none here: who may write Syncs must not read the controller's files by that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<PathBuf>,
    /// Whether the kustomizations of Syncs may refer to places in the network, which are fetched from here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_remote_bases: bool,
    /// ServiceAccount that a Sync acts as when it names none; the controller's own rights when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_service_account: Option<String>,
    /// Images that Targets may name in `agents.coverage.image` beside the one that is used without it, as patterns in which `*`
    /// stands for anything. They concern Deployments that the agent is put into as the controller: who may write Targets need
    /// not be allowed to run images of their choice in other people's pods. None are allowed when there are none here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent_images: Vec<String>,
    /// How much of a source is read before it is called too much.
    #[serde(default)]
    pub limits: Limits,
}

/// Addresses with ports, such as `0.0.0.0:8080` or `[::1]:8080`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// Health, readiness and metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<SocketAddr>,
    /// Notices of git servers; off when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<SocketAddr>,
}

/// Who may call the webhook: exactly one of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Webhook {
    /// File with the secret that the callers share with us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// Everybody: a call only makes us look at a source sooner.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insecure: bool,
}

/// What is written to stderr.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// How.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<LogFormat>,
    /// How much: `error`, `warn`, `info`, `debug` or `trace`, and others for single modules: `info,covergence::source=debug`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
}

/// How a line of the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LogFormat {
    /// For people.
    Text,
    /// As one JSON object.
    Json,
}

/// How several replicas share the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Leases {
    /// Whether they do. Without leases there must be one replica only.
    pub enabled: bool,
    /// Namespace of the Lease objects; the controller's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// How long a lost replica's work waits for another one, for instance `15s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
}

impl Default for Leases {
    fn default() -> Self {
        Self {
            enabled: true,
            namespace: None,
            duration: None,
        }
    }
}

/// How much of a source is read before it is called too much. Past each of them something is an error that says so, and
/// nothing is pruned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Largest manifest file, in bytes; a larger one fails alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 33_554_432))]
    pub file_bytes: Option<u64>,
    /// All manifest files of a source together, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub total_bytes: Option<u64>,
    /// Number of manifest files of a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub files: Option<u64>,
    /// Number of entries of its directories, manifests or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub entries: Option<u64>,
    /// Directories inside one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub directory_depth: Option<u64>,
    /// Bytes of one path; what has a longer one fails alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub path_bytes: Option<u64>,
    /// Bytes of all paths together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub all_path_bytes: Option<u64>,
    /// Bytes received in one git fetch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub fetch_bytes: Option<u64>,
    /// Documents of one file; a file with more fails alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub file_documents: Option<u64>,
    /// Objects of a source, members of lists included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub documents: Option<u64>,
    /// Values in one file, keys included, after aliases are expanded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub file_values: Option<u64>,
    /// Values in all files of a source together: they are what memory is needed for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub values: Option<u64>,
    /// Mappings and lists inside one another; a document with more fails alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub nesting: Option<u64>,
    /// Bytes that anchors, aliases and merge keys of one document may copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub alias_bytes: Option<u64>,
    /// Errors of one file before the rest of it is left unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub file_faults: Option<u64>,
    /// Errors of a source before the rest of it is left unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub faults: Option<u64>,
}

impl Config {
    /// Gives the schema in the form of a CRD, which checks of files know how to read. It is not one of
    /// [`crds`](super::crds()): no cluster gets it.
    ///
    /// # Errors
    /// When a type cannot be expressed as a structural schema; the unit test here shows that ours can.
    pub fn definition() -> Result<Value, serde_json::Error> {
        serde_json::to_value(ConfigDocument::crd())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::{crds, names};

    #[test]
    fn it_has_a_schema_and_is_no_kind_of_a_cluster() {
        let definition = Config::definition().unwrap();
        assert_eq!(definition["spec"]["names"]["kind"], names::CONFIG);
        assert_eq!(definition["spec"]["group"], names::GROUP);
        assert_eq!(definition["spec"]["versions"][0]["name"], names::VERSION);
        assert!(!crds().unwrap().contains(&definition));
    }

    #[test]
    fn everything_may_be_left_out_and_leases_are_on() {
        let read = |value| serde_json::from_value::<Config>(value).unwrap();
        let config = read(json!({}));
        assert_eq!(config, Config::default());
        assert!(config.leases.enabled);
        assert!(read(json!({"leases": {"namespace": "ops"}})).leases.enabled);
        assert!(!read(json!({"leases": {"enabled": false}})).leases.enabled);
    }
}
