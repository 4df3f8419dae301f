//! The headless Service whose name resolves to every replica.

use serde_json::{Value, json};

use super::selector::service_selector;
use super::service_name::service_name;
use super::target::{Deployment, Target};
use crate::api::names;

/// Why a Target has no coverage Service: a condition's reason and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoService {
    /// One word, for programs.
    pub reason: &'static str,
    /// One sentence, for people.
    pub message: String,
}

/// Renders the Service of a Target, without its owner reference (see [`with_owner`]).
///
/// # Errors
/// Why there must be none. A Service that is there all the same is to be deleted.
pub fn coverage_service(
    target: &Target,
    deployment: Option<&Deployment>,
) -> Result<Value, NoService> {
    let no = |reason, message: String| Err(NoService { reason, message });
    if !target.spec.agents.coverage.enabled {
        return no(
            "CoverageDisabled",
            "agents.coverage.enabled is false".into(),
        );
    }
    if !target.spec.coverage_service {
        return no("CoverageServiceDisabled", "coverageService is false".into());
    }
    let name = &target.spec.deployment_ref.name;
    let Some(deployment) = deployment else {
        return no(
            "DeploymentNotFound",
            format!(
                "Deployment {name} does not exist in namespace {}",
                target.namespace
            ),
        );
    };
    let selector = match service_selector(&deployment.selector) {
        Ok(selector) => selector,
        Err(why) => {
            return no(
                "SelectorNotExpressible",
                format!("no Service can select the pods of Deployment {name}: {why}"),
            );
        }
    };
    let port = target.spec.agents.coverage.port;
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": service_name(&target.name),
            "namespace": target.namespace,
            "labels": {
                names::MANAGED_BY.0: names::MANAGED_BY.1,
                names::COMPONENT.0: names::COMPONENT.1,
            },
        },
        "spec": {
            "clusterIP": "None",
            // A headless Service maps no ports (API reference, ServicePort.targetPort), so both are the agent's.
            "ports": [{ "name": "jacoco", "port": port, "protocol": "TCP", "targetPort": port }],
            "publishNotReadyAddresses": target.spec.agents.coverage.publish_not_ready,
            "selector": selector,
        },
    }))
}

/// Adds the owner reference to a Target, by name and uid, that lets the garbage collector take the Service when the Target goes.
///
/// `blockOwnerDeletion` is left out: it would need a permission on `finalizers` (operator-sdk#4020) and nothing waits for it.
pub fn with_owner(service: &mut Value, target: &str, uid: &str) {
    if let Some(metadata) = service.get_mut("metadata").and_then(Value::as_object_mut) {
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
