//! From a parsed value to the objects it holds: lists unwrapped, each object identified.

use std::sync::Arc;

use super::fault::Fault;
use super::metadata::{key_position, metadata, not_a_string};
use super::names::{is_kind, is_label, is_subdomain};
use super::quota::Quota;
use super::{Document, Entry, Node, NodeKind, Origin, Position};
use crate::api::{GroupKind, ObjectId, split_api_version};

/// Takes the objects out of one document of a file, up to so many faults.
pub(super) fn identify(file: &Arc<str>, root: Node, limit: usize) -> (Vec<Document>, Vec<Fault>) {
    let mut found = Found {
        file,
        limit,
        documents: Vec::new(),
        faults: Vec::new(),
        quota: Quota::new(limit),
    };
    found.take(root, None);
    (found.documents, found.faults)
}

/// Types an item takes from the typed list around it, as in `kubectl get -o yaml` of some kinds.
#[derive(Clone)]
struct Inherited {
    api_version: String,
    kind: String,
}

struct Found<'f> {
    file: &'f Arc<str>,
    limit: usize,
    documents: Vec<Document>,
    faults: Vec<Fault>,
    quota: Quota,
}

impl Found<'_> {
    fn tell(&mut self, fault: Fault) {
        if self.quota.takes(fault.severity) {
            self.faults.push(fault);
        }
    }

    /// Takes one value. Lists may hold lists; the depth limit of the loader bounds this recursion.
    fn take(&mut self, mut root: Node, inherited: Option<&Inherited>) {
        let NodeKind::Map(entries) = &mut root.kind else {
            let message = format!("a manifest must be a mapping, not {}", root.kind.describe());
            self.tell(Fault::error(root.position, message));
            return;
        };
        if let Some(Inherited { api_version, kind }) = inherited {
            inherit(entries, root.position, "kind", kind);
            inherit(entries, root.position, "apiVersion", api_version);
        }
        if let Some(skipped) = skipped(self.file, &root) {
            self.tell(skipped);
            return;
        }
        let (api_version, kind) = match (text(&root, "apiVersion"), text(&root, "kind")) {
            (Ok(api_version), Ok(kind)) => (api_version, kind),
            _ if root.get("apiVersion").is_none() && root.get("kind").is_none() => {
                self.tell(Fault::error(root.position, "not a manifest: no apiVersion and no kind").hint(
                    "every YAML or JSON file of a source is applied; keep other files elsewhere",
                ));
                return;
            }
            (api_version, kind) => {
                let faults = [api_version.err(), kind.err()];
                faults.into_iter().flatten().for_each(|it| self.tell(it));
                return;
            }
        };
        if let Some(items) = root.entry("items").filter(|_| !kind.ends_with("List"))
            && matches!(items.value.kind, NodeKind::List(_) | NodeKind::Null)
        {
            let message = "kubectl takes an object with `items` for a list of objects";
            self.tell(
                Fault::error(items.position, message)
                    .hint("a list has a kind that ends in `List`; no other kind has this field"),
            );
            return;
        }
        let (group, version) = split_api_version(&api_version);
        let grouped = !api_version.contains('/') || is_subdomain(group);
        if !grouped || !is_label(version) {
            let at = key_position(&root, "apiVersion");
            let fault = Fault::error(at, "apiVersion is neither `VERSION` nor `GROUP/VERSION`");
            self.tell(fault);
            return;
        }
        if !is_kind(&kind) {
            let at = key_position(&root, "kind");
            self.tell(Fault::error(at, "kind is not the name of a kind"));
            return;
        }
        // Only now: each item would take a copy of what may be as long as the file.
        if let Some(items) = list_items(&mut root, &kind) {
            let inherited = kind
                .strip_suffix("List")
                .filter(|kind| !kind.is_empty())
                .map(|kind| Inherited {
                    api_version: api_version.clone(),
                    kind: kind.to_owned(),
                });
            self.take_items(items, inherited.as_ref());
            return;
        }
        if kind == "List" && api_version == "v1" {
            // A slip in the word must not look like a source that has become empty.
            let fault = Fault::error(root.position, "a List without `items`");
            self.tell(fault.hint("write `items: []` if nothing is meant to be in it"));
            return;
        }
        let mut faults = Vec::new();
        let id = metadata(&root, self.limit, &mut faults).map(|(namespace, name)| ObjectId {
            group_kind: GroupKind::new(group, kind),
            namespace,
            name,
        });
        let is_sound = no_error(&faults);
        faults.into_iter().for_each(|fault| self.tell(fault));
        if let (Some(id), true) = (id, is_sound) {
            let origin = Origin {
                file: self.file.clone(),
                position: root.position,
            };
            self.documents.push(Document {
                origin,
                id,
                api_version,
                root: Arc::new(root),
            });
        }
    }

    fn take_items(&mut self, items: Node, inherited: Option<&Inherited>) {
        match items.kind {
            NodeKind::List(items) => {
                for item in items {
                    // Not before an error: the loader then tells that the rest was not read.
                    if self.quota.is_used_up() {
                        return;
                    }
                    self.take(item, inherited);
                }
            }
            NodeKind::Null => {}
            other => {
                let message = format!(
                    "the items of a list must be a list, not {}",
                    other.describe()
                );
                self.tell(Fault::error(items.position, message));
            }
        }
    }
}

/// Whether none of these faults keeps an object out.
fn no_error(faults: &[Fault]) -> bool {
    faults
        .iter()
        .all(|f| f.severity == super::Severity::Warning)
}

fn inherit(entries: &mut Vec<Entry>, position: Position, key: &str, value: &str) {
    if !entries.iter().any(|e| e.key == key) {
        let value = Node {
            position,
            kind: NodeKind::String(value.to_owned()),
        };
        entries.insert(
            0,
            Entry {
                key: key.to_owned(),
                position,
                value,
            },
        );
    }
}

/// A field of text that must be there.
fn text(root: &Node, key: &str) -> Result<String, Fault> {
    match root.get(key).map(|n| &n.kind) {
        Some(NodeKind::String(text)) if !text.is_empty() => Ok(text.clone()),
        None => Err(Fault::error(root.position, format!("no {key}"))),
        Some(NodeKind::Null | NodeKind::String(_)) => Err(Fault::error(
            key_position(root, key),
            format!("{key} is empty"),
        )),
        Some(kind) => Err(not_a_string(key_position(root, key), key, kind)),
    }
}

/// Takes the items out of a list kind: one that ends in `List` and has items.
fn list_items(root: &mut Node, kind: &str) -> Option<Node> {
    let position = root.position;
    let NodeKind::Map(entries) = &mut root.kind else {
        return None;
    };
    let items = entries.iter_mut().find(|entry| entry.key == "items");
    let items = items.filter(|_| kind.ends_with("List"))?;
    let kind = NodeKind::Null;
    Some(std::mem::replace(&mut items.value, Node { position, kind }))
}

/// Documents that are meant for a tool and not for the cluster.
fn skipped(file: &str, root: &Node) -> Option<Fault> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let string = |key: &str| root.get(key).and_then(Node::as_str);
    let kustomize = string("apiVersion").is_some_and(|v| v.starts_with("kustomize.config.k8s.io/"))
        || (root.get("kind").is_none()
            && matches!(name, "kustomization.yaml" | "kustomization.yml"));
    if kustomize {
        let message = "skipped: this is kustomize's own file, not an object";
        return Some(Fault::warning(root.position, message).hint(
            "the files beside it are applied as they stand; commit the output of `kustomize build` to apply what it describes",
        ));
    }
    if root.get("kind").is_none() && name == "Chart.yaml" {
        let message = "skipped: this is Helm's own file, not an object";
        return Some(
            Fault::warning(root.position, message)
                .hint("commit the output of `helm template` to apply what the chart describes"),
        );
    }
    let local = [
        "metadata",
        "annotations",
        "config.kubernetes.io/local-config",
    ];
    if root.at(&local).and_then(Node::as_str) == Some("true") {
        let message =
            "skipped: annotated as local configuration (config.kubernetes.io/local-config)";
        return Some(Fault::warning(root.position, message));
    }
    None
}
