//! Puts the plan together: members, the Services of Targets, and what has left the source.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::classify::{
    ChildOwner, Verdict, classify_child, classify_member, is_orphaned_child, purge,
};
use super::known::Known;
use super::live::Live;
use super::order::{batches, depends_on, place};
use super::prune::{PruneRules, judge, may_prune};
use super::step::{Action, Body, Expected, Plan, Step};
use crate::api::{GroupKind, ObjectId};
use crate::render::{
    Deployment, Desired, Target, coverage_service, service_name, stamp, with_owner,
};

/// Services of Targets come after everything that the source holds.
const CHILD_RANK: u8 = 7;

/// What a plan is made of.
#[derive(Clone, Debug)]
pub struct Inputs<'a> {
    /// What the source asks for.
    pub desired: &'a [Desired],
    /// The same by id (see [`index`]).
    pub index: &'a Index<'a>,
    /// What is known of the cluster.
    pub known: &'a Known,
    /// The apply set's id.
    pub applyset: &'a str,
    /// Whether fields that other managers own are taken.
    pub force_conflicts: bool,
    /// What bears on pruning.
    pub prune: PruneRules<'a>,
}

/// Desired objects by id.
pub type Index<'a> = BTreeMap<&'a ObjectId, &'a Desired>;

/// Makes desired objects findable by id.
pub fn index(desired: &[Desired]) -> Index<'_> {
    desired.iter().map(|d| (&d.id, d)).collect()
}

/// Makes the plan.
pub fn build(inputs: &Inputs<'_>) -> Plan {
    let mut steps: Vec<Step> = inputs
        .desired
        .iter()
        .map(|desired| member(inputs, desired))
        .collect();
    refuse_twins(&mut steps);
    let (prunes, prune_refused) = prunes(inputs);
    let doomed: BTreeSet<&ObjectId> = prunes
        .iter()
        .filter(|(_, step)| step.action == Action::Delete)
        .map(|(_, step)| &step.id)
        .collect();
    let (targets, unreadable) = targets(inputs, &steps);
    let changing: BTreeSet<ObjectId> = steps
        .iter()
        .filter(|step| step.action.is_write())
        .map(|step| step.id.clone())
        .collect();
    // The garbage collector takes the Service of a Target that goes.
    let staying = targets
        .iter()
        .filter(|target| !doomed.contains(&target.id()));
    let children = staying.filter_map(|target| child(inputs, target, &doomed, &changing));
    let (late, early): (Vec<Step>, Vec<Step>) = children.partition(|step| step.body == Body::Prune);
    steps.extend(early);
    order(&mut steps, inputs);
    let first = steps.iter().map(|step| step.batch + 1).max().unwrap_or(0);
    steps.extend(last(prunes, late, first));
    steps.sort_by_key(|step| step.batch);
    Plan {
        steps,
        prune_refused,
        targets,
        unreadable,
    }
}

/// Workloads that run another number of replicas than their manifest states: whether an autoscaler wants that must be
/// looked up.
pub fn maybe_scaled<'a>(
    desired: &'a [Desired],
    known: &'a Known,
) -> impl Iterator<Item = &'a ObjectId> {
    desired
        .iter()
        .filter(|d| rescaled(d, known).is_some())
        .map(|d| &d.id)
}

/// The live replicas of a workload, where its manifest states others.
fn rescaled(desired: &Desired, known: &Known) -> Option<i64> {
    let stated = desired.object.pointer("/spec/replicas")?.as_i64()?;
    known
        .replicas
        .get(&desired.id)
        .copied()
        .filter(|live| *live != stated)
}

fn member(inputs: &Inputs<'_>, desired: &Desired) -> Step {
    let live = inputs.known.live(&desired.id);
    let mut object = Arc::clone(&desired.object);
    let rescaled = rescaled(desired, inputs.known);
    let scaled = rescaled.filter(|_| inputs.known.scaled.contains(&desired.id));
    let mut judged = Cow::Borrowed(&*object);
    if let Some(spec) = scaled.and_then(|_| judged.to_mut().get_mut("spec")?.as_object_mut()) {
        spec.remove("replicas");
    }
    let mut verdict = classify_member(&judged, &desired.digest, live, inputs.applyset);
    if let (Some(replicas), None, Action::Unchanged) = (rescaled, scaled, verdict.action) {
        verdict.action = Action::Configure;
        verdict.reason = format!("drift: .spec.replicas was set to {replicas}");
        verdict.force = true;
    }
    // k8s#25238: an autoscaler's replicas are its own, whatever the file says. They are sent as they are, not left out:
    // where the server noted no owner for them, leaving them out would set them to the default of one.
    if let Some(live) = scaled
        && let Some(replicas) = Arc::make_mut(&mut object).pointer_mut("/spec/replicas")
    {
        *replicas = Value::from(live);
    }
    if let Some(why) = inputs.known.forbidden.get(&desired.id) {
        verdict = Verdict::refuse(why);
    }
    if scaled.is_some() {
        verdict
            .reason
            .push_str("; its replicas are left as they are, for its autoscaler");
    }
    if inputs.force_conflicts {
        verdict = take_conflicts(verdict);
    }
    let needs = match depends_on(&desired.object) {
        Ok(needs) => needs,
        Err(why) => {
            verdict = Verdict::refuse(why);
            Vec::new()
        }
    };
    let Verdict {
        action,
        reason,
        force,
        conflicts,
    } = verdict;
    Step {
        id: desired.id.clone(),
        api_version: desired.api_version.clone(),
        action,
        reason,
        origin: Some(desired.origin.clone()),
        batch: 0,
        wave: 0,
        needs,
        owner: None,
        conflicts,
        expected: live.map(expected),
        body: Body::Apply {
            object,
            force: force || inputs.force_conflicts,
        },
        diff: None,
    }
}

/// One object may be served in two groups, such as Ingresses; as two objects of the source it would never come to rest.
fn refuse_twins(steps: &mut [Step]) {
    let mut first: BTreeMap<String, ObjectId> = BTreeMap::new();
    for step in steps.iter_mut() {
        let Some(expected) = &step.expected else {
            continue;
        };
        match first.get(&expected.uid) {
            Some(twin) => {
                step.action = Action::Refuse;
                step.reason = format!("it is the same object as {twin}, served in another group");
            }
            None => drop(first.insert(expected.uid.clone(), step.id.clone())),
        }
    }
}

/// What would be refused only because another manager applied the fields is done when that was asked for.
fn take_conflicts(verdict: Verdict) -> Verdict {
    if verdict.action == Action::Refuse && !verdict.conflicts.is_empty() {
        Verdict {
            action: Action::Configure,
            force: true,
            ..verdict
        }
    } else {
        verdict
    }
}

fn expected(live: &Live) -> Expected {
    Expected {
        uid: live.uid.clone(),
        resource_version: live.resource_version.clone(),
    }
}

/// All Targets as they will be: those that the source changes as it says, others as they are.
fn targets(inputs: &Inputs<'_>, members: &[Step]) -> (Vec<Target>, BTreeMap<ObjectId, String>) {
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
    let live = known.deployments.get(&id);
    // A selector cannot be changed: where a Deployment is live, the manifest's other one would select nothing, or
    // the pods of strangers.
    live.cloned()
        .or_else(|| Some(Deployment::from_json(&index.get(&id)?.object)))
}

/// Gives the id of a Target's Service.
pub fn child_id(target: &Target) -> ObjectId {
    ObjectId {
        group_kind: GroupKind::new("", "Service"),
        namespace: Some(target.namespace.clone()),
        name: service_name(&target.name),
    }
}

fn child(
    inputs: &Inputs<'_>,
    target: &Target,
    doomed: &BTreeSet<&ObjectId>,
    changing: &BTreeSet<ObjectId>,
) -> Option<Step> {
    if target.live.as_ref().is_some_and(|live| live.terminating) {
        return None;
    }
    let id = child_id(target);
    let live = inputs.known.services.get(&id);
    let in_source = inputs.index.contains_key(&id);
    let deployment_goes = doomed.contains(&target.deployment_id());
    let deployment = deployment_of(target, inputs.index, inputs.known).filter(|_| !deployment_goes);
    let mut step = Step {
        api_version: "v1".into(),
        action: Action::Delete,
        reason: String::new(),
        origin: inputs.index.get(&target.id()).map(|d| d.origin.clone()),
        batch: 0,
        wave: 0,
        needs: Vec::from_iter(Some(target.id()).filter(|id| changing.contains(id))),
        owner: Some(target.id()),
        conflicts: Vec::new(),
        expected: live.map(expected),
        body: Body::Delete,
        diff: None,
        id,
    };
    let uid = target.live.as_ref().map(|live| live.uid.as_str());
    match coverage_service(target, deployment.as_ref()) {
        Ok(object) => {
            let mut whole = object.clone();
            if let Some(uid) = uid {
                with_owner(&mut whole, &target.name, uid);
            }
            let digest = stamp(&mut whole, None);
            let owner = ChildOwner {
                name: &target.name,
                uid,
            };
            let verdict = classify_child(&whole, &digest, live, &owner);
            (step.action, step.reason, step.conflicts) =
                (verdict.action, verdict.reason, verdict.conflicts);
            if in_source {
                step.action = Action::Refuse;
                step.reason = format!(
                    "the source has a Service of this name, which {} needs",
                    target.id()
                );
            }
            let purge = live.and_then(|live| purge(&object, live));
            step.body = Body::Child {
                object,
                target: target.id(),
                purge,
            };
            // A Deployment that is there already has the labels that are selected, whatever becomes of its step.
            if !inputs
                .known
                .deployments
                .contains_key(&target.deployment_id())
            {
                step.needs.push(target.deployment_id());
            }
            Some(step)
        }
        Err(no) => {
            let live = live?;
            let ours = live.controller().map_or_else(
                || is_orphaned_child(live),
                |controller| Some(controller.uid.as_str()) == uid,
            );
            step.reason = no.message;
            if deployment_goes {
                step.body = Body::Prune;
            }
            (ours && !in_source).then_some(step)
        }
    }
}

fn order(steps: &mut [Step], inputs: &Inputs<'_>) {
    let objects = steps
        .iter_mut()
        .map(|step| {
            let place = match &step.body {
                Body::Apply { object, .. } => place(&step.id, object),
                _ => {
                    // A Service comes in its Target's wave.
                    let target = step.owner.as_ref().and_then(|id| inputs.index.get(id));
                    (
                        target.map_or(0, |target| place(&target.id, &target.object).0),
                        CHILD_RANK,
                    )
                }
            };
            step.wave = place.0;
            (step.id.clone(), (place, step.needs.clone()))
        })
        .collect();
    let ordered = batches(&objects);
    for step in steps {
        step.batch = ordered.batch.get(&step.id).copied().unwrap_or(0);
        if ordered.cycles.contains(&step.id) {
            step.action = Action::Refuse;
            step.reason = "its depends-on goes round in a circle".into();
        }
    }
}

type Prunes = (Vec<((i32, u8), Step)>, Option<String>);

fn prunes(inputs: &Inputs<'_>) -> Prunes {
    let wanted = inputs
        .desired
        .iter()
        .filter_map(|d| inputs.known.live(&d.id));
    let wanted: BTreeSet<&str> = wanted.map(|live| live.uid.as_str()).collect();
    let left: Vec<(&ObjectId, &Live)> = inputs
        .known
        .members
        .iter()
        .filter(|(id, _)| !inputs.index.contains_key(id))
        // An object may be served in two groups, such as Ingresses; as long as one of them is wanted, it stays.
        .filter(|(_, live)| !wanted.contains(live.uid.as_str()))
        .collect();
    let verdicts: Vec<(Action, String)> = left
        .iter()
        .map(|(id, live)| judge(id, live, &inputs.prune))
        .collect();
    let candidates = verdicts
        .iter()
        .filter(|(action, _)| *action == Action::Delete)
        .count();
    let refused = if candidates > 0 {
        may_prune(&inputs.prune, candidates).err()
    } else {
        None
    };
    let steps = left
        .into_iter()
        .zip(verdicts)
        .map(|((id, live), (action, reason))| {
            let (action, reason) = match (&refused, action) {
                (Some(why), Action::Delete) if inputs.prune.enabled => {
                    (Action::Refuse, format!("it has left the source, but {why}"))
                }
                (Some(why), Action::Delete) => {
                    (Action::Keep, format!("it has left the source; {why}"))
                }
                _ => (action, reason),
            };
            let step = Step {
                id: id.clone(),
                api_version: String::new(),
                action,
                reason,
                origin: None,
                batch: 0,
                wave: 0,
                needs: Vec::new(),
                owner: None,
                conflicts: Vec::new(),
                expected: Some(expected(live)),
                body: if action == Action::Delete {
                    Body::Prune
                } else {
                    Body::None
                },
                diff: None,
            };
            (place(id, &annotations_of(live)), step)
        });
    (steps.collect(), refused.filter(|_| inputs.prune.enabled))
}

/// The part of a live object that [`place`] reads.
fn annotations_of(live: &Live) -> Value {
    let annotations: Map<String, Value> = live
        .annotations
        .iter()
        .map(|(key, value)| (key.clone(), Value::String(value.clone())))
        .collect();
    serde_json::json!({ "metadata": { "annotations": annotations } })
}

/// Deletes come last, in the reverse of the order in which things are made; then the Services whose Deployment went.
fn last(mut prunes: Vec<((i32, u8), Step)>, mut late: Vec<Step>, first: usize) -> Vec<Step> {
    let mut places: Vec<(i32, u8)> = prunes.iter().map(|(place, _)| *place).collect();
    places.sort_unstable();
    places.dedup();
    places.reverse();
    for (place, step) in &mut prunes {
        step.batch = first + places.iter().position(|p| p == place).unwrap_or(0);
    }
    for step in &mut late {
        step.batch = first + places.len();
    }
    prunes
        .into_iter()
        .map(|(_, step)| step)
        .chain(late)
        .collect()
}
