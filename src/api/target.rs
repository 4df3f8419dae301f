//! `ClosureJVMTarget`: a Deployment whose coverage is to be collected from all its replicas.

// Each printed column has a type of its own; the lint takes them for repetitions.
#![allow(clippy::duplicated_attributes)]

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::network_policy::AgentNetworkPolicy;

/// Port the JaCoCo agent listens on when nothing else is said (`AgentOptions.DEFAULT_PORT`).
pub const DEFAULT_COVERAGE_PORT: u16 = 6300;

/// What a user asks for.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "closurejvm.io",
    version = "v1alpha1",
    kind = "ClosureJVMTarget",
    plural = "closurejvmtargets",
    shortname = "cjt",
    namespaced,
    status = "TargetStatus",
    doc = "A Deployment whose JVM coverage is collected from all its replicas through one name.",
    printcolumn(
        name = "Deployment",
        type_ = "string",
        json_path = ".spec.deploymentRef.name"
    ),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(
        name = "Instrumented",
        type_ = "integer",
        json_path = ".status.instrumentedReplicas"
    ),
    printcolumn(
        name = "Endpoint",
        type_ = "string",
        json_path = ".status.coverageEndpoint"
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
pub struct TargetSpec {
    /// The Deployment, in the Target's own namespace.
    pub deployment_ref: DeploymentRef,
    /// Whether a headless Service over all replicas is wanted.
    #[serde(default)]
    pub coverage_service: bool,
    /// The agents to run in the Deployment's JVM.
    #[serde(default)]
    pub agents: Agents,
    /// A NetworkPolicy for the agent's port, which has no authentication; none when not given, and then everybody may reach it who
    /// reaches the pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<AgentNetworkPolicy>,
}

/// Names a Deployment in the same namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeploymentRef {
    /// Name of the Deployment.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub name: String,
}

/// The agents to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agents {
    /// The JaCoCo coverage agent.
    #[serde(default)]
    pub coverage: CoverageAgent,
}

/// The JaCoCo agent and how it gets into the pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoverageAgent {
    /// Whether coverage is on.
    #[serde(default)]
    pub enabled: bool,
    /// Port the agent listens on in every pod; the Service has the same one, since a headless Service maps no ports.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,
    /// Whether the agent is put into the pods (`Auto`) or brought along by the image (`None`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub injection: Injection,
    /// Image that carries the agent; the controller's `agentImage` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub image: Option<String>,
    /// When that image is pulled; as Kubernetes has it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_pull_policy: Option<PullPolicy>,
    /// Container that runs the JVM; needed when the pod has several, whatever they are called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub container: Option<String>,
    /// Class name patterns to record (`*` and `?`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1, max = 512), regex(pattern = r#"^[^,:;\s"']+$"#)))]
    pub includes: Vec<String>,
    /// Class name patterns to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1, max = 512), regex(pattern = r#"^[^,:;\s"']+$"#)))]
    pub excludes: Vec<String>,
    /// Whether pods that are not ready are reachable too: coverage of the start and of the end counts.
    #[serde(default = "yes")]
    pub publish_not_ready: bool,
    /// What becomes of the agent when the rollout fails because of it: it stays (`Keep`), or it is taken out again until this
    /// spec changes (`Revert`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_failure: OnFailure,
}

impl Default for CoverageAgent {
    fn default() -> Self {
        Self {
            enabled: false,
            port: DEFAULT_COVERAGE_PORT,
            injection: Injection::default(),
            image: None,
            image_pull_policy: None,
            container: None,
            includes: Vec::new(),
            excludes: Vec::new(),
            publish_not_ready: true,
            on_failure: OnFailure::default(),
        }
    }
}

/// How the agent gets into the pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Injection {
    /// Covergence puts it there.
    #[default]
    Auto,
    /// The image brings it along.
    None,
}

/// What becomes of the agent when the rollout fails because of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OnFailure {
    /// It stays, and status says why it fails.
    #[default]
    Keep,
    /// It is taken out again.
    Revert,
}

/// When an image is pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PullPolicy {
    /// Whenever a pod starts.
    Always,
    /// When the node has none of that name.
    IfNotPresent,
    /// Never: the node has it.
    Never,
}

/// What is so, as far as we know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetStatus {
    /// One word for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// `host:port` whose host resolves to every pod; present only while the Service is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage_endpoint: Option<String>,
    /// Replicas that run the current pod template, which has the agent, and are available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instrumented_replicas: Option<i32>,
    /// Addresses behind the Service, from its EndpointSlices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<EndpointCount>,
    /// The agent in the pods, if Covergence put it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentStatus>,
    /// Generation of the spec that this status speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Aspects: `Ready`, `CoverageServiceReady`, `AgentInjected`; `NetworkPolicyReady` only while one is asked for, `Drifted` only
    /// while true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// How many pods stand behind a Service.
///
/// One value for server-side apply: of a map of two, taking both out leaves `endpoints: null` (seen on v1.20.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct EndpointCount {
    /// Those that are ready.
    pub ready: i32,
    /// All of them.
    pub total: i32,
}

/// The agent in the pods. One value for server-side apply, as [`EndpointCount`] is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct AgentStatus {
    /// The image that brings it, as the pods ask for it.
    pub image: String,
    /// Its version, as a pod of the present rollout has told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// `sha256:<hex>` of its jar, as a pod of the present rollout has told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// Where a Target stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// Something it needs is not there yet.
    Pending,
    /// The Deployment is rolling out.
    Injecting,
    /// All replicas run the current template.
    Instrumented,
    /// Coverage is switched off.
    Disabled,
    /// It will not come right by itself.
    Failed,
}

fn default_port() -> u16 {
    DEFAULT_COVERAGE_PORT
}

fn yes() -> bool {
    true
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
