//! Git servers that go, and repositories that change as they should not.

use std::fs;
use std::os::unix::fs::chown;

use serde_json::{Value, json};

use crate::support::controller::{Controller, Setup};
use crate::support::git::Work;
use crate::support::lab::{api, eventually};
use crate::support::manifest::config_map;
use crate::support::namespace::Namespace;
use crate::support::outcome::{becomes, is_not_ready, is_ready, maps_in, maps_of};
use crate::support::served::{Served, git_sync};
use crate::support::source::documents;

fn start(ns: &Namespace, syncs: &[Value]) -> Controller {
    Setup {
        syncs,
        ..Setup::new(&[&ns.name])
    }
    .start()
}

/// Waits until a commit is applied, completely.
fn applied(ns: &Namespace, name: &str, commit: &str) {
    eventually(&format!("{name} is at {commit}"), || {
        let sync = is_ready(api(), &ns.name, name);
        let revision = format!("main@sha1:{commit}");
        (sync["status"]["lastAppliedRevision"] == revision.as_str()).then_some(())
    });
}

/// What is in the cluster, and of what revision the status says that.
fn state(ns: &Namespace) -> (Value, Value) {
    let maps = json!(maps_in(api(), &[&ns.name]));
    (
        maps,
        ns.get("syncs", "it")["status"]["lastAppliedRevision"].clone(),
    )
}

fn is(ns: &Namespace, objects: &[Value]) {
    becomes(api(), &[&ns.name], &maps_of(objects, &ns.name));
}

#[test]
fn a_git_server_that_is_down_is_waited_for_and_others_go_on() {
    let ns = Namespace::new("git-down");
    let mut broken = Served::new(&[config_map("a", "1"), config_map("b", "1")]);
    let healthy = Served::new(&[config_map("h", "1")]);
    let syncs = [broken.sync(&ns.name, "it"), healthy.sync(&ns.name, "well")];
    let _controller = start(&ns, &syncs);
    is(
        &ns,
        &[
            config_map("a", "1"),
            config_map("b", "1"),
            config_map("h", "1"),
        ],
    );
    is_ready(api(), &ns.name, "it");
    let before = state(&ns);

    broken.down();
    let message = is_not_ready(api(), &ns.name, "it", "ArtifactFailed");
    assert!(message.contains(&broken.url()), "{message}");
    assert_eq!(state(&ns), before, "the last good state is kept");
    // Nobody waits for it.
    let commit = healthy.push(&[config_map("h", "2")]);
    applied(&ns, "well", &commit);
    assert_eq!(ns.get("configmaps", "h")["data"]["key"], "2");
    assert!(ns.exists("configmaps", "a") && ns.exists("configmaps", "b"));

    let commit = broken.push(&[config_map("a", "2")]);
    broken.up();
    applied(&ns, "it", &commit);
    is(&ns, &[config_map("a", "2"), config_map("h", "2")]);
}

/// flux#696, source-controller#369.
#[test]
fn c40_a_rewritten_branch_is_followed_by_the_controller() {
    let ns = Namespace::new("c40");
    let served = Served::new(&[config_map("a", "1")]);
    let second = served.push(&[config_map("a", "2"), config_map("b", "2")]);
    let _controller = start(&ns, &[served.sync(&ns.name, "it")]);
    applied(&ns, "it", &second);

    // The old head is unreachable from now on.
    served.work.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let amended = served.push(&[config_map("a", "3"), config_map("c", "3")]);
    applied(&ns, "it", &amended);
    is(&ns, &[config_map("a", "3"), config_map("c", "3")]);

    // And back to where it has been before.
    served.work.git(&["reset", "-q", "--hard", "HEAD~1"]);
    served.push_all();
    let first = served.work.git(&["rev-parse", "HEAD"]);
    applied(&ns, "it", &first);
    is(&ns, &[config_map("a", "1")]);
}

/// flux#2288.
#[test]
fn c41_a_deleted_branch_keeps_the_last_good_state_until_it_is_back() {
    let ns = Namespace::new("c41");
    let objects = [config_map("a", "1"), config_map("b", "1")];
    let served = Served::new(&objects);
    let controller = start(&ns, &[served.sync(&ns.name, "it")]);
    is(&ns, &objects);
    is_ready(api(), &ns.name, "it");
    let before = state(&ns);

    served.work.git(&["checkout", "-q", "-b", "mainly"]);
    served.work.git(&["branch", "-q", "-D", "main"]);
    served.push_all();
    let message = is_not_ready(api(), &ns.name, "it", "ArtifactFailed");
    assert!(message.contains("main"), "{message}");
    assert!(
        message.contains("mainly"),
        "similar ones are named: {message}"
    );
    assert_eq!(state(&ns), before);
    // Nor does a controller that never saw the branch prune anything.
    controller.kill();
    let _controller = start(&ns, &[served.sync(&ns.name, "it")]);
    is_not_ready(api(), &ns.name, "it", "ArtifactFailed");
    assert_eq!(state(&ns), before);

    served.work.git(&["checkout", "-q", "-b", "main"]);
    let commit = served.push(&[config_map("a", "2")]);
    applied(&ns, "it", &commit);
    is(&ns, &[config_map("a", "2")]);
}

#[test]
fn another_repository_at_the_same_place_is_a_source_like_any_other() {
    let ns = Namespace::new("replaced");
    let mut served = Served::new(&[config_map("a", "1"), config_map("b", "1")]);
    let _controller = start(&ns, &[served.sync(&ns.name, "it")]);
    is(&ns, &[config_map("a", "1"), config_map("b", "1")]);
    let commit = served.replace(&[config_map("b", "2"), config_map("c", "2")]);
    applied(&ns, "it", &commit);
    is(&ns, &[config_map("b", "2"), config_map("c", "2")]);

    // One without that path is none to prune by.
    let before = state(&ns);
    served.work.git(&["mv", "deploy", "elsewhere"]);
    served.work.commit("moved");
    served.push_all();
    let message = is_not_ready(api(), &ns.name, "it", "ArtifactFailed");
    assert!(message.contains("deploy"), "{message}");
    assert_eq!(state(&ns), before);
}

/// libgit2#6663: a repository of root, a pod of somebody else.
#[test]
fn c43_a_repository_of_another_user_is_followed() {
    let ns = Namespace::new("c43");
    let work = Work::new();
    work.write("deploy/all.yaml", &documents(&[config_map("a", "1")]));
    let commit = work.commit("one");
    let all = [work.path().to_owned(), work.path().join(".git")];
    // Only the superuser can give files away; for others the repository is their own, which is another case.
    let given = all
        .iter()
        .all(|path| chown(path, Some(12345), Some(12345)).is_ok());
    assert_eq!(given, is_superuser());
    let syncs = [git_sync(
        &ns.name,
        "it",
        work.path().to_str().unwrap(),
        "deploy",
    )];
    let _controller = start(&ns, &syncs);
    applied(&ns, "it", &commit);
    is(&ns, &[config_map("a", "1")]);
}

fn is_superuser() -> bool {
    let own = tempfile::tempdir().unwrap();
    let metadata = fs::metadata(own.path()).unwrap();
    std::os::unix::fs::MetadataExt::uid(&metadata) == 0
}

/// argo-cd#1853, flux2#1895.
#[test]
fn c44_an_lfs_pointer_prunes_nothing_and_is_named() {
    let ns = Namespace::new("c44");
    let work = Work::new();
    let (a, b) = (config_map("a", "1"), config_map("b", "1"));
    work.write("deploy/a.yaml", &documents(std::slice::from_ref(&a)));
    work.write("deploy/b.yaml", &documents(std::slice::from_ref(&b)));
    let first = work.commit("one");
    let syncs = [git_sync(
        &ns.name,
        "it",
        work.path().to_str().unwrap(),
        "deploy",
    )];
    let _controller = start(&ns, &syncs);
    applied(&ns, "it", &first);

    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    work.write("deploy/a.yaml", pointer);
    work.write(
        "deploy/b.yaml",
        &documents(&[config_map("b", "2"), config_map("c", "2")]),
    );
    let second = work.commit("two");
    // The rest of the commit is applied.
    is(&ns, &[a, config_map("b", "2"), config_map("c", "2")]);
    let sync = eventually("the status says so", || {
        let sync = ns.get("syncs", "it");
        let attempted = sync["status"]["lastAttemptedRevision"].as_str()?;
        attempted.ends_with(&second).then_some(sync)
    });
    let ready = crate::support::namespace::condition_of(&sync, "Ready");
    assert_eq!(ready["status"], "False", "{ready}");
    let message = ready["message"].as_str().unwrap();
    assert!(
        message.contains("a.yaml") && message.contains("LFS"),
        "{message}"
    );
    let applied = sync["status"]["lastAppliedRevision"].as_str().unwrap();
    assert!(applied.ends_with(&first), "{applied}");
}

/// loki#15100, argo-cd#17207.
#[test]
fn c45_a_submodule_matters_only_where_manifests_are_looked_for() {
    let ns = Namespace::new("c45");
    let work = Work::new();
    work.write("deploy/all.yaml", &documents(&[config_map("a", "1")]));
    let commit = work.commit("one");
    // A gitlink without .gitmodules, as left behind by a deleted submodule.
    let entry = format!("160000,{commit},modules/shop");
    work.git(&["update-index", "--add", "--cacheinfo", &entry]);
    work.git(&["commit", "-q", "-m", "two"]);
    let commit = work.git(&["rev-parse", "HEAD"]);
    let url = work.path().to_str().unwrap();
    let syncs = [
        git_sync(&ns.name, "it", url, "deploy"),
        git_sync(&ns.name, "inside", url, "modules/shop/deploy"),
    ];
    let _controller = start(&ns, &syncs);
    applied(&ns, "it", &commit);
    let message = is_not_ready(api(), &ns.name, "inside", "ArtifactFailed");
    assert!(message.contains("modules/shop is a submodule"), "{message}");
    is(&ns, &[config_map("a", "1")]);
}
