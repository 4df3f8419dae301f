//! Volumes of pods, and where containers have them.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::read::{entries, field, is_true, items, text};
use super::rules::{Rule, apply};
use super::slip::slip_of;
use super::syntax::{inner_path, label, no_steps_back};
use crate::load::{Node, NodeKind};

const RULES: &[(&str, Rule)] = &[
    ("volumes[].name", Rule::Text(label)),
    ("volumes[].name", Rule::Filled),
    ("volumes[].configMap.defaultMode", Rule::Between(0, 0o777)),
    ("volumes[].configMap.items[].path", Rule::Text(inner_path)),
    ("volumes[].configMap.items[].mode", Rule::Between(0, 0o777)),
    ("volumes[].secret.secretName", Rule::Filled),
    ("volumes[].secret.defaultMode", Rule::Between(0, 0o777)),
    ("volumes[].secret.items[].path", Rule::Text(inner_path)),
    ("volumes[].secret.items[].mode", Rule::Between(0, 0o777)),
    ("volumes[].projected.defaultMode", Rule::Between(0, 0o777)),
    (
        "volumes[].projected.sources[].configMap.items[].path",
        Rule::Text(inner_path),
    ),
    (
        "volumes[].projected.sources[].secret.items[].path",
        Rule::Text(inner_path),
    ),
    ("volumes[].hostPath.path", Rule::Text(no_steps_back)),
    ("volumes[].persistentVolumeClaim.claimName", Rule::Filled),
    (
        "volumes[].hostPath.type",
        Rule::OneOf(&[
            "DirectoryOrCreate",
            "Directory",
            "FileOrCreate",
            "File",
            "Socket",
            "CharDevice",
            "BlockDevice",
        ]),
    ),
];

/// Checks the volumes of a pod and gives their names.
pub(super) fn all<'n>(
    pod: &'n Node,
    claims: &'n [Node],
    out: &mut Vec<Finding<'n>>,
) -> BTreeSet<&'n str> {
    apply(pod, RULES, out);
    let mut names = BTreeSet::new();
    for volume in items(pod, "volumes") {
        if let Some(name) = text(volume, "name")
            && !names.insert(name)
        {
            let at = volume.get("name").unwrap_or(volume);
            out.push(Finding::error(
                at,
                "is the name of another volume of the pod",
            ));
        }
        source(volume, out);
    }
    let claims = claims.iter().filter_map(|claim| claim.get("metadata"));
    names.extend(claims.filter_map(|metadata| text(metadata, "name")));
    names
}

/// What a volume is made of: one thing.
fn source<'n>(volume: &'n Node, out: &mut Vec<Finding<'n>>) {
    let is_source =
        |entry: &&crate::load::Entry| entry.key != "name" && entry.value.kind != NodeKind::Null;
    let mut sources = entries(Some(volume)).iter().filter(is_source);
    let first = sources.next();
    if let (Some(first), Some(second)) = (first, sources.next()) {
        let says = format!(
            "cannot stand beside `{}`: a volume has one source",
            first.key
        );
        out.push(Finding::error(&second.value, says));
    }
    for projected in field(volume, "projected")
        .map(|all| items(all, "sources"))
        .unwrap_or_default()
    {
        let sources: Vec<_> = entries(Some(projected))
            .iter()
            .filter(|e| e.value.kind != NodeKind::Null)
            .collect();
        if let [first, second, ..] = sources.as_slice() {
            let says = format!(
                "cannot stand beside `{}`: make two sources of it",
                first.key
            );
            out.push(Finding::error(&second.value, says));
        }
        let named = ["configMap", "secret"]
            .iter()
            .filter_map(|kind| field(projected, kind));
        out.extend(
            named
                .filter(|named| text(named, "name").is_none())
                .map(|named| Finding::lacks(named, "name")),
        );
    }
    if let Some(map) = field(volume, "configMap")
        && field(map, "name").is_none_or(|name| name.as_str() == Some(""))
    {
        out.push(Finding::lacks(map, "name"));
    }
    if let Some(secret) = field(volume, "secret")
        && field(secret, "secretName").is_none()
    {
        let finding = Finding::lacks(secret, "secretName");
        let hint = field(secret, "name").map(|_| "a Secret's name is `secretName` here".to_owned());
        out.push(finding.perhaps(hint));
    }
    for kind in ["configMap", "secret"] {
        let listed = field(volume, kind)
            .map(|source| items(source, "items"))
            .unwrap_or_default();
        for item in listed {
            for (key, says) in [("key", "must not be empty"), ("path", "must not be empty")] {
                let empty = item.get(key).filter(|value| value.as_str() == Some(""));
                out.extend(empty.map(|value| Finding::error(value, says)));
            }
        }
    }
}

/// Checks where a container has volumes.
pub(super) fn mounts<'n>(
    container: &'n Node,
    volumes: &BTreeSet<&'n str>,
    out: &mut Vec<Finding<'n>>,
) {
    let mut paths = BTreeSet::new();
    for mount in items(container, "volumeMounts") {
        known(mount, volumes, out);
        propagation(mount, container, out);
        if let Some(path) = mount.get("mountPath") {
            match path.as_str() {
                Some("") => out.push(Finding::error(path, "must not be empty")),
                Some(text) if !paths.insert(text) => {
                    out.push(Finding::error(
                        path,
                        "is where another volume of the container is",
                    ));
                }
                _ => {}
            }
        }
        for field in ["subPath", "subPathExpr"] {
            if let Some(path) = mount.get(field)
                && let Some(must) = path.as_str().and_then(inner_path)
            {
                out.push(Finding::error(path, must));
            }
        }
        if let (Some(_), Some(other)) = (text(mount, "subPath"), field(mount, "subPathExpr")) {
            out.push(Finding::error(other, "cannot stand beside `subPath`"));
        }
    }
    for device in items(container, "volumeDevices") {
        known(device, volumes, out);
    }
}

const PROPAGATION: &[&str] = &["None", "HostToContainer", "Bidirectional"];

fn propagation<'n>(mount: &'n Node, container: &'n Node, out: &mut Vec<Finding<'n>>) {
    apply(
        mount,
        &[
            ("name", Rule::Filled),
            ("mountPropagation", Rule::OneOf(PROPAGATION)),
        ],
        out,
    );
    let privileged =
        field(container, "securityContext").is_some_and(|context| is_true(context, "privileged"));
    let both_ways = |node: &&Node| node.as_str() == Some("Bidirectional") && !privileged;
    let says = "cannot be `Bidirectional` but in a privileged container";
    out.extend(
        mount
            .get("mountPropagation")
            .filter(both_ways)
            .map(|node| Finding::error(node, says)),
    );
}

fn known<'n>(mount: &'n Node, volumes: &BTreeSet<&'n str>, out: &mut Vec<Finding<'n>>) {
    let Some(name) = text(mount, "name").filter(|name| !volumes.contains(name)) else {
        return;
    };
    let near = volumes.iter().find(|volume| slip_of(name, volume));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add a volume of the name `{name}` to the pod's `volumes`"),
    };
    let at = mount.get("name").unwrap_or(mount);
    out.push(Finding::error(at, "is no volume of the pod").hint(hint));
}
