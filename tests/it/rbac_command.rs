//! `covergence rbac`: what it prints is enough to sync, and nothing of it is too much.

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::audit::{Audit, Event};
use crate::support::covergence::{Output, Run};
use crate::support::kubectl::kubectl;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{
    Change, config_map, definition, deployment, namespace, own_agent, secret,
};
use crate::support::namespace::{Namespace, unique};
use crate::support::rights::{self, rights_of, unused};
use crate::support::shipped::may;
use crate::support::source::Source;

/// The account of a namespace that gets rights.
fn tenant(ns: &Namespace) -> String {
    format!("system:serviceaccount:{}:tenant", ns.name)
}

/// Everything that the account asks from now on.
fn audit(ns: &Namespace) -> Audit<'static> {
    let mut audit = Audit::new("tenant");
    audit.user = tenant(ns);
    audit
}

/// `covergence rbac` for the Sync `it` of a namespace.
fn rbac(ns: &Namespace, source: &Source) -> Run {
    Run::new(&["rbac", "--name", "it", "--namespace", &ns.name]).arg(source.path())
}

/// The rights of `tenant`, as objects.
fn rights(ns: &Namespace, source: &Source, flags: &[&str]) -> Vec<Value> {
    printed(&tenants(ns, source, flags).ok())
}

fn tenants(ns: &Namespace, source: &Source, flags: &[&str]) -> Run {
    rbac(ns, source)
        .args(&["--service-account", "tenant", "-o", "json"])
        .args(flags)
}

/// The objects that it prints.
fn printed(output: &Output) -> Vec<Value> {
    let list = output.json();
    assert_eq!(list["kind"], "List");
    list["items"].as_array().unwrap().clone()
}

/// Gives the rights, as people would, and waits until the API server goes by them.
fn give(ns: &Namespace, objects: &[Value]) {
    let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "tenant", "namespace": ns.name } });
    let all = [&[account], objects].concat();
    kubectl(&["apply", "--server-side", "-f", "-"], &all);
    await_rights(&tenant(ns), objects);
}

/// Each role is in force, with its binding, once its first and its last rule are.
fn await_rights(user: &str, objects: &[Value]) {
    for right in rights_of(objects) {
        eventually(&format!("{user} may {right:?}"), || {
            may(api(), user, &right).then_some(())
        });
    }
}

/// What the account was not allowed, but for one thing: a source without Targets asks for those of others all the same,
/// and takes a refusal for "none".
fn refused(events: &[Event]) -> Vec<&Event> {
    let others = |event: &&Event| event.resource == "closurejvmtargets" && event.verb == "list";
    let refused = rights::refused(events).into_iter();
    refused.filter(|event| !others(event)).collect()
}

/// A life of a source: made, drifted, scaled, changed, switched off, and gone.
#[test]
fn what_is_printed_is_enough_and_every_verb_of_it_is_used() {
    let ns = Namespace::new("rbac");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "1"), secret("s", "one")])
        .with("pet.yaml", &[deployment("pet"), own_agent("pet")]);
    let objects = rights(&ns, &source, &["--one-shot", "--prune"]);
    give(&ns, &objects);
    let audit = audit(&ns);
    let user = tenant(&ns);
    let sync = || ns.sync(&source).args(&["--as", &user]);

    assert_eq!(sync().ok().count("created"), 5);
    assert!(ns.status("pet")["coverageEndpoint"].is_string());
    sync().ok().nothing_to_do();
    ns.edit(
        "deployments:scale",
        "pet",
        &json!({ "spec": { "replicas": 3 } }),
    );
    ns.edit(
        "services",
        "pet-coverage",
        &json!({ "metadata": { "labels": null } }),
    );
    source.write("a.yaml", &[config_map("a", "2"), secret("s", "two")]);
    let off = own_agent("pet").set("/spec/coverageService", false);
    ns.diff(&source).args(&["--as", &user]).code(1);
    sync().ok();
    source.write(
        "pet.yaml",
        &[deployment("pet").set("/spec/replicas", 1), off],
    );
    ns.diff(&source).args(&["--as", &user]).code(1);
    let report = sync().ok();
    assert_eq!(report.outcome("Service", "pet-coverage"), "deleted");
    source.remove("a.yaml");
    source.remove("pet.yaml");
    ns.diff(&source)
        .args(&["--as", &user, "--prune", "--allow-empty"])
        .code(1);
    let report = sync().args(&["--prune", "--allow-empty"]).ok();
    assert_eq!(report.count("deleted"), 4);

    let events = audit.events();
    assert!(refused(&events).is_empty(), "{:#?}", refused(&events));
    // Only the controller follows what a list has begun.
    let unused = unused(&rights_of(&objects), &events);
    let unused: Vec<_> = unused
        .iter()
        .filter(|right| right.verb != "watch")
        .collect();
    assert!(unused.is_empty(), "{unused:#?}");
}

/// Makes a ConfigMap, changes it and prunes it, and says whether all went well.
fn went_well(ns: &Namespace) -> bool {
    let user = tenant(ns);
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let run = |command: &str, flags: &[&str], good: i32| {
        let run = ns.run(command, &source).args(&["--as", &user]).args(flags);
        run.run().code == Some(good)
    };
    let mut well = run("sync", &[], 0);
    source.write("a.yaml", &[config_map("a", "2")]);
    well &= run("diff", &[], 1);
    well &= run("sync", &[], 0);
    source.remove("a.yaml");
    well &= run("sync", &["--prune", "--allow-empty"], 0);
    // Who may not list the members is not told that none was pruned.
    well && !ns.exists("configmaps", "a")
}

#[test]
fn with_one_verb_less_something_fails() {
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let whole = Namespace::new("rbac-whole");
    let objects = rights(&whole, &source, &["--one-shot", "--prune"]);
    give(&whole, &objects);
    assert!(went_well(&whole), "with all verbs");

    let rules = objects[0]["rules"].as_array().unwrap();
    let mut tried = 0;
    for (i, rule) in rules.iter().enumerate() {
        let verbs = rule["verbs"].as_array().unwrap();
        for (k, verb) in verbs
            .iter()
            .enumerate()
            .filter(|(_, verb)| *verb != "watch")
        {
            let ns = Namespace::new("rbac-less");
            let mut less = rights(&ns, &source, &["--one-shot", "--prune"]);
            let kept = less[0]["rules"][i]["verbs"].as_array_mut().unwrap();
            kept.remove(k);
            if kept.is_empty() {
                less[0]["rules"].as_array_mut().unwrap().remove(i);
            }
            give(&ns, &less);
            let audit = audit(&ns);
            let well = went_well(&ns);
            let what = format!("without {verb} of {rule}");
            assert!(!refused(&audit.events()).is_empty(), "{what}");
            // Whether a namespace is there is asked out of courtesy: the error is the better for it.
            let courtesy = rule["resources"] == json!(["namespaces"]);
            assert_eq!(well, courtesy, "{what}");
            tried += 1;
        }
    }
    assert_eq!(tried, 10, "{rules:#?}");
}

/// The output is a source like any other, and holds for several namespaces and what lives in none.
#[test]
fn the_rights_themselves_can_be_synced() {
    let (home, other) = (Namespace::new("rbac-home"), Namespace::new("rbac-other"));
    let group = format!("{}.example.org", unique("rbac"));
    let zones = definition(&group, "Zone").set("/spec/scope", "Cluster");
    let zone = json!({ "apiVersion": format!("{group}/v1"), "kind": "Zone", "metadata": { "name": "z" }, "spec": { "size": 1 } });
    let source = Source::new().with(
        "a.yaml",
        &[
            zones,
            zone,
            config_map("a", "1"),
            secret("b", "1").within(&other.name),
        ],
    );
    let text = rbac(&home, &source)
        .args(&["--service-account", "tenant", "--one-shot"])
        .ok();
    let printed = Source::new().file("rights.yaml", &text.stdout);
    assert_eq!(home.sync_as("rights", &printed).ok().count("created"), 6);

    let user = tenant(&home);
    await_rights(&user, &rights(&home, &source, &["--one-shot"]));
    let audit = audit(&home);
    let sync = || home.sync(&source).args(&["--as", &user]);
    assert_eq!(sync().ok().count("created"), 4);
    sync().ok().nothing_to_do();
    let events = audit.events();
    assert!(refused(&events).is_empty(), "{:#?}", refused(&events));

    let definition = format!("zones.{group}");
    api().delete(&path("customresourcedefinitions", None, Some(&definition)));
}

#[test]
fn another_name_fails_by_itself_unless_any_name_may_be() {
    let ns = Namespace::new("rbac-names");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    give(&ns, &rights(&ns, &source, &["--one-shot"]));
    source.write("b.yaml", &[config_map("b", "1")]);
    let sync = || ns.sync(&source).args(&["--as", &tenant(&ns)]);
    let report = sync().code(2);
    assert_eq!(report.outcome("ConfigMap", "a"), "created");
    assert_eq!(report.outcome("ConfigMap", "b"), "failed");
    assert!(report.message("ConfigMap", "b").contains("not allowed"));
    source.remove("b.yaml");
    give(&ns, &rights(&ns, &source, &["--one-shot", "--any-name"]));
    source.write("b.yaml", &[config_map("b", "1")]);
    assert_eq!(sync().ok().outcome("ConfigMap", "b"), "created");
}

#[test]
fn rights_to_pass_on_are_not_granted_by_the_way() {
    let ns = Namespace::new("rbac-pass");
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": "reader" },
        "rules": [{ "apiGroups": [""], "resources": ["secrets"], "verbs": ["get"] }],
    });
    let source = Source::new().with("role.yaml", &[role]);
    let output = tenants(&ns, &source, &["--one-shot"]).ok();
    assert!(
        output
            .stderr
            .contains("the verb escalate: neither is granted"),
        "{output:?}"
    );
    assert!(output.stderr.contains("--> role.yaml:2:1"), "{output:?}");
    give(&ns, &printed(&output));
    let report = ns.sync(&source).args(&["--as", &tenant(&ns)]).code(2);
    assert_eq!(report.outcome("Role", "reader"), "failed");
}

#[test]
fn a_sync_in_the_source_says_what_it_does_and_as_whom() {
    let ns = Namespace::unborn("rbac-self");
    let sync = json!({ "apiVersion": "closurejvm.io/v1alpha1", "kind": "Sync", "metadata": { "name": "it" }, "spec": {
        "source": { "git": { "url": "https://git.example/shop.git", "secretRef": { "name": "login" } } },
        "prune": true,
        "serviceAccountName": "robot",
    } });
    let source = Source::new().with("a.yaml", &[sync, config_map("a", "1")]);
    let objects = printed(&rbac(&ns, &source).args(&["-o", "json"]).ok());
    let subject = json!([{ "kind": "ServiceAccount", "namespace": ns.name, "name": "robot" }]);
    assert_eq!(objects[1]["subjects"], subject);
    let rules = objects[0]["rules"].as_array().unwrap();
    let expected = [
        json!({ "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["create", "patch", "delete"] }),
        json!({ "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["login"], "verbs": ["get"] }),
    ];
    for rule in expected {
        assert!(rules.contains(&rule), "{rule}: {rules:#?}");
    }
}

#[test]
fn a_sync_in_the_source_says_where_its_objects_go() {
    let ns = Namespace::unborn("rbac-self");
    let sync = json!({ "apiVersion": "closurejvm.io/v1alpha1", "kind": "Sync", "metadata": { "name": "it", "namespace": ns.name },
        "spec": { "targetNamespace": "elsewhere" } });
    let source = Source::new().with("a.yaml", &[sync, config_map("a", "1")]);
    let objects = printed(&rbac(&ns, &source).args(&["-o", "json"]).ok());
    let written = json!({ "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["create", "patch"] });
    let writes = objects.iter().filter(|role| {
        let rules = role["rules"].as_array();
        rules.is_some_and(|rules| rules.contains(&written))
    });
    let writes: Vec<_> = writes.map(|role| &role["metadata"]["namespace"]).collect();
    assert_eq!(writes, ["elsewhere"]);
}

#[test]
fn a_source_with_errors_gets_what_can_be_read_and_exit_code_2() {
    let ns = Namespace::unborn("rbac-broken");
    let zone = json!({ "apiVersion": "example.org/v1", "kind": "Zone", "metadata": { "name": "z", "namespace": ns.name } });
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), zone]);
    let output = tenants(&ns, &source, &[]).ok();
    assert!(
        output
            .stderr
            .contains("no right is given for Zone.example.org"),
        "{output:?}"
    );
    source.write_text("broken.yaml", "broken: [");
    let output = tenants(&ns, &source, &[]).code(2);
    assert_eq!(printed(&output).len(), 2);
    // A namespace that comes with the source is needed before its Role.
    let source = Source::new().with("a.yaml", &[namespace(&ns.name), config_map("a", "1")]);
    let output = tenants(&ns, &source, &[]).ok();
    assert!(
        output.stderr.contains("only when it is there"),
        "{output:?}"
    );
}

#[test]
fn the_text_says_why_it_is_no_less() {
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let output = Run::new(&["rbac", "--name", "shop", "--namespace", "team"])
        .arg(source.path())
        .ok();
    insta::assert_snapshot!(output.stdout);
}
