//! Documents -> objects as they are to be in the cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::injection::WithAgent;
use super::normalise::{sendable, stamp};
use crate::api::{ObjectId, Scope};
use crate::load::{Diagnostic, Document, Origin, elsewhere};

/// An object as it is to be sent.
#[derive(Clone, Debug)]
pub struct Desired {
    /// Which object; the namespace is filled in.
    pub id: ObjectId,
    /// Its `apiVersion`.
    pub api_version: String,
    /// Where the source has it.
    pub origin: Origin,
    /// The body of the apply request, with the set's label and the digest.
    pub object: Arc<Value>,
    /// The digest that `object` carries.
    pub digest: String,
    /// What it is without the agent, if one was put into it.
    pub agent: Option<Box<WithAgent>>,
}

/// What a source asks for, and what is wrong with it.
#[derive(Debug, Default)]
pub struct Resolved {
    /// Objects in the order of the source, each identity once.
    pub desired: Vec<Desired>,
    /// Documents that are left out, and why.
    pub diagnostics: Vec<Diagnostic>,
}

/// Fills in namespaces, finds objects that are there twice, and makes the bodies to send.
///
/// `scope` tells, for an `apiVersion` and a kind, whether it has namespaces; `None` when nobody knows the kind.
/// `applyset` is the id that members are labelled with.
pub fn resolve(
    documents: &[Document],
    scope: impl Fn(&str, &str) -> Option<Scope>,
    default_namespace: &str,
    applyset: &str,
) -> Resolved {
    let mut resolved = Resolved::default();
    let mut by_id: BTreeMap<ObjectId, Vec<&Document>> = BTreeMap::new();
    for document in documents {
        let scope = scope(&document.api_version, &document.id.group_kind.kind);
        match identify(document, scope, default_namespace) {
            Ok(id) => by_id.entry(id).or_default().push(document),
            Err(diagnostic) => resolved.diagnostics.push(diagnostic),
        }
    }
    for (id, places) in by_id {
        match places.as_slice() {
            [document] => resolved.desired.push(desired(id, document, applyset)),
            _ => resolved.diagnostics.extend(duplicates(&id, &places)),
        }
    }
    resolved.desired.sort_by(|a, b| a.origin.cmp(&b.origin));
    resolved
}

fn identify(
    document: &Document,
    scope: Option<Scope>,
    default: &str,
) -> Result<ObjectId, Diagnostic> {
    let id = &document.id;
    // Where a key is written that is what is wrong.
    let at = |path: &[&str], key: &str| {
        let entry = document.root.at(path).and_then(|node| node.entry(key));
        Origin {
            file: document.origin.file.clone(),
            position: entry.map_or(document.origin.position, |entry| entry.position),
        }
    };
    let namespace = match (scope, &id.namespace) {
        (None, _) => {
            let message = format!(
                "the cluster does not know the kind {} of {}",
                id.group_kind.kind, document.api_version
            );
            return Err(Diagnostic::error_at(&at(&[], "kind"), message).with_hint(
                "check apiVersion and kind, or add the CustomResourceDefinition to the source",
            ));
        }
        (Some(Scope::Cluster), Some(namespace)) => {
            let message = format!(
                "{} has no namespaces, but the manifest says namespace {namespace}",
                id.group_kind
            );
            return Err(
                Diagnostic::error_at(&at(&["metadata"], "namespace"), message)
                    .with_hint("remove metadata.namespace"),
            );
        }
        (Some(Scope::Cluster), None) => None,
        (Some(Scope::Namespaced), Some(namespace)) => Some(namespace.clone()),
        (Some(Scope::Namespaced), None) => Some(default.to_owned()),
    };
    Ok(ObjectId {
        namespace,
        ..id.clone()
    })
}

fn desired(id: ObjectId, document: &Document, applyset: &str) -> Desired {
    let mut object = sendable(document.root.to_json());
    if let (Some(namespace), Some(metadata)) = (
        &id.namespace,
        object.get_mut("metadata").and_then(Value::as_object_mut),
    ) {
        metadata.insert("namespace".into(), json!(namespace));
    }
    let digest = stamp(&mut object, Some(applyset));
    Desired {
        id,
        api_version: document.api_version.clone(),
        origin: document.origin.clone(),
        object: Arc::new(object),
        digest,
        agent: None,
    }
}

/// One error at each place: which one is meant cannot be known, so none is applied (argo-cd#1070).
fn duplicates<'a>(
    id: &'a ObjectId,
    places: &'a [&Document],
) -> impl Iterator<Item = Diagnostic> + 'a {
    places.iter().map(move |document| {
        let others = elsewhere(places.iter().map(|it| &it.origin), &document.origin);
        let message = format!("{id} is also defined at {others}; none of them is applied");
        Diagnostic::error_at(&document.origin, message).with_hint("keep one of them")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Limits, Snapshot, SourceFile, load};

    fn resolved(files: &[(&str, &str)]) -> Resolved {
        let files = files.iter().map(|(path, text)| SourceFile {
            path: (*path).into(),
            bytes: text.as_bytes().to_vec(),
        });
        let snapshot = Snapshot {
            revision: "r".into(),
            files: files.collect(),
            diagnostics: Vec::new(),
        };
        let documents = load(&snapshot, &Limits::default()).documents;
        let scope = |_: &str, kind: &str| match kind {
            "Zone" => Some(Scope::Cluster),
            "Pet" => None,
            _ => Some(Scope::Namespaced),
        };
        resolve(&documents, scope, "here", "set")
    }

    fn config(name: &str, namespace: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}{namespace}}}\n")
    }

    fn told(resolved: &Resolved) -> Vec<&str> {
        resolved
            .diagnostics
            .iter()
            .map(|d| d.message.as_str())
            .collect()
    }

    #[test]
    fn c14_the_same_object_twice_is_an_error_at_both_places_and_applied_neither_way() {
        let (with, without) = (config("a", ", namespace: here"), config("a", ""));
        let other = config("b", "");
        let resolved = resolved(&[("a.yaml", &with), ("b.yaml", &without), ("c.yaml", &other)]);
        let names: Vec<_> = resolved.desired.iter().map(|d| d.id.to_string()).collect();
        assert_eq!(names, ["ConfigMap here/b"]);
        assert_eq!(
            told(&resolved),
            [
                "ConfigMap here/a is also defined at b.yaml:1:1; none of them is applied",
                "ConfigMap here/a is also defined at a.yaml:1:1; none of them is applied",
            ]
        );
    }

    #[test]
    fn unknown_kinds_and_misplaced_namespaces_are_errors_of_their_own() {
        let resolved = resolved(&[
            (
                "a.yaml",
                "apiVersion: example.com/v1\nkind: Pet\nmetadata: {name: a}\n",
            ),
            (
                "b.yaml",
                "apiVersion: example.com/v1\nkind: Zone\nmetadata: {name: b, namespace: ns}\n",
            ),
            ("c.yaml", &config("c", "")),
        ]);
        assert_eq!(resolved.desired.len(), 1);
        let places = resolved.diagnostics.iter().map(|d| d.position);
        let places: Vec<_> = places.map(|at| at.map(|at| (at.line, at.column))).collect();
        assert_eq!(places, [Some((2, 1)), Some((3, 21))]);
        assert_eq!(
            told(&resolved),
            [
                "the cluster does not know the kind Pet of example.com/v1",
                "Zone.example.com has no namespaces, but the manifest says namespace ns",
            ]
        );
    }
}
