//! Policies with a cluster to ask: what is there already, and what the namespaces are like.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::compute::compute;
use super::survey::seen;
use super::{Settings, Survey};
use crate::api::{GroupKind, ObjectId, crds};
use crate::cluster::{Cluster, ClusterError, Place};
use crate::load::{Document, Schemas};
use crate::plan::{Body, Live, Plan, index};
use crate::policy::{self, Old, Report, Set, Subject, Surroundings, resource_of};

/// Asks what policies need, and evaluates them.
pub struct Judge<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// The policies.
    pub policies: &'a Set,
    /// What the run is asked to do.
    pub settings: &'a Settings,
    /// What definitions of the source tell of their kinds, if anybody wants to know.
    coming: Option<Schemas>,
}

/// What policies say, and what they hold back.
#[derive(Default)]
pub struct Judged {
    /// What they say.
    pub report: Report,
    /// Objects that are held back, and why.
    pub denied: BTreeMap<ObjectId, String>,
}

impl<'a> Judge<'a> {
    /// Makes one; `documents` are those of the source.
    pub fn new(
        cluster: &'a Cluster,
        policies: &'a Set,
        settings: &'a Settings,
        documents: &[Document],
    ) -> Self {
        Self {
            cluster,
            policies,
            settings,
            coming: (!policies.is_empty())
                .then(|| Schemas::of_source(documents, &crds().unwrap_or_default())),
        }
    }

    /// Judges what the source asks for.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn members(&self, survey: &Survey) -> Result<Judged, ClusterError> {
        if self.is_idle() {
            return Ok(Judged::default());
        }
        let subjects = survey.desired.iter().map(|desired| Subject {
            id: &desired.id,
            api_version: &desired.api_version,
            resource: self.resource(survey, &desired.api_version, &desired.id.group_kind),
            origin: Some(desired.origin.clone()),
            object: &desired.object,
            old: old(survey.known.live(&desired.id)),
        });
        self.judge(survey, subjects.collect()).await
    }

    /// Judges the Services of Targets.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn children(&self, survey: &Survey, plan: &Plan) -> Result<Judged, ClusterError> {
        if self.is_idle() {
            return Ok(Judged::default());
        }
        let index = index(&survey.desired);
        let subjects = plan.steps.iter().filter_map(|step| {
            let Body::Child { object, target, .. } = &step.body else {
                return None;
            };
            let desired = index.get(target);
            let live = survey.known.children.get(&step.id);
            Some(Subject {
                id: &step.id,
                api_version: &step.api_version,
                resource: resource_of(&step.id.group_kind.kind, None),
                origin: desired.map(|target| target.origin.clone()),
                object,
                old: old(live.map(Arc::as_ref)),
            })
        });
        self.judge(survey, subjects.collect()).await
    }

    /// Tells whether there is nothing to judge by.
    fn is_idle(&self) -> bool {
        self.policies.is_empty() && !self.policies.is_broken()
    }

    async fn judge(
        &self,
        survey: &Survey,
        mut subjects: Vec<Subject<'_>>,
    ) -> Result<Judged, ClusterError> {
        if self.policies.is_broken() {
            let why = "it is held back, since the policies could not be read";
            let denied = subjects.iter().map(|it| (it.id.clone(), why.to_owned()));
            return Ok(Judged {
                denied: denied.collect(),
                ..Judged::default()
            });
        }
        if subjects.is_empty() {
            return Ok(Judged::default());
        }
        self.read_old(survey, &mut subjects).await?;
        let params = survey.desired.iter();
        let around = Surroundings {
            namespaces: self.namespaces(survey, &subjects).await?,
            params: params.map(|d| (&d.id, &*d.object)).collect(),
            user: self.settings.user.clone(),
        };
        let report = compute(|| policy::evaluate(self.policies, &subjects, &around));
        Ok(Judged {
            denied: report.denied(),
            report,
        })
    }

    fn resource(&self, survey: &Survey, api_version: &str, kind: &GroupKind) -> String {
        let served = survey.kinds.get(api_version, &kind.kind);
        let served = served.map(|kind| kind.resource.plural.as_str());
        let coming = || self.coming.as_ref()?.plural(kind);
        resource_of(&kind.kind, served.or_else(coming))
    }

    /// Reads whole objects, of those that a policy wants to see as they are.
    async fn read_old(
        &self,
        survey: &Survey,
        subjects: &mut [Subject<'_>],
    ) -> Result<(), ClusterError> {
        let mut wanted: BTreeMap<(String, String), BTreeSet<Place>> = BTreeMap::new();
        for subject in subjects.iter() {
            if matches!(subject.old, Old::Present { .. }) && self.policies.reads_old(subject) {
                let key = (
                    subject.api_version.to_owned(),
                    subject.id.group_kind.kind.clone(),
                );
                wanted.entry(key).or_default().insert(place(subject.id));
            }
        }
        for ((api_version, kind_name), places) in wanted {
            let Some(kind) = survey.kinds.get(&api_version, &kind_name) else {
                continue;
            };
            let found = self.cluster.objects_of(kind, places).await;
            // What may not be read stays unknown, and an expression that needs it cannot be evaluated.
            let (_, Ok(mut found)) = seen(kind, found)? else {
                continue;
            };
            let those = subjects.iter_mut().filter(|subject| {
                subject.api_version == api_version && subject.id.group_kind.kind == kind_name
            });
            for subject in those {
                if let Old::Present { object, .. } = &mut subject.old {
                    *object = found.remove(&place(subject.id)).map(Arc::new);
                }
            }
        }
        Ok(())
    }

    /// The namespaces of objects, as they are to be: what the source says over what is there.
    async fn namespaces(
        &self,
        survey: &Survey,
        subjects: &[Subject<'_>],
    ) -> Result<BTreeMap<String, Value>, ClusterError> {
        if !self.policies.reads_namespaces() {
            return Ok(BTreeMap::new());
        }
        let names = subjects.iter().filter_map(|it| it.id.namespace.clone());
        let places: BTreeSet<Place> = names.map(|name| (None, name)).collect();
        let mut namespaces = BTreeMap::new();
        if let Some(kind) = survey.kinds.get("v1", "Namespace") {
            let found = self.cluster.metadata_of(kind, places).await;
            let (_, found) = seen(kind, found)?;
            for ((_, name), live) in found.unwrap_or_default() {
                let object = namespace(&name, &live);
                namespaces.insert(name, object);
            }
        }
        let in_source = survey.desired.iter();
        for desired in in_source.filter(|it| it.id.group_kind.is_namespace()) {
            let object = match namespaces.remove(&desired.id.name) {
                Some(live) => over(live, &desired.object),
                None => Value::clone(&desired.object),
            };
            namespaces.insert(desired.id.name.clone(), object);
        }
        Ok(namespaces)
    }
}

fn place(id: &ObjectId) -> Place {
    (id.namespace.clone(), id.name.clone())
}

fn old(live: Option<&Live>) -> Old {
    match live {
        None => Old::Absent,
        Some(live) => Old::Present {
            labels: texts(live.labels.iter()),
            object: None,
        },
    }
}

fn texts<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> policy::Labels {
    entries
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// A live Namespace, as far as its metadata tells.
fn namespace(name: &str, live: &Live) -> Value {
    let phase = match live.deletion_timestamp {
        Some(_) => "Terminating",
        None => "Active",
    };
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "uid": live.uid,
            "resourceVersion": live.resource_version,
            "labels": texts(live.labels.iter()),
            "annotations": texts(live.annotations.iter()),
        },
        "status": { "phase": phase },
    })
}

/// A live Namespace with the labels and annotations of its manifest over its own.
fn over(mut live: Value, manifest: &Value) -> Value {
    for field in ["labels", "annotations"] {
        let pointer = format!("/metadata/{field}");
        let said = manifest.pointer(&pointer).and_then(Value::as_object);
        let own = live.pointer_mut(&pointer).and_then(Value::as_object_mut);
        if let (Some(own), Some(said)) = (own, said) {
            let said: Map<String, Value> = said.clone();
            own.extend(said);
        }
    }
    live
}
