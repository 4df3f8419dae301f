//! No room is left where repositories are kept.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use serde_json::json;

use crate::support::controller::{Setup, directory_sync};
use crate::support::lab::api;
use crate::support::manifest::config_map;
use crate::support::namespace::Namespace;
use crate::support::outcome::{becomes, is_not_ready, is_ready, maps_of};
use crate::support::served::Served;
use crate::support::source::Source;

/// Becomes the controller in a mount namespace of its own, with a megabyte for the cache.
const SMALL: &str = r#"mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@""#;

#[test]
fn a_full_cache_stops_only_what_needs_it_and_only_until_there_is_room() {
    let ns = Namespace::new("full");
    let served = Served::new(&[config_map("a", "1"), config_map("b", "1")]);
    let source = Source::new().with("all.yaml", &[config_map("h", "1")]);
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path().to_str().unwrap();
    let syncs = [
        served.sync(&ns.name, "it"),
        directory_sync(&ns.name, "well", &source, json!({})),
    ];
    // Others than the superuser may mount where they are one.
    let controller = Setup {
        config: json!({ "cacheDirectory": cache }),
        syncs: &syncs,
        by: &[
            "unshare",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            SMALL,
            cache,
        ],
        ..Setup::new(&[&ns.name])
    }
    .start();
    let is = |objects: &[_]| becomes(api(), &[&ns.name], &maps_of(objects, &ns.name));
    is(&[
        config_map("a", "1"),
        config_map("b", "1"),
        config_map("h", "1"),
    ]);
    let before = is_ready(api(), &ns.name, "it");

    let filler = format!("/proc/{}/root{cache}/filler", controller.pid());
    fill(&filler.clone().into());
    // Random, so that it takes its room however it is packed.
    let big: String = std::iter::repeat_with(fastrand::alphanumeric)
        .take(100_000)
        .collect();
    let commit = served.push(&[config_map("a", &big)]);
    let message = is_not_ready(api(), &ns.name, "it", "ArtifactFailed");
    assert!(message.contains("No space left"), "{message}");
    source.write("all.yaml", &[config_map("h", "2")]);
    is(&[
        config_map("a", "1"),
        config_map("b", "1"),
        config_map("h", "2"),
    ]);
    let now = ns.get("syncs", "it")["status"]["lastAppliedRevision"].clone();
    assert_eq!(now, before["status"]["lastAppliedRevision"]);

    fs::remove_file(&filler).unwrap();
    is(&[config_map("a", &big), config_map("h", "2")]);
    let sync = is_ready(api(), &ns.name, "it");
    let revision = format!("main@sha1:{commit}");
    assert_eq!(sync["status"]["lastAppliedRevision"], revision.as_str());
}

/// Writes until nothing more can be written.
fn fill(path: &PathBuf) {
    let mut file = File::create(path).unwrap();
    let error = loop {
        if let Err(error) = file.write_all(&[0; 512]) {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
}
