//! What is known of the cluster, as far as a plan needs it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::live::Live;
use crate::api::{GroupKind, ObjectId};
use crate::render::{Deployment, Target};

/// What is known of the cluster.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Members of the apply set.
    pub members: BTreeMap<ObjectId, Arc<Live>>,
    /// Objects that the source asks for and that are in the cluster, but not as members.
    pub others: BTreeMap<ObjectId, Arc<Live>>,
    /// Objects that the source asks for and that we may not look at, and what the server says.
    pub forbidden: BTreeMap<ObjectId, String>,
    /// Objects that a policy holds back, and why.
    pub denied: BTreeMap<ObjectId, String>,
    /// Kinds whose members we may not see, and why; then nothing is pruned.
    pub unseen: BTreeMap<GroupKind, String>,
    /// Targets that this run serves: those of the source's namespaces.
    pub targets: BTreeMap<ObjectId, Target>,
    /// Why Targets cannot be served, if so: we may not see what they need.
    pub blind: Option<String>,
    /// Targets that cannot be read, and why.
    pub unreadable: BTreeMap<ObjectId, String>,
    /// Deployments that Targets refer to.
    pub deployments: BTreeMap<ObjectId, Deployment>,
    /// Targets of the source whose agents were taken out again because a rollout failed with them.
    pub reverted: BTreeSet<ObjectId>,
    /// Metadata of Deployments that Targets refer to, or that carry an agent that was put in.
    pub carriers: BTreeMap<ObjectId, Arc<Live>>,
    /// Services and NetworkPolicies that are ours, or that have a name that we need.
    pub children: BTreeMap<ObjectId, Arc<Live>>,
    /// Replicas of live workloads whose manifests state them. Metadata does not tell: v1.20 notes no owner for what is
    /// written through the scale subresource.
    pub replicas: BTreeMap<ObjectId, i64>,
    /// Workloads whose replicas an autoscaler sets.
    pub scaled: BTreeSet<ObjectId>,
}

impl Known {
    /// Finds what is known of an object that the source asks for.
    pub fn live(&self, id: &ObjectId) -> Option<&Live> {
        let known = self.members.get(id).or_else(|| self.others.get(id));
        known.map(Arc::as_ref)
    }
}
