//! What is pruned only when somebody approves that, and how that is done: `covergence sync`.

use serde_json::{Value, json};

use crate::support::covergence::Run;
use crate::support::kubectl::paste;
use crate::support::lab::{api, eventually, shared};
use crate::support::manifest::{Change, claim, config_map, definition, namespace, secret, service};
use crate::support::namespace::{Namespace, unique};
use crate::support::proxy::{Fault, Proxy};
use crate::support::source::Source;

fn marked(name: &str) -> Value {
    config_map(name, "").annotated("closurejvm.io/prune", "confirm")
}

/// All that waits for an approval, and `plain`, have left the source since it was synced.
fn left(prefix: &str) -> (Namespace, Source) {
    let ns = Namespace::new(prefix);
    let argo = config_map("argo", "").annotated("argocd.argoproj.io/sync-options", "Prune=confirm");
    let source = Source::new().with("a.yaml", &[config_map("a", "")]).with(
        "gone.yaml",
        &[
            claim("data"),
            marked("marked"),
            argo,
            config_map("plain", ""),
        ],
    );
    ns.sync(&source).ok();
    source.remove("gone.yaml");
    (ns, source)
}

fn revision(ns: &Namespace, source: &Source) -> String {
    let plan = ns.diff(source).run().json();
    plan["revision"].as_str().unwrap().to_owned()
}

fn is_going(ns: &Namespace, claim: &str) -> bool {
    let claim = ns.find("persistentvolumeclaims", claim);
    claim.is_none_or(|claim| claim["metadata"]["deletionTimestamp"].is_string())
}

#[test]
fn the_plan_shows_what_waits_and_the_command_that_approves_it_works() {
    let (ns, source) = left("command");
    let plan = ns.diff(&source).arg("--prune").code(1);
    let actions = [
        "ConfigMap",
        "ConfigMap",
        "ConfigMap",
        "PersistentVolumeClaim",
    ]
    .iter()
    .zip(["plain", "marked", "argo", "data"])
    .map(|(kind, name)| {
        let step = plan.step(kind, name);
        (name, step["action"].clone(), step["approval"].clone())
    });
    let waits = |name| (name, json!("keep"), json!("needed"));
    assert_eq!(
        actions.collect::<Vec<_>>(),
        [
            ("plain", json!("delete"), json!(null)),
            waits("marked"),
            waits("argo"),
            waits("data"),
        ]
    );
    let revision = revision(&ns, &source);
    let kubeconfig = shared().join("kubeconfig");
    let command = format!(
        "kubectl --kubeconfig {} annotate sync -n {} it closurejvm.io/approve-prune={revision} --overwrite",
        kubeconfig.display(),
        ns.name
    );
    assert_eq!(
        plan.json()["pruneApproval"],
        json!({ "needed": 3, "command": command })
    );

    // What needs no approval goes at once, and the rest is no failure.
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.outcome("ConfigMap", "plain"), "deleted");
    assert_eq!(report.outcome("PersistentVolumeClaim", "data"), "kept");
    let message = report.message("ConfigMap", "argo");
    assert!(message.contains("Prune=confirm"), "{message}");
    assert_eq!(report.json()["pruneApproval"]["needed"], 3);
    assert_eq!(ns.members(), ["a", "argo", "marked"]);
    assert!(!is_going(&ns, "data"));
    let status = ns.get("syncs", "it");
    let waits = ns.sync_condition("it", "PruneWaits");
    assert_eq!(waits["reason"], "ApprovalNeeded", "{status}");
    let ready = ns.sync_condition("it", "Ready");
    assert_eq!(ready["status"], "True", "{status}");
    let told = format!("applied revision {revision}; 3 prunes wait for approval");
    assert_eq!(ready["message"], told);

    paste(&command);
    assert_eq!(ns.approved("it"), json!(revision));
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.step("ConfigMap", "marked")["approval"], "given");
    assert_eq!(report.count("deleted"), 3);
    assert_eq!(ns.members(), ["a"]);
    assert!(is_going(&ns, "data"));
    // It was for once.
    assert_eq!(ns.approved("it"), json!(null));
    assert!(ns.sync_condition("it", "PruneWaits").is_null());
}

#[test]
fn people_are_shown_what_waits_and_what_to_do() {
    let (ns, source) = left("text");
    let revision = revision(&ns, &source);
    let stdout = ns.text("diff", &source).arg("--prune").code(1).stdout;
    for part in [
        format!("wait       PersistentVolumeClaim {}/data\n", ns.name),
        "waits for approval (a PersistentVolumeClaim may take its data along)\n".to_owned(),
        "1 to delete, 3 to be approved, 1 unchanged\n".to_owned(),
        format!("3 prunes wait for approval of {revision}\n    kubectl "),
        format!("or, with covergence sync, --approve-prune {revision}\n"),
    ] {
        assert!(stdout.contains(&part), "{part:?}");
    }
    ns.text("sync", &source).arg("--prune").ok();
    let status = Run::on_lab(&["status", "-n", &ns.name, "it"]).ok().stdout;
    // In one line, to be copied.
    let command = format!("closurejvm.io/approve-prune={revision} --overwrite\n");
    assert!(status.contains(&command), "{status}");
}

#[test]
fn without_prune_nothing_waits() {
    let (ns, source) = left("off");
    let report = ns.sync(&source).ok();
    assert_eq!(report.json()["pruneApproval"], json!(null));
    assert_eq!(report.count("kept"), 4);
    let flag = ns.sync(&source).args(&["--approve-prune", "x"]).run();
    assert_eq!(flag.code, Some(2), "it needs --prune");
}

#[test]
fn an_approval_of_another_revision_approves_nothing() {
    let (ns, source) = left("other");
    let other = "sha256:0000";
    let flag = ["--prune", "--approve-prune", other];
    let report = ns.sync(&source).args(&flag).ok();
    assert_eq!(report.json()["pruneApproval"]["otherRevision"], other);
    assert_eq!(ns.members(), ["a", "argo", "marked"]);

    // Nor does one of this revision, once there is a new one.
    ns.approve("it", &revision(&ns, &source));
    source.write("a.yaml", &[config_map("a", "2")]);
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.json()["pruneApproval"]["needed"], 3);
    assert_eq!(ns.members(), ["a", "argo", "marked"]);
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "2");
    assert!(!is_going(&ns, "data"));
    let waits = ns.sync_condition("it", "PruneWaits");
    let message = waits["message"].as_str().unwrap();
    assert!(message.contains("is none of this revision"), "{message}");
}

/// Back to an older release and forth again: the revision is the same, and what it holds now is not.
#[test]
fn an_approval_is_for_once_also_when_the_revision_comes_back() {
    let ns = Namespace::new("once");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .with("marked.yaml", &[marked("marked")]);
    ns.sync(&source).ok();
    source.remove("marked.yaml");
    ns.approve("it", &revision(&ns, &source));
    ns.sync(&source).arg("--prune").ok();
    assert_eq!(ns.members(), ["a"]);
    source.write("marked.yaml", &[marked("marked")]);
    ns.sync(&source).arg("--prune").ok();
    source.remove("marked.yaml");
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.json()["pruneApproval"]["needed"], 1);
    assert_eq!(ns.members(), ["a", "marked"]);
}

/// Taking it off would be undone at once, for ever.
#[test]
fn an_approval_in_a_manifest_that_somebody_applies_is_left_there() {
    let ns = Namespace::new("applied");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .with("marked.yaml", &[marked("marked")]);
    ns.sync(&source).ok();
    source.remove("marked.yaml");
    let revision = revision(&ns, &source);
    let manifest = json!({
        "apiVersion": "closurejvm.io/v1alpha1", "kind": "Sync", "spec": {},
        "metadata": { "name": "it", "annotations": { "closurejvm.io/approve-prune": revision } },
    });
    api().apply(&ns.path("syncs", "it"), "somebody", &manifest);
    ns.sync(&source).arg("--prune").ok();
    assert_eq!(ns.members(), ["a"]);
    assert_eq!(ns.approved("it"), json!(revision));
    let before = ns.get("syncs", "it");
    ns.sync(&source).arg("--prune").ok().nothing_to_do();
    assert_eq!(ns.get("syncs", "it"), before);
}

#[test]
fn an_approval_is_not_spent_before_its_work_is_done() {
    let (ns, source) = left("failed");
    let fixed = |value: &str| config_map("fixed", value).set("/immutable", true);
    source.write("fixed.yaml", &[fixed("1")]);
    ns.sync(&source).ok();
    source.write("fixed.yaml", &[fixed("2")]);
    let revision = revision(&ns, &source);
    ns.approve("it", &revision);
    let report = ns.sync(&source).arg("--prune").code(2);
    assert_eq!(report.outcome("ConfigMap", "marked"), "skipped");
    assert_eq!(ns.approved("it"), json!(revision));
    ns.delete("configmaps", "fixed");
    ns.sync(&source).arg("--prune").ok();
    assert_eq!(ns.members(), ["a", "fixed"]);
    assert_eq!(ns.approved("it"), json!(null));
}

#[test]
fn a_namespace_and_a_definition_wait_and_go_with_what_they_hold() {
    let (ns, other) = (Namespace::new("kinds"), Namespace::unborn("held"));
    let group = format!("{}.example", unique("approve"));
    let cup = json!({ "apiVersion": format!("{group}/v1"), "kind": "Cup", "metadata": { "name": "cup" } });
    let source = Source::new().with("a.yaml", &[config_map("a", "")]).with(
        "gone.yaml",
        &[
            namespace(&other.name),
            marked("inside").within(&other.name),
            config_map("plain", "").within(&other.name),
            definition(&group, "Cup"),
            cup,
        ],
    );
    ns.sync(&source).ok();
    source.remove("gone.yaml");
    let crd = format!("cups.{group}");
    let report = ns.sync(&source).arg("--prune").ok();
    for (kind, name, outcome) in [
        ("Namespace", other.name.as_str(), "kept"),
        ("ConfigMap", "inside", "kept"),
        ("ConfigMap", "plain", "deleted"),
        ("CustomResourceDefinition", &crd, "kept"),
        ("Cup", "cup", "deleted"),
    ] {
        assert_eq!(report.outcome(kind, name), outcome, "{kind} {name}");
    }
    let report = ns.sync_approved(&source).ok();
    assert_eq!(report.count("deleted"), 3);
    eventually("the namespace is gone", || {
        api()
            .find(&format!("/api/v1/namespaces/{}", other.name))
            .is_none()
            .then_some(())
    });
}

/// Three ConfigMaps, two Secrets and a Service have left, of which more than the limits allow.
#[test]
fn limits_of_kinds_hold_beside_the_one_of_everything_until_an_approval_lifts_them() {
    let ns = Namespace::new("limits");
    let maps = ["b", "c", "d"].map(|name| config_map(name, ""));
    let rest = [secret("s", "x"), secret("t", "x"), service("web")];
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .with("maps.yaml", &maps)
        .with("rest.yaml", &rest);
    ns.sync(&source).ok();
    source.remove("maps.yaml");
    source.remove("rest.yaml");
    for (limits, told) in [
        (&["Secret=1"][..], "2 of 2 objects of kind Secret would go"),
        (
            &["Secret=2", "ConfigMap=50%"][..],
            "3 of 4 objects of kind ConfigMap would go",
        ),
        (
            &["Service=0", "6"][..],
            "1 of 1 objects of kind Service would go",
        ),
        (&["Secret=2", "5"][..], "6 of 7 objects would go"),
    ] {
        let flags: Vec<&str> = limits
            .iter()
            .flat_map(|limit| ["--prune-limit", limit])
            .collect();
        let report = ns.sync(&source).arg("--prune").args(&flags).code(2);
        let refused = report.json()["pruneRefused"].clone();
        assert!(refused.as_str().unwrap().contains(told), "{refused}");
        // The approval would let all of them go.
        assert_eq!(report.json()["pruneApproval"]["needed"], 6);
        assert_eq!(report.step("Service", "web")["action"], "refuse");
        assert_eq!(ns.members(), ["a", "b", "c", "d"]);
    }
    let ready = ns.sync_condition("it", "Ready");
    let message = ready["message"].as_str().unwrap();
    assert!(
        message.contains("raise the limit, or approve it"),
        "{message}"
    );
    assert_eq!(
        ns.sync_condition("it", "PruneWaits")["reason"],
        "PruneLimitExceeded"
    );

    ns.approve("it", &revision(&ns, &source));
    let flags = ["--prune", "--prune-limit", "0"];
    ns.sync(&source).args(&flags).ok();
    assert_eq!(ns.members(), ["a"]);
    assert!(!ns.exists("secrets", "s") && !ns.exists("services", "web"));
    assert_eq!(ns.approved("it"), json!(null));
}

#[test]
fn a_limit_of_kinds_that_is_not_exceeded_prunes() {
    let ns = Namespace::new("within");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", ""), secret("s", "x")])
        .with("b.yaml", &[config_map("b", ""), secret("t", "x")]);
    ns.sync(&source).ok();
    source.remove("b.yaml");
    let limits = [
        "--prune-limit",
        "ConfigMap=50%",
        "--prune-limit",
        "Secret=1",
    ];
    let report = ns.sync(&source).arg("--prune").args(&limits).ok();
    assert_eq!(report.count("deleted"), 2);
}

/// As while an API server starts: it lists kinds of its own before those of definitions.
#[test]
fn a_kind_that_is_not_served_just_now_is_neither_forgotten_nor_taken_for_gone() {
    let (ns, proxy) = (Namespace::new("unserved"), Proxy::new(shared()));
    let group = format!("{}.example", unique("unserved"));
    let cup = json!({ "apiVersion": format!("{group}/v1"), "kind": "Cup", "metadata": { "name": "cup" } });
    let source = Source::new()
        .with("a.yaml", &[config_map("a", ""), definition(&group, "Cup")])
        .with("gone.yaml", &[config_map("gone", ""), cup]);
    ns.sync(&source).ok();
    source.remove("gone.yaml");
    let served = format!("/apis/{group}/");
    proxy.set(move |asked| {
        let hidden = asked.uri.path().starts_with(&served);
        hidden.then_some(Fault::Code(404))
    });
    let report = Run::new(&["sync", "--name", "it", "--namespace", &ns.name, "--prune"])
        .args(&["-o", "json"])
        .on(proxy.dir())
        .arg(source.path())
        .code(2);
    let refused = report.json()["pruneRefused"].clone();
    let told = format!("does not serve the kind Cup.{group} just now");
    assert!(refused.as_str().unwrap().contains(&told), "{refused}");
    assert!(ns.exists("configmaps", "gone"));
    let kinds = &ns.get("syncs", "it")["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"];
    assert!(kinds.as_str().unwrap().contains(&group), "{kinds}");

    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.outcome("Cup", "cup"), "deleted");
    assert_eq!(report.outcome("ConfigMap", "gone"), "deleted");
}
