//! What a schema does not say of a `Config` and a `Sync`.

// As in `api::config`.
use core::net::SocketAddr;
use std::path::Path;

use tracing_subscriber::filter::LevelFilter;

use crate::api::parse_duration;
use crate::api::sync::SHORTEST_INTERVAL;
use crate::load::{Entry, Node, NodeKind, Position, is_image, is_label, is_subdomain};
use crate::source::git::RepositoryUrl;

/// Where, and what is wrong.
type Fault = (Position, String);

/// Says what a text must be, when it is not.
type Check = fn(&str) -> Result<(), String>;

const OF_CONFIG: [(&[&str], Check); 8] = [
    (&["spec", "clusterDomain"], subdomain),
    (&["spec", "agentImage"], image),
    (&["spec", "listen", "web"], address),
    (&["spec", "listen", "webhook"], address),
    (&["spec", "log", "level"], levels),
    (&["spec", "leases", "namespace"], label),
    (&["spec", "leases", "duration"], time),
    (&["spec", "defaultServiceAccount"], subdomain),
];

const OF_SYNC: [(&[&str], Check); 2] =
    [(&["spec", "interval"], time), (&["spec", "timeout"], time)];

pub(super) fn config_faults(root: &Node) -> Vec<Fault> {
    let mut faults = of_texts(root, &OF_CONFIG);
    let list = root.at(&["spec", "directories"]).map(|node| &node.kind);
    if let Some(NodeKind::List(items)) = list {
        let relative = items.iter().filter(|item| {
            !item
                .as_str()
                .is_some_and(|path| Path::new(path).is_absolute())
        });
        // An empty one would be the beginning of every path.
        faults.extend(relative.map(|item| {
            let message = "each of `spec.directories` must be an absolute path".to_owned();
            (item.position, message)
        }));
    }
    faults.extend(webhook(root));
    faults
}

/// A webhook that answers to nobody in particular must be meant.
fn webhook(root: &Node) -> Option<Fault> {
    let entry = entry_at(root, &["spec", "webhook"]).filter(|it| it.value.kind != NodeKind::Null);
    let Some(entry) = entry else {
        let listen = entry_at(root, &["spec", "listen", "webhook"])?;
        let message = "`spec.listen.webhook` needs `spec.webhook.secretFile`, or `spec.webhook.insecure: true`";
        return Some((listen.position, message.to_owned()));
    };
    let secret = entry.value.get("secretFile");
    let has_secret = secret.is_some_and(|node| node.kind != NodeKind::Null);
    let insecure = entry.value.get("insecure");
    let is_insecure = insecure.is_some_and(|node| node.kind == NodeKind::Bool(true));
    (has_secret == is_insecure).then(|| {
        let message = "`spec.webhook` must have exactly one of `secretFile` and `insecure: true`";
        (entry.position, message.to_owned())
    })
}

pub(super) fn sync_faults(root: &Node) -> Vec<Fault> {
    let mut faults = of_texts(root, &OF_SYNC);
    let has = |kind| {
        root.at(&["spec", "source", kind])
            .is_some_and(|node| node.kind != NodeKind::Null)
    };
    if has("git") == has("directory") {
        let at = entry_at(root, &["spec", "source"]).or_else(|| root.entry("spec"));
        let message = "`spec.source` must have exactly one of `git` and `directory`";
        faults.push((
            at.map_or(root.position, |it| it.position),
            message.to_owned(),
        ));
    }
    faults
}

/// What of a sound Sync is done otherwise than it says, and what to write instead.
pub(super) fn sync_remarks(root: &Node) -> Vec<(Fault, String)> {
    let url = root.at(&["spec", "source", "git", "url"]);
    let url: Option<RepositoryUrl> = url.and_then(|url| url.as_str()?.parse().ok());
    let asks_server = url.is_some_and(|url| url.local_path().is_none());
    let asked = entry_at(root, &["spec", "interval"]).filter(|_| asks_server);
    let short = asked.filter(|asked| {
        let interval = asked.value.as_str().map(parse_duration);
        matches!(interval, Some(Ok(interval)) if interval < SHORTEST_INTERVAL)
    });
    let shortest = SHORTEST_INTERVAL.as_secs();
    let remark = |asked: &Entry| {
        let message =
            format!("`spec.interval` is too short, so the server is asked every {shortest}s");
        let hint = format!("give {shortest}s or more, and let a webhook tell of commits");
        ((asked.position, message), hint)
    };
    short.map(remark).into_iter().collect()
}

fn of_texts(root: &Node, checks: &[(&[&str], Check)]) -> Vec<Fault> {
    let fault = |(path, check): &(&[&str], Check)| {
        let entry = entry_at(root, path)?;
        let wrong = check(entry.value.as_str()?).err()?;
        Some((entry.position, format!("`{}` {wrong}", path.join("."))))
    };
    checks.iter().filter_map(fault).collect()
}

fn entry_at<'n>(root: &'n Node, path: &[&str]) -> Option<&'n Entry> {
    let (last, before) = path.split_last()?;
    root.at(before)?.entry(last)
}

fn is(holds: bool, otherwise: &str) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(otherwise.to_owned()),
    }
}

fn subdomain(text: &str) -> Result<(), String> {
    is(
        is_subdomain(text),
        "must be lower-case letters, digits, dashes and dots, up to 253",
    )
}

fn image(text: &str) -> Result<(), String> {
    is(
        is_image(text),
        "must be the name of an image, without white space",
    )
}

fn label(text: &str) -> Result<(), String> {
    is(
        is_label(text),
        "must be lower-case letters, digits and dashes, up to 63",
    )
}

fn address(text: &str) -> Result<(), String> {
    is(
        text.parse::<SocketAddr>().is_ok(),
        "must be an address and a port, such as `0.0.0.0:8080` or `[::]:8080`",
    )
}

fn time(text: &str) -> Result<(), String> {
    parse_duration(text)
        .map(drop)
        .map_err(|instead| format!("is no length of time: {instead}"))
}

/// As `Targets` of tracing-subscriber reads it, which takes a misspelt level for the name of a module.
fn levels(text: &str) -> Result<(), String> {
    let is_level = |part: &str| {
        let level = part.rsplit_once('=').map_or(part, |(_, level)| level);
        level.trim().parse::<LevelFilter>().is_ok()
    };
    is(
        text.split(',').all(is_level),
        "must be `error`, `warn`, `info`, `debug` or `trace`, with others for modules after commas: `info,covergence::source=debug`",
    )
}
