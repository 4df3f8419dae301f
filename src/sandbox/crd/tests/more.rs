//! What the tables do not hold: changes of definitions, their status, and the kinds they make.

use serde_json::{Value, json};

use super::{base, ours};
use crate::crd::{default_definition, established, kinds, prune, validate_definition};
use crate::merge::{ListKind, Node, Scalar, Schema};

fn existing() -> Value {
    let mut definition = base();
    default_definition(&mut definition);
    established(&mut definition);
    definition
}

#[test]
fn an_accepted_definition_is_established_once() {
    let mut definition = existing();
    let status = definition["status"].clone();
    assert_eq!(status["storedVersions"], json!(["v1"]));
    assert_eq!(
        status["acceptedNames"],
        json!({ "plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList" })
    );
    let told: Vec<[&Value; 4]> = status["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| [&c["type"], &c["status"], &c["reason"], &c["message"]])
        .collect();
    assert_eq!(
        json!(told),
        json!([
            ["NamesAccepted", "True", "NoConflicts", "no conflicts found"],
            [
                "Established",
                "True",
                "InitialNamesAccepted",
                "the initial names have been accepted"
            ],
        ])
    );
    established(&mut definition);
    assert_eq!(definition["status"], status);
}

#[test]
fn what_decides_where_objects_are_stored_does_not_change() {
    let old = existing();
    let cases = [
        (
            "/spec/scope",
            json!("Cluster"),
            "spec.scope",
            "Invalid value: \"Cluster\": field is immutable",
        ),
        (
            "/spec/names/kind",
            json!("Foo"),
            "spec.names.kind",
            "Invalid value: \"Foo\": field is immutable",
        ),
        (
            "/spec/group",
            json!("x.y"),
            "spec.group",
            "Invalid value: \"x.y\": field is immutable",
        ),
        (
            "/spec/names/plural",
            json!("x"),
            "spec.names.plural",
            "Invalid value: \"x\": field is immutable",
        ),
        (
            "/spec/versions/0/name",
            json!("v2"),
            "status.storedVersions",
            "Invalid value: \"v1\": must appear in spec.versions",
        ),
    ];
    for (path, value, field, message) in cases {
        let mut new = old.clone();
        *new.pointer_mut(path).unwrap() = value;
        let wanted = ["FieldValueInvalid".to_owned(), message.to_owned()];
        let [found_field, reason, message] =
            <[[String; 3]; 1]>::try_from(ours(validate_definition(&new, Some(&old)))).unwrap()[0]
                .clone();
        assert_eq!((found_field.as_str(), [reason, message]), (field, wanted));
    }
    assert_eq!(validate_definition(&old, Some(&old)), []);
}

#[test]
fn the_version_that_is_stored_is_remembered() {
    let mut definition = existing();
    let mut second = definition["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    definition["spec"]["versions"][0]["storage"] = false.into();
    definition["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .push(second);
    established(&mut definition);
    assert_eq!(definition["status"]["storedVersions"], json!(["v1", "v2"]));
}

#[test]
fn kinds_have_the_names_and_subresources_of_their_versions() {
    let mut definition = existing();
    definition["spec"]["names"]["shortNames"] = json!(["tg"]);
    let version = &mut definition["spec"]["versions"][0];
    version["subresources"] = json!({ "status": {}, "scale": {
        "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size",
    } });
    version["additionalPrinterColumns"] = json!([
        { "name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1 },
    ]);
    let mut unserved = version.clone();
    unserved["name"] = "v0".into();
    unserved["served"] = false.into();
    definition["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .push(unserved);
    let [kind] = <[_; 1]>::try_from(kinds(&definition)).unwrap();
    assert_eq!(kind.api_version(), "def.example.com/v1");
    assert_eq!(kind.resource(), "things.def.example.com");
    assert_eq!(
        [&kind.kind, &kind.list_kind, &kind.singular],
        ["Thing", "ThingList", "thing"]
    );
    assert_eq!(kind.short_names, ["tg"]);
    assert!(kind.namespaced && kind.status && kind.generation);
    let scale = kind.scale.unwrap();
    assert_eq!(scale.spec_replicas, ".spec.size");
    assert_eq!(scale.label_selector, None);
    assert_eq!(
        (kind.columns[0].path.as_str(), kind.columns[0].priority),
        (".spec.size", 1)
    );
}

#[test]
fn lists_and_maps_merge_as_their_schema_says() {
    let mut definition = base();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = json!({
        "type": "object",
        "properties": {
            "ports": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
                "items": { "type": "object", "properties": {
                    "port": { "type": "integer" }, "protocol": { "type": "string", "default": "TCP" },
                } },
            },
            "names": { "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "string" } },
            "plain": { "type": "array", "items": { "type": "string" } },
            "labels": { "type": "object", "additionalProperties": { "type": "string" } },
            "whole": { "type": "object", "x-kubernetes-map-type": "atomic", "properties": { "a": { "type": "string" } } },
            "open": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
            "either": { "x-kubernetes-int-or-string": true },
        },
    });
    let kind = kinds(&definition).remove(0);
    let schema: &Schema = &kind.schema;
    let field = |node: &Node, name: &str| match node {
        Node::Struct(fields) => schema.node(fields.fields[name].node).clone(),
        other => panic!("{other:?}"),
    };
    let spec = field(schema.node(kind.root), "spec");
    match field(&spec, "ports") {
        Node::List {
            kind: ListKind::Map(keys),
            ..
        } => {
            assert_eq!(&*keys[0].name, "port");
            assert_eq!(keys[1].default, Some(json!("TCP")));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        field(&spec, "names"),
        Node::List {
            kind: ListKind::Set,
            ..
        }
    ));
    assert!(matches!(
        field(&spec, "plain"),
        Node::List {
            kind: ListKind::Atomic,
            ..
        }
    ));
    assert!(matches!(
        field(&spec, "labels"),
        Node::Map { atomic: false, .. }
    ));
    assert!(matches!(field(&spec, "whole"), Node::Struct(fields) if fields.atomic));
    assert!(matches!(field(&spec, "open"), Node::Any));
    assert!(matches!(
        field(&spec, "either"),
        Node::Scalar(Scalar::IntOrString)
    ));
    let metadata = field(schema.node(kind.root), "metadata");
    assert!(matches!(
        field(&metadata, "finalizers"),
        Node::List {
            kind: ListKind::Set,
            ..
        }
    ));
}

#[test]
fn what_is_taken_out_is_named() {
    let kind = super::kind_of(&json!({
        "type": "object",
        "properties": {
            "list": { "type": "array", "items": { "type": "object", "properties": { "a": { "type": "string" } } } },
            "map": { "type": "object", "additionalProperties": { "type": "object", "properties": {} } },
        },
    }));
    let mut object = json!({
        "apiVersion": "def.example.com/v1", "kind": "Thing",
        "metadata": { "name": "a", "labels": { "x": "y" }, "bogus": 1 },
        "spec": { "list": [{ "a": "x" }, { "b": 1 }], "map": { "k": { "z": 1 } }, "more": { "than": 1 } },
        "status": {},
    });
    let found = prune(&kind, &mut object);
    assert_eq!(
        found,
        [
            "metadata.bogus",
            "spec.list[1].b",
            "spec.map.k.z",
            "spec.more",
            "status"
        ]
    );
    assert_eq!(
        object,
        json!({
            "apiVersion": "def.example.com/v1", "kind": "Thing", "metadata": { "name": "a", "labels": { "x": "y" } },
            "spec": { "list": [{ "a": "x" }, {}], "map": { "k": {} } },
        })
    );
}
