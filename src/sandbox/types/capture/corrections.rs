//! What OpenAPI says wrongly, not yet, or not at all.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// One correction a line; the file explains itself.
const CORRECTIONS: &str = include_str!("corrections.txt");

/// The definitions of an OpenAPI document, corrected.
#[derive(Debug, Default)]
pub struct Definitions {
    /// By their whole names.
    pub types: BTreeMap<String, Value>,
    always: BTreeMap<String, Vec<Box<str>>>,
    kept: BTreeMap<String, Vec<Box<str>>>,
}

/// Scalars of fields that are added.
const SCALARS: &[&str] = &["bool", "int32", "int64", "string"];

type Names = Box<[Box<str>]>;

impl Definitions {
    /// The fields of a definition that are never absent, and those that are kept when they are zero.
    pub fn presence(&self, name: &str) -> (Names, Names) {
        let of = |all: &BTreeMap<String, Vec<Box<str>>>| all.get(name).cloned().unwrap_or_default();
        let mut always = of(&self.always);
        if self.types.get(name).is_some_and(has_metadata) {
            always.push("metadata".into());
        }
        (always.into(), of(&self.kept).into())
    }

    fn correct(&mut self, line: &str) -> Option<()> {
        let (what, how) = line.split_once(": ")?;
        let (word, rest) = how.split_once(' ').unwrap_or((how, ""));
        match word {
            "copies" => self.copy_package(&package(rest), &package(what)),
            "always" => note(&mut self.always, what, rest),
            "kept" => note(&mut self.kept, what, rest),
            "type" => {
                let empty = json!({ "type": "object", "properties": {} });
                self.types.entry(package(what)).or_insert(empty);
            }
            "kind" => {
                let definition = self.types.get_mut(&package(what))?.as_object_mut()?;
                let (group, version) = rest.split_once(' ')?;
                let kind = what.rsplit('.').next()?;
                let gvk = json!([{ "group": group, "version": version, "kind": kind }]);
                definition.insert("x-kubernetes-group-version-kind".to_owned(), gvk);
            }
            "whole" => {
                let definition = self.types.get_mut(&package(what))?.as_object_mut()?;
                definition.insert("x-kubernetes-map-type".to_owned(), "atomic".into());
            }
            _ => self.correct_field(what, word, rest)?,
        }
        Some(())
    }

    fn correct_field(&mut self, path: &str, word: &str, rest: &str) -> Option<()> {
        let (owner, field) = path.rsplit_once('.')?;
        let owner = package(owner);
        if word == "add" {
            return self.add(&owner, field, rest);
        }
        let definition = self.types.get_mut(&owner)?;
        let property = definition
            .pointer_mut(&format!("/properties/{field}"))?
            .as_object_mut()?;
        match word {
            "atomic" => {
                property.insert("x-kubernetes-map-type".to_owned(), "atomic".into());
                property.insert("x-kubernetes-list-type".to_owned(), "atomic".into());
            }
            "default" => {
                property.insert("default".to_owned(), rest.into());
            }
            "set" => {
                property.insert("x-kubernetes-list-type".to_owned(), "set".into());
            }
            "map" => {
                property.insert("x-kubernetes-list-type".to_owned(), "map".into());
                let keys = rest.split(' ').map(Value::from).collect();
                property.insert("x-kubernetes-list-map-keys".to_owned(), keys);
            }
            _ => return None,
        }
        Some(())
    }

    fn add(&mut self, owner: &str, field: &str, written: &str) -> Option<()> {
        let definition = self.types.get_mut(owner)?.as_object_mut()?;
        let (written, required) = match written.strip_suffix(", required") {
            Some(written) => (written, true),
            None => (written, false),
        };
        if !required && SCALARS.contains(&written) {
            // Optional scalars are pointers nowadays, so that their zeros can be told from their absence.
            let kept = self.kept.entry(owner.to_owned()).or_default();
            kept.push(field.into());
        }
        let properties = definition.get_mut("properties")?.as_object_mut()?;
        if properties.contains_key(field) {
            return Some(());
        }
        properties.insert(field.to_owned(), new_field(written));
        if required {
            let names = definition.entry("required").or_insert_with(|| json!([]));
            names.as_array_mut()?.push(field.into());
        }
        Some(())
    }

    /// A version whose types are those of another, with their references to each other.
    fn copy_package(&mut self, from: &str, to: &str) {
        let (from, to) = (format!("{from}."), format!("{to}."));
        let copies: Vec<(String, Value)> = self
            .types
            .iter()
            .filter_map(|(name, definition)| {
                let name = format!("{to}{}", name.strip_prefix(&from)?);
                let mut definition = definition.clone();
                retarget(&mut definition, &from, &to);
                (!self.types.contains_key(&name)).then_some((name, definition))
            })
            .collect();
        self.types.extend(copies);
    }
}

fn note(fields: &mut BTreeMap<String, Vec<Box<str>>>, owner: &str, names: &str) {
    let names = names.split(' ').map(Box::from);
    fields.entry(package(owner)).or_default().extend(names);
}

/// The definitions of a document, corrected.
pub fn definitions(openapi_v2: &Value) -> Definitions {
    corrected(openapi_v2, |_| true)
}

/// The definitions of a document as they are, with what no document says: which fields are never absent.
pub fn unchanged(openapi_v2: &Value) -> Definitions {
    let unsaid = [": always ", ": kept "];
    corrected(openapi_v2, |line| {
        unsaid.iter().any(|word| line.contains(word))
    })
}

fn corrected(openapi_v2: &Value, counts: impl Fn(&str) -> bool) -> Definitions {
    let given = openapi_v2.get("definitions").and_then(Value::as_object);
    let mut definitions = Definitions {
        types: given
            .into_iter()
            .flatten()
            .map(|(name, definition)| (name.clone(), definition.clone()))
            .collect(),
        ..Definitions::default()
    };
    for line in CORRECTIONS.lines().filter(|line| counts(line)) {
        // A server that has no such type needs no correction of it.
        let _ = definitions.correct(line);
    }
    definitions
}

/// `core.v1.PodSpec` is `io.k8s.api.core.v1.PodSpec`.
fn package(short: &str) -> String {
    let prefix = match short.split('.').next().unwrap_or(short) {
        "meta" => "io.k8s.apimachinery.pkg.apis",
        "apiextensions" => "io.k8s.apiextensions-apiserver.pkg.apis",
        "apiregistration" => "io.k8s.kube-aggregator.pkg.apis",
        _ => "io.k8s.api",
    };
    format!("{prefix}.{short}")
}

/// A field of a type that is written as in Go: `string`, `[]string`, `map string`, `core.v1.PodOS`; a list may be told to be
/// one by keys, as in `[]core.v1.HostIP by ip`, or a set.
fn new_field(written: &str) -> Value {
    if let Some((list, keys)) = written.split_once(" by ") {
        let keys: Vec<&str> = keys.split(' ').collect();
        return list_of(
            list,
            &json!({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys }),
        );
    }
    if let Some(list) = written.strip_suffix(" set") {
        return list_of(list, &json!({ "x-kubernetes-list-type": "set" }));
    }
    if let Some(items) = written.strip_prefix("[]") {
        return json!({ "type": "array", "items": new_field(items) });
    }
    if let Some(values) = written.strip_prefix("map ") {
        return json!({ "type": "object", "additionalProperties": new_field(values) });
    }
    match written {
        "string" => json!({ "type": "string" }),
        "bool" => json!({ "type": "boolean" }),
        "int32" | "int64" => json!({ "type": "integer", "format": written }),
        "time" => reference("io.k8s.apimachinery.pkg.apis.meta.v1.Time"),
        "quantity" => reference("io.k8s.apimachinery.pkg.api.resource.Quantity"),
        "int-or-string" => reference("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
        name => reference(&package(name)),
    }
}

/// Objects, and templates of objects: what `ObjectMeta` is in is never a pointer.
fn has_metadata(definition: &Value) -> bool {
    let reference = definition.pointer("/properties/metadata/$ref");
    reference
        .and_then(Value::as_str)
        .is_some_and(|it| it.ends_with(".ObjectMeta"))
}

fn list_of(written: &str, kind: &Value) -> Value {
    let mut list = new_field(written);
    if let (Some(list), Some(kind)) = (list.as_object_mut(), kind.as_object()) {
        list.extend(kind.clone());
    }
    list
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}

fn retarget(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Object(map) => retarget_object(map, from, to),
        Value::Array(items) => items.iter_mut().for_each(|item| retarget(item, from, to)),
        _ => {}
    }
}

fn retarget_object(map: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(Value::String(reference)) = map.get_mut("$ref") {
        *reference = reference.replace(from, to);
    }
    if let Some(Value::Array(kinds)) = map.get_mut("x-kubernetes-group-version-kind") {
        let version = |package: &str| {
            package
                .trim_end_matches('.')
                .rsplit('.')
                .next()
                .map(str::to_owned)
        };
        for kind in kinds {
            if kind.get("version").and_then(Value::as_str) == version(from).as_deref() {
                kind["version"] = version(to).into();
            }
        }
    }
    map.values_mut().for_each(|value| retarget(value, from, to));
}
