//! A Target and its Deployment, as far as rendering needs to know them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::diagnosis::{Diagnosis, carrier};
use super::injection::{PodShape, REVERTED};
use super::rollout::{Rollout, Stalled};
use super::status::AGENT_INJECTED;
use crate::api::target::{AgentStatus, Injection, OnFailure, TargetSpec, TargetStatus};
use crate::api::{GroupKind, ObjectId, names, read_spec};

/// A `ClosureJVMTarget` from a source or from the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// What it asks for.
    pub spec: TargetSpec,
    /// The live object's identity; absent while it exists only in a source.
    pub live: Option<LiveTarget>,
}

/// What the cluster knows of a Target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveTarget {
    /// uid.
    pub uid: String,
    /// Generation of the spec.
    pub generation: Option<i64>,
    /// Its status as last written.
    pub status: TargetStatus,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// The apply set that it is a member of.
    pub applyset: Option<String>,
}

impl LiveTarget {
    /// Reads a status; one that cannot be read is one that nobody relies on: it is written anew.
    pub fn read_status(status: Option<&Value>) -> TargetStatus {
        status
            .and_then(|status| TargetStatus::deserialize(status).ok())
            .unwrap_or_default()
    }
}

impl Target {
    /// Reads a Target from a manifest or a live object.
    ///
    /// # Errors
    /// What the object lacks, for people; it fails this Target alone.
    pub fn from_json(object: &Value) -> Result<Self, String> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let name = text("/metadata/name").ok_or("it has no name")?.to_owned();
        let namespace = text("/metadata/namespace")
            .ok_or("it has no namespace")?
            .to_owned();
        let live = text("/metadata/uid").map(|uid| LiveTarget {
            uid: uid.to_owned(),
            generation: object
                .pointer("/metadata/generation")
                .and_then(Value::as_i64),
            status: LiveTarget::read_status(object.get("status")),
            terminating: text("/metadata/deletionTimestamp").is_some(),
            applyset: applyset_of(object),
        });
        Self::new(namespace, name, object.get("spec"), live)
    }

    /// Reads what a Target asks for.
    ///
    /// # Errors
    /// What it lacks, for people.
    pub fn new(
        namespace: String,
        name: String,
        spec: Option<&Value>,
        live: Option<LiveTarget>,
    ) -> Result<Self, String> {
        let spec = spec.ok_or("it has no spec")?;
        let spec: TargetSpec = read_spec(spec)?;
        if !is_object_name(&spec.deployment_ref.name) {
            return Err("deploymentRef.name cannot be the name of a Deployment".into());
        }
        if spec.agents.coverage.port == 0 {
            return Err(
                "agents.coverage.port is 0: the agent would choose a port that no Service knows"
                    .into(),
            );
        }
        Ok(Self {
            namespace,
            name,
            spec,
            live,
        })
    }

    /// Names the Target.
    pub fn id(&self) -> ObjectId {
        ObjectId {
            group_kind: Self::group_kind(),
            namespace: Some(self.namespace.clone()),
            name: self.name.clone(),
        }
    }

    /// Group and kind of all Targets.
    pub fn group_kind() -> GroupKind {
        GroupKind::new(names::GROUP, names::TARGET)
    }

    /// Tells whether the agent is to be put into the pods.
    pub fn wants_agent(&self) -> bool {
        let coverage = &self.spec.agents.coverage;
        coverage.enabled && coverage.injection == Injection::Auto
    }

    /// Tells whether it is another Target of the same Deployment.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.name != other.name
            && self.namespace == other.namespace
            && self.spec.deployment_ref == other.spec.deployment_ref
    }

    /// Tells whether it comes from the same set as its Deployment, whose Sync then puts the agent there.
    pub fn comes_with(&self, deployment: &Deployment) -> bool {
        let set = self.live.as_ref().and_then(|live| live.applyset.as_ref());
        set.is_some() && set == deployment.applyset.as_ref()
    }

    /// Tells whether its agent is taken out again when its rollout fails.
    pub fn may_be_reverted(&self) -> bool {
        self.wants_agent() && self.spec.agents.coverage.on_failure == OnFailure::Revert
    }

    /// What is said of its agent, where that was taken out again because its rollout failed and nothing else has been asked
    /// for since.
    pub fn reverted(&self) -> Option<&str> {
        let live = self.live.as_ref().filter(|_| self.may_be_reverted())?;
        let mut conditions = live.status.conditions.iter();
        let injected = conditions.find(|it| it.type_ == AGENT_INJECTED && it.reason == REVERTED)?;
        let of_this_spec =
            live.generation.is_some() && injected.observed_generation == live.generation;
        of_this_spec.then_some(&injected.message)
    }

    /// Names the Deployment it refers to.
    pub fn deployment_id(&self) -> ObjectId {
        ObjectId {
            group_kind: GroupKind::new("apps", "Deployment"),
            namespace: Some(self.namespace.clone()),
            name: self.spec.deployment_ref.name.clone(),
        }
    }
}

/// A DNS-1123 subdomain; written before the schema, or past it, a name may be anything.
fn is_object_name(name: &str) -> bool {
    let part = |part: &str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !part.is_empty()
            && part.chars().all(inner)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(part)
}

/// What rendering and status need of a Deployment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deployment {
    /// `spec.selector`.
    pub selector: Value,
    /// What its pods are like.
    pub pod: Arc<PodShape>,
    /// The apply set that it is a member of.
    pub applyset: Option<String>,
    /// How far its rollout is.
    pub rollout: Rollout,
}

fn applyset_of(object: &Value) -> Option<String> {
    let labels = object.pointer("/metadata/labels")?;
    Some(labels.get(names::APPLYSET_PART_OF)?.as_str()?.to_owned())
}

impl Deployment {
    /// Reads a live Deployment; one that is being deleted counts as gone.
    pub fn from_live(object: &Value) -> Option<Self> {
        let going = object.pointer("/metadata/deletionTimestamp").is_some();
        (!going).then(|| Self::from_json(object))
    }

    /// With what was found out of a rollout that does not go on.
    pub fn diagnosed(mut self, diagnosis: Option<&Diagnosis>) -> Self {
        if let Some(diagnosis) = diagnosis.filter(|_| self.rollout.stalled.is_some()) {
            self.rollout.stalled = Some(Stalled::Diagnosed(Box::new(diagnosis.clone())));
        }
        self
    }

    /// Says which agent its pods have, if it was put into them; `told` is what a pod of this template has said of it, or of
    /// one before that had the same image.
    pub fn agent(&self, told: Option<&AgentStatus>) -> Option<AgentStatus> {
        carrier(&self.pod)?;
        let mut init = self.pod.init_containers.iter();
        let image = &init.find(|it| it.name == names::AGENT)?.image;
        let told = told.filter(|told| told.image == *image);
        Some(told.cloned().unwrap_or_else(|| AgentStatus {
            image: image.clone(),
            ..AgentStatus::default()
        }))
    }

    /// Reads a Deployment from a manifest (no status: nothing has rolled out yet) or a live object.
    pub fn from_json(object: &Value) -> Self {
        Self {
            selector: object
                .pointer("/spec/selector")
                .cloned()
                .unwrap_or_default(),
            pod: Arc::new(PodShape::read(object)),
            applyset: applyset_of(object),
            rollout: Rollout::read(object),
        }
    }
}
