//! Services and NetworkPolicies of Targets: which there are to be, and their steps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::annotations::leaves_alone;
use super::build::{Index, Inputs};
use super::classify::{ChildOwner, Verdict, classify_child, is_orphaned_child, purge};
use super::known::Known;
use super::live::Live;
use super::step::{Action, Body, Step};
use crate::api::{GroupKind, ObjectId};
use crate::render::{
    Deployment, Desired, Target, coverage_service, network_policy, service_name, stamp, with_owner,
};

/// All Targets as they will be: those that the source changes as it says, others as they are. Beside them those that
/// cannot be read, and why.
pub(super) fn targets(
    inputs: &Inputs<'_>,
    members: &[Step],
) -> (Vec<Target>, BTreeMap<ObjectId, String>) {
    let mut targets = inputs.known.targets.clone();
    let mut unreadable = inputs.known.unreadable.clone();
    let group_kind = Target::group_kind();
    for step in members
        .iter()
        .filter(|step| step.id.group_kind == group_kind)
    {
        let Some(desired) = inputs.index.get(&step.id) else {
            continue;
        };
        // What is kept or refused stays as it is, whatever the source says.
        if matches!(step.action, Action::Keep | Action::Refuse) {
            continue;
        }
        unreadable.remove(&desired.id);
        let live = targets.remove(&desired.id).and_then(|target| target.live);
        match Target::from_json(&desired.object) {
            Ok(target) => {
                targets.insert(desired.id.clone(), Target { live, ..target });
            }
            Err(why) => {
                unreadable.insert(desired.id.clone(), why);
            }
        }
    }
    if let Some(why) = &inputs.known.blind {
        unreadable.extend(targets.into_keys().map(|id| (id, why.clone())));
        return (Vec::new(), unreadable);
    }
    (targets.into_values().collect(), unreadable)
}

/// Finds the Deployment of a Target: as it is, or, when it is not there yet, as the source says.
pub fn deployment_of(target: &Target, index: &Index<'_>, known: &Known) -> Option<Deployment> {
    let id = target.deployment_id();
    let in_source = || index.get(&id).filter(|d| !is_left_alone(d, known));
    // A selector cannot be changed: where a Deployment is live, the manifest's other one would select nothing, or
    // the pods of strangers.
    known
        .deployments
        .get(&id)
        .cloned()
        .or_else(|| Some(Deployment::from_json(&in_source()?.object)))
}

fn is_left_alone(desired: &Desired, known: &Known) -> bool {
    leaves_alone(&desired.object, known.live(&desired.id)).is_some()
}

/// Gives the id of a Target's Service.
pub fn child_id(target: &Target) -> ObjectId {
    named(target, GroupKind::new("", "Service"))
}

/// Gives the id of a Target's NetworkPolicy.
pub fn network_policy_id(target: &Target) -> ObjectId {
    named(target, GroupKind::new("networking.k8s.io", "NetworkPolicy"))
}

fn named(target: &Target, group_kind: GroupKind) -> ObjectId {
    ObjectId {
        group_kind,
        namespace: Some(target.namespace.clone()),
        name: service_name(&target.name),
    }
}

/// What a Target is to bring about, or why not.
struct Child {
    id: ObjectId,
    api_version: &'static str,
    object: Result<Value, String>,
}

/// Makes the steps of what a Target brings about; none for what is not there and is not to be there.
///
/// `doomed` are the objects that this plan prunes, `changing` those that it makes or changes.
pub(super) fn children(
    inputs: &Inputs<'_>,
    target: &Target,
    doomed: &BTreeSet<&ObjectId>,
    changing: &BTreeSet<ObjectId>,
) -> Vec<Step> {
    // The garbage collector takes the children of a Target that goes.
    let terminating = target.live.as_ref().is_some_and(|live| live.terminating);
    if terminating || doomed.contains(&target.id()) {
        return Vec::new();
    }
    let deployment_goes = doomed.contains(&target.deployment_id());
    let deployment = deployment_of(target, inputs.index, inputs.known).filter(|_| !deployment_goes);
    let service = coverage_service(target, deployment.as_ref());
    let policy = network_policy(target, deployment.as_ref());
    let children = [
        Child {
            id: network_policy_id(target),
            api_version: "networking.k8s.io/v1",
            object: policy.map_err(|no| no.to_string()),
        },
        Child {
            id: child_id(target),
            api_version: "v1",
            object: service.map_err(|no| no.to_string()),
        },
    ];
    let steps = children
        .into_iter()
        .filter_map(|child| step(inputs, target, child, deployment_goes));
    steps
        .map(|mut step| {
            let mut needs = Vec::from_iter(Some(target.id()).filter(|id| changing.contains(id)));
            needs.append(&mut step.needs);
            Step { needs, ..step }
        })
        .collect()
}

fn step(inputs: &Inputs<'_>, target: &Target, child: Child, deployment_goes: bool) -> Option<Step> {
    let Child {
        id,
        api_version,
        object,
    } = child;
    let live = inputs.known.children.get(&id).map(Arc::as_ref);
    let step = match object {
        Ok(object) => {
            let (verdict, body) = wanted(inputs, target, &id, object, live);
            let mut step = Step::new(id, verdict.action, verdict.reason);
            step.conflicts = verdict.conflicts;
            step.drift = verdict.drift;
            step.body = body;
            // A Deployment that is there already has the labels that are selected, whatever becomes of its step.
            let deployment = target.deployment_id();
            step.needs
                .extend(Some(deployment).filter(|id| !inputs.known.deployments.contains_key(id)));
            step
        }
        Err(no) => {
            if inputs.index.contains_key(&id) || !is_ours(target, live?) {
                return None;
            }
            let mut step = Step::new(id, Action::Delete, no);
            step.body = if deployment_goes {
                Body::Prune
            } else {
                Body::Delete
            };
            step
        }
    };
    Some(Step {
        owner: Some(target.id()),
        api_version: api_version.into(),
        origin: inputs.index.get(&target.id()).map(|d| d.origin.clone()),
        expected: live.map(Live::expected),
        ..step
    })
}

/// Judges a child that is to be there, and makes what is sent for it.
fn wanted(
    inputs: &Inputs<'_>,
    target: &Target,
    id: &ObjectId,
    object: Value,
    live: Option<&Live>,
) -> (Verdict, Body) {
    let uid = target.live.as_ref().map(|live| live.uid.as_str());
    let mut whole = object.clone();
    if let Some(uid) = uid {
        with_owner(&mut whole, &target.name, uid);
    }
    let digest = stamp(&mut whole, None);
    let owner = ChildOwner {
        name: &target.name,
        uid,
    };
    let verdict = if inputs.index.contains_key(id) {
        let (kind, target) = (&id.group_kind.kind, target.id());
        Verdict::refuse(format!(
            "the source has a {kind} of this name, which {target} needs"
        ))
    } else {
        classify_child(&whole, &digest, live, &owner)
    };
    let body = Body::Child {
        purge: live.and_then(|live| purge(&whole, live, &owner)),
        object,
        target: target.id(),
    };
    (verdict, body)
}

fn is_ours(target: &Target, live: &Live) -> bool {
    let uid = target.live.as_ref().map(|live| live.uid.as_str());
    match live.controller() {
        Some(controller) => Some(controller.uid.as_str()) == uid,
        None => is_orphaned_child(live),
    }
}
