//! The NetworkPolicy that limits who reaches the agents.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::service::{NoService, child_metadata};
use super::target::{Deployment, Target};
use crate::api::condition::{ConditionStatus, Finding};
use crate::api::names;

/// Why a Target has no NetworkPolicy; displayed as a condition's message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoNetworkPolicy {
    /// Nobody asks for one.
    #[error("networkPolicy is not set")]
    NotAskedFor,
    /// There is no agent to be reached.
    #[error("agents.coverage.enabled is false")]
    CoverageDisabled,
    /// There are no pods to select.
    #[error("{0}")]
    DeploymentNotFound(NoService),
    /// A NetworkPolicy takes an empty list for everybody.
    #[error("networkPolicy.from is empty, which would let everybody in")]
    NobodyNamed,
    /// Which ports the application listens on is not known.
    #[error(
        "the containers of Deployment {0} declare no port beside the agent's: a NetworkPolicy would cut the application off; declare its ports"
    )]
    NoDeclaredPorts(String),
}

impl NoNetworkPolicy {
    /// One word, as a condition's reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NotAskedFor => "NotAskedFor",
            Self::CoverageDisabled => "CoverageDisabled",
            Self::DeploymentNotFound(no) => no.reason(),
            Self::NobodyNamed => "NobodyNamed",
            Self::NoDeclaredPorts(_) => "NoDeclaredPorts",
        }
    }
}

/// The condition that says whether the NetworkPolicy of a Target is in place.
pub const NETWORK_POLICY_READY: &str = "NetworkPolicyReady";

/// What became of the NetworkPolicy that was rendered, or why none was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkPolicyState {
    /// It is in the cluster as rendered.
    Applied,
    /// There is none, and there is to be none.
    Absent(NoNetworkPolicy),
    /// There is to be one, but it could not be applied: reason and message.
    Failed(&'static str, String),
}

impl NetworkPolicyState {
    /// What is told of it: nothing where nobody asks for one.
    pub fn finding(&self) -> Option<Finding> {
        let (status, reason, message) = match self {
            Self::Absent(NoNetworkPolicy::NotAskedFor) => return None,
            Self::Applied => {
                let message = "the NetworkPolicy is in place";
                (
                    ConditionStatus::True,
                    "NetworkPolicyApplied",
                    message.to_owned(),
                )
            }
            Self::Absent(no) => (ConditionStatus::False, no.reason(), no.to_string()),
            Self::Failed(reason, message) => (ConditionStatus::False, *reason, message.clone()),
        };
        Some(Finding {
            type_: NETWORK_POLICY_READY,
            status,
            reason,
            message,
        })
    }
}

/// Renders the NetworkPolicy of a Target, without its owner reference.
///
/// What a NetworkPolicy selects is closed but for what it allows, so every other port that the containers declare is allowed to
/// everybody, as it was. Ranges around the agent's port (`endPort`) would leave undeclared ports open as well, but servers before 1.22
/// drop that field without a word, and what is left means another port.
///
/// # Errors
/// Why there must be none. One that is there all the same is to be deleted.
pub fn network_policy(
    target: &Target,
    deployment: Option<&Deployment>,
) -> Result<Value, NoNetworkPolicy> {
    let asked = target.spec.network_policy.as_ref();
    let from = &asked.ok_or(NoNetworkPolicy::NotAskedFor)?.from;
    let coverage = &target.spec.agents.coverage;
    if !coverage.enabled {
        return Err(NoNetworkPolicy::CoverageDisabled);
    }
    if from.is_empty() {
        return Err(NoNetworkPolicy::NobodyNamed);
    }
    let deployment = deployment.ok_or_else(|| {
        NoNetworkPolicy::DeploymentNotFound(NoService::deployment_not_found(target))
    })?;
    let others = other_ports(deployment, coverage.port);
    if others.is_empty() {
        let name = target.spec.deployment_ref.name.clone();
        return Err(NoNetworkPolicy::NoDeclaredPorts(name));
    }
    Ok(json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": child_metadata(target),
        "spec": {
            "podSelector": pod_selector(target, &deployment.selector),
            "policyTypes": ["Ingress"],
            "ingress": [
                { "from": from, "ports": [{ "protocol": "TCP", "port": coverage.port }] },
                { "ports": others },
            ],
        },
    }))
}

/// The pods of the Deployment that have the agent.
fn pod_selector(target: &Target, selector: &Value) -> Value {
    let mut selector = selector.clone();
    let port = target.spec.agents.coverage.port;
    if target.wants_agent()
        && let Some(map) = selector.as_object_mut()
        && let Some(labels) = map
            .entry("matchLabels")
            .or_insert_with(|| Value::Object(Map::new()))
            .as_object_mut()
    {
        labels.insert(names::COVERAGE_PORT.into(), port.to_string().into());
    }
    selector
}

/// All ports that containers declare beside the agent's.
fn other_ports(deployment: &Deployment, agent: u16) -> Vec<Value> {
    let pod = &deployment.pod;
    let sidecars = pod.init_containers.iter().filter(|init| init.is_sidecar);
    let containers = pod.containers.iter().chain(sidecars);
    let ports: BTreeSet<(u16, &str)> = containers
        .flat_map(|container| &container.ports)
        .map(|port| (port.number, port.protocol.as_str()))
        .filter(|port| *port != (agent, "TCP"))
        .collect();
    ports
        .into_iter()
        .map(|(port, protocol)| json!({ "protocol": protocol, "port": port }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(spec: Value) -> Target {
        let mut whole = json!({
            "deploymentRef": { "name": "pet" },
            "agents": { "coverage": { "enabled": true, "injection": "None" } },
            "networkPolicy": { "from": [{ "podSelector": { "matchLabels": { "app": "tests" } } }] },
        });
        for (key, value) in spec.as_object().unwrap() {
            whole[key] = value.clone();
        }
        Target::new("shop".into(), "pet".into(), Some(&whole), None).unwrap()
    }

    fn deployment() -> Value {
        json!({ "spec": {
            "selector": {
                "matchLabels": { "app": "pet" },
                "matchExpressions": [{ "key": "tier", "operator": "In", "values": ["a", "b"] }],
            },
            "template": { "spec": {
                "initContainers": [
                    { "name": "wait", "ports": [{ "containerPort": 1 }] },
                    { "name": "proxy", "restartPolicy": "Always", "ports": [{ "containerPort": 15090 }] },
                ],
                "containers": [
                    { "name": "pet", "ports": [
                        { "containerPort": 8080, "name": "http" },
                        { "containerPort": 6300, "name": "jacoco" },
                        { "containerPort": 6300, "protocol": "UDP" },
                        { "containerPort": 53, "protocol": "UDP" },
                    ] },
                    { "name": "log", "ports": [{ "containerPort": 8080 }] },
                ],
            } },
        } })
    }

    fn refused(spec: Value, deployment: Option<&Value>) -> &'static str {
        let deployment = deployment.map(Deployment::from_json);
        network_policy(&target(spec), deployment.as_ref())
            .unwrap_err()
            .reason()
    }

    #[test]
    fn only_the_agents_port_is_limited() {
        let deployment = Deployment::from_json(&deployment());
        let policy = network_policy(&target(json!({})), Some(&deployment)).unwrap();
        assert_eq!(policy["metadata"]["name"], "pet-coverage");
        assert_eq!(
            policy["spec"],
            json!({
                "podSelector": {
                    "matchLabels": { "app": "pet" },
                    "matchExpressions": [{ "key": "tier", "operator": "In", "values": ["a", "b"] }],
                },
                "policyTypes": ["Ingress"],
                "ingress": [
                    {
                        "from": [{ "podSelector": { "matchLabels": { "app": "tests" } } }],
                        "ports": [{ "protocol": "TCP", "port": 6300 }],
                    },
                    { "ports": [
                        { "protocol": "UDP", "port": 53 },
                        { "protocol": "UDP", "port": 6300 },
                        { "protocol": "TCP", "port": 8080 },
                        { "protocol": "TCP", "port": 15090 },
                    ] },
                ],
            })
        );
    }

    #[test]
    fn pods_without_an_agent_are_left_alone() {
        let deployment = Deployment::from_json(&deployment());
        let coverage = json!({ "coverage": { "enabled": true, "port": 6400 } });
        let policy = network_policy(&target(json!({ "agents": coverage })), Some(&deployment));
        let labels = &policy.unwrap()["spec"]["podSelector"]["matchLabels"];
        assert_eq!(
            *labels,
            json!({ "app": "pet", names::COVERAGE_PORT: "6400" })
        );
    }

    #[test]
    fn there_is_none_where_it_would_be_wrong() {
        let whole = deployment();
        let mut bare = deployment();
        bare["spec"]["template"]["spec"] =
            json!({ "containers": [{ "name": "pet", "ports": [{ "containerPort": 6300 }] }] });
        let off = json!({ "agents": { "coverage": { "enabled": false } } });
        for (spec, deployment, reason) in [
            (
                json!({ "networkPolicy": null }),
                Some(&whole),
                "NotAskedFor",
            ),
            (off, Some(&whole), "CoverageDisabled"),
            (
                json!({ "networkPolicy": { "from": [] } }),
                Some(&whole),
                "NobodyNamed",
            ),
            (json!({}), None, "DeploymentNotFound"),
            (json!({}), Some(&bare), "NoDeclaredPorts"),
        ] {
            assert_eq!(refused(spec, deployment), reason);
        }
    }

    #[test]
    fn it_is_spoken_of_only_while_it_is_asked_for() {
        let absent = |no| NetworkPolicyState::Absent(no).finding();
        assert_eq!(absent(NoNetworkPolicy::NotAskedFor), None);
        let told = [
            NetworkPolicyState::Applied.finding(),
            absent(NoNetworkPolicy::NoDeclaredPorts("pet".into())),
            NetworkPolicyState::Failed("NetworkPolicyNotOurs", String::new()).finding(),
        ];
        let told = told.map(|finding| finding.map(|it| (it.status, it.reason)));
        let (yes, no) = (ConditionStatus::True, ConditionStatus::False);
        let expected = [
            (yes, "NetworkPolicyApplied"),
            (no, "NoDeclaredPorts"),
            (no, "NetworkPolicyNotOurs"),
        ];
        assert_eq!(told, expected.map(Some));
    }
}
