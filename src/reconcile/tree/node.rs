//! Objects in their places: each below the one that controls it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::api::ObjectId;
use crate::plan::{Health, Live, other_managers};

/// How far below a member is looked. Real chains have three or four links (CronJob, Job, Pod); owner references are
/// written by tenants, and must not make us recurse without end.
const DEEPEST: usize = 16;

/// An object as it was read.
pub(super) struct Object {
    /// Which.
    pub id: ObjectId,
    /// Its metadata.
    pub live: Arc<Live>,
    /// How it is.
    pub health: Health,
}

/// An object and what it has brought about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Which object.
    #[serde(flatten)]
    pub id: ObjectId,
    /// How it is, and why.
    #[serde(flatten)]
    pub health: Health,
    /// On members: the field managers other than ours that own fields of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<String>,
    /// Objects that it owns, by kind and name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Node>,
}

impl Node {
    /// Tells whether the object and all below it are as their specs want them.
    pub fn is_good(&self) -> bool {
        self.health == Health::Current && self.children.iter().all(Self::is_good)
    }
}

/// Objects that are no members, by the uid of their owner: the one that controls them, or else the first.
pub(super) struct Children(BTreeMap<String, Vec<Object>>);

impl Children {
    pub(super) fn of(objects: Vec<Object>) -> Self {
        let mut by_owner: BTreeMap<String, Vec<Object>> = BTreeMap::new();
        for object in objects {
            let live = &object.live;
            let owner = live.controller().or(live.owner_references.first());
            if let Some(uid) = owner.map(|owner| owner.uid.clone()) {
                by_owner.entry(uid).or_default().push(object);
            }
        }
        Self(by_owner)
    }

    /// Grows the tree below a member.
    pub(super) fn grow_member(&mut self, member: Object) -> Node {
        let managers = other_managers(&member.live);
        Node {
            managers,
            ..self.grow(member, DEEPEST)
        }
    }

    fn grow(&mut self, object: Object, deepest: usize) -> Node {
        let Object { id, live, health } = object;
        let owned = match deepest {
            0 => None,
            _ => self.0.remove(&live.uid),
        };
        let mut children: Vec<Node> = owned
            .into_iter()
            .flatten()
            // Owners are in the same namespace, or in none; what claims another one is not theirs.
            .filter(|child| id.namespace.is_none() || child.id.namespace == id.namespace)
            .map(|child| self.grow(child, deepest - 1))
            .collect();
        children.sort_by(|a, b| a.id.cmp(&b.id));
        Node {
            id,
            health,
            managers: Vec::new(),
            children,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::GroupKind;

    /// An object whose uid is its name, of the kind that its name starts with.
    fn object(namespace: &str, name: &str, owners: &[(&str, bool)]) -> Object {
        let owners: Vec<_> = owners
            .iter()
            .map(|(uid, controller)| json!({ "uid": uid, "controller": controller }))
            .collect();
        let live = Live::from_object(&json!({ "metadata": {
            "name": name, "namespace": namespace, "uid": name, "ownerReferences": owners,
        } }));
        Object {
            id: ObjectId {
                group_kind: GroupKind::new("", "Pod"),
                namespace: Some(namespace.into()),
                name: name.into(),
            },
            live: Arc::new(live.unwrap()),
            health: Health::Current,
        }
    }

    /// `a(b,c(d))`.
    fn shape(node: &Node) -> String {
        let below: Vec<String> = node.children.iter().map(shape).collect();
        match below.is_empty() {
            true => node.id.name.clone(),
            false => format!("{}({})", node.id.name, below.join(",")),
        }
    }

    #[test]
    fn every_object_stands_below_its_controller() {
        let mut children = Children::of(vec![
            object("n", "pod2", &[("set", true)]),
            object("n", "pod1", &[("other", false), ("set", true)]),
            object("n", "set", &[("top", false)]),
            object("n", "stranger", &[("nobody", true)]),
            object("n", "orphan", &[]),
        ]);
        let node = children.grow_member(object("n", "top", &[]));
        assert_eq!(shape(&node), "top(set(pod1,pod2))");
    }

    #[test]
    fn what_claims_an_owner_in_another_namespace_is_not_its_child() {
        let mut children = Children::of(vec![object("evil", "pod", &[("top", true)])]);
        let node = children.grow_member(object("n", "top", &[]));
        assert_eq!(shape(&node), "top");
    }

    #[test]
    fn chains_without_end_and_circles_do_no_harm() {
        let name = |i: usize| format!("pod{i}");
        let chain = (1..1000).map(|i| object("n", &name(i), &[(&name(i - 1), true)]));
        let circle = object("n", "self", &[("self", true)]);
        let mut children = Children::of(chain.chain([circle]).collect());
        let mut node = &children.grow_member(object("n", "pod0", &[]));
        let mut depth = 0;
        while let Some(child) = node.children.first() {
            (node, depth) = (child, depth + 1);
        }
        assert_eq!(depth, DEEPEST);
        let circle = children.grow_member(object("n", "self", &[]));
        assert_eq!(shape(&circle), "self(self)");
    }

    #[test]
    fn one_bad_leaf_makes_the_tree_bad() {
        let pod = Object {
            health: Health::Failed("m".into()),
            ..object("n", "pod", &[("top", true)])
        };
        let node = Children::of(vec![pod]).grow_member(object("n", "top", &[]));
        assert!(!node.is_good());
        assert!(
            Children::of(Vec::new())
                .grow_member(object("n", "top", &[]))
                .is_good()
        );
    }
}
