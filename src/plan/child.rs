//! The Services of Targets: which there are to be, and their steps.

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
    Deployment, Desired, Target, coverage_service, service_name, stamp, with_owner,
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
    ObjectId {
        group_kind: GroupKind::new("", "Service"),
        namespace: Some(target.namespace.clone()),
        name: service_name(&target.name),
    }
}

/// Makes the step of a Target's Service; `None` when there is none and there is to be none.
///
/// `doomed` are the objects that this plan prunes, `changing` those that it makes or changes.
pub(super) fn child(
    inputs: &Inputs<'_>,
    target: &Target,
    doomed: &BTreeSet<&ObjectId>,
    changing: &BTreeSet<ObjectId>,
) -> Option<Step> {
    // The garbage collector takes the Service of a Target that goes.
    let terminating = target.live.as_ref().is_some_and(|live| live.terminating);
    if terminating || doomed.contains(&target.id()) {
        return None;
    }
    let deployment_goes = doomed.contains(&target.deployment_id());
    let deployment = deployment_of(target, inputs.index, inputs.known).filter(|_| !deployment_goes);
    let id = child_id(target);
    let live = inputs.known.services.get(&id).map(Arc::as_ref);
    let step = match coverage_service(target, deployment.as_ref()) {
        Ok(service) => {
            let (verdict, body) = wanted(inputs, target, service, live);
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
            let mut step = Step::new(id, Action::Delete, no.to_string());
            step.body = if deployment_goes {
                Body::Prune
            } else {
                Body::Delete
            };
            step
        }
    };
    let mut needs = Vec::from_iter(Some(target.id()).filter(|id| changing.contains(id)));
    needs.extend(step.needs);
    Some(Step {
        needs,
        owner: Some(target.id()),
        api_version: "v1".into(),
        origin: inputs.index.get(&target.id()).map(|d| d.origin.clone()),
        expected: live.map(Live::expected),
        ..step
    })
}

/// Judges a Service that is to be there, and makes what is sent for it.
fn wanted(
    inputs: &Inputs<'_>,
    target: &Target,
    service: Value,
    live: Option<&Live>,
) -> (Verdict, Body) {
    let uid = target.live.as_ref().map(|live| live.uid.as_str());
    let mut whole = service.clone();
    if let Some(uid) = uid {
        with_owner(&mut whole, &target.name, uid);
    }
    let digest = stamp(&mut whole, None);
    let owner = ChildOwner {
        name: &target.name,
        uid,
    };
    let verdict = if inputs.index.contains_key(&child_id(target)) {
        let target = target.id();
        Verdict::refuse(format!(
            "the source has a Service of this name, which {target} needs"
        ))
    } else {
        classify_child(&whole, &digest, live, &owner)
    };
    let body = Body::Child {
        purge: live.and_then(|live| purge(&service, live)),
        object: service,
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
