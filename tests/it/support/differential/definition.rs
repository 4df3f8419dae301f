//! A definition of custom objects that has one of everything that merging treats in its own way.

use serde_json::{Value, json};

use super::step::Resource;

pub const THINGS: Resource = Resource {
    api: "apis/differential.example.com/v1",
    plural: "things",
    kind: "Thing",
    namespaced: true,
};

pub fn things() -> Value {
    let schema = json!({ "type": "object", "properties": { "spec": spec(), "status": status() } });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.differential.example.com" },
        "spec": {
            "group": "differential.example.com",
            "scope": "Namespaced",
            "names": { "plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {
                    "status": {},
                    "scale": { "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas" },
                },
                "schema": { "openAPIV3Schema": schema },
            }],
        },
    })
}

fn spec() -> Value {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer", "format": "int64" });
    json!({
        "type": "object",
        "properties": {
                                "replicas": { "type": "integer", "format": "int32", "minimum": 0, "maximum": 9 },
                                "text": { "type": "string", "pattern": "^[a-z0-9]*$" },
                                "mode": { "type": "string", "enum": ["a", "b"], "default": "a" },
                                "ports": {
                                    "type": "array",
                                    "x-kubernetes-list-type": "map",
                                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                                    "items": {
                                        "type": "object",
                                        "required": ["port"],
                                        "properties": {
                                            "port": number, "protocol": { "type": "string", "default": "TCP" }, "name": text,
                                        },
                                    },
                                },
                                "members": { "type": "array", "x-kubernetes-list-type": "set", "items": text },
                                "whole": { "type": "array", "x-kubernetes-list-type": "atomic", "items": text },
                                "plain": { "type": "array", "items": { "type": "object", "properties": { "a": text, "b": number } } },
                                "map": { "type": "object", "additionalProperties": text },
                                "wholeMap": { "type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": text },
                                "structs": {
                                    "type": "object",
                                    "additionalProperties": { "type": "object", "properties": { "a": text, "b": number } },
                                },
                                "nested": { "type": "object", "properties": {
                                    "a": text, "deep": { "type": "object", "properties": { "x": number, "y": number } },
                                } },
                                "free": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
                            }
    })
}

fn status() -> Value {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer", "format": "int64" });
    json!({
        "type": "object",
        "properties": {
            "phase": text,
            "replicas": number,
            "conditions": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": {
                    "type": "object",
                    "required": ["type"],
                    "properties": { "type": text, "status": text, "reason": text },
                },
            },
        },
    })
}
