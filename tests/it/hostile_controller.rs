//! A controller with a source that is made to bring it down: that source fails, and everything else goes on.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::controller::{Controller, Setup, directory_sync, sync};
use crate::support::git::Work;
use crate::support::lab::{api, eventually};
use crate::support::manifest::config_map;
use crate::support::namespace::Namespace;
use crate::support::outcome::{is_not_ready, is_ready};
use crate::support::source::{Source, documents};

/// The most memory that a process has had, in KiB.
fn peak(controller: &Controller) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", controller.pid())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// CVE-2019-11253 and its kind.
#[test]
fn c11_bombs_in_one_source_leave_the_controller_and_its_other_syncs_at_work() {
    let ns = Namespace::new("bombs");
    let hostile = Source::new().with("good.yaml", &[config_map("good", "1")]);
    for (name, text) in super::hostile_memory::bombs() {
        hostile.write_text(&name, &text);
    }
    let healthy = Source::new().with("a.yaml", &[config_map("healthy", "1")]);
    let syncs = [
        directory_sync(&ns.name, "hostile", &hostile, json!({})),
        directory_sync(&ns.name, "healthy", &healthy, json!({})),
    ];
    let controller = Setup {
        syncs: &syncs,
        ..Setup::new(&[&ns.name])
    }
    .start();
    is_ready(api(), &ns.name, "healthy");
    let message = is_not_ready(api(), &ns.name, "hostile", "ReconciliationFailed");
    assert!(message.contains("alias.yaml"), "{message}");
    ns.wait_for_members(&["good", "healthy"]);
    healthy.write("a.yaml", &[config_map("healthy", "2")]);
    ns.wait_for_value("healthy", "2");
    // What it could have pruned is still there, and so is the process that read it all.
    assert_eq!(ns.members(), ["good", "healthy"]);
    let peak = peak(&controller);
    assert!(peak < super::hostile_memory::MOST_KIB, "{peak} KiB");
}

/// CVE-2022-24904 and its kind: a repository that is checked out below an allowed directory turns the folder that a Sync
/// names into a link.
#[test]
fn a_folder_that_becomes_a_link_out_of_the_allowed_directories_is_not_followed() {
    let ns = Namespace::new("turned");
    // Below the directory of temporary files all is allowed; this is not.
    let outside = tempfile::tempdir_in("/dev/shm").unwrap();
    let theirs = documents(&[config_map("theirs", "1")]);
    fs::write(outside.path().join("a.yaml"), &theirs).unwrap();
    let repository = outside.path().join("repository");
    fs::create_dir(&repository).unwrap();
    let inside = Source::new().with("deploy/a.yaml", &[config_map("ours", "1")]);
    let work = Work::new();
    work.write("a.yaml", &documents(&[config_map("committed", "1")]));
    work.commit("one");
    let clone = inside.path().join("clone");
    work.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    work.write("a.yaml", &theirs);
    work.commit("two");
    work.git(&["clone", "-q", ".", repository.to_str().unwrap()]);
    let folder = inside.path().join("deploy");
    let overlay = inside.path().join("overlay");
    inside.write_text("overlay/kustomization.yaml", "resources: [a.yaml]\n");
    inside.write("overlay/a.yaml", &[config_map("built", "1")]);
    fs::write(
        outside.path().join("kustomization.yaml"),
        "resources: [a.yaml]\n",
    )
    .unwrap();
    let syncs = [
        sync(
            &ns.name,
            "folder",
            json!({ "source": { "directory": { "path": folder } }, "prune": true }),
        ),
        sync(
            &ns.name,
            "overlay",
            json!({ "source": { "directory": { "path": overlay } }, "prune": true }),
        ),
        sync(
            &ns.name,
            "clone",
            json!({ "source": { "git": { "url": clone } }, "prune": true }),
        ),
    ];
    let _controller = Setup {
        syncs: &syncs,
        ..Setup::new(&[&ns.name])
    }
    .start();
    for name in ["folder", "overlay", "clone"] {
        is_ready(api(), &ns.name, name);
    }
    for (place, target) in [
        (&folder, outside.path()),
        (&overlay, outside.path()),
        (&clone, &repository),
    ] {
        fs::rename(place, place.with_extension("old")).unwrap();
        symlink(target, place).unwrap();
    }
    for name in ["folder", "overlay", "clone"] {
        let message = is_not_ready(api(), &ns.name, name, "ArtifactFailed");
        assert!(
            message.contains("leads out of the directories"),
            "{message}"
        );
    }
    assert_eq!(ns.members(), ["built", "committed", "ours"]);
    fs::remove_file(&folder).unwrap();
    fs::rename(folder.with_extension("old"), &folder).unwrap();
    eventually("it is read again", || {
        let ready = ns.sync_condition("folder", "Ready");
        (ready["status"] == "True").then_some(())
    });
}
