//! Annotations and labels that people already have in their manifests, read as their tools read them.

use serde_json::Value;

use super::live::Live;
use crate::api::names::PRUNE;

const SYNC_WAVE: &str = "argocd.argoproj.io/sync-wave";

/// Ways to say "do not delete this": key and the value that says it (as one of a comma-separated list).
const KEEP: [(&str, &str); 11] = [
    (PRUNE, "disabled"),
    ("kustomize.toolkit.fluxcd.io/prune", "disabled"),
    ("kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
    ("argocd.argoproj.io/sync-options", "Prune=false"),
    ("argocd.argoproj.io/sync-options", "Delete=false"),
    ("argocd.argoproj.io/compare-options", "IgnoreExtraneous"),
    ("helm.sh/resource-policy", "keep"),
    ("client.lifecycle.config.k8s.io/deletion", "detach"),
    ("cli-utils.sigs.k8s.io/on-remove", "keep"),
    ("kapp.k14s.io/delete-strategy", "orphan"),
    ("configsync.gke.io/deletion-propagation-policy", "Orphan"),
];

/// Ways to say "do not delete this without a person's word".
const CONFIRM: [(&str, &str); 2] = [
    ("argocd.argoproj.io/sync-options", "Prune=confirm"),
    ("argocd.argoproj.io/sync-options", "Delete=confirm"),
];

/// Ways to say "do not change this".
const LEAVE: [(&str, &str); 4] = [
    ("kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
    ("kustomize.toolkit.fluxcd.io/ssa", "Ignore"),
    ("client.lifecycle.config.k8s.io/mutation", "ignore"),
    ("configmanagement.gke.io/managed", "disabled"),
];

/// Marks that another tool leaves on what it owns.
const FOREIGN: [(&str, &str); 12] = [
    ("kustomize.toolkit.fluxcd.io/name", "Flux"),
    ("helm.toolkit.fluxcd.io/name", "Flux"),
    ("argocd.argoproj.io/tracking-id", "Argo CD"),
    ("meta.helm.sh/release-name", "Helm"),
    (
        "config.k8s.io/owning-inventory",
        "an inventory of cli-utils",
    ),
    ("kapp.k14s.io/app", "kapp"),
    ("objectset.rio.cattle.io/id", "Rancher"),
    ("configsync.gke.io/manager", "Config Sync"),
    ("olm.owner", "the Operator Lifecycle Manager"),
    ("addonmanager.kubernetes.io/mode", "the addon manager"),
    ("argocd.argoproj.io/instance", "Argo CD"),
    (
        "resourceset.fluxcd.controlplane.io/name",
        "the Flux operator",
    ),
];

/// Finds what says that a live object is not to be pruned, as `key: value`.
pub fn keeps(live: &Live) -> Option<String> {
    said(&KEEP, |key| live_value(live, key))
}

/// Finds what says that a live object is pruned only when somebody approves that, as `key: value`. What our own mark says
/// and nobody understands is not taken for a yes.
pub fn asks_for_approval(live: &Live) -> Option<String> {
    said(&CONFIRM, |key| live_value(live, key)).or_else(|| {
        let value = live_value(live, PRUNE)?;
        let plainly = value.trim().eq_ignore_ascii_case("enabled");
        (!plainly).then(|| format!("{PRUNE}: {value}"))
    })
}

/// Finds what says that an object is not to be changed, in the cluster or in the source.
pub fn leaves_alone(desired: &Value, live: Option<&Live>) -> Option<String> {
    let in_source = |key: &str| {
        let of = |map| desired.get("metadata")?.get(map)?.get(key)?.as_str();
        of("annotations").or_else(|| of("labels"))
    };
    if let Some(mark) = said(&LEAVE, in_source) {
        return Some(mark);
    }
    let live = live?;
    said(&LEAVE, |key| live_value(live, key)).or_else(|| {
        said(
            &[("kustomize.toolkit.fluxcd.io/ssa", "IfNotPresent")],
            in_source,
        )
    })
}

/// Names the tool that a live object's marks say owns it.
pub fn foreign_tool(live: &Live) -> Option<(&'static str, String)> {
    FOREIGN.iter().find_map(|(key, tool)| {
        live_value(live, key).map(|value| (*tool, format!("{key}: {value}")))
    })
}

/// Reads the sync wave: an integer, 0 when absent or unreadable.
pub fn sync_wave(desired: &Value) -> i32 {
    annotation(desired, SYNC_WAVE)
        .and_then(|wave| wave.trim().parse().ok())
        .unwrap_or(0)
}

/// The sync wave's text, when it cannot be read.
pub fn unreadable_wave(desired: &Value) -> Option<&str> {
    annotation(desired, SYNC_WAVE).filter(|wave| wave.trim().parse::<i32>().is_err())
}

/// Reads the value of an annotation of a whole object.
pub fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object
        .get("metadata")?
        .get("annotations")?
        .get(key)?
        .as_str()
}

fn live_value<'a>(live: &'a Live, key: &str) -> Option<&'a str> {
    let annotation = live.annotations.get(key);
    annotation.or_else(|| live.labels.get(key))
}

fn said<'a>(marks: &[(&str, &str)], value: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    marks.iter().find_map(|(key, wanted)| {
        let found = value(key)?;
        let says = found
            .split(',')
            .any(|part| part.trim().eq_ignore_ascii_case(wanted));
        says.then(|| format!("{key}: {found}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(key: &str, value: &str) -> Live {
        Live {
            annotations: [(key, value)].into_iter().collect(),
            ..Live::default()
        }
    }

    #[test]
    fn the_marks_of_other_tools_mean_what_they_mean_there() {
        assert!(
            keeps(&live(
                "argocd.argoproj.io/sync-options",
                "ServerSideApply=true, Prune=false"
            ))
            .is_some()
        );
        assert!(keeps(&live("argocd.argoproj.io/sync-options", "Prune=confirm")).is_none());
        assert!(keeps(&live("closurejvm.io/prune", "disabled")).is_some());
        assert!(keeps(&live("argocd.argoproj.io/sync-options", "PruneLast=true")).is_none());
        assert!(keeps(&live("kustomize.toolkit.fluxcd.io/prune", "Disabled")).is_some());
        assert!(keeps(&live("kustomize.toolkit.fluxcd.io/prune", "enabled")).is_none());
        let if_absent = serde_json::json!({ "metadata": { "annotations": { "kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent" } } });
        assert!(leaves_alone(&if_absent, None).is_none());
        assert!(leaves_alone(&if_absent, Some(&Live::default())).is_some());
        assert_eq!(
            foreign_tool(&live("meta.helm.sh/release-name", "a")).map(|(tool, _)| tool),
            Some("Helm")
        );
    }
}
