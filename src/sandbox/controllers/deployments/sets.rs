//! The ReplicaSets of a Deployment.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::limits;
use super::template;
use super::{DESIRED, MOST, REVISION, REVISION_HISTORY, annotation, conditions, revision, wanted};
use crate::controllers::client;
use crate::controllers::object::{
    adopted, beside, controller, is_controlled_by, is_leaving, labels, matches, meta, number, set,
};
use crate::state::State;
use crate::store::Key;

/// The one of the template as it is, and those of earlier templates, the oldest first.
pub(super) struct Sets {
    key: Key,
    pub(super) new: Option<Arc<Value>>,
    pub(super) old: Vec<Arc<Value>>,
}

impl Sets {
    /// Finds those of a Deployment, and takes over those that nobody controls and that it selects.
    pub(super) fn of(state: &mut State, key: &Key, deployment: &Value) -> Self {
        let uid = meta(deployment, "uid").to_owned();
        let selector = deployment.pointer("/spec/selector");
        let own = state.controllers.dependents(&uid).into_iter();
        let own = own
            .filter(|own| &*own.resource == "replicasets.apps" && own.namespace == key.namespace);
        let alone = state.controllers.alone(key, "replicasets.apps").cloned();
        // One that was let go at this moment may be in both.
        let keys: BTreeSet<Key> = own.chain(alone).collect();
        let all: Vec<(Key, Arc<Value>)> = keys
            .into_iter()
            .filter_map(|key| Some((key.clone(), state.store.get(&key)?.clone())))
            .filter(|(_, set)| {
                is_controlled_by(set, &uid)
                    || controller(set).is_none()
                        && matches(labels(set), selector)
                        && !is_leaving(set)
            })
            .collect();
        let mut old = Vec::new();
        for (set_key, found) in all {
            if controller(&found).is_some() {
                old.push(found);
            } else if !is_leaving(deployment) {
                old.extend(client::update(state, &set_key, adopted(&found, deployment)));
            }
        }
        old.sort_by(|a, b| {
            let order = |set: &Value| {
                (
                    meta(set, "creationTimestamp").to_owned(),
                    meta(set, "name").to_owned(),
                )
            };
            order(a).cmp(&order(b))
        });
        let template = deployment.pointer("/spec/template").unwrap_or(&Value::Null);
        let place = old.iter().position(|set| template::is_of(set, template));
        Self {
            key: key.clone(),
            new: place.map(|place| old.remove(place)),
            old,
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        self.old.iter().chain(&self.new).map(Arc::as_ref)
    }

    /// The replicas that all of them want.
    pub(super) fn total(&self) -> i64 {
        self.all().map(wanted).sum()
    }

    /// A number of their statuses, added up.
    pub(super) fn count(&self, pointer: &str) -> i64 {
        self.all().map(|set| number(set, pointer, 0)).sum()
    }

    /// Whether the Deployment's replicas have changed since its ReplicaSets got theirs.
    pub(super) fn scaled(&self, deployment: &Value) -> bool {
        let desired = wanted(deployment).to_string();
        self.all()
            .filter(|set| wanted(set) > 0)
            .filter_map(|set| annotation(set, DESIRED))
            .any(|known| known != desired)
    }

    /// Makes the ReplicaSet of the template, or gives the one that is there its revision and annotations.
    pub(super) fn renew(&mut self, state: &mut State, deployment: &mut Value) {
        let next = self.old.iter().map(|set| revision(set)).max().unwrap_or(0) + 1;
        let Some(known) = self.new.clone() else {
            self.make(state, deployment, next);
            return;
        };
        let mut wanted: Vec<(&str, String)> = template::annotations(deployment)
            .map(|(name, value)| (name, value.to_owned()))
            .collect();
        let was = revision(&known);
        if was < next {
            if was > 0 {
                let history = annotation(&known, REVISION_HISTORY)
                    .map_or_else(|| was.to_string(), |earlier| format!("{earlier},{was}"));
                wanted.push((REVISION_HISTORY, history));
            }
            wanted.push((REVISION, next.to_string()));
        }
        let new = annotated(&known, &wanted)
            .and_then(|new| self.write(state, new))
            .unwrap_or(known);
        if let Some(revision) = annotation(&new, REVISION) {
            set(
                deployment,
                &["metadata", "annotations", REVISION],
                revision.into(),
            );
        }
        conditions::found(deployment, meta(&new, "name"));
        self.new = Some(new);
    }

    fn make(&mut self, state: &mut State, deployment: &mut Value, next: i64) {
        let mut new = template::set_of(deployment);
        for (name, value) in template::annotations(deployment) {
            set(&mut new, &["metadata", "annotations", name], value.into());
        }
        set(
            &mut new,
            &["metadata", "annotations", REVISION],
            next.to_string().into(),
        );
        let most = wanted(deployment) + limits::surge(deployment);
        let replicas = (most - self.total()).clamp(0, wanted(deployment));
        let new = scaled(&new, replicas, deployment).unwrap_or(new);
        let key = beside(&self.key, "replicasets.apps", meta(&new, "name"));
        let Some(made) = client::create(state, &key, new) else {
            return;
        };
        set(
            deployment,
            &["metadata", "annotations", REVISION],
            next.to_string().into(),
        );
        conditions::created(deployment, meta(&made, "name"));
        self.new = Some(made);
    }

    /// Gives the ReplicaSet of the template a number of replicas; tells whether that was news.
    pub(super) fn scale_new(
        &mut self,
        state: &mut State,
        deployment: &Value,
        replicas: i64,
    ) -> bool {
        let Some(known) = self.new.clone() else {
            return false;
        };
        let Some(new) = scaled(&known, replicas, deployment) else {
            return false;
        };
        let is_news = wanted(&known) != replicas;
        self.new = self.write(state, new).or(Some(known));
        is_news
    }

    /// Gives an earlier one a number of replicas.
    pub(super) fn scale_old(
        &mut self,
        state: &mut State,
        deployment: &Value,
        name: &str,
        replicas: i64,
    ) {
        let Some(known) = self.old.iter().find(|set| meta(set, "name") == name) else {
            return;
        };
        let Some(new) = scaled(known, replicas, deployment) else {
            return;
        };
        if let Some(written) = self.write(state, new)
            && let Some(known) = self.old.iter_mut().find(|set| meta(set, "name") == name)
        {
            *known = written;
        }
    }

    /// Takes all replicas from the earlier ones; tells whether there were any.
    pub(super) fn scale_old_down(&mut self, state: &mut State, deployment: &Value) -> bool {
        let running: Vec<String> = self
            .old
            .iter()
            .filter(|set| wanted(set) > 0)
            .map(|set| meta(set, "name").to_owned())
            .collect();
        for name in &running {
            self.scale_old(state, deployment, name, 0);
        }
        !running.is_empty()
    }

    /// Whether pods of the earlier ones still run.
    pub(super) fn old_run(&self, state: &State) -> bool {
        let pods = state.store.list(&"pods".into(), Some(&self.key.namespace));
        let mut pods = pods.filter(|(_, pod)| {
            let phase = pod.pointer("/status/phase").and_then(Value::as_str);
            !matches!(phase, Some("Failed" | "Succeeded"))
        });
        pods.any(|(_, pod)| {
            self.old
                .iter()
                .any(|set| is_controlled_by(pod, meta(set, "uid")))
        })
    }

    /// Spreads a new number of replicas: the only one that runs gets it, or the newest when none runs; in the middle of an
    /// update the newest gets what is added and the others lose first.
    pub(super) fn scale(&mut self, state: &mut State, deployment: &Value) {
        let replicas = wanted(deployment);
        let running = self.all().filter(|set| wanted(set) > 0).count();
        let most = match replicas {
            0 => 0,
            replicas => replicas + limits::surge(deployment),
        };
        let newest_runs = self.new.as_ref().is_some_and(|set| wanted(set) > 0);
        let only_old = self.old.iter().rev().find(|set| wanted(set) > 0).or(self
            .old
            .last()
            .filter(|_| self.new.is_none() && running == 0));
        if running <= 1 && (newest_runs || only_old.is_none()) {
            self.scale_new(state, deployment, replicas);
        } else if running <= 1 {
            if let Some(name) = only_old.map(|set| meta(set, "name").to_owned()) {
                self.scale_old(state, deployment, &name, replicas);
            }
        } else {
            self.share(state, deployment, most);
        }
    }

    fn share(&mut self, state: &mut State, deployment: &Value, most: i64) {
        let mut change = most - self.total();
        let names: Vec<(String, i64)> = self
            .old
            .iter()
            .filter(|set| wanted(set) > 0)
            .map(|set| (meta(set, "name").to_owned(), wanted(set)))
            .collect();
        for (name, replicas) in names {
            let less = change.min(0).max(-replicas);
            self.scale_old(state, deployment, &name, replicas + less);
            change -= less;
        }
        let own = self.new.as_ref().map_or(0, |set| wanted(set));
        self.scale_new(state, deployment, (own + change).max(0));
    }

    fn write(&self, state: &mut State, set: Value) -> Option<Arc<Value>> {
        let key = beside(&self.key, "replicasets.apps", meta(&set, "name"));
        client::update(state, &key, set)
    }
}

/// A ReplicaSet with annotations; `None` when it has them.
fn annotated(known: &Value, wanted: &[(&str, String)]) -> Option<Value> {
    let has = |(name, value): &(&str, String)| annotation(known, name) == Some(value);
    if wanted.iter().all(has) {
        return None;
    }
    let mut new = known.clone();
    for (name, value) in wanted {
        let path = ["metadata", "annotations", *name];
        set(&mut new, &path, value.as_str().into());
    }
    Some(new)
}

/// A ReplicaSet with a number of replicas, and the annotations that go with it; `None` when it has them.
fn scaled(known: &Value, replicas: i64, deployment: &Value) -> Option<Value> {
    let desired = wanted(deployment);
    let most = desired + limits::surge(deployment);
    let annotations = [(DESIRED, desired.to_string()), (MOST, most.to_string())];
    let new = annotated(known, &annotations);
    if known.pointer("/spec/replicas").and_then(Value::as_i64) == Some(replicas) {
        return new;
    }
    let mut new = new.unwrap_or_else(|| known.clone());
    set(&mut new, &["spec", "replicas"], replicas.into());
    Some(new)
}
