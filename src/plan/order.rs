//! The order of steps: sync waves, then kinds, then `depends-on`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::annotations::{annotation, sync_wave};
use crate::api::{GroupKind, ObjectId};

/// Annotation of cli-utils: `<group>/namespaces/<namespace>/<kind>/<name>` or `<group>/<kind>/<name>`, comma-separated.
const DEPENDS_ON: &str = "config.kubernetes.io/depends-on";

/// Orders kinds so that what others need comes first: namespaces, definitions, permissions, configuration, workloads,
/// custom resources, and webhooks last, because they could stop everything before them.
fn kind_rank(kind: &GroupKind) -> u8 {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Namespace") => 0,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => 1,
        ("rbac.authorization.k8s.io", _)
        | ("", "ServiceAccount" | "ResourceQuota" | "LimitRange")
        | ("scheduling.k8s.io" | "storage.k8s.io" | "node.k8s.io" | "policy", _)
        | (_, "IngressClass" | "NetworkPolicy") => 2,
        ("", "Pod" | "ReplicationController") => 4,
        ("", _) => 3,
        ("apps" | "batch" | "autoscaling" | "extensions" | "networking.k8s.io", _) => 4,
        ("admissionregistration.k8s.io" | "apiregistration.k8s.io", _) => 6,
        _ => 5,
    }
}

/// Where an object stands before `depends-on` is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Sync wave; weighs most.
    pub wave: i32,
    /// Rank of its kind within the wave.
    pub rank: u8,
}

/// Reads the place of an object.
pub fn place(id: &ObjectId, object: &Value) -> Place {
    Place {
        wave: sync_wave(object),
        rank: kind_rank(&id.group_kind),
    }
}

/// Reads `depends-on`.
///
/// # Errors
/// The part that names no object.
pub fn depends_on(object: &Value) -> Result<Vec<ObjectId>, String> {
    let Some(text) = annotation(object, DEPENDS_ON) else {
        return Ok(Vec::new());
    };
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(parse_reference)
        .collect()
}

fn parse_reference(text: &str) -> Result<ObjectId, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let (group, namespace, kind, name) = match parts.as_slice() {
        [group, "namespaces", namespace, kind, name] => {
            (group, Some((*namespace).to_owned()), kind, name)
        }
        [group, kind, name] => (group, None, kind, name),
        _ => return Err(format!("{DEPENDS_ON} names no object: {text:?}")),
    };
    Ok(ObjectId {
        group_kind: GroupKind::new(*group, *kind),
        namespace,
        name: (*name).to_owned(),
    })
}

/// Gives each object its batch: the lowest that keeps the order of places and puts it behind what it depends on.
///
/// Dependencies on what is not among the objects do not count. [`Ordered::cycles`] names the objects on a cycle; what
/// merely depends on one of those comes after it.
pub fn batches(objects: &BTreeMap<ObjectId, (Place, Vec<ObjectId>)>) -> Ordered {
    let mut places: BTreeSet<Place> = objects.values().map(|(place, _)| *place).collect();
    let mut ordered = Ordered::default();
    let mut pending: Pending<'_> = BTreeMap::new();
    for (id, (place, needs)) in objects {
        let inside = needs
            .iter()
            .filter(|need| objects.contains_key(need))
            .collect();
        pending.insert(id, (*place, inside));
    }
    let mut batch = 0;
    while !pending.is_empty() {
        let is_ready = |needs: &[&ObjectId]| !needs.iter().any(|need| pending.contains_key(need));
        // The first place that has an object whose needs are met; normally the first place of all.
        let next = places.iter().copied().find_map(|place| {
            let now: Vec<&ObjectId> = pending
                .iter()
                .filter(|(_, (at, needs))| *at == place && is_ready(needs))
                .map(|(id, _)| *id)
                .collect();
            (!now.is_empty()).then_some(now)
        });
        let now = next.unwrap_or_else(|| {
            let stuck = on_cycles(&pending);
            ordered.cycles.extend(stuck.iter().map(|id| (*id).clone()));
            stuck
        });
        for id in now {
            pending.remove(id);
            ordered.batch.insert(id.clone(), batch);
        }
        places.retain(|place| pending.values().any(|(at, _)| at == place));
        batch += 1;
    }
    ordered
}

type Pending<'a> = BTreeMap<&'a ObjectId, (Place, Vec<&'a ObjectId>)>;

/// Where every object waits for another: those that are left when what nobody waits for is taken away, again and again.
fn on_cycles<'a>(pending: &Pending<'a>) -> Vec<&'a ObjectId> {
    let mut rest = pending.clone();
    loop {
        let needed: BTreeSet<&ObjectId> = rest
            .values()
            .flat_map(|(_, needs)| needs.iter().copied())
            .collect();
        let before = rest.len();
        rest.retain(|id, _| needed.contains(id));
        if rest.len() == before {
            return rest.into_keys().collect();
        }
    }
}

/// Batches of objects.
#[derive(Debug, Default)]
pub struct Ordered {
    /// Batch of each object, from 0.
    pub batch: HashMap<ObjectId, usize>,
    /// Objects that depend on each other in a circle.
    pub cycles: Vec<ObjectId>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(kind: &str, name: &str) -> ObjectId {
        ObjectId {
            group_kind: GroupKind::new("", kind),
            namespace: None,
            name: name.into(),
        }
    }

    #[test]
    fn kinds_waves_and_dependencies_make_the_order() {
        let mut objects = BTreeMap::new();
        for (kind, name, wave, needs) in [
            ("ConfigMap", "a", 0, vec![id("ConfigMap", "b")]),
            ("ConfigMap", "b", 0, vec![]),
            ("Namespace", "n", 0, vec![]),
            ("ConfigMap", "early", -1, vec![]),
            ("ConfigMap", "loop1", 0, vec![id("ConfigMap", "loop2")]),
            ("ConfigMap", "loop2", 0, vec![id("ConfigMap", "loop1")]),
            ("ConfigMap", "behind", 0, vec![id("ConfigMap", "loop1")]),
        ] {
            let object = json!({ "metadata": { "annotations": { "argocd.argoproj.io/sync-wave": wave.to_string() } } });
            let id = id(kind, name);
            objects.insert(id.clone(), (place(&id, &object), needs));
        }
        let ordered = batches(&objects);
        let of = |kind, name| ordered.batch[&id(kind, name)];
        assert!(of("ConfigMap", "early") < of("Namespace", "n"));
        assert!(of("Namespace", "n") < of("ConfigMap", "b"));
        assert!(of("ConfigMap", "b") < of("ConfigMap", "a"));
        assert!(of("ConfigMap", "loop1") < of("ConfigMap", "behind"));
        assert_eq!(
            ordered.cycles,
            [id("ConfigMap", "loop1"), id("ConfigMap", "loop2")]
        );
        assert_eq!(ordered.batch.len(), objects.len());
    }

    #[test]
    fn depends_on_is_read_as_cli_utils_writes_it() {
        let object = json!({ "metadata": { "annotations": {
            DEPENDS_ON: "apps/namespaces/shop/Deployment/pet, /Namespace/shop"
        } } });
        let needs = depends_on(&object).unwrap();
        assert_eq!(needs[0].to_string(), "Deployment.apps shop/pet");
        assert_eq!(needs[1], id("Namespace", "shop"));
        let bad = json!({ "metadata": { "annotations": { DEPENDS_ON: "pet" } } });
        assert!(depends_on(&bad).is_err());
    }
}
