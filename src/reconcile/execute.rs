//! Executes a plan: batch by batch, and within a batch as much at once as the server may be asked for.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::agent::send_agent;
use super::contents::{going, look_again};
use super::gate::Gate;
use super::wait::Waiting;
use super::{Done, Outcome};
use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Cluster, ClusterError, Kind, Kinds};
use crate::plan::{
    Action, AgentWish, Body, Expected, Health, Live, Plan, Step, health, is_secret, rewritten,
    still_goes,
};
use crate::render::{Target, stamp, with_owner};

/// How long a new definition may take until its kind is served. The API server needs a second at most; a server that is
/// overloaded gets its time.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);

/// How often an object that changes while it is being deleted is tried.
const DELETE_TRIES: u32 = 5;

const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A plan and how it is executed.
pub struct Execution<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// What is to be done.
    pub plan: &'a Plan,
    /// The most requests in flight.
    pub concurrency: usize,
    /// How long to wait for objects to become healthy, or to go; without it nothing is waited for.
    pub waiting: Option<&'a Waiting>,
    /// Whether what comes back from an apply is compared with what was sent.
    pub compare: bool,
    /// Is told of each step as it ends.
    pub observe: &'a (dyn Fn(&Step, &Done) + Sync),
}

impl Execution<'_> {
    /// Executes the plan and returns what became of each step, in the plan's order.
    ///
    /// `kinds` gets those that the plan's definitions bring along.
    ///
    /// # Errors
    /// Never for a step: what becomes of it is told in its place. Only when the server cannot be asked for its kinds.
    pub async fn run(&self, kinds: &mut Kinds) -> Result<Vec<Done>, ClusterError> {
        let Self { cluster, plan, .. } = *self;
        let mut done: Vec<Option<Done>> = vec![None; plan.steps.len()];
        let mut results: HashMap<&ObjectId, Outcome> = HashMap::new();
        let mut uids: BTreeMap<ObjectId, String> = plan
            .targets
            .iter()
            .filter_map(|target| Some((target.id(), target.live.as_ref()?.uid.clone())))
            .collect();
        let batches: BTreeSet<usize> = plan.steps.iter().map(|step| step.batch).collect();
        let mut gate = Gate::new(plan, self.waiting);
        let going = going(plan);
        for batch in batches {
            gate.wait_for(batch, cluster, kinds, &results).await;
            let context = Context {
                cluster,
                kinds,
                compare: self.compare,
                results: &results,
                uids: &uids,
                gate: &gate,
                going: &going,
                failures: failures(plan, &done),
            };
            let mut definitions = Vec::new();
            for (i, result) in self.run_batch(batch, context).await {
                let (Some(step), Some(slot)) = (plan.steps.get(i), done.get_mut(i)) else {
                    continue;
                };
                // A Service of a Target may have the name of one that is leaving the source; nothing needs the former.
                if step.owner.is_none() {
                    results.insert(&step.id, result.outcome);
                }
                if let Some(live) = &result.live
                    && step.id.group_kind == Target::group_kind()
                {
                    uids.insert(step.id.clone(), live.uid.clone());
                }
                let made = matches!(result.outcome, Outcome::Created | Outcome::Configured);
                if made && step.id.group_kind.is_definition() {
                    definitions.push(i);
                }
                *slot = Some(result);
            }
            let deleted = |step: &&Step| {
                step.batch == batch && results.get(&step.id) == Some(&Outcome::Deleted)
            };
            let deleted = plan.steps.iter().filter(deleted).collect();
            gate.wait_for_end_of(deleted, cluster, kinds).await;
            if !definitions.is_empty() {
                let unserved = self.learn_kinds(kinds, &definitions).await?;
                for (i, why) in unserved {
                    if let (Some(step), Some(Some(done))) = (plan.steps.get(i), done.get_mut(i)) {
                        results.insert(&step.id, Outcome::Failed);
                        done.outcome = Outcome::Failed;
                        done.message = why;
                        (self.observe)(step, done);
                    }
                }
            }
        }
        Ok(done.into_iter().flatten().collect())
    }

    async fn run_batch(&self, batch: usize, context: Context<'_>) -> Vec<(usize, Done)> {
        let steps = self.plan.steps.iter().enumerate();
        let running: Vec<_> = steps
            .filter(|(_, step)| step.batch == batch)
            .map(|(i, step)| async move {
                let done = context.run(step).await;
                (self.observe)(step, &done);
                (i, done)
            })
            .collect();
        stream::iter(running)
            .buffer_unordered(self.concurrency.max(1))
            .collect()
            .await
    }

    /// Waits until the kinds of new definitions are served, and adds them. Returns the steps whose kinds are not in
    /// time, and why.
    async fn learn_kinds(
        &self,
        kinds: &mut Kinds,
        definitions: &[usize],
    ) -> Result<Vec<(usize, String)>, ClusterError> {
        let steps = &self.plan.steps;
        let known = &*kinds;
        let waits = definitions
            .iter()
            .filter_map(|i| Some((*i, steps.get(*i)?.id.name.as_str())))
            .map(|(i, name)| async move {
                let why = established(self.cluster, known, name).await.err()?;
                Some((i, why))
            });
        let unserved = join_all(waits).await.into_iter().flatten().collect();
        let versions = steps.iter().map(|step| step.api_version.clone());
        let versions = versions.filter(|version| !version.is_empty()).collect();
        kinds.extend(self.cluster.kinds(&versions).await?);
        Ok(unserved)
    }
}

/// Counts what keeps prunes from being done. A Service that is refused because its name is taken does not: the Service
/// that has the name may be what is to be pruned.
fn failures(plan: &Plan, done: &[Option<Done>]) -> usize {
    let ended = plan
        .steps
        .iter()
        .zip(done)
        .filter_map(|(step, done)| Some((step, done.as_ref()?)));
    let name_taken =
        |step: &Step, done: &Done| step.owner.is_some() && done.outcome == Outcome::Refused;
    let counts =
        |(step, done): &(&Step, &Done)| !(done.outcome.is_good() || name_taken(step, done));
    ended.filter(counts).count()
}

/// Waits until a definition's kind is served.
///
/// # Errors
/// Why it is not, when it takes too long.
pub(super) async fn established(
    cluster: &Cluster,
    kinds: &Kinds,
    name: &str,
) -> Result<(), String> {
    let Some(kind) = kinds.any_version(&GroupKind::definition()) else {
        return Ok(());
    };
    let deadline = Instant::now() + ESTABLISHED_WITHIN;
    loop {
        let why = match cluster.get(kind, None, name).await {
            Ok(Some(crd)) => match health(&crd) {
                Health::Current if is_discovered(cluster, &crd).await => return Ok(()),
                Health::Current => "discovery does not list it yet".to_owned(),
                health => health.to_string(),
            },
            Ok(None) => "it is not there".to_owned(),
            Err(error) => error.to_string(),
        };
        if Instant::now() > deadline {
            let seconds = ESTABLISHED_WITHIN.as_secs();
            return Err(format!("its kind is not served after {seconds} s: {why}"));
        }
        sleep(LOOK_AGAIN).await;
    }
}

/// Tells whether discovery lists a definition's kind in all versions: that comes a moment after `Established`.
async fn is_discovered(cluster: &Cluster, crd: &Value) -> bool {
    let text = |pointer| crd.pointer(pointer).and_then(Value::as_str);
    let (Some(group), Some(kind)) = (text("/spec/group"), text("/spec/names/kind")) else {
        return false;
    };
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array);
    let versions: BTreeSet<String> = versions
        .into_iter()
        .flatten()
        .filter(|version| version["served"] == true)
        .filter_map(|version| Some(format!("{group}/{}", version["name"].as_str()?)))
        .collect();
    let found = cluster.kinds(&versions).await;
    found.is_ok_and(|found| versions.iter().all(|v| found.get(v, kind).is_some()))
}

/// What a step has sent, and what came back.
struct Sent {
    outcome: Outcome,
    live: Option<Live>,
    rewritten: Option<String>,
}

impl Sent {
    fn nothing(outcome: Outcome) -> Self {
        Self {
            outcome,
            live: None,
            rewritten: None,
        }
    }
}

#[derive(Clone, Copy)]
struct Context<'a> {
    cluster: &'a Cluster,
    kinds: &'a Kinds,
    compare: bool,
    results: &'a HashMap<&'a ObjectId, Outcome>,
    uids: &'a BTreeMap<ObjectId, String>,
    gate: &'a Gate<'a>,
    going: &'a BTreeSet<String>,
    failures: usize,
}

impl Context<'_> {
    async fn run(self, step: &Step) -> Done {
        let done = |outcome, message: &str| Done {
            outcome,
            message: message.to_owned(),
            live: None,
            rewritten: None,
        };
        match step.action {
            Action::Unchanged => return done(Outcome::Unchanged, &step.reason),
            Action::Keep => return done(Outcome::Kept, &step.reason),
            Action::Refuse => return done(Outcome::Refused, &step.reason),
            Action::Create | Action::Configure | Action::Delete => {}
        }
        let unmet = step.needs.iter().find(|need| {
            self.results
                .get(need)
                .is_some_and(|outcome| !outcome.is_good())
        });
        if let Some(need) = unmet {
            return done(
                Outcome::Skipped,
                &format!("it needs {need}, which did not come about"),
            );
        }
        if let Some(why) = self.gate.blocks(step) {
            return done(Outcome::Skipped, &why);
        }
        if step.body == Body::Prune && self.failures > 0 {
            let message = format!(
                "it stays, since {} other objects did not come about",
                self.failures
            );
            return done(Outcome::Skipped, &message);
        }
        match self.send(step).await {
            Ok(Sent {
                outcome,
                live,
                rewritten,
            }) => Done {
                outcome,
                message: step.reason.clone(),
                live,
                rewritten,
            },
            Err(error) => {
                let secret = matches!(&step.body, Body::Apply { object, .. } if is_secret(object));
                let error = if secret {
                    error.without_values()
                } else {
                    error
                };
                let hint = match &error {
                    ClusterError::FieldConflict(_) => " (--force-conflicts takes the fields)",
                    _ => "",
                };
                done(
                    Outcome::Failed,
                    &format!("{} {}: {error}{hint}", attempt(step), step.id),
                )
            }
        }
    }

    async fn send(self, step: &Step) -> Result<Sent, ClusterError> {
        let kind = self.kind(step)?;
        let namespace = step.id.namespace.as_deref();
        match &step.body {
            Body::None => Ok(Sent::nothing(Outcome::Unchanged)),
            Body::Delete | Body::Prune => {
                self.delete(kind, step).await?;
                Ok(Sent::nothing(Outcome::Deleted))
            }
            Body::Apply { object, force } => {
                let (live, rewritten) = self.apply(kind, object, *force).await?;
                Ok(Sent {
                    outcome: outcome(step.expected.as_ref(), &live),
                    live: Some(live),
                    rewritten,
                })
            }
            Body::Agent { wish, .. } => {
                let live = send_agent(self.cluster, &step.id, wish).await?;
                Ok(Sent {
                    outcome: match live {
                        Some(_) => Outcome::Configured,
                        None => Outcome::Unchanged,
                    },
                    live,
                    rewritten: None,
                })
            }
            Body::Child {
                object,
                target,
                purge,
            } => {
                let uid = self
                    .uids
                    .get(target)
                    .ok_or_else(|| ClusterError::NotFound(format!("{target} is not there")))?;
                let object = owned(object, target, uid);
                if let (Some(patch), Some(expected)) = (purge, &step.expected) {
                    self.cluster
                        .purge(kind, namespace, &step.id.name, patch.clone(), expected)
                        .await?;
                }
                let (live, rewritten) = self.apply(kind, &object, true).await?;
                Ok(Sent {
                    outcome: outcome(step.expected.as_ref(), &live),
                    live: Some(live),
                    rewritten,
                })
            }
        }
    }

    /// Deletes what was planned for. Workloads change all the time by their status: one that did is looked at again,
    /// and goes when nothing that bears on the decision is different.
    async fn delete(self, kind: &Kind, step: &Step) -> Result<(), ClusterError> {
        let (namespace, name) = (step.id.namespace.as_deref(), &step.id.name);
        let mut expected = step.expected.clone().ok_or_else(|| unplanned(step))?;
        let mut tries = 0;
        loop {
            look_again(self.cluster, step, self.going).await?;
            let answer = self.cluster.delete(kind, namespace, name, &expected).await;
            let Err(ClusterError::Changed(message)) = answer else {
                return answer;
            };
            tries += 1;
            match self.cluster.get_metadata(kind, namespace, name).await? {
                None => return Ok(()),
                Some(live) if tries < DELETE_TRIES && still_goes(step, &expected, &live) => {
                    expected.resource_version = live.resource_version;
                }
                Some(_) => return Err(ClusterError::Changed(message)),
            }
        }
    }

    /// A kind whose definition was established a moment ago may answer "not found" once more.
    async fn apply(
        self,
        kind: &Kind,
        object: &Value,
        force: bool,
    ) -> Result<(Live, Option<String>), ClusterError> {
        let mut tries = 0;
        loop {
            let answer = if self.compare {
                let answer = self.cluster.apply_whole(kind, object, force).await;
                answer.map(|(live, whole)| (live, rewritten(object, &whole)))
            } else {
                let answer = self.cluster.apply(kind, object, force).await;
                answer.map(|live| (live, None))
            };
            match answer {
                Err(ClusterError::NotFound(message))
                    if message.contains("requested resource") && tries < 20 =>
                {
                    tries += 1;
                    sleep(LOOK_AGAIN).await;
                }
                answer => return answer,
            }
        }
    }

    fn kind(&self, step: &Step) -> Result<&Kind, ClusterError> {
        let found = match step.api_version.as_str() {
            "" => self.kinds.any_version(&step.id.group_kind),
            version => self.kinds.get(version, &step.id.group_kind.kind),
        };
        found.ok_or_else(|| {
            let GroupKind { group, kind } = &step.id.group_kind;
            let of = match step.api_version.as_str() {
                "" => group,
                version => version,
            };
            ClusterError::NotFound(format!("the cluster does not know the kind {kind} of {of}"))
        })
    }
}

/// A Service of a Target, as it is sent.
pub(super) fn owned(object: &Value, target: &ObjectId, uid: &str) -> Value {
    let mut object = object.clone();
    with_owner(&mut object, &target.name, uid);
    stamp(&mut object, None);
    object
}

fn outcome(expected: Option<&Expected>, live: &Live) -> Outcome {
    match expected {
        None => Outcome::Created,
        Some(before) if before.resource_version == live.resource_version => Outcome::Unchanged,
        Some(_) => Outcome::Configured,
    }
}

fn attempt(step: &Step) -> &'static str {
    match step.body {
        Body::Delete | Body::Prune => "delete",
        Body::Agent {
            wish: AgentWish::GiveUp { .. },
            ..
        } => "take the agent out of",
        Body::Agent { .. } => "put the agent into",
        _ => "apply",
    }
}

fn unplanned(step: &Step) -> ClusterError {
    ClusterError::Changed(format!(
        "{} was not in the cluster when this was planned",
        step.id
    ))
}
