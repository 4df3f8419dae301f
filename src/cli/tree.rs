//! `covergence tree`.

use std::io::{self, Write};

use anstyle::Style;

use super::args::{Output, TreeArgs};
use super::branches::{Branches, Item};
use super::diagnostics::printable;
use super::error::CliError;
use super::follow::{Lines, follow, print_changes};
use super::steps::{BAD, CHANGE, GOOD};
use super::view::{counted, print_unseen, ready_style, short, why_not};
use super::{DIFFERENCES, OK, json, settings};
use crate::api::GroupKind;
use crate::plan::Health;
use crate::reconcile::{Node, SourceView, SyncTree, SyncView, Tree, tree};

/// Up to so many healthy objects of a kind are listed one by one.
const FEW: usize = 5;

/// Other managers that are named; more are only counted.
const MANAGERS: usize = 3;

pub async fn run(args: &TreeArgs) -> Result<u8, CliError> {
    let TreeArgs {
        sync,
        namespace,
        all,
        watch,
        cluster,
        output,
    } = args;
    let connection = settings::connect(cluster).await?;
    let namespace = match namespace {
        Some(namespace) => namespace,
        None => connection.default_namespace(),
    };
    let concurrency = cluster.requests_in_flight(None);
    let look = async || {
        let found = tree(&connection, namespace, sync.as_deref(), concurrency).await?;
        found.ok_or(CliError::NotInstalled)
    };
    let first = look().await?;
    match output {
        Output::Text => print(&mut anstream::stdout().lock(), &first, namespace, *all)?,
        Output::Json => json::tree(&first, *watch)?,
    }
    let good = first.is_good();
    if *watch {
        let show = |before: &Tree, after: &Tree| {
            match output {
                Output::Text => print_changes(&lines(before), &lines(after))?,
                Output::Json => json::tree(after, true)?,
            }
            Ok(())
        };
        match follow(first, look, show).await? {}
    }
    Ok(if good { OK } else { DIFFERENCES })
}

fn print(out: &mut dyn Write, tree: &Tree, namespace: &str, all: bool) -> io::Result<()> {
    for SyncTree { sync, members } in &tree.syncs {
        writeln!(out, "{}", printable(&source(&sync.source)))?;
        let mut branches = Branches::new(out);
        branches.print(&sync_item(sync), true, !members.is_empty())?;
        branches.below(true, |branches| print_nodes(branches, members, None, all))?;
        writeln!(out)?;
    }
    if tree.syncs.is_empty() {
        writeln!(out, "no Sync in namespace {namespace}")?;
    } else {
        writeln!(out, "{}", summary(tree))?;
    }
    print_unseen(out, &tree.unseen)
}

/// `git https://git.example/shop.git//deploy at main`.
fn source(source: &SourceView) -> String {
    let SourceView {
        kind,
        location,
        reference,
    } = source;
    let mut text = kind.word().to_owned();
    if let Some(location) = location {
        text += &format!(" {location}");
    }
    if let Some(reference) = reference {
        text += &format!(" at {reference}");
    }
    text
}

fn sync_item(sync: &SyncView) -> Item {
    let revision = sync.last_applied_revision.as_deref().map(short);
    Item {
        head: format!("Sync {}/{}", sync.namespace, sync.name),
        style: ready_style(sync.readiness.ready),
        state: match why_not(&sync.readiness) {
            Some(why) => format!("{}, {why}", sync.readiness.ready.word()),
            None => sync.readiness.ready.word().to_owned(),
        },
        aside: revision.map(|revision| format!("at {revision}")),
    }
}

fn print_nodes(
    branches: &mut Branches<'_>,
    nodes: &[Node],
    namespace: Option<&str>,
    all: bool,
) -> io::Result<()> {
    let shown = shown(nodes, all);
    for (i, shown_here) in shown.iter().enumerate() {
        let last = i + 1 == shown.len();
        match shown_here {
            Shown::One(node) => {
                branches.print(&node_item(node, namespace), last, !node.children.is_empty())?;
                let namespace = node.id.namespace.as_deref();
                branches.below(last, |branches| {
                    print_nodes(branches, &node.children, namespace, all)
                })?;
            }
            Shown::Healthy(kind, count) => {
                let item = Item {
                    head: format!("{count} × {}", kind.kind),
                    style: GOOD,
                    state: Health::Current.to_string(),
                    aside: None,
                };
                branches.print(&item, last, false)?;
            }
        }
    }
    Ok(())
}

/// What is shown of some objects.
enum Shown<'a> {
    One(&'a Node),
    /// So many of a kind that are as they should be, with all below them.
    Healthy(&'a GroupKind, usize),
}

/// Of many objects of a kind only those are shown that have a problem.
fn shown(nodes: &[Node], all: bool) -> Vec<Shown<'_>> {
    let mut shown = Vec::new();
    for kind in nodes.chunk_by(|a, b| a.id.group_kind == b.id.group_kind) {
        let healthy = kind.iter().filter(|node| node.is_good()).count();
        let collapse = !all && healthy > FEW;
        let one_by_one = kind.iter().filter(|node| !collapse || !node.is_good());
        shown.extend(one_by_one.map(Shown::One));
        if let Some(first) = kind.first().filter(|_| collapse) {
            shown.push(Shown::Healthy(&first.id.group_kind, healthy));
        }
    }
    shown
}

fn node_item(node: &Node, namespace: Option<&str>) -> Item {
    let Node {
        id,
        health,
        managers,
        children: _,
    } = node;
    let kind = &id.group_kind.kind;
    Item {
        head: match &id.namespace {
            Some(own) if namespace != Some(own) => format!("{kind} {own}/{}", id.name),
            _ => format!("{kind} {}", id.name),
        },
        style: health_style(health),
        state: health.to_string(),
        aside: also_written_by(managers),
    }
}

fn health_style(health: &Health) -> Style {
    match health {
        Health::Current => GOOD,
        Health::InProgress(_) | Health::Terminating => CHANGE,
        Health::Failed(_) => BAD,
    }
}

/// `also written by kubectl-edit, argo`.
fn also_written_by(managers: &[String]) -> Option<String> {
    if managers.is_empty() {
        return None;
    }
    let named: Vec<&str> = managers.iter().take(MANAGERS).map(String::as_str).collect();
    let more = match managers.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("also written by {}{more}", named.join(", ")))
}

/// `2 Syncs, 1 not ready; 1010 members, 3 not healthy`.
fn summary(tree: &Tree) -> String {
    let bad = tree
        .syncs
        .iter()
        .filter(|tree| !tree.sync.readiness.is_good());
    let syncs = counted(tree.syncs.len(), "Sync", &[(bad.count(), "not ready")]);
    let members = || tree.syncs.iter().flat_map(|tree| &tree.members);
    let bad = members().filter(|node| !node.is_good()).count();
    let members = counted(members().count(), "member", &[(bad, "not healthy")]);
    format!("{syncs}; {members}")
}

/// A line for each Sync and each object.
fn lines(tree: &Tree) -> Lines {
    fn add(lines: &mut Lines, nodes: &[Node]) {
        for node in nodes {
            lines.insert(node.id.to_string(), node.health.to_string());
            add(lines, &node.children);
        }
    }
    let mut lines = Lines::new();
    for SyncTree { sync, members } in &tree.syncs {
        let Item {
            head, state, aside, ..
        } = sync_item(sync);
        let revision = aside.map(|aside| format!("  {aside}"));
        lines.insert(head, state + &revision.unwrap_or_default());
        add(&mut lines, members);
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::ObjectId;

    fn node(kind: &str, name: &str, health: Health, children: Vec<Node>) -> Node {
        Node {
            id: ObjectId {
                group_kind: GroupKind::new("", kind),
                namespace: Some("n".into()),
                name: name.into(),
            },
            health,
            managers: Vec::new(),
            children,
        }
    }

    fn many(kind: &str, count: usize) -> impl Iterator<Item = Node> {
        (0..count).map(move |i| node(kind, &format!("a{i}"), Health::Current, Vec::new()))
    }

    #[test]
    fn problems_stand_out_of_what_is_healthy() {
        let why = "it could not be pulled from its registry, which says that nobody has ever pushed an image of this \
                   name, and that it will not look elsewhere";
        let failed = node("Pod", "b", Health::Failed(why.into()), Vec::new());
        let pods = many("Pod", 6).chain([failed]).collect();
        let mut deployment = node(
            "Deployment",
            "pet",
            Health::InProgress("1 of 7".into()),
            pods,
        );
        deployment.managers = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
        let members = many("ConfigMap", FEW)
            .chain([deployment])
            .chain(many("Secret", FEW + 1));
        let sync = json!({
            "metadata": { "namespace": "n", "name": "shop" },
            "spec": { "source": { "git": { "url": "https://git.example/shop.git", "ref": "main" } } },
        });
        let tree = Tree {
            syncs: vec![SyncTree {
                sync: SyncView::read(&sync),
                members: members.collect(),
            }],
            unseen: [(GroupKind::new("batch", "Job"), "forbidden".to_owned())].into(),
        };
        let mut out = Vec::new();
        print(&mut out, &tree, "n", false).unwrap();
        let plain = anstream::adapter::strip_bytes(&out).into_vec();
        insta::assert_snapshot!(String::from_utf8(plain).unwrap(), @r"
        git https://git.example/shop.git at main
        └─ Sync n/shop  Unknown, it has no status yet: no controller has looked at it
           ├─ ConfigMap n/a0  current
           ├─ ConfigMap n/a1  current
           ├─ ConfigMap n/a2  current
           ├─ ConfigMap n/a3  current
           ├─ ConfigMap n/a4  current
           ├─ Deployment n/pet  in progress, 1 of 7  also written by a, b, c and 2 more
           │  ├─ Pod b  failed, it could not be pulled from its registry, which says that nobody has ever
           │  │        pushed an image of this name, and that it will not look elsewhere
           │  └─ 6 × Pod  current
           └─ 6 × Secret  current

        1 Sync, 1 not ready; 12 members, 1 not healthy
        not seen: Job (not allowed)
        ");
    }
}
