//! What a plan would do, as the API server itself says: dry runs of just the objects that change.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::Survey;
use crate::api::names::API_VERSION;
use crate::api::{GroupKind, ObjectId};
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
    let ground = Ground::of(steps, survey);
    let previews: Vec<_> = steps
        .iter()
        .map(|step| async {
            let wanted = step.action.is_write()
                || step.action == Action::Refuse
                || full && step.action == Action::Unchanged;
            if !wanted {
                return Ok(None);
            }
            preview_step(cluster, step, survey, &ground).await.map(Some)
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

/// What steps stand on: some of it is not there yet, but will be when their turn comes.
struct Ground {
    /// Namespaces that the plan makes.
    coming: BTreeSet<String>,
    /// uids of the Targets that are there.
    uids: BTreeMap<ObjectId, String>,
}

impl Ground {
    fn of(steps: &[Step], survey: &Survey) -> Self {
        let coming = steps
            .iter()
            .filter(|s| s.action == Action::Create && s.id.group_kind.is_namespace())
            .map(|s| s.id.name.clone());
        let uids = survey
            .known
            .targets
            .iter()
            .filter_map(|(id, target)| Some((id.clone(), target.live.as_ref()?.uid.clone())));
        Self {
            coming: coming.collect(),
            uids: uids.collect(),
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
    ground: &Ground,
) -> Result<Preview, ClusterError> {
    let Some(object) = object_to_send(step, ground) else {
        return preview_delete(cluster, step, survey).await;
    };
    let as_written = || diff(&Value::Null, &object, &file_name(step));
    let after = |what: &str| Preview {
        diff: as_written(),
        note: Some(format!("checked after {what} is there")),
        ..Preview::default()
    };
    let GroupKind { kind, .. } = &step.id.group_kind;
    let Some(kind) = survey.kinds.get(&step.api_version, kind) else {
        let definition = if step.api_version == API_VERSION {
            "the CRD that sync installs"
        } else {
            "its CRD"
        };
        return Ok(after(definition));
    };
    if let Some(namespace) = &step.id.namespace
        && survey.missing_namespaces.contains(namespace)
    {
        if ground.coming.contains(namespace) {
            return Ok(after(&format!("namespace {namespace}")));
        }
        let error = ClusterError::NotFound(format!("namespace {namespace} does not exist"));
        return Ok(Preview {
            diff: as_written(),
            refused: Some(error),
            ..Preview::default()
        });
    }
    dry_run(cluster, kind, step, &object).await
}

/// A delete, shown as what goes; or something that stays, of which nothing is shown.
async fn preview_delete(
    cluster: &Cluster,
    step: &Step,
    survey: &Survey,
) -> Result<Preview, ClusterError> {
    let ObjectId {
        group_kind,
        namespace,
        name,
    } = &step.id;
    let live = match survey.kinds.any_version(group_kind) {
        Some(kind) if step.action == Action::Delete => {
            cluster.get(kind, namespace.as_deref(), name).await?
        }
        _ => None,
    };
    Ok(Preview {
        diff: live.and_then(|live| diff(&live, &Value::Null, &file_name(step))),
        ..Preview::default()
    })
}

async fn dry_run(
    cluster: &Cluster,
    kind: &Kind,
    step: &Step,
    object: &Value,
) -> Result<Preview, ClusterError> {
    let live = match step.expected {
        Some(_) => {
            let namespace = step.id.namespace.as_deref();
            cluster.get(kind, namespace, &step.id.name).await?
        }
        None => None,
    };
    let (merged, refused) = ask(cluster, kind, step, &without_owner(step, object)).await;
    // What is refused for a reason of its own keeps that.
    let refused = refused.filter(|_| step.action != Action::Refuse);
    let (Some(live), Some(mut merged)) = (live, merged) else {
        return Ok(Preview {
            diff: diff(&Value::Null, object, &file_name(step)),
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
    let diff = diff(&live, &merged, &file_name(step));
    Ok(Preview {
        changes: diff.is_some(),
        diff,
        refused,
        note: None,
    })
}

/// An object as the server can merge it before the patch of its step: as long as the owner of before is there, it takes no
/// other.
fn without_owner<'a>(step: &Step, object: &'a Value) -> Cow<'a, Value> {
    let purge = match &step.body {
        Body::Child { purge, .. } => purge.as_ref(),
        _ => None,
    };
    if purge.is_none_or(|patch| patch.pointer("/metadata/ownerReferences").is_none()) {
        return Cow::Borrowed(object);
    }
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("ownerReferences");
    }
    Cow::Owned(object)
}

/// What the server makes of an object, if anything, and why it would not do it, if so.
async fn ask(
    cluster: &Cluster,
    kind: &Kind,
    step: &Step,
    object: &Value,
) -> (Option<Value>, Option<ClusterError>) {
    let force = match &step.body {
        Body::Apply { force, .. } => *force,
        _ => true,
    };
    match cluster.dry_run(kind, object, force).await {
        Ok(merged) => (Some(merged), None),
        // What it would look like is worth seeing even so.
        Err(error @ ClusterError::FieldConflict(_)) => {
            (cluster.dry_run(kind, object, true).await.ok(), Some(error))
        }
        Err(error) if is_secret(object) => (None, Some(error.without_values())),
        Err(error) => (None, Some(error)),
    }
}

/// The object as it would be sent now; the owner of a Service may not be there yet.
fn object_to_send(step: &Step, ground: &Ground) -> Option<Value> {
    match &step.body {
        // Only controllers do that, and they show nothing before.
        Body::None | Body::Delete | Body::Prune | Body::Agent { .. } => None,
        Body::Apply { object, .. } => Some(Value::clone(object)),
        Body::Child { object, target, .. } => {
            let mut object = object.clone();
            if let Some(uid) = ground.uids.get(target) {
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
    let ObjectId {
        group_kind: GroupKind { group, kind },
        namespace,
        name,
    } = &step.id;
    let api = match step.api_version.as_str() {
        "" => group.clone(),
        version => version.replace('/', "."),
    };
    let namespace = namespace.as_deref().unwrap_or_default();
    [api.as_str(), kind, namespace, name]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The examples of RFC 7396, appendix A, that a Service can meet.
    #[test]
    fn a_merge_patch_sets_removes_and_replaces_lists() {
        for (before, patch, after) in [
            (
                json!({ "a": "b" }),
                json!({ "b": "c" }),
                json!({ "a": "b", "b": "c" }),
            ),
            (
                json!({ "a": "b", "b": "c" }),
                json!({ "a": null }),
                json!({ "b": "c" }),
            ),
            (
                json!({ "a": ["b"] }),
                json!({ "a": ["c"] }),
                json!({ "a": ["c"] }),
            ),
            (
                json!({ "a": { "b": "c" } }),
                json!({ "a": { "b": "d", "c": null } }),
                json!({ "a": { "b": "d" } }),
            ),
            (
                json!({}),
                json!({ "a": { "bb": { "ccc": null } } }),
                json!({ "a": { "bb": {} } }),
            ),
        ] {
            let mut merged = before;
            merge(&mut merged, &patch);
            assert_eq!(merged, after, "{patch}");
        }
    }
}
