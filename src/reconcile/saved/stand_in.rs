//! Something that answers in a cluster's place: a sandbox in this process, asked through the same client.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Saved, SavedError};
use crate::api::{ObjectId, Scope, split_api_version};
use crate::cluster::{Asked, Cluster, ClusterError, Which};
use crate::load::{Diagnostic, Document};
use crate::plan::{Action, is_secret, reveal};
use crate::reconcile::{Planned, Settings, install_kinds};
use crate::render::{Desired, resolve};
use crate::sandbox::state::State;
use crate::sandbox::store::Key;
use crate::sandbox::types::{Registry, table};
use crate::sandbox::{Options, Sandbox, crd, types};

/// A cluster that is none.
pub struct StandIn {
    /// The connection to it.
    pub cluster: Cluster,
    sandbox: Arc<Sandbox>,
}

impl StandIn {
    /// An empty cluster of today's Kubernetes, with our own kinds.
    ///
    /// # Errors
    /// When no connection can be made.
    pub async fn empty(default_namespace: &str) -> Result<Self, ClusterError> {
        let stand_in = Self::of(Sandbox::new(options()), default_namespace)?;
        install_kinds(&stand_in.cluster).await?;
        Ok(stand_in)
    }

    /// What was saved, for a source that asks for these documents.
    ///
    /// # Errors
    /// When what was saved makes no sense.
    pub fn saved(
        saved: &Saved,
        documents: &[Document],
        settings: &Settings,
    ) -> Result<Self, SavedError> {
        let state = saved.state(documents, settings)?;
        let sandbox = Sandbox::with_state(state, options());
        let damaged = |error: ClusterError| SavedError::Damaged(error.to_string());
        let mut stand_in = Self::of(sandbox, &saved.default_namespace).map_err(damaged)?;
        let refused = saved.refused.iter().cloned().collect();
        stand_in.cluster = stand_in.cluster.refusing(refused);
        Ok(stand_in)
    }

    fn of(sandbox: Arc<Sandbox>, default_namespace: &str) -> Result<Self, ClusterError> {
        let token = sandbox.admin_token().to_owned();
        let cluster = Cluster::in_process(sandbox.router(), &token, default_namespace)?;
        Ok(Self { cluster, sandbox })
    }

    /// Takes for served what the documents of a source use and nothing defines, and for there the namespaces that they do not
    /// make themselves.
    pub fn assume(&self, documents: &[Document], settings: &Settings) {
        let mut state = self.sandbox.lock();
        let defined = defined(documents);
        for document in documents {
            let (version, kind) = (
                document.api_version.as_str(),
                document.id.group_kind.kind.as_str(),
            );
            if state.kinds.of(version, kind).is_none()
                && !defined.contains(&(version.to_owned(), kind.to_owned()))
            {
                state.kinds.add(types::assumed(version, kind));
            }
        }
        let made: BTreeSet<&str> = documents
            .iter()
            .filter(|it| it.id.group_kind.is_namespace())
            .map(|it| it.id.name.as_str())
            .collect();
        let named = documents.iter().filter_map(|it| it.id.namespace.as_deref());
        let own = [
            settings.namespace.as_str(),
            settings.target_namespace.as_str(),
        ];
        for name in named.chain(own).collect::<BTreeSet<_>>().difference(&made) {
            add_namespace(&mut state, name);
        }
    }
}

/// Nothing happens by itself, and there is nobody who may not do what he asks for.
fn options() -> Options {
    Options {
        controllers: false,
        authorization: false,
        ..Options::default()
    }
}

/// The kinds that definitions among the documents make, by `apiVersion` and kind.
fn defined(documents: &[Document]) -> BTreeSet<(String, String)> {
    let definitions = documents
        .iter()
        .filter(|it| it.id.group_kind.is_definition());
    let kinds = definitions.flat_map(|it| crd::kinds(&it.root.to_json()));
    kinds.map(|kind| (kind.api_version(), kind.kind)).collect()
}

fn add_namespace(state: &mut State, name: &str) {
    let key = Key {
        resource: "namespaces".into(),
        namespace: String::new(),
        name: name.to_owned(),
    };
    if state.store.get(&key).is_none() {
        let object = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": { "name": name, "uid": format!("namespace-{name}"), "labels": { "kubernetes.io/metadata.name": name } },
            "spec": { "finalizers": ["kubernetes"] },
            "status": { "phase": "Active" },
        });
        state.store.put(key, object);
    }
}

impl Saved {
    fn state(&self, documents: &[Document], settings: &Settings) -> Result<State, SavedError> {
        let kinds = table::from_bytes(self.kinds.as_bytes()).map_err(SavedError::Damaged)?;
        let mut state = State {
            kinds,
            ..State::default()
        };
        let secrets = secrets(documents, settings);
        for object in self.outlines.iter().chain(&self.objects) {
            let mut object = object.clone();
            if is_secret(&object)
                && let Some(desired) = secrets.get(&place(&object))
            {
                reveal(&mut object, desired, &|place, value| {
                    self.salt.token(place, value)
                });
            }
            for kind in definition_kinds(&object) {
                state.kinds.add(kind);
            }
            // What the server serves no more is nowhere.
            if let Some(key) = key_of(&state.kinds, &object) {
                state.store.load(key, object);
            }
        }
        if self.namespaces_unseen {
            let named = self
                .objects
                .iter()
                .filter_map(|it| it.pointer("/metadata/namespace")?.as_str());
            let asked = documents.iter().filter_map(|it| it.id.namespace.as_deref());
            let own = [
                settings.namespace.as_str(),
                settings.target_namespace.as_str(),
            ];
            for name in named.chain(asked).chain(own) {
                add_namespace(&mut state, name);
            }
        }
        Ok(state)
    }

    /// Warns of steps of which it cannot be told whether they are right: their objects were not looked for when this was saved,
    /// or not looked at.
    pub fn doubts(&self, planned: &Planned) -> Vec<Diagnostic> {
        let outlines: BTreeSet<ObjectId> = self.outlines.iter().map(super::take::id_of).collect();
        let steps = planned.plan.steps.iter();
        let doubts = steps.filter_map(|step| {
            let origin = step.origin.as_ref()?;
            let served = planned
                .survey
                .kinds
                .any_version(&step.id.group_kind)
                .is_some();
            let missing = &planned.survey.missing_namespaces;
            let nowhere = step
                .id
                .namespace
                .as_ref()
                .is_some_and(|it| missing.contains(it));
            let message = if outlines.contains(&step.id) {
                "is in the cluster, and the snapshot holds no more of it than its metadata"
            } else if step.action == Action::Create
                && served
                && !nowhere
                && !self.looked_for(&step.id)
            {
                "was not looked for when the snapshot was made, and is taken as new"
            } else {
                return None;
            };
            let hint = "make the snapshot anew, from this source";
            Some(Diagnostic::warning_at(origin, format!("{} {message}", step.id)).with_hint(hint))
        });
        doubts.collect()
    }

    fn looked_for(&self, id: &ObjectId) -> bool {
        let covers = |asked: &Asked| {
            let (group, _) = split_api_version(&asked.api_version);
            let there = asked.namespace.is_none() || asked.namespace == id.namespace;
            let which = match &asked.which {
                Which::Named(name) => *name == id.name,
                Which::Listed(selector, _) => selector.is_none(),
            };
            asked.kind == id.group_kind.kind && group == id.group_kind.group && there && which
        };
        self.asked.iter().any(covers)
    }
}

/// The kinds that an object makes, if it is a definition.
fn definition_kinds(object: &Value) -> Vec<types::Kind> {
    let is_definition = object
        .get("kind")
        .is_some_and(|kind| kind == "CustomResourceDefinition");
    if is_definition && object.get("spec").is_some() {
        return crd::kinds(object);
    }
    Vec::new()
}

fn key_of(kinds: &Registry, object: &Value) -> Option<Key> {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
    let kind = kinds.of(text("/apiVersion")?, text("/kind")?)?;
    Some(Key {
        resource: kind.resource().into(),
        namespace: text("/metadata/namespace").unwrap_or_default().to_owned(),
        name: text("/metadata/name")?.to_owned(),
    })
}

/// Namespace and name.
fn place(object: &Value) -> (String, String) {
    let name = |field: &str| {
        let name = object
            .get("metadata")
            .and_then(|it| it.get(field)?.as_str());
        name.unwrap_or_default().to_owned()
    };
    (name("namespace"), name("name"))
}

/// The Secrets that a source asks for, as they are sent.
fn secrets(documents: &[Document], settings: &Settings) -> BTreeMap<(String, String), Arc<Value>> {
    let is_secret =
        |it: &&Document| it.id.group_kind.group.is_empty() && it.id.group_kind.kind == "Secret";
    let documents: Vec<Document> = documents.iter().filter(is_secret).cloned().collect();
    let scope = |_: &str, _: &str| Some(Scope::Namespaced);
    let resolved = resolve(
        &documents,
        scope,
        &settings.target_namespace,
        &settings.applyset(),
    );
    let desired = resolved.desired.into_iter();
    desired
        .map(|Desired { object, .. }| (place(&object), object))
        .collect()
}
