//! A repository as the source, from the command line to the Sync's status.

use serde_json::json;

use crate::support::covergence::Run;
use crate::support::git::Work;
use crate::support::manifest::config_map;
use crate::support::namespace::{Namespace, condition_of};
use crate::support::source::documents;

fn run(ns: &Namespace, command: &str, work: &Work, reference: &str) -> Run {
    Run::on_lab(&[
        command,
        "--name",
        "it",
        "--namespace",
        &ns.name,
        "-o",
        "json",
        "--path",
        "deploy",
    ])
    .args(&["--ref", reference, "--git", work.path().to_str().unwrap()])
}

#[test]
fn a_commit_is_planned_applied_and_named_in_the_status() {
    let ns = Namespace::new("git");
    let work = Work::new();
    work.write(
        "deploy/a.yaml",
        &documents(&[config_map("a", "1"), config_map("gone", "1")]),
    );
    work.write("elsewhere/b.yaml", &documents(&[config_map("b", "1")]));
    let first = work.commit("one");
    work.git(&["tag", "v1"]);
    work.write("deploy/a.yaml", &documents(&[config_map("a", "2")]));
    let second = work.commit("two");
    // What is not committed is nobody's business.
    work.write("deploy/a.yaml", "broken: [");

    let plan = run(&ns, "diff", &work, "v1").code(1);
    assert_eq!(plan.json()["revision"], format!("v1@sha1:{first}"));
    assert_eq!(
        plan.step("ConfigMap", "a")["origin"]["file"],
        "a.yaml",
        "as a folder would say it: below the path"
    );
    assert!(
        plan.find_step("ConfigMap", "b").is_none(),
        "outside of --path"
    );

    run(&ns, "sync", &work, "v1").ok();
    assert_eq!(ns.members(), ["a", "gone"]);
    let applied = |revision: &str| {
        let parent = ns.get("syncs", "it");
        let status = &parent["status"];
        assert_eq!(status["lastAppliedRevision"], revision, "{status}");
        assert_eq!(status["lastAttemptedRevision"], revision, "{status}");
        let ready = condition_of(&parent, "Ready");
        assert_eq!(ready["status"], "True", "{ready}");
        assert!(
            ready["message"].as_str().unwrap().contains(revision),
            "{ready}"
        );
        status.clone()
    };
    let status = applied(&format!("v1@sha1:{first}"));
    assert_eq!(status["runs"][0]["created"], 2);

    let report = run(&ns, "sync", &work, "main").arg("--prune").ok();
    assert_eq!(report.outcome("ConfigMap", "gone"), "deleted");
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "2");
    let status = applied(&format!("main@sha1:{second}"));
    let run0 = &status["runs"][0];
    assert_eq!(
        (&run0["configured"], &run0["deleted"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(status["runs"].as_array().unwrap().len(), 2);
    run(&ns, "diff", &work, "main").ok();
    // And back again: a commit is a commit.
    run(&ns, "sync", &work, &first).ok();
    assert_eq!(ns.members(), ["a", "gone"]);
}

#[test]
fn a_revision_that_fails_is_attempted_and_not_applied() {
    let ns = Namespace::new("git-fail");
    let work = Work::new();
    work.write("deploy/a.yaml", &documents(&[config_map("a", "1")]));
    let first = work.commit("one");
    run(&ns, "sync", &work, "main").ok();
    work.write("deploy/b.yaml", "broken: [");
    let second = work.commit("two");
    run(&ns, "sync", &work, "main").arg("--prune").code(2);
    let parent = ns.get("syncs", "it");
    assert_eq!(
        parent["status"]["lastAttemptedRevision"],
        format!("main@sha1:{second}")
    );
    assert_eq!(
        parent["status"]["lastAppliedRevision"],
        format!("main@sha1:{first}")
    );
    let ready = condition_of(&parent, "Ready");
    assert_eq!(ready["status"], "False");
    assert!(
        ready["message"].as_str().unwrap().contains("b.yaml:1:"),
        "{ready}"
    );
}

#[test]
fn a_ref_or_a_path_that_is_not_there_changes_nothing() {
    let ns = Namespace::new("git-missing");
    let work = Work::new();
    work.write("deploy/a.yaml", &documents(&[config_map("a", "1")]));
    work.commit("one");
    run(&ns, "sync", &work, "main").ok();
    run(&ns, "sync", &work, "nowhere")
        .args(&["--prune", "--allow-empty"])
        .code(2);
    // C31: a folder that has vanished is not an empty one.
    work.git(&["mv", "deploy", "moved"]);
    work.commit("moved");
    let output = run(&ns, "sync", &work, "main")
        .args(&["--prune", "--allow-empty"])
        .code(2);
    assert!(output.stderr.contains("deploy"), "{output:?}");
    assert_eq!(ns.members(), ["a"]);
}
