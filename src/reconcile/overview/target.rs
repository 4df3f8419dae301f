//! A Target in the overview.

use serde::Serialize;
use serde_json::Value;

use super::{Readiness, text};
use crate::api::target::{EndpointCount, Phase};
use crate::render::LiveTarget;

/// A Target, for people and programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetView {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Whether it is ready, and why not.
    #[serde(flatten)]
    pub readiness: Readiness,
    /// Name of its Deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment: Option<String>,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Replicas that run the current pod template and are available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrumented_replicas: Option<i32>,
    /// Addresses behind the Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<EndpointCount>,
    /// `host:port` of the coverage Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_endpoint: Option<String>,
    /// What others have changed of its Service and is left so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
    /// When it was made (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<String>,
}

impl TargetView {
    /// Reads a live Target. What it cannot read it leaves out: one broken Target must not hide the others.
    pub fn read(target: &Value) -> Self {
        let status = LiveTarget::read_status(target.get("status"));
        let drifted = status.conditions.iter().find(|c| c.type_ == "Drifted");
        Self {
            namespace: text(target, "/metadata/namespace").unwrap_or_default(),
            name: text(target, "/metadata/name").unwrap_or_default(),
            readiness: Readiness::judge(target, &status.conditions, status.observed_generation),
            deployment: text(target, "/spec/deploymentRef/name"),
            phase: status.phase,
            instrumented_replicas: status.instrumented_replicas,
            endpoints: status.endpoints,
            drift: drifted.map(|drifted| drifted.message.clone()),
            coverage_endpoint: status.coverage_endpoint,
            creation_timestamp: text(target, "/metadata/creationTimestamp"),
        }
    }
}
