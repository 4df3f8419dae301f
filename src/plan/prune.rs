//! What may be deleted. When in doubt, nothing, and the reason is said.

use std::collections::BTreeSet;

use serde_json::Value;

use super::annotations::{keeps, leaves_alone};
use super::approval::{Approval, needs_approval};
use super::classify::is_orphaned_child;
use super::limit::Limit;
use super::live::Live;
use super::step::{Action, Expected, Step};
use crate::api::{GroupKind, ObjectId, names};

/// What the whole run knows that bears on pruning.
#[derive(Clone, Debug)]
pub struct PruneRules<'a> {
    /// Whether pruning was asked for at all.
    pub enabled: bool,
    /// Whether the source was read completely and without any error.
    pub complete: bool,
    /// Why some members may be unseen, if so.
    pub unseen: Option<&'a str>,
    /// The source that the set was last written from, when it is another one and nobody named the set.
    pub other_source: Option<&'a str>,
    /// Whether the source holds no object at all.
    pub empty: bool,
    /// Whether an empty source may prune everything.
    pub allow_empty: bool,
    /// The most that may go at once; all of them hold.
    pub limits: &'a [Limit],
    /// Whether somebody has approved the prunes of this revision.
    pub approved: bool,
    /// Namespace of the Sync itself.
    pub own_namespace: &'a str,
    /// Namespace of the controller itself, if one is at work.
    pub home: Option<&'a str>,
}

impl PruneRules<'_> {
    /// Nothing may go.
    pub fn nothing() -> Self {
        Self {
            enabled: false,
            complete: true,
            unseen: None,
            other_source: None,
            empty: true,
            allow_empty: false,
            limits: &[],
            approved: false,
            own_namespace: "",
            home: None,
        }
    }
}

/// Decides whether anything may be pruned, limits aside.
///
/// # Errors
/// Why not; every candidate is then kept.
pub fn may_prune(rules: &PruneRules<'_>) -> Result<(), String> {
    let PruneRules {
        enabled,
        complete,
        unseen,
        other_source,
        empty,
        allow_empty,
        limits: _,
        approved: _,
        own_namespace: _,
        home: _,
    } = rules;
    if !enabled {
        return Err("pruning is off; --prune deletes what has left the source".into());
    }
    if !complete {
        return Err(
            "the source was not read completely, so what seems to have left it may still be there"
                .into(),
        );
    }
    if let Some(why) = unseen {
        return Err(format!("some of its members may be unseen: {why}"));
    }
    if let Some(other) = other_source {
        return Err(format!(
            "the set was last written from {other}; if this source is to take over, say so with --name"
        ));
    }
    if *empty && !allow_empty {
        return Err(
            "the source holds no object at all; --allow-empty says that this is meant".into(),
        );
    }
    Ok(())
}

/// Judges one member that has left the source.
pub fn judge(id: &ObjectId, live: &Live, rules: &PruneRules<'_>) -> (Action, String) {
    if !live.shows_that_we_labelled_it() {
        // Somebody has copied an object of ours, label and all.
        let reason = "it has this set's label, but not from us";
        return (Action::Keep, reason.into());
    }
    if let Some(mark) = stays(live) {
        return (
            Action::Keep,
            format!("it has left the source, but is kept ({mark})"),
        );
    }
    if let Some(owner) = live.controller() {
        return (
            Action::Refuse,
            format!(
                "it has left the source, but is controlled by {} {}",
                owner.kind, owner.name
            ),
        );
    }
    if live.deletion_timestamp.is_some() {
        return (Action::Keep, "it is being deleted already".into());
    }
    if let Some(why) = vital(id, live, rules.own_namespace, rules.home) {
        return (Action::Keep, format!("it has left the source, but {why}"));
    }
    (Action::Delete, "it has left the source".into())
}

/// Tells whether an object of a source could be pruned, should it leave: by what it is, and by its own marks.
pub(super) fn may_ever_go(id: &ObjectId, object: &Value, own_namespace: &str) -> bool {
    Live::from_object(object)
        .is_ok_and(|live| stays(&live).is_none() && vital(id, &live, own_namespace, None).is_none())
}

/// Finds what says that a live object is not to be deleted, or not to be touched at all.
fn stays(live: &Live) -> Option<String> {
    keeps(live).or_else(|| leaves_alone(&Value::Null, Some(live)))
}

/// Tells whether an object that has changed since its delete was planned is still the one that was meant, and still
/// ours to delete.
pub fn still_goes(step: &Step, planned: &Expected, live: &Live) -> bool {
    let ours = match (&step.owner, live.controller()) {
        (Some(target), Some(owner)) => {
            owner.kind == target.group_kind.kind && owner.name == target.name
        }
        (Some(_), None) => is_orphaned_child(live),
        (None, None) => {
            let approved = step.approval == Some(Approval::Given);
            live.shows_that_we_labelled_it()
                && stays(live).is_none()
                && (approved || needs_approval(&step.id, live).is_none())
        }
        (None, Some(_)) => false,
    };
    live.uid == planned.uid && ours
}

/// Label of roles and bindings that the API server makes when it starts.
const BOOTSTRAPPED: &str = "kubernetes.io/bootstrapping";

/// Says why an object is never pruned, whatever the source says.
fn vital(
    id: &ObjectId,
    live: &Live,
    own_namespace: &str,
    home: Option<&str>,
) -> Option<&'static str> {
    let system = ["default", "kube-system", "kube-public", "kube-node-lease"];
    // A definition is named `<plural>.<group>`.
    let is_ours = |name: &str| name.split_once('.').is_some_and(|(_, g)| g == names::GROUP);
    let name = id.name.as_str();
    match (id.group_kind.group.as_str(), id.group_kind.kind.as_str()) {
        ("", "Namespace") if name == own_namespace => {
            Some("it holds the inventory of this very set")
        }
        ("", "Namespace") if Some(name) == home => Some("the controller itself runs in it"),
        ("", "Namespace") if system.contains(&name) => {
            Some("it is a namespace of Kubernetes itself")
        }
        ("", "ServiceAccount") if name == "default" => Some("every namespace needs it"),
        ("", "ConfigMap") if name == "kube-root-ca.crt" => Some("every namespace needs it"),
        ("", "Service") if name == "kubernetes" && id.namespace.as_deref() == Some("default") => {
            Some("it is how pods reach the API server")
        }
        ("rbac.authorization.k8s.io", _) if live.labels.contains_key(BOOTSTRAPPED) => {
            Some("it is a permission of Kubernetes itself")
        }
        _ if id.group_kind.is_definition() && is_ours(name) => {
            Some("deleting it would delete every inventory and every Target")
        }
        (names::GROUP, names::SYNC) => Some(
            "deleting an inventory loses track of its members; delete it by hand if that is meant",
        ),
        _ => None,
    }
}

/// Kinds whose deletion takes other objects along, so that what they hold must be looked at first.
pub fn takes_others_along(kind: &GroupKind) -> bool {
    kind.is_namespace() || kind.is_definition()
}

/// Decides about a Namespace or definition by what it holds that is to stay.
///
/// # Errors
/// Why it is not pruned; three of the objects are named.
pub fn judge_contents(staying: &BTreeSet<String>) -> Result<(), String> {
    if staying.is_empty() {
        return Ok(());
    }
    let named: Vec<&str> = staying.iter().take(3).map(String::as_str).collect();
    let more = staying.len() - named.len();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Err(format!(
        "it has left the source, but deleting it would delete what is to stay: {}{more}",
        named.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> PruneRules<'static> {
        PruneRules {
            enabled: true,
            complete: true,
            unseen: None,
            other_source: None,
            empty: false,
            allow_empty: false,
            limits: &[],
            approved: false,
            own_namespace: "ops",
            home: Some("covergence-system"),
        }
    }

    #[test]
    fn c30_partial_and_empty_sources_prune_nothing() {
        let judge = |change: fn(&mut PruneRules<'_>)| {
            let mut rules = rules();
            change(&mut rules);
            may_prune(&rules)
        };
        assert_eq!(judge(|_| {}), Ok(()));
        assert!(judge(|it| it.complete = false).is_err_and(|why| why.contains("completely")));
        assert!(judge(|it| it.empty = true).is_err_and(|why| why.contains("--allow-empty")));
        assert!(judge(|it| it.enabled = false).is_err());
        let meant = judge(|it| {
            it.empty = true;
            it.allow_empty = true;
        });
        assert_eq!(meant, Ok(()));
        // Who approves a prune says nothing of what could not be read.
        let partial = judge(|it| {
            it.approved = true;
            it.complete = false;
        });
        assert!(partial.is_err());
    }

    #[test]
    fn c35_what_everything_hangs_on_is_never_pruned() {
        let id = |group: &str, kind: &str, name: &str| ObjectId {
            group_kind: GroupKind::new(group, kind),
            namespace: None,
            name: name.into(),
        };
        let labelled: Live = serde_json::from_value(serde_json::json!({ "managedFields": [{
            "manager": names::FIELD_MANAGER, "operation": "Apply",
            "fieldsV1": { "f:metadata": { "f:labels": { "f:applyset.kubernetes.io/part-of": {} } } },
        }] }))
        .unwrap();
        let judge = |id: ObjectId| judge(&id, &labelled, &rules()).0;
        assert_eq!(judge(id("", "Namespace", "ops")), Action::Keep);
        assert_eq!(judge(id("", "Namespace", "kube-system")), Action::Keep);
        let home = "covergence-system";
        assert_eq!(judge(id("", "Namespace", home)), Action::Keep);
        assert_eq!(judge(id("", "ServiceAccount", "default")), Action::Keep);
        assert_eq!(judge(id("", "Namespace", "shop")), Action::Delete);
        assert_eq!(
            judge(id(
                "apiextensions.k8s.io",
                "CustomResourceDefinition",
                "syncs.closurejvm.io"
            )),
            Action::Keep
        );
        assert_eq!(
            judge(id(
                "apiextensions.k8s.io",
                "CustomResourceDefinition",
                "pets.example.com"
            )),
            Action::Delete
        );
    }

    #[test]
    fn what_was_taken_over_or_marked_since_does_not_go_after_all() {
        let id = ObjectId {
            group_kind: GroupKind::new("apps", "Deployment"),
            namespace: Some("n".into()),
            name: "a".into(),
        };
        let step = Step::new(id, Action::Delete, "it has left the source");
        let planned = Expected {
            uid: "u".into(),
            resource_version: "1".into(),
        };
        let live = |extra: serde_json::Value| -> Live {
            let mut metadata = serde_json::json!({ "uid": "u", "resourceVersion": "2", "managedFields": [{
                "manager": names::FIELD_MANAGER, "operation": "Apply",
                "fieldsV1": { "f:metadata": { "f:labels": { "f:applyset.kubernetes.io/part-of": {} } } },
            }] });
            let fields = metadata.as_object_mut().unwrap();
            fields.extend(extra.as_object().unwrap().clone());
            serde_json::from_value(metadata).unwrap()
        };
        let goes = |extra| still_goes(&step, &planned, &live(extra));
        assert!(goes(serde_json::json!({})));
        for kept in [
            serde_json::json!({ "uid": "another" }),
            serde_json::json!({ "managedFields": [] }),
            serde_json::json!({ "annotations": { "helm.sh/resource-policy": "keep" } }),
            serde_json::json!({ "annotations": { "client.lifecycle.config.k8s.io/mutation": "ignore" } }),
            serde_json::json!({ "ownerReferences": [{ "kind": "Shop", "name": "s", "uid": "x", "controller": true }] }),
        ] {
            assert!(!goes(kept.clone()), "{kept}");
        }
        let confirm = serde_json::json!({ "annotations": { "closurejvm.io/prune": "confirm" } });
        assert!(!goes(confirm.clone()));
        let approved = Step {
            approval: Some(Approval::Given),
            ..step.clone()
        };
        assert!(still_goes(&approved, &planned, &live(confirm)));
    }
}
