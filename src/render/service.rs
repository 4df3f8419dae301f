//! The headless Service whose name resolves to every replica.

use serde_json::{Value, json};
use thiserror::Error;

use super::selector::service_selector;
use super::service_name::service_name;
use super::target::{Deployment, Target};
use crate::api::names;

/// Why a Target has no coverage Service; displayed as a condition's message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoService {
    /// Coverage is switched off.
    #[error("agents.coverage.enabled is false")]
    CoverageDisabled,
    /// Coverage is on, but nobody wants a Service.
    #[error("coverageService is false")]
    CoverageServiceDisabled,
    /// There are no pods to select.
    #[error("Deployment {name} does not exist in namespace {namespace}")]
    DeploymentNotFound {
        /// The Deployment's name.
        name: String,
        /// The Target's namespace.
        namespace: String,
    },
    /// The Deployment selects its pods in a way that a Service cannot.
    #[error("no Service can select the pods of Deployment {name}: {why}")]
    SelectorNotExpressible {
        /// The Deployment's name.
        name: String,
        /// What a Service lacks.
        why: String,
    },
}

impl NoService {
    /// Says that the Deployment of a Target is not there.
    pub fn deployment_not_found(target: &Target) -> Self {
        Self::DeploymentNotFound {
            name: target.spec.deployment_ref.name.clone(),
            namespace: target.namespace.clone(),
        }
    }

    /// One word, as a condition's reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::CoverageDisabled => "CoverageDisabled",
            Self::CoverageServiceDisabled => "CoverageServiceDisabled",
            Self::DeploymentNotFound { .. } => "DeploymentNotFound",
            Self::SelectorNotExpressible { .. } => "SelectorNotExpressible",
        }
    }
}

/// Renders the Service of a Target, without its owner reference (see [`with_owner`]).
///
/// # Errors
/// Why there must be none. A Service that is there all the same is to be deleted.
pub fn coverage_service(
    target: &Target,
    deployment: Option<&Deployment>,
) -> Result<Value, NoService> {
    if !target.spec.agents.coverage.enabled {
        return Err(NoService::CoverageDisabled);
    }
    if !target.spec.coverage_service {
        return Err(NoService::CoverageServiceDisabled);
    }
    let deployment = deployment.ok_or_else(|| NoService::deployment_not_found(target))?;
    let mut selector = service_selector(&deployment.selector).map_err(|why| {
        NoService::SelectorNotExpressible {
            name: target.spec.deployment_ref.name.clone(),
            why,
        }
    })?;
    let port = target.spec.agents.coverage.port;
    if target.wants_agent() {
        // Pods without the agent, or with one on another port, would only refuse to be connected to.
        selector.insert(names::COVERAGE_PORT.to_owned(), port.to_string());
    }
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": child_metadata(target),
        "spec": {
            "clusterIP": "None",
            // A headless Service maps no ports (API reference, ServicePort.targetPort), so both are the agent's.
            "ports": [{ "name": names::COVERAGE_PORT_NAME, "port": port, "protocol": "TCP", "targetPort": port }],
            "publishNotReadyAddresses": target.spec.agents.coverage.publish_not_ready,
            "selector": selector,
        },
    }))
}

/// The metadata of what a Target brings about: all of it has the Service's name, and the labels that it is found by.
pub(super) fn child_metadata(target: &Target) -> Value {
    json!({
        "name": service_name(&target.name),
        "namespace": target.namespace,
        "labels": {
            names::MANAGED_BY.0: names::MANAGED_BY.1,
            names::COMPONENT.0: names::COMPONENT.1,
        },
    })
}

/// Adds the owner reference to a Target, by name and uid, that lets the garbage collector take the child when the Target goes.
///
/// `blockOwnerDeletion` is left out: it would need a permission on `finalizers` (operator-sdk#4020) and nothing waits for it.
pub fn with_owner(child: &mut Value, target: &str, uid: &str) {
    if let Some(metadata) = child.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert(
            "ownerReferences".into(),
            json!([{
                "apiVersion": names::API_VERSION,
                "kind": names::TARGET,
                "name": target,
                "uid": uid,
                "controller": true,
            }]),
        );
    }
}

/// Gives `<service>.<namespace>.svc.<cluster domain>:<port>`, what a driver resolves to all replicas.
pub fn endpoint(target: &Target, cluster_domain: &str) -> String {
    let service = service_name(&target.name);
    format!(
        "{service}.{}.svc.{cluster_domain}:{}",
        target.namespace, target.spec.agents.coverage.port
    )
}
