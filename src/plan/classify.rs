//! One desired object and what metadata tells of the live one -> what is to be done.

use serde_json::{Value, json};

use super::annotations::{foreign_tool, leaves_alone};
use super::fields::Fields;
use super::live::{Live, ManagedFields, Owner};
use super::managed::{FieldPath, foreign_steps, holds_item, intruders, lost_fields, other_owners};
use super::step::{Action, Conflict};
use crate::api::{names, split_api_version};

/// What is to be done to one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What.
    pub action: Action,
    /// Why.
    pub reason: String,
    /// Whether fields of other managers are taken: only to undo their changes to what we had applied.
    pub force: bool,
    /// Fields of others that stand in the way.
    pub conflicts: Vec<Conflict>,
    /// Whether others have changed what we had applied.
    pub drift: bool,
}

impl Verdict {
    /// Refuses, for a reason.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self::new(Action::Refuse, reason)
    }

    fn new(action: Action, reason: impl Into<String>) -> Self {
        Self {
            action,
            reason: reason.into(),
            force: false,
            conflicts: Vec::new(),
            drift: false,
        }
    }
}

/// Tells whether a live object is just what was applied, or is to be left alone.
pub fn is_as_applied(desired: &Value, digest: &str, live: &Live, applyset: &str) -> bool {
    let verdict = classify_member(desired, digest, Some(live), applyset);
    matches!(verdict.action, Action::Unchanged | Action::Keep)
}

/// Says how a member that was applied as desired differs from that now, if others have changed it or its marks since.
pub fn drift_of(desired: &Value, digest: &str, live: &Live, applyset: &str) -> Option<String> {
    let verdict = classify_member(desired, digest, Some(live), applyset);
    verdict.action.is_write().then_some(verdict.reason)
}

/// Judges a member of an apply set.
pub fn classify_member(
    desired: &Value,
    digest: &str,
    live: Option<&Live>,
    applyset: &str,
) -> Verdict {
    if let Some(mark) = leaves_alone(desired, live) {
        return Verdict::new(Action::Keep, format!("left alone ({mark})"));
    }
    let Some(live) = live else {
        return Verdict::new(Action::Create, "it is not in the cluster");
    };
    if let Some(refusal) = terminating(live).or_else(|| owned_by_others(desired, live, applyset)) {
        return refusal;
    }
    // One of ours whose label was taken off is not another one: that is drift like any other.
    if live.applyset().is_none() && live.ours().is_none() {
        // What a Sync or a backup has left to nobody would else be taken for somebody's: the server makes up an owner,
        // `before-first-apply`.
        let stated = lost_fields(desired, &Fields::default());
        let nobodys = |path| other_owners(path, &live.managed_fields).is_empty();
        return Verdict {
            force: stated.iter().all(nobodys),
            ..Verdict::new(
                Action::Configure,
                "it is in the cluster already and is adopted",
            )
        };
    }
    let Some(entry) = live
        .ours()
        .filter(|entry| Some(entry.api_version.as_str()) == api_version(desired))
    else {
        let lost = lost_fields(desired, &Fields::default());
        return Verdict {
            force: yielded(&lost, live),
            ..Verdict::new(
                Action::Configure,
                "we own nothing of it in this API version",
            )
        };
    };
    let lost = lost_fields(desired, &entry.fields);
    if live.applied_digest() != Some(digest) {
        // An edit of the digest alone looks like a new manifest: applying it is right all the same.
        return Verdict {
            force: yielded(&lost, live),
            ..Verdict::new(Action::Configure, "the manifest has changed")
        };
    }
    if live.applyset().is_none() && lost.is_empty() {
        // Its owners are noted as if it were there: a webhook has taken it off.
        return Verdict {
            force: true,
            drift: true,
            ..Verdict::new(Action::Configure, "drift: its label of the set is gone")
        };
    }
    if lost.is_empty() {
        return Verdict::new(Action::Unchanged, "it is as applied");
    }
    drift(&lost, live)
}

/// Tells whether all that others own of these fields may be taken without a word: what people changed by hand in a
/// member of ours, what a restore left without an owner, and the marks that only we write.
///
/// A new commit then undoes a hand edit just as an old one does. What a controller or another tool owns stays a conflict.
fn yielded(lost: &[FieldPath], live: &Live) -> bool {
    let by_hand = |entry: &ManagedFields| {
        let tool = entry.manager.strip_prefix("kubectl");
        let tool = tool.filter(|rest| *rest != "-client-side-apply" && *rest != "-last-applied");
        entry.operation == "Update" && (tool.is_some() || entry.manager == "before-first-apply")
    };
    let marks = [names::APPLIED_DIGEST, names::APPLYSET_PART_OF];
    lost.iter().all(|path| {
        let path_text = path.to_string();
        marks.iter().any(|mark| path_text.ends_with(mark))
            || other_owners(path, &live.managed_fields)
                .into_iter()
                .all(by_hand)
    })
}

/// Judges what a Target brings about. A Service is ours from end to end: `spec.ports` and `spec.selector` are exclusive.
///
/// An owner that was an earlier Target of the same name is replaced.
pub fn classify_child(
    desired: &Value,
    digest: &str,
    live: Option<&Live>,
    owner: &ChildOwner<'_>,
) -> Verdict {
    let Some(live) = live else {
        return Verdict::new(Action::Create, "it is not in the cluster");
    };
    if let Some(refusal) = terminating(live) {
        return refusal;
    }
    match live.controller() {
        Some(controller) if Some(controller.uid.as_str()) == owner.uid => {}
        Some(controller) if owner.is_earlier_self(controller) => {
            let reason = "its owner was an earlier Target of the same name; it is adopted";
            return Verdict {
                force: true,
                ..Verdict::new(Action::Configure, reason)
            };
        }
        Some(controller) => {
            let kind = kind_of(desired);
            let reason = format!(
                "a {kind} of this name belongs to {} {}",
                controller.kind, controller.name
            );
            return Verdict::new(Action::Refuse, reason);
        }
        None if is_orphaned_child(live) => {}
        None => {
            let kind = kind_of(desired);
            let reason = format!("a {kind} of this name is there already and is not ours");
            return Verdict::new(Action::Refuse, reason);
        }
    }
    let forced = |reason: String| Verdict {
        force: true,
        ..Verdict::new(Action::Configure, reason)
    };
    let Some(entry) = live
        .ours()
        .filter(|entry| Some(entry.api_version.as_str()) == api_version(desired))
    else {
        return forced("we own nothing of it in this API version".into());
    };
    if live.applied_digest() != Some(digest) {
        return forced("what is rendered has changed".into());
    }
    let lost = lost_fields(desired, &entry.fields);
    if !lost.is_empty() {
        return Verdict {
            force: true,
            action: Action::Configure,
            ..drift(&lost, live)
        };
    }
    let foreign: Vec<String> = exclusive_intruders(live)
        .map(|(entry, path)| format!("{path} was added by {}", entry.manager))
        .collect();
    if !foreign.is_empty() {
        return Verdict {
            drift: true,
            ..forced(format!("drift: {}", foreign.join(", ")))
        };
    }
    Verdict::new(Action::Unchanged, "it is as applied")
}

fn kind_of(desired: &Value) -> &str {
    let kind = desired.get("kind").and_then(Value::as_str);
    kind.unwrap_or_default()
}

/// Tells whether we made it for a Target and somebody has taken out its owner reference since.
///
/// A member of an apply set whose label was taken out has our entry as well, but not the labels of a child.
pub fn is_orphaned_child(live: &Live) -> bool {
    let labelled = |(key, value): (&str, &str)| live.labels.get(key) == Some(value);
    live.controller().is_none()
        && live.applyset().is_none()
        && live.ours().is_some()
        && labelled(names::MANAGED_BY)
        && labelled(names::COMPONENT)
}

/// The Target that a child is rendered for.
#[derive(Clone, Copy, Debug)]
pub struct ChildOwner<'a> {
    /// The Target's name.
    pub name: &'a str,
    /// Its uid, when it is in the cluster.
    pub uid: Option<&'a str>,
}

impl ChildOwner<'_> {
    fn is_earlier_self(&self, controller: &Owner) -> bool {
        let (group, _) = split_api_version(&controller.api_version);
        group == names::GROUP && controller.kind == names::TARGET && controller.name == self.name
    }
}

/// Makes the JSON merge patch that takes foreign ports and selector keys out of a Service, and its reference to an earlier
/// Target of the name, when there are any.
///
/// Server-side apply cannot: it never removes what another manager owns, not even what an earlier patch of this kind
/// wrote. The whole port list is sent, since a merge patch replaces lists; selector keys go one by one, and those that
/// are wanted come along, so that the Service never stands without a selector in between. An object cannot have two
/// references to controllers, so the one of before must go first.
pub fn purge(desired: &Value, live: &Live, owner: &ChildOwner<'_>) -> Option<Value> {
    let wanted = |field| desired.pointer(field).cloned().unwrap_or_default();
    let (ports, selector) = (wanted("/spec/ports"), wanted("/spec/selector"));
    let mut spec = serde_json::Map::new();
    let strange = |step: &str| !holds_item(&ports, step);
    if foreign_steps(&["spec", "ports"], &live.managed_fields).any(|(_, step)| strange(step)) {
        spec.insert("ports".into(), ports.clone());
    }
    let gone: serde_json::Map<String, Value> =
        foreign_steps(&["spec", "selector"], &live.managed_fields)
            .filter_map(|(_, step)| step.strip_prefix("f:"))
            .filter(|key| selector.get(*key).is_none())
            .map(|key| (key.to_owned(), Value::Null))
            .collect();
    if !gone.is_empty() {
        let kept = selector.as_object().cloned().unwrap_or_default();
        let both: serde_json::Map<String, Value> = kept.into_iter().chain(gone).collect();
        spec.insert("selector".into(), both.into());
    }
    let mut patch = serde_json::Map::new();
    if !spec.is_empty() {
        patch.insert("spec".into(), spec.into());
    }
    if let Some(owners) = owners_now(desired, live, owner) {
        let metadata = json!({ "ownerReferences": owners });
        patch.insert("metadata".into(), metadata);
    }
    (!patch.is_empty()).then(|| patch.into())
}

/// The owners of a Service that has an earlier Target of the name among them, as they are to be; `None` when it has none.
fn owners_now(desired: &Value, live: &Live, owner: &ChildOwner<'_>) -> Option<Vec<Value>> {
    let is_earlier = |known: &Owner| {
        known.controller && owner.is_earlier_self(known) && Some(known.uid.as_str()) != owner.uid
    };
    if !live.owner_references.iter().any(is_earlier) {
        return None;
    }
    let stated = desired.pointer("/metadata/ownerReferences");
    let stated = stated.and_then(Value::as_array).into_iter().flatten();
    let others = live.owner_references.iter().filter(|it| !is_earlier(it));
    Some(
        others
            .map(|other| json!(other))
            .chain(stated.cloned())
            .collect(),
    )
}

fn exclusive_intruders(live: &Live) -> impl Iterator<Item = (&ManagedFields, FieldPath)> {
    [["spec", "ports"], ["spec", "selector"]]
        .into_iter()
        .flat_map(|path| intruders(&path, &live.managed_fields))
}

fn api_version(object: &Value) -> Option<&str> {
    object.get("apiVersion")?.as_str()
}

fn terminating(live: &Live) -> Option<Verdict> {
    live.deletion_timestamp.as_ref()?;
    Some(Verdict::new(
        Action::Refuse,
        "it is being deleted; run again when it is gone",
    ))
}

fn owned_by_others(desired: &Value, live: &Live, applyset: &str) -> Option<Verdict> {
    if let Some(other) = live.applyset().filter(|set| *set != applyset) {
        return Some(Verdict::new(
            Action::Refuse,
            format!("it is a member of another apply set ({other})"),
        ));
    }
    let stated = |uid: &str| {
        let owners = desired
            .pointer("/metadata/ownerReferences")
            .and_then(Value::as_array);
        owners.is_some_and(|owners| {
            owners
                .iter()
                .any(|o| o.get("uid").is_some_and(|u| u == uid))
        })
    };
    if let Some(owner) = live.controller().filter(|owner| !stated(&owner.uid)) {
        return Some(Verdict::new(
            Action::Refuse,
            format!("it is controlled by {} {}", owner.kind, owner.name),
        ));
    }
    // A mark that we applied ourselves, because the manifest carries it, says nothing.
    if live.shows_that_we_labelled_it() {
        return None;
    }
    let (tool, mark) = foreign_tool(live)?;
    Some(Verdict::new(
        Action::Refuse,
        format!("it is managed by {tool} ({mark})"),
    ))
}

/// What we had applied was changed by others. Changes by hand are undone; what another tool applies is its own.
fn drift(lost: &[FieldPath], live: &Live) -> Verdict {
    let mut told = Vec::new();
    let mut conflicts = Vec::new();
    for path in lost {
        let owners = other_owners(path, &live.managed_fields);
        for owner in owners.iter().filter(|owner| owner.operation == "Apply") {
            conflicts.push(Conflict {
                manager: owner.manager.clone(),
                field: path.to_string(),
            });
        }
        told.push(match owners.first() {
            Some(owner) => format!("{path} was changed by {}", owner.manager),
            None => format!("{path} is gone"),
        });
    }
    told.dedup();
    let more = told.len().saturating_sub(3);
    told.truncate(3);
    if more > 0 {
        told.push(format!("{more} more"));
    }
    let reason = format!("drift: {}", told.join(", "));
    let action = if conflicts.is_empty() {
        Action::Configure
    } else {
        Action::Refuse
    };
    Verdict {
        force: conflicts.is_empty(),
        conflicts,
        drift: true,
        ..Verdict::new(action, reason)
    }
}
