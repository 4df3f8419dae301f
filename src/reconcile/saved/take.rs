//! Takes from a cluster what the plan of a set needs: the plan is made, and what it asked for is read again, whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::try_join_all;
use serde_json::{Map, Value};

use super::Saved;
use super::secrets::Salt;
use crate::api::{GroupKind, ObjectId, split_api_version};
use crate::cluster::{Asked, Cluster, ClusterError, Kind, Part, Place, Recording, Which};
use crate::load::Snapshot;
use crate::plan::{conceal, is_secret, takes_others_along};
use crate::reconcile::contents::look_into;
use crate::reconcile::{Planned, Settings, make_plan};
use crate::sandbox::types::{capture, table};

/// What outlines keep of metadata: by these plans judge what would go along with something else.
const OUTLINE: [&str; 7] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "labels",
    "ownerReferences",
    "deletionTimestamp",
];

/// The one annotation that plans look for in objects that are nobody's.
const ACCOUNT: &str = "kubernetes.io/service-account.name";

/// Saves what the plan of a source needs, also after it has changed a little. Reads only. The plan is given as well, for
/// what it has to say of the source.
///
/// # Errors
/// When the server cannot be asked.
pub async fn save(
    cluster: &Cluster,
    snapshot: &Snapshot,
    settings: &Settings,
) -> Result<(Saved, Planned), ClusterError> {
    let recording = Arc::new(Recording::default());
    let recorded = cluster.recorded(Arc::clone(&recording));
    let settings = Settings {
        prune: true,
        ..settings.clone()
    };
    let planned = make_plan((&recorded).into(), snapshot, &settings).await?;
    // A later source may lack what this one has.
    let members = planned.survey.known.members.keys();
    for id in members.filter(|id| takes_others_along(&id.group_kind)) {
        look_into(&recorded, id).await?;
    }
    let mut taken = Taken::new(&planned);
    let asked = recording.answered();
    for (asked, kind) in &asked {
        taken.read(cluster, asked, kind).await?;
    }
    let namespaces_unseen = !taken.read_namespaces(cluster, &settings).await?;
    taken.read_definitions(cluster, &planned).await?;
    let (openapi, lists) = cluster.schemas().await?;
    let kinds = table::to_bytes(&capture::exact(&openapi, &lists));
    let Taken {
        objects, outlines, ..
    } = taken;
    let outlines = outlines
        .into_iter()
        .filter(|(id, _)| !objects.contains_key(id));
    let outlines = outlines.map(|(_, object)| object).collect();
    let mut objects: Vec<Value> = objects.into_values().collect();
    let salt = Salt::of(&objects);
    for object in &mut objects {
        conceal(object, &|place, value| salt.token(place, value));
    }
    let saved = Saved {
        namespace: settings.namespace.clone(),
        name: settings.name.clone(),
        default_namespace: cluster.default_namespace().to_owned(),
        kinds: String::from_utf8(kinds).unwrap_or_default(),
        objects,
        outlines,
        asked: asked.into_iter().map(|(asked, _)| asked).collect(),
        refused: recording.refused().into_iter().collect(),
        namespaces_unseen,
        salt,
    };
    Ok((saved, planned))
}

/// Objects that were read, each once.
struct Taken {
    /// What the plan is about.
    wanted: BTreeSet<ObjectId>,
    /// Whole ones.
    objects: BTreeMap<ObjectId, Value>,
    /// The others.
    outlines: BTreeMap<ObjectId, Value>,
}

impl Taken {
    fn new(planned: &Planned) -> Self {
        let steps = planned.plan.steps.iter().map(|step| &step.id);
        let desired = planned.survey.desired.iter().map(|desired| &desired.id);
        Self {
            wanted: steps.chain(desired).cloned().collect(),
            objects: BTreeMap::new(),
            outlines: BTreeMap::new(),
        }
    }

    /// Reads what was asked for. Where all objects of a kind were looked through for a few, the others are kept as outlines:
    /// they are nobody's business.
    async fn read(
        &mut self,
        cluster: &Cluster,
        asked: &Asked,
        kind: &Kind,
    ) -> Result<(), ClusterError> {
        let through = matches!(asked.which, Which::Listed(None, Part::Metadata));
        let group_kind = kind.group_kind();
        let whole = !through || self.wanted.iter().any(|id| id.group_kind == group_kind);
        for object in cluster.read_again(asked, kind, whole).await? {
            let id = id_of(&object);
            if !through || self.wanted.contains(&id) {
                self.add(id, object);
            } else if kind.resource.kind != "Event" {
                self.outlines.insert(id, outline(&object));
            }
        }
        Ok(())
    }

    /// Namespaces are what all else is in. Tells whether they may be read.
    async fn read_namespaces(
        &mut self,
        cluster: &Cluster,
        settings: &Settings,
    ) -> Result<bool, ClusterError> {
        let ids = self.objects.keys().chain(&self.wanted);
        let names = ids.filter_map(|id| id.namespace.clone());
        let places: BTreeSet<Place> = names
            .chain([settings.namespace.clone()])
            .map(|name| (None, name))
            .collect();
        match cluster.objects_of(&Kind::namespace(), places).await {
            Ok(found) => {
                for object in found.into_values() {
                    self.add(id_of(&object), object);
                }
                Ok(true)
            }
            Err(ClusterError::Forbidden(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Definitions say what defaults custom objects get, and what is wrong with them.
    async fn read_definitions(
        &mut self,
        cluster: &Cluster,
        planned: &Planned,
    ) -> Result<(), ClusterError> {
        let ids = self.objects.keys().chain(&self.wanted);
        let kinds: BTreeSet<&GroupKind> = ids.map(|id| &id.group_kind).collect();
        let served = kinds.into_iter();
        let served = served.filter_map(|kind| planned.survey.kinds.any_version(kind));
        // Groups without a dot are Kubernetes' own.
        let names: BTreeSet<String> = served
            .filter(|kind| kind.resource.group.contains('.'))
            .map(|kind| format!("{}.{}", kind.resource.plural, kind.resource.group))
            .collect();
        let kind = Kind::definition();
        let found = names.iter().map(|name| cluster.get(&kind, None, name));
        match try_join_all(found).await {
            Ok(found) => {
                for object in found.into_iter().flatten() {
                    self.add(id_of(&object), object);
                }
                Ok(())
            }
            Err(ClusterError::Forbidden(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn add(&mut self, id: ObjectId, mut object: Value) {
        // It holds a digest of all that was applied, Secrets as well, and no plan needs it.
        if id.group_kind == Kind::sync().group_kind()
            && let Some(fields) = object.as_object_mut()
        {
            fields.remove("status");
        }
        self.objects.insert(id, object);
    }
}

pub(super) fn id_of(object: &Value) -> ObjectId {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
    let (group, _) = split_api_version(text("/apiVersion").unwrap_or_default());
    ObjectId {
        group_kind: GroupKind::new(group, text("/kind").unwrap_or_default()),
        namespace: text("/metadata/namespace").map(str::to_owned),
        name: text("/metadata/name").unwrap_or_default().to_owned(),
    }
}

/// What little is kept of an object that the plan is not about.
fn outline(object: &Value) -> Value {
    let kept = |field: &str| object.get(field).cloned().unwrap_or_default();
    let full = object.get("metadata").and_then(Value::as_object);
    let mut metadata = Map::new();
    for (key, value) in full.into_iter().flatten() {
        // A Secret's labels may hold its values.
        if OUTLINE.contains(&key.as_str()) && !(key == "labels" && is_secret(object)) {
            metadata.insert(key.clone(), value.clone());
        }
    }
    let account = object.pointer("/metadata/annotations");
    if let Some(account) = account.and_then(|annotations| annotations.get(ACCOUNT)) {
        let annotations = Map::from_iter([(ACCOUNT.to_owned(), account.clone())]);
        metadata.insert("annotations".to_owned(), annotations.into());
    }
    Map::from_iter([
        ("apiVersion".to_owned(), kept("apiVersion")),
        ("kind".to_owned(), kept("kind")),
        ("metadata".to_owned(), metadata.into()),
    ])
    .into()
}
