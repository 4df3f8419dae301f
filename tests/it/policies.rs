//! Policies: what they deny is not sent, is said at its place, and keeps the rest from nothing but being pruned.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::controller::{Setup, directory_sync};
use crate::support::covergence::Run;
use crate::support::manifest::{config_map, deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn at(path: &str) -> String {
    root().join(path).display().to_string()
}

/// The verdicts of `validate -o json` as `policy object: message`.
fn verdicts(policies: &str, source: &str, code: i32) -> Vec<String> {
    let run = Run::new(&["validate", "--namespace", "default", "-o", "json"]);
    let report = run.arg(source).args(&["--policy", policies]).code(code);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let verdicts = report["policies"]["verdicts"].as_array().cloned();
    let verdicts = verdicts.unwrap_or_default().into_iter();
    verdicts
        .map(|it| {
            let object = &it["object"];
            format!(
                "{} {} {}: {}",
                it["policy"].as_str().unwrap(),
                object["kind"].as_str().unwrap(),
                object["name"].as_str().unwrap(),
                it["message"].as_str().unwrap()
            )
        })
        .collect()
}

/// Each of the policies that we ship passes what it should, and denies what it should, for the reason that it gives.
#[test]
fn shipped_policies_pass_and_deny() {
    let denied: &[(&str, &[&str])] = &[
        (
            "agents",
            &[
                "agents Deployment pet: namespace shop does not allow coverage agents; its label closurejvm.io/coverage would have to be: allowed",
                "agents ClosureJVMTarget pet: namespace shop does not allow coverage agents; its label closurejvm.io/coverage would have to be: allowed",
            ],
        ),
        (
            "cluster-admin",
            &[
                "cluster-admin ClusterRoleBinding admins: it makes Group developers cluster-admin; bind a role with the rights that are needed",
                "cluster-admin RoleBinding admins: it makes Group developers cluster-admin; bind a role with the rights that are needed",
            ],
        ),
        (
            "coverage-services",
            &[
                "coverage-services Service balanced: a coverage Service must be headless (clusterIP: None), or each request reaches only one replica",
                "coverage-services Service exposed: type NodePort makes the agents reachable from outside of the cluster",
                "coverage-services Service exposed: externalIPs make the agents reachable from outside of the cluster",
            ],
        ),
        (
            "image-tags",
            &[
                "image-tags Deployment none: the images of these containers need a tag other than latest, or a digest: app",
                "image-tags Deployment latest: the images of these containers need a tag other than latest, or a digest: app",
                "image-tags Deployment port: the images of these containers need a tag other than latest, or a digest: app",
                "image-tags Pod init: the images of these containers need a tag other than latest, or a digest: prepare",
            ],
        ),
        (
            "privileged",
            &[
                "privileged Deployment privileged: these containers are privileged: app",
                "privileged Pod network: the pod is to share processes, memory or the network with its node (hostPID, hostIPC, hostNetwork)",
            ],
        ),
        (
            "secrets",
            &[
                "secrets Secret text: its values stand in a plain manifest; keep them in a vault, or seal them, and have them put in place in the cluster",
                "secrets Secret bytes: its values stand in a plain manifest; keep them in a vault, or seal them, and have them put in place in the cluster",
            ],
        ),
    ];
    let mut shipped: Vec<String> = fs::read_dir(root().join("policies"))
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    shipped.sort();
    let tested: Vec<&str> = denied.iter().map(|(name, _)| *name).collect();
    assert_eq!(shipped, tested);
    for (name, wanted) in denied {
        let policy = at(&format!("policies/{name}.yaml"));
        let good = verdicts(&policy, &at(&format!("tests/policies/{name}/good.yaml")), 0);
        assert_eq!(good, [""; 0], "{name}");
        let bad = verdicts(&policy, &at(&format!("tests/policies/{name}/bad.yaml")), 1);
        assert_eq!(bad, *wanted, "{name}");
    }
}

#[test]
fn our_own_examples_pass_all_of_them() {
    let (policies, manifests) = (at("policies"), at("manifests"));
    let run = Run::new(&["validate", &manifests, "--policy", &policies]).ok();
    assert_eq!(run.stdout, "10 objects, 0 errors, 0 warnings\n");
}

const LIMIT: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: limit }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps] }]
  validations:
    - expression: int(object.data.key) <= 5
      messageExpression: \"'the value is ' + object.data.key + ', and 5 is the most'\"
";

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The whole text that people see: the object's place and line, and the expression to look at.
#[test]
fn a_verdict_is_shown_at_the_object_and_with_the_expression() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "shop/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { key: \"9\" }\n",
    );
    write(folder.path(), "limit.yaml", LIMIT);
    let warn = LIMIT
        .replace("name: limit", "name: soft")
        .replace("<= 5", "< 0 / 0")
        + "  auditAnnotations: [{ key: value, valueExpression: object.data.key }]\n  failurePolicy: Ignore\n";
    write(folder.path(), "more/warn.yaml", &warn);
    let mut run = Run::new(&[
        "validate",
        "shop",
        "-n",
        "here",
        "--policy",
        "limit.yaml",
        "--policy",
        "more/",
        "-v",
    ])
    .into_parts();
    let output = run.0.current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
}

/// What is wrong with a policy, as people see it. No object passes what could not be read.
#[test]
fn what_is_wrong_with_a_policy_is_shown_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "shop/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n",
    );
    let binding = "---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: limit }
spec:
  policyName: limits
  validationActions: [Deny, Warn]
";
    let misspelt = LIMIT.replace("messageExpression", "messageExpresion");
    write(folder.path(), "limit.yaml", &(misspelt + binding));
    let run = Run::new(&["validate", "shop", "-n", "here", "--policy", "limit.yaml"]);
    let (mut command, _home) = run.into_parts();
    let output = command.current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
}

/// A policy also judges the Service that a Target is to get.
#[test]
fn the_service_of_a_target_is_held_back_as_well() {
    let ns = Namespace::new("policy-child");
    let source = Source::new().with("pet.yaml", &[deployment("pet"), own_agent("pet")]);
    let folder = tempfile::tempdir().unwrap();
    let none = LIMIT
        .replace("configmaps", "services")
        .replace(
            "int(object.data.key) <= 5",
            "object.spec.clusterIP != 'None'",
        )
        .replace(
            "'the value is ' + object.data.key + ', and 5 is the most'",
            "'none'",
        );
    write(folder.path(), "none.yaml", &none);
    let policy = folder.path().join("none.yaml").display().to_string();
    let report = ns.run("sync", &source).args(&["--policy", &policy]).code(2);
    assert_eq!(report.outcome("Deployment", "pet"), "created");
    assert_eq!(report.outcome("Service", "pet-coverage"), "refused");
    let why = format!("policy limit denies Service {}/pet-coverage: none", ns.name);
    assert_eq!(report.message("Service", "pet-coverage"), why);
    assert!(!ns.exists("services", "pet-coverage"));
    let condition = ns.condition("pet", "CoverageServiceReady");
    assert_eq!(condition["reason"], "PolicyDenied");
    assert_eq!(condition["message"], why);
}

#[test]
fn a_denied_object_is_held_back_and_its_neighbours_are_not() {
    let ns = Namespace::new("policy");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "1"), config_map("b", "9")])
        .with("gone.yaml", &[config_map("gone", "1")]);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "limit.yaml", LIMIT);
    let policy = folder.path().join("limit.yaml").display().to_string();
    let with_policy = |command: &str| ns.run(command, &source).args(&["--policy", &policy]);

    let plan = with_policy("diff").code(2);
    let step = plan.step("ConfigMap", "b");
    assert_eq!(step["action"], "refuse");
    assert_eq!(
        step["reason"],
        format!(
            "policy limit denies ConfigMap {}/b: the value is 9, and 5 is the most",
            ns.name
        )
    );
    assert!(step.get("diff").is_none(), "{step}");

    let report = with_policy("sync").code(2);
    assert_eq!(report.outcome("ConfigMap", "a"), "created");
    assert_eq!(report.outcome("ConfigMap", "b"), "refused");
    assert!(ns.exists("configmaps", "a") && !ns.exists("configmaps", "b"));
    assert_eq!(report.outcome("ConfigMap", "gone"), "created");

    // Nothing goes while something is held back.
    source.remove("gone.yaml");
    let report = with_policy("sync").arg("--prune").code(2);
    assert_eq!(report.outcome("ConfigMap", "gone"), "refused");
    assert!(
        report
            .message("ConfigMap", "gone")
            .contains("policies hold back 1 object")
    );
    assert!(ns.exists("configmaps", "gone"));

    let ready = ns.sync_condition("it", "Ready");
    assert_eq!(
        (&ready["status"], &ready["reason"]),
        (&json!("False"), &json!("PolicyDenied"))
    );
    let message = format!(
        "policy limit denies ConfigMap {}/b: the value is 9, and 5 is the most (a.yaml:",
        ns.name
    );
    assert!(
        ready["message"].as_str().unwrap().starts_with(&message),
        "{ready}"
    );

    source.write("a.yaml", &[config_map("a", "1"), config_map("b", "5")]);
    let report = with_policy("sync").arg("--prune").ok();
    assert_eq!(report.outcome("ConfigMap", "b"), "created");
    assert_eq!(report.outcome("ConfigMap", "gone"), "deleted");
}

/// What is in the cluster is the old object, and the namespaces of the cluster are known.
#[test]
fn policies_see_the_cluster() {
    let ns = Namespace::new("policy-live");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let folder = tempfile::tempdir().unwrap();
    let fixed = LIMIT.replace(
        "int(object.data.key) <= 5",
        "oldObject == null || oldObject.data.key == object.data.key",
    );
    let named = LIMIT.replace("name: limit", "name: named").replace(
        "int(object.data.key) <= 5",
        "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == object.metadata.namespace && request.userInfo.username == 'policy-live'",
    );
    write(folder.path(), "fixed.yaml", &fixed);
    write(folder.path(), "named.yaml", &named);
    let policy = folder.path().display().to_string();
    let sync = || {
        ns.run("sync", &source)
            .args(&["--policy", &policy])
            .admin("policy-live")
    };
    assert_eq!(sync().ok().outcome("ConfigMap", "a"), "created");
    assert_eq!(sync().ok().outcome("ConfigMap", "a"), "unchanged");
    source.write("a.yaml", &[config_map("a", "2")]);
    assert_eq!(sync().code(2).outcome("ConfigMap", "a"), "refused");
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "1");
}

/// A policy that cannot be read lets nothing pass.
#[test]
fn a_broken_policy_holds_everything_back() {
    let ns = Namespace::new("policy-broken");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "limit.yaml",
        &LIMIT.replace("validations", "validation"),
    );
    let policy = folder.path().display().to_string();
    let report = ns.run("sync", &source).args(&["--policy", &policy]).code(2);
    assert_eq!(report.outcome("ConfigMap", "a"), "refused");
    assert!(!ns.exists("configmaps", "a"));
}

/// A Sync names the policies in its own source: they are not applied, and what they deny is told in its status.
#[test]
fn the_controller_holds_back_what_the_policies_of_a_sync_deny() {
    let ns = Namespace::new("policy-sync");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "1"), config_map("b", "9")])
        .file("policies/limit.yaml", LIMIT);
    let spec = json!({ "policies": ["policies"] });
    let sync = directory_sync(&ns.name, "it", &source, spec);
    let _controller = Setup {
        syncs: &[sync],
        ..Setup::new(&[&ns.name])
    }
    .start();
    let message = ns.wait_until_not_ready("it", "PolicyDenied");
    assert!(
        message.contains("the value is 9, and 5 is the most (a.yaml:"),
        "{message}"
    );
    assert!(ns.exists("configmaps", "a") && !ns.exists("configmaps", "b"));

    source.write("a.yaml", &[config_map("a", "1"), config_map("b", "3")]);
    ns.wait_until_ready("it");
    assert!(ns.exists("configmaps", "b"));
    assert_eq!(ns.get("syncs", "it")["status"]["objects"]["total"], 2);
}
