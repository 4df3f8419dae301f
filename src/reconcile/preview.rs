//! What a plan would do, as the API server itself says: dry runs of just the objects that change.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::Survey;
use crate::api::ObjectId;
use crate::api::names::API_VERSION;
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::plan::{Action, Body, Plan, Step, diff, is_secret};
use crate::render::{stamp, with_owner};

/// Fills in the diff, the conflicts and the refusals of a plan's steps.
///
/// With `full` the unchanged objects are dry-run as well, and one that would change after all is a change.
///
/// # Errors
/// When the server cannot be asked; what it refuses is told in the steps.
pub async fn preview(
    cluster: &Cluster,
    plan: &mut Plan,
    survey: &Survey,
    full: bool,
    concurrency: usize,
) -> Result<(), ClusterError> {
    let Plan { steps, .. } = plan;
    let pending = Pending::of(steps, survey);
    let previews: Vec<_> = steps
        .iter()
        .map(|step| async {
            let wanted = step.action.is_write()
                || step.action == Action::Refuse
                || full && step.action == Action::Unchanged;
            if !wanted {
                return Ok(None);
            }
            preview_step(cluster, step, survey, &pending)
                .await
                .map(Some)
        })
        .collect();
    let previews: Vec<_> = stream::iter(previews)
        .buffered(concurrency.max(1))
        .collect()
        .await;
    for (step, preview) in steps.iter_mut().zip(previews) {
        if let Some(preview) = preview? {
            preview.enter(step);
        }
    }
    Ok(())
}

/// What is not there yet, but will be when the step's turn comes.
struct Pending {
    namespaces: BTreeSet<String>,
    targets: BTreeMap<ObjectId, Option<String>>,
}

impl Pending {
    fn of(steps: &[Step], survey: &Survey) -> Self {
        let created = |kind: &str| {
            let kind = kind.to_owned();
            steps
                .iter()
                .filter(move |s| s.action == Action::Create && s.id.group_kind.kind == kind)
        };
        let namespaces = created("Namespace")
            .filter(|s| s.id.group_kind.group.is_empty())
            .map(|s| s.id.name.clone());
        let targets = survey.known.targets.values();
        Self {
            namespaces: namespaces.collect(),
            targets: targets
                .map(|t| (t.id(), t.live.as_ref().map(|live| live.uid.clone())))
                .collect(),
        }
    }
}

#[derive(Default)]
struct Preview {
    diff: Option<String>,
    refused: Option<ClusterError>,
    note: Option<String>,
    changes: bool,
}

impl Preview {
    fn enter(self, step: &mut Step) {
        step.diff = self.diff;
        if let Some(note) = self.note {
            step.reason = format!("{}; {note}", step.reason);
        }
        match self.refused {
            Some(ClusterError::FieldConflict(conflicts)) => {
                step.action = Action::Refuse;
                step.reason = format!(
                    "{}; other managers own fields of it (--force-conflicts takes them)",
                    step.reason
                );
                step.conflicts = conflicts;
            }
            Some(error) => {
                step.action = Action::Refuse;
                step.reason = format!("the API server would refuse it: {error}");
            }
            None if step.action == Action::Unchanged && self.changes => {
                step.action = Action::Configure;
                step.reason = "a full dry run shows a change".into();
            }
            None => {}
        }
    }
}

async fn preview_step(
    cluster: &Cluster,
    step: &Step,
    survey: &Survey,
    pending: &Pending,
) -> Result<Preview, ClusterError> {
    let name = file_name(step);
    let namespace = step.id.namespace.as_deref();
    let Some(object) = object_to_send(step, pending) else {
        // A delete, or something that stays: shown as it is.
        let kind = survey.kinds.any_version(&step.id.group_kind);
        let live = match kind {
            Some(kind) if step.action == Action::Delete => {
                cluster.get(kind, namespace, &step.id.name).await?
            }
            _ => None,
        };
        let diff = live.and_then(|live| diff(&live, &Value::Null, &name));
        return Ok(Preview {
            diff,
            ..Preview::default()
        });
    };
    let as_written = diff(&Value::Null, &object, &name);
    let after = |what: &str| Preview {
        diff: as_written.clone(),
        note: Some(format!("checked after {what} is there")),
        ..Preview::default()
    };
    let Some(kind) = survey
        .kinds
        .get(&step.api_version, &step.id.group_kind.kind)
    else {
        let definition = if step.api_version == API_VERSION {
            "the CRD that sync installs"
        } else {
            "its CRD"
        };
        return Ok(after(definition));
    };
    if let Some(namespace) = namespace.filter(|n| survey.missing_namespaces.contains(*n)) {
        if pending.namespaces.contains(namespace) {
            return Ok(after(&format!("namespace {namespace}")));
        }
        let error = ClusterError::NotFound(format!("namespace {namespace} does not exist"));
        return Ok(Preview {
            diff: as_written,
            refused: Some(error),
            ..Preview::default()
        });
    }
    dry_run(cluster, kind, step, &object, as_written).await
}

async fn dry_run(
    cluster: &Cluster,
    kind: &Kind,
    step: &Step,
    object: &Value,
    as_written: Option<String>,
) -> Result<Preview, ClusterError> {
    let force = match &step.body {
        Body::Apply { force, .. } => *force,
        _ => true,
    };
    let live = match step.expected {
        Some(_) => {
            cluster
                .get(kind, step.id.namespace.as_deref(), &step.id.name)
                .await?
        }
        None => None,
    };
    let (merged, refused) = match cluster.dry_run(kind, object, force).await {
        Ok(merged) => (Some(merged), None),
        // What it would look like is worth seeing even so.
        Err(error @ ClusterError::FieldConflict(_)) => {
            (cluster.dry_run(kind, object, true).await.ok(), Some(error))
        }
        Err(error) if is_secret(object) => (None, Some(error.without_values())),
        Err(error) => (None, Some(error)),
    };
    // A Step that was refused for a reason of its own keeps it.
    let refused = if step.action == Action::Refuse {
        None
    } else {
        refused
    };
    let Some(mut merged) = merged else {
        return Ok(Preview {
            diff: as_written,
            refused,
            ..Preview::default()
        });
    };
    let name = file_name(step);
    let Some(live) = live else {
        return Ok(Preview {
            diff: as_written,
            refused,
            ..Preview::default()
        });
    };
    if let Body::Child {
        purge: Some(patch), ..
    } = &step.body
    {
        merge(&mut merged, patch);
    }
    let diff = diff(&live, &merged, &name);
    let changes = diff.is_some();
    Ok(Preview {
        diff,
        refused,
        note: None,
        changes,
    })
}

/// The object as it would be sent now; the owner of a Service may not be there yet.
fn object_to_send(step: &Step, pending: &Pending) -> Option<Value> {
    match &step.body {
        Body::None | Body::Delete | Body::Prune => None,
        Body::Apply { object, .. } => Some(Value::clone(object)),
        Body::Child { object, target, .. } => {
            let mut object = object.clone();
            if let Some(Some(uid)) = pending.targets.get(target) {
                with_owner(&mut object, &target.name, uid);
            }
            stamp(&mut object, None);
            Some(object)
        }
    }
}

/// RFC 7396, as the API server does it.
fn merge(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    if let Some(map) = target.as_object_mut() {
        for (key, value) in patch {
            if value.is_null() {
                map.remove(key);
            } else {
                merge(map.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
    }
}

/// `group.version.Kind.namespace.name`, as `kubectl diff` names its files.
fn file_name(step: &Step) -> String {
    let api = step.api_version.split('/').collect::<Vec<_>>().join(".");
    let api = if api.is_empty() {
        step.id.group_kind.group.clone()
    } else {
        api
    };
    let namespace = step.id.namespace.as_deref().unwrap_or_default();
    [
        api.as_str(),
        &step.id.group_kind.kind,
        namespace,
        &step.id.name,
    ]
    .into_iter()
    .filter(|part| !part.is_empty())
    .collect::<Vec<_>>()
    .join(".")
}
