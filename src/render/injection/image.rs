//! The init container that brings the agent.

use serde_json::{Value, json};

use crate::api::names::{AGENT, AGENT_DIRECTORY, AGENT_INSTALL};
use crate::api::target::PullPolicy;

/// The user in our image. Said only where the pod says another one, since OpenShift wants to choose.
const NONROOT: u32 = 65532;

/// The image that carries the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentImage {
    /// Its name.
    pub image: String,
    /// When it is pulled; as Kubernetes has it when absent.
    pub pull_policy: Option<PullPolicy>,
}

impl AgentImage {
    /// The image that somebody names, or else the one that `deploy/deployment.yaml` names.
    pub fn new(image: Option<String>, pull_policy: Option<PullPolicy>) -> Self {
        let own = concat!("covergence:", env!("CARGO_PKG_VERSION"));
        Self {
            image: image.unwrap_or_else(|| own.to_owned()),
            pull_policy,
        }
    }
}

impl Default for AgentImage {
    fn default() -> Self {
        Self::new(None, None)
    }
}

/// Renders the init container.
///
/// It passes the Pod Security Standard `restricted` by itself. What it asks for equals what it is limited to: it would else
/// take a pod its quality of service, Guaranteed.
pub(super) fn init_container(image: &AgentImage, pod_runs_as_root: bool) -> Value {
    let mut container = json!({
        "name": AGENT,
        "image": image.image,
        "command": AGENT_INSTALL,
        "resources": { "requests": resources(), "limits": resources() },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] },
            "readOnlyRootFilesystem": true,
            "runAsNonRoot": true,
            "seccompProfile": { "type": "RuntimeDefault" },
        },
        // What it has to say of its failure is the last of what it wrote.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{ "name": AGENT, "mountPath": AGENT_DIRECTORY }],
    });
    if let (Some(policy), Some(fields)) = (image.pull_policy, container.as_object_mut()) {
        fields.insert("imagePullPolicy".into(), json!(policy));
    }
    let context = container.pointer_mut("/securityContext");
    if let Some(context) = context.and_then(Value::as_object_mut)
        && pod_runs_as_root
    {
        context.insert("runAsUser".into(), json!(NONROOT));
    }
    container
}

/// What the init container asks for, which is enough to copy a file of 300 kB.
const RESOURCES: [(&str, &str); 3] = [
    ("cpu", "100m"),
    ("memory", "64Mi"),
    ("ephemeral-storage", "32Mi"),
];

fn resources() -> Value {
    RESOURCES.into_iter().collect()
}

/// Tells whether a LimitRange minds what the init container asks for. It names no container, but the resource and how much was
/// asked of it (plugin/pkg/admission/limitranger).
pub fn is_out_of_range(message: &str) -> bool {
    RESOURCES.iter().any(|(resource, asked)| {
        let of_resource = format!("{resource} usage per Container is ");
        let mut faults = message.split(", ").zip(message.split(", ").skip(1));
        faults.any(|(range, fault)| {
            let said = fault.strip_prefix("but request is ");
            let said = said.or_else(|| fault.strip_prefix("but limit is "));
            let said = said.map(|it| it.trim_end_matches([']', '.']));
            range.contains(&of_resource) && said == Some(asked)
        })
    })
}

/// Renders the volume.
pub(super) fn volume() -> Value {
    json!({ "name": AGENT, "emptyDir": { "sizeLimit": "16Mi" } })
}

/// Renders the mount in the JVM's container.
pub(super) fn mount() -> Value {
    json!({ "name": AGENT, "mountPath": AGENT_DIRECTORY, "readOnly": true })
}
