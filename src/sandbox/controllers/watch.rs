//! What has changed, and whom it concerns.

use serde_json::Value;

use super::claims;
use super::object::{
    beside, controller, has_finalizer, holds, is_leaving, items, labels, matches, meta, text,
};
use crate::state::State;
use crate::store::Key;
use crate::types::Registry;

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Work {
    /// Who is to look.
    pub(super) controller: Controller,
    /// At what.
    pub(super) key: Key,
}

/// The controllers, in the order in which they look: whoever counts what others make comes after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Controller {
    Garbage,
    Namespaces,
    Claims,
    Volumes,
    Kubelet,
    ReplicaSets,
    StatefulSets,
    DaemonSets,
    Jobs,
    Deployments,
    Endpoints,
    Slices,
}

/// Controllers of pods, by the kind of what they look at.
const WORKLOADS: [(&str, &str, Controller); 4] = [
    ("ReplicaSet", "replicasets.apps", Controller::ReplicaSets),
    ("StatefulSet", "statefulsets.apps", Controller::StatefulSets),
    ("DaemonSet", "daemonsets.apps", Controller::DaemonSets),
    ("Job", "jobs.batch", Controller::Jobs),
];

/// Queues what is to be looked at since the last look; everything when the changes since then are forgotten.
pub(super) fn look(state: &mut State) {
    let now = state.store.version();
    let seen = state.controllers.seen.replace(now);
    let recent = seen.and_then(|seen| {
        let changes = state.store.since(seen)?;
        let changes = changes.map(|change| {
            (
                change.key.clone(),
                change.before.clone(),
                change.after.clone(),
            )
        });
        Some(changes.collect::<Vec<_>>())
    });
    let changes = recent.unwrap_or_else(|| {
        state.controllers.dependents.clear();
        state.controllers.alone.clear();
        let all = state.store.all();
        all.map(|(key, object)| (key.clone(), None, Some(object.clone())))
            .collect()
    });
    let now = jiff::Timestamp::now().as_second();
    let due = state
        .controllers
        .later
        .extract_if(.., |_, time| *time <= now);
    let due: Vec<Work> = due.map(|(work, _)| work).collect();
    for work in due {
        state.controllers.queue(work);
    }
    let mut queue = Queue { state };
    for (key, before, after) in &changes {
        queue.change(key, before.as_deref(), after.as_deref());
    }
}

struct Queue<'a> {
    state: &'a mut State,
}

impl Queue<'_> {
    fn add(&mut self, controller: Controller, key: Key) {
        self.state.controllers.queue(Work { controller, key });
    }

    fn change(&mut self, key: &Key, before: Option<&Value>, after: Option<&Value>) {
        self.garbage(key, before, after);
        self.namespace(key, after);
        match &*key.resource {
            "deployments.apps" => self.add(Controller::Deployments, key.clone()),
            "replicasets.apps" => {
                self.state.controllers.find_alone(key, after);
                self.add(Controller::ReplicaSets, key.clone());
                self.owners_of_set(key, before, after);
            }
            "statefulsets.apps" => self.add(Controller::StatefulSets, key.clone()),
            "daemonsets.apps" => self.add(Controller::DaemonSets, key.clone()),
            "jobs.batch" => self.add(Controller::Jobs, key.clone()),
            "persistentvolumeclaims" => self.add(Controller::Claims, key.clone()),
            "persistentvolumes" => self.add(Controller::Volumes, key.clone()),
            "pods" => self.pod(key, before, after),
            "services" => {
                self.add(Controller::Endpoints, key.clone());
                self.add(Controller::Slices, key.clone());
            }
            "endpoints" => {
                // Those without a Service are somebody's own.
                let service = beside(key, "services", &key.name);
                if self.state.store.get(&service).is_some() {
                    self.add(Controller::Endpoints, service);
                }
            }
            "endpointslices.discovery.k8s.io" => {
                for slice in [before, after].into_iter().flatten() {
                    if let Some(owner) = controller(slice) {
                        let service = beside(key, "services", text(owner, "/name"));
                        self.add(Controller::Slices, service);
                    }
                }
            }
            _ => {}
        }
    }

    fn garbage(&mut self, key: &Key, before: Option<&Value>, after: Option<&Value>) {
        let references = |object: Option<&Value>| {
            object.and_then(|o| o.pointer("/metadata/ownerReferences").cloned())
        };
        let (old, new) = (references(before), references(after));
        if old != new {
            self.state.controllers.follow(key, before, after);
        }
        let waits = after.is_some_and(|object| {
            is_leaving(object)
                && (has_finalizer(object, "orphan") || has_finalizer(object, "foregroundDeletion"))
        });
        if waits || new.is_some() && old != new {
            self.add(Controller::Garbage, key.clone());
        }
        // An owner may wait for this one: it is told when it is gone, or is nobody's any more.
        if old.is_some() && old != new {
            for owner in before
                .into_iter()
                .flat_map(|object| items(object, "/metadata/ownerReferences"))
            {
                if let Some(owner) = owner_key(&self.state.kinds, key, owner) {
                    self.add(Controller::Garbage, owner);
                }
            }
        }
        if let Some(gone) = before.filter(|_| after.is_none()) {
            for dependent in self.state.controllers.dependents(meta(gone, "uid")) {
                self.add(Controller::Garbage, dependent);
            }
        }
        if let (Some(before), Some(after)) = (before, after)
            && meta(before, "uid") != meta(after, "uid")
        {
            for dependent in self.state.controllers.dependents(meta(before, "uid")) {
                self.add(Controller::Garbage, dependent);
            }
        }
    }

    /// Namespaces are looked at themselves, and when something in one that leaves has changed, or what each has is gone.
    fn namespace(&mut self, key: &Key, after: Option<&Value>) {
        if &*key.resource == "namespaces" {
            self.add(Controller::Namespaces, key.clone());
        }
        if key.namespace.is_empty() {
            return;
        }
        let namespace = Key {
            resource: "namespaces".into(),
            namespace: String::new(),
            name: key.namespace.clone(),
        };
        let of_all = matches!(
            (&*key.resource, key.name.as_str()),
            ("serviceaccounts", "default") | ("configmaps", "kube-root-ca.crt")
        );
        let leaves = |queue: &Self| {
            queue
                .state
                .store
                .get(&namespace)
                .is_some_and(|n| is_leaving(n))
        };
        if of_all && after.is_none() || leaves(self) {
            self.add(Controller::Namespaces, namespace);
        }
    }

    /// The Deployment of a ReplicaSet, or those that may adopt it.
    fn owners_of_set(&mut self, key: &Key, before: Option<&Value>, after: Option<&Value>) {
        for set in [before, after].into_iter().flatten() {
            if let Some(owner) = controller(set) {
                if text(owner, "/kind") == "Deployment" {
                    let deployment = beside(key, "deployments.apps", text(owner, "/name"));
                    self.add(Controller::Deployments, deployment);
                }
                continue;
            }
            self.selecting(key, "deployments.apps", Controller::Deployments, set);
        }
    }

    fn pod(&mut self, key: &Key, before: Option<&Value>, after: Option<&Value>) {
        self.state.controllers.find_alone(key, after);
        self.add(Controller::Kubelet, key.clone());
        if let Some(gone) = before.filter(|_| after.is_none()) {
            self.deployment_of(key, gone);
        }
        for claim in before.into_iter().flat_map(claims::named) {
            self.add(
                Controller::Claims,
                beside(key, "persistentvolumeclaims", claim),
            );
        }
        for pod in [before, after].into_iter().flatten() {
            match controller(pod) {
                Some(owner) => {
                    let kind = text(owner, "/kind");
                    let known = WORKLOADS.iter().find(|(known, ..)| *known == kind);
                    if let Some((_, resource, controller)) = known {
                        let owner = beside(key, resource, text(owner, "/name"));
                        self.add(*controller, owner);
                    }
                }
                None => self.selecting(key, "replicasets.apps", Controller::ReplicaSets, pod),
            }
            let services = self
                .state
                .store
                .list(&"services".into(), Some(&key.namespace));
            let services: Vec<Key> = services
                .filter(|(_, service)| holds(labels(pod), service.pointer("/spec/selector")))
                .map(|(key, _)| key.clone())
                .collect();
            for service in services {
                self.add(Controller::Endpoints, service.clone());
                self.add(Controller::Slices, service);
            }
        }
    }

    /// The Deployment of a pod that is gone, which may wait for its end before it makes others.
    fn deployment_of(&mut self, key: &Key, pod: &Value) {
        let set = controller(pod).filter(|owner| text(owner, "/kind") == "ReplicaSet");
        let set = set.map(|owner| beside(key, "replicasets.apps", text(owner, "/name")));
        let set = set.and_then(|set| self.state.store.get(&set));
        if let Some(owner) = set.and_then(|set| controller(set)) {
            let deployment = beside(key, "deployments.apps", text(owner, "/name"));
            self.add(Controller::Deployments, deployment);
        }
    }

    /// Those whose selector matches an object that nobody controls.
    fn selecting(&mut self, key: &Key, resource: &str, controller: Controller, object: &Value) {
        let all = self
            .state
            .store
            .list(&resource.into(), Some(&key.namespace));
        let found: Vec<Key> = all
            .filter(|(_, owner)| matches(labels(object), owner.pointer("/spec/selector")))
            .map(|(key, _)| key.clone())
            .collect();
        for owner in found {
            self.add(controller, owner);
        }
    }
}

/// Where the owner is that a reference names: in the namespace of what it owns, or in none. `None` when its kind is not served,
/// or cannot own such an object.
pub(super) fn owner_key(kinds: &Registry, key: &Key, owner: &Value) -> Option<Key> {
    let kind = kinds.of(text(owner, "/apiVersion"), text(owner, "/kind"))?;
    if kind.namespaced && key.namespace.is_empty() {
        return None;
    }
    let namespace = match kind.namespaced {
        true => key.namespace.clone(),
        false => String::new(),
    };
    Some(Key {
        resource: kind.resource().into(),
        namespace,
        name: text(owner, "/name").to_owned(),
    })
}
