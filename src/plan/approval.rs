//! Prunes that somebody must approve, and how that is done.

use serde::Serialize;

use super::annotations::asks_for_approval;
use super::live::Live;
use crate::api::ObjectId;
use crate::api::names::APPROVE_PRUNE;

/// How it stands with a prune that somebody must approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// It waits.
    Needed,
    /// Somebody has approved the prunes of this revision.
    Given,
}

/// Says why an object is pruned only when that is approved, if so: what it takes along cannot be made again from a
/// source.
pub(super) fn needs_approval(id: &ObjectId, live: &Live) -> Option<String> {
    let kind = &id.group_kind;
    if let Some(mark) = asks_for_approval(live) {
        return Some(mark);
    }
    let why = match (kind.group.as_str(), kind.kind.as_str()) {
        _ if kind.is_namespace() => "a Namespace takes along all that is in it",
        _ if kind.is_definition() => "a definition takes along all objects of its kind",
        ("", "PersistentVolumeClaim") => "a PersistentVolumeClaim may take its data along",
        _ => return None,
    };
    Some(why.to_owned())
}

/// The command that approves the prunes of a revision, as a shell takes it. `kubectl` is how kubectl is called for the
/// cluster.
pub fn approve_command(kubectl: &str, namespace: &str, name: &str, revision: &str) -> String {
    let (namespace, name) = (quoted(namespace), quoted(name));
    let word = quoted(&format!("{APPROVE_PRUNE}={revision}"));
    format!("{kubectl} annotate sync -n {namespace} {name} {word} --overwrite")
}

/// A word as a shell takes it. Names of branches may hold nearly everything, and come from others.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@+,%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::GroupKind;

    fn why(group: &str, kind: &str, annotations: &[(&str, &str)]) -> Option<String> {
        let id = ObjectId {
            group_kind: GroupKind::new(group, kind),
            namespace: None,
            name: "a".into(),
        };
        let live = Live {
            annotations: annotations.iter().copied().collect(),
            ..Live::default()
        };
        needs_approval(&id, &live)
    }

    #[test]
    fn what_cannot_be_made_again_needs_an_approval_and_so_does_what_says_so() {
        for (group, kind, needs) in [
            ("", "Namespace", true),
            ("apiextensions.k8s.io", "CustomResourceDefinition", true),
            ("", "PersistentVolumeClaim", true),
            ("", "ConfigMap", false),
            ("", "Secret", false),
            ("apps", "StatefulSet", false),
            ("x.io", "PersistentVolumeClaim", false),
        ] {
            assert_eq!(why(group, kind, &[]).is_some(), needs, "{kind}.{group}");
        }
        for mark in [
            ("closurejvm.io/prune", "confirm"),
            ("closurejvm.io/prune", "Confirm"),
            // What nobody understands is not taken for a yes.
            ("closurejvm.io/prune", "confrim"),
            (
                "argocd.argoproj.io/sync-options",
                "Validate=false,Prune=confirm",
            ),
            ("argocd.argoproj.io/sync-options", "Delete=confirm"),
        ] {
            let told = why("", "ConfigMap", &[mark]);
            assert_eq!(told, Some(format!("{}: {}", mark.0, mark.1)));
        }
        assert_eq!(
            why("", "ConfigMap", &[("closurejvm.io/prune", "enabled")]),
            None
        );
    }

    #[test]
    fn a_shell_takes_the_command_as_it_stands() {
        assert_eq!(
            approve_command("kubectl", "ops", "shop", "main@sha1:0123abcd"),
            "kubectl annotate sync -n ops shop closurejvm.io/approve-prune=main@sha1:0123abcd --overwrite"
        );
        let hostile = approve_command("kubectl", "ops", "shop", "it's;$(reboot)@sha1:01");
        assert_eq!(
            hostile,
            r"kubectl annotate sync -n ops shop 'closurejvm.io/approve-prune=it'\''s;$(reboot)@sha1:01' --overwrite"
        );
        assert_eq!(quoted(""), "''");
    }
}
