//! Puts the plan together: members, the Services of Targets, and what has left the source.

use std::collections::{BTreeMap, BTreeSet};

use super::agent::{Agents, agent_steps};
use super::child::{child, targets};
use super::known::Known;
use super::leaving::{Leaving, leaving};
use super::member::member;
use super::order::{Place, batches, place};
use super::prune::PruneRules;
use super::step::{Action, Body, Plan, Step};
use crate::api::ObjectId;
use crate::render::Desired;

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
    /// Whether the Services of Targets are part of the plan.
    pub serve_targets: bool,
    /// What bears on the agents of Deployments that do not come with their Targets. Only a controller puts them there, since
    /// only who stays can take them out again.
    pub agents: Option<Agents<'a>>,
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
    let Leaving {
        steps: prunes,
        refused: prune_refused,
    } = leaving(inputs);
    let doomed: BTreeSet<&ObjectId> = prunes
        .iter()
        .filter(|(_, step)| step.action == Action::Delete)
        .map(|(_, step)| &step.id)
        .collect();
    let (targets, unreadable) = if inputs.serve_targets {
        targets(inputs, &steps)
    } else {
        Default::default()
    };
    let changing: BTreeSet<ObjectId> = steps
        .iter()
        .filter(|step| step.action.is_write())
        .map(|step| step.id.clone())
        .collect();
    let children = targets
        .iter()
        .filter_map(|target| child(inputs, target, &doomed, &changing));
    let (late, early): (Vec<Step>, Vec<Step>) = children.partition(|step| step.body == Body::Prune);
    steps.extend(early);
    if let Some(agents) = inputs.agents {
        let agents = targets
            .iter()
            .flat_map(|target| agent_steps(inputs, target, agents));
        steps.extend(agents);
    }
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

fn order(steps: &mut [Step], inputs: &Inputs<'_>) {
    let objects = steps
        .iter_mut()
        .map(|step| {
            let place = match &step.body {
                Body::Apply { object, .. } => place(&step.id, object),
                _ => {
                    // A Service comes in its Target's wave.
                    let target = step.owner.as_ref().and_then(|id| inputs.index.get(id));
                    Place {
                        wave: target.map_or(0, |target| place(&target.id, &target.object).wave),
                        rank: CHILD_RANK,
                    }
                }
            };
            step.wave = place.wave;
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

/// Deletes come last, in the reverse of the order in which things are made; then the Services whose Deployment went.
fn last(mut prunes: Vec<(Place, Step)>, mut late: Vec<Step>, first: usize) -> Vec<Step> {
    let mut places: Vec<Place> = prunes.iter().map(|(place, _)| *place).collect();
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
