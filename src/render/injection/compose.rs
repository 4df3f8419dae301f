//! The agents of Targets in the Deployments of the same source.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AgentImage, AgentPatch, NotInjected, PodShape, agent_patch};
use crate::api::ObjectId;
use crate::render::normalise::stamp_again;
use crate::render::{Desired, Target};

/// What became of the agent of each Target whose Deployment is in the source as well.
pub type Composed = BTreeMap<ObjectId, Result<AgentPatch, NotInjected>>;

/// What an object is without the agent that was put into it.
#[derive(Clone, Debug)]
pub struct WithAgent {
    /// The Target that it is for.
    pub target: ObjectId,
    /// The object as its manifest has it.
    pub object: Arc<serde_json::Value>,
    /// The digest of that.
    pub digest: String,
}

/// Puts the agents that Targets want into their Deployments, where those are among the desired objects.
pub fn compose(desired: &mut [Desired], targets: &[Target], image: &AgentImage) -> Composed {
    let mut served: BTreeMap<ObjectId, Vec<&Target>> = BTreeMap::new();
    for target in targets.iter().filter(|it| it.spec.agents.coverage.enabled) {
        let of_deployment = served.entry(target.deployment_id()).or_default();
        of_deployment.push(target);
    }
    let mut composed = Composed::new();
    for desired in desired {
        let Some(targets) = served.get(&desired.id) else {
            continue;
        };
        for target in targets.iter().filter(|it| it.wants_agent()) {
            let others = targets.iter().copied();
            let patch = match rival(target, others, |_| true) {
                Some(rival) => Err(rival),
                None => agent_patch(target, &PodShape::read(&desired.object), image),
            };
            if let Ok(patch) = &patch {
                put_in(desired, target, patch);
            }
            composed.insert(target.id(), patch);
        }
    }
    composed
}

/// Says which other Target stands in the way of this one's agent, if any. One Deployment carries one agent: that of the Target
/// which is composed into it, and of several the first by name.
pub fn rival<'a>(
    target: &Target,
    others: impl Iterator<Item = &'a Target>,
    is_composed: impl Fn(&Target) -> bool,
) -> Option<NotInjected> {
    let port = target.spec.agents.coverage.port;
    let composed = is_composed(target);
    let is_before = |other: &Target| match (is_composed(other), composed) {
        (true, false) => true,
        (false, true) => false,
        _ => other.name < target.name,
    };
    let mut others = others
        .filter(|other| other.spec.agents.coverage.enabled)
        .filter(|other| other.is_beside(target));
    others.find_map(|other| {
        if !other.wants_agent() {
            let by = || format!("the agent of ClosureJVMTarget {}", other.name);
            return (other.spec.agents.coverage.port == port)
                .then(|| NotInjected::PortTaken { port, by: by() });
        }
        is_before(other).then(|| NotInjected::DeploymentTaken {
            deployment: target.spec.deployment_ref.name.clone(),
            target: other.name.clone(),
        })
    })
}

fn put_in(desired: &mut Desired, target: &Target, patch: &AgentPatch) {
    let plain = Arc::clone(&desired.object);
    let object = Arc::make_mut(&mut desired.object);
    patch.compose(object);
    let digest = stamp_again(object);
    desired.agent = Some(Box::new(WithAgent {
        target: target.id(),
        object: plain,
        digest: std::mem::replace(&mut desired.digest, digest),
    }));
}

impl Desired {
    /// Takes the agent out again.
    pub fn without_agent(&mut self) {
        if let Some(plain) = self.agent.take() {
            self.object = plain.object;
            self.digest = plain.digest;
        }
    }
}
