use serde_json::json;

use super::{Kind, Registry, assumed, built_in, table};
use crate::merge::{Field, ListKind, Node};

fn field<'a>(kind: &'a Kind, path: &str) -> (&'a Field, &'a Node) {
    let mut id = kind.root;
    let mut found = None;
    for name in path.split('.') {
        while let Node::List { items, .. } = kind.schema.node(id) {
            id = *items;
        }
        let Node::Struct(shape) = kind.schema.node(id) else {
            panic!("{path} leaves the structs before {name}");
        };
        let field = shape
            .fields
            .get(name)
            .unwrap_or_else(|| panic!("no {name} in {path}"));
        id = field.node;
        found = Some(field);
    }
    (found.unwrap(), kind.schema.node(id))
}

fn keys(node: &Node) -> Vec<(&str, Option<&str>)> {
    let Node::List {
        kind: ListKind::Map(keys),
        ..
    } = node
    else {
        panic!("no list of keyed items: {node:?}");
    };
    keys.iter()
        .map(|key| (&*key.name, key.default.as_ref().and_then(|it| it.as_str())))
        .collect()
}

fn of<'a>(kinds: &'a Registry, api_version: &str, kind: &str) -> &'a Kind {
    kinds.of(api_version, kind).unwrap()
}

#[test]
fn built_in_kinds_know_how_lists_and_maps_are_merged() {
    let kinds = built_in();
    let deployment = of(&kinds, "apps/v1", "Deployment");
    let (containers, node) = field(deployment, "spec.template.spec.containers");
    assert!(containers.required);
    assert_eq!(keys(node), [("name", None)]);
    let patch = containers.patch.as_ref().unwrap();
    assert_eq!((patch.merge, patch.key.as_deref()), (true, Some("name")));
    let ports = field(deployment, "spec.template.spec.containers.ports").1;
    assert_eq!(
        keys(ports),
        [("containerPort", None), ("protocol", Some("TCP"))]
    );
    let mounts = field(deployment, "spec.template.spec.containers.volumeMounts").1;
    assert_eq!(keys(mounts), [("mountPath", None)]);
    assert!(matches!(
        field(deployment, "spec.template.spec.tolerations").1,
        Node::List {
            kind: ListKind::Atomic,
            ..
        }
    ));
    assert!(matches!(
        field(deployment, "metadata.finalizers").1,
        Node::List {
            kind: ListKind::Set,
            ..
        }
    ));
    let Node::Struct(selector) = field(deployment, "spec.selector").1 else {
        panic!("a selector is a struct");
    };
    assert!(selector.atomic);
    assert!(
        field(deployment, "spec.template.spec.volumes")
            .0
            .patch
            .as_ref()
            .unwrap()
            .retain_keys
    );
    let service = of(&kinds, "v1", "Service");
    assert!(matches!(
        field(service, "spec.selector").1,
        Node::Map { atomic: true, .. }
    ));
    assert!(matches!(
        field(service, "metadata.labels").1,
        Node::Map { atomic: false, .. }
    ));
}

#[test]
fn versions_of_today_share_the_objects_of_their_betas() {
    let kinds = built_in();
    for (old, new, kind) in [
        ("policy/v1beta1", "policy/v1", "PodDisruptionBudget"),
        ("batch/v1beta1", "batch/v1", "CronJob"),
        (
            "discovery.k8s.io/v1beta1",
            "discovery.k8s.io/v1",
            "EndpointSlice",
        ),
        (
            "autoscaling/v2beta2",
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
        ),
    ] {
        let (old, new) = (of(&kinds, old, kind), of(&kinds, new, kind));
        assert_eq!(old.resource(), new.resource());
        let name = &new.schema.about(new.root).unwrap().name;
        assert!(
            name.ends_with(&format!(".{}.{kind}", new.version)),
            "{name}"
        );
    }
    assert!(kinds.of("extensions/v1beta1", "Ingress").is_none());
    assert!(
        kinds
            .of("rbac.authorization.k8s.io/v1beta1", "Role")
            .is_none()
    );
}

#[test]
fn built_in_kinds_know_their_subresources() {
    let kinds = built_in();
    let deployment = of(&kinds, "apps/v1", "Deployment");
    assert!(deployment.status && deployment.scale.is_some() && deployment.generation);
    assert_eq!(deployment.short_names, ["deploy"]);
    assert_eq!(deployment.singular, "deployment");
    let config = of(&kinds, "v1", "ConfigMap");
    assert!(!config.status && config.scale.is_none() && !config.generation);
    assert!(!of(&kinds, "v1", "Node").namespaced);
}

#[test]
fn kinds_come_back_from_their_bytes() {
    let kinds = built_in();
    let bytes = table::to_bytes(&kinds);
    assert_eq!(table::to_bytes(&table::from_bytes(&bytes).unwrap()), bytes);
    assert_eq!(bytes, super::BUILT_IN);
    let newer = json!({ "format": 2, "schemas": [], "kinds": [] });
    assert_eq!(
        table::from_bytes(newer.to_string().as_bytes()).unwrap_err(),
        "format 2 of kinds is not known"
    );
}

#[test]
fn an_assumed_kind_has_the_plural_of_its_name() {
    for (kind, plural) in [
        ("Gateway", "gateways"),
        ("Policy", "policies"),
        ("Ingress", "ingresses"),
    ] {
        assert_eq!(assumed("x.io/v1", kind).plural, plural);
    }
}
