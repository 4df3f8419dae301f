//! Users who may little.

use serde_json::json;

use crate::support::audit::Audit;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, config_map, deployment, own_agent, secret};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// What a tenant needs who syncs ConfigMaps and Targets.
const TENANT: [&str; 6] = [
    "/configmaps",
    "/services",
    "apps/deployments",
    "closurejvm.io/closurejvmtargets",
    "closurejvm.io/syncs",
    "discovery.k8s.io/endpointslices",
];

#[test]
fn rights_in_one_namespace_are_enough_to_sync_there() {
    let ns = Namespace::new("tenant");
    let audit = Audit::new("tenant");
    ns.allow(&audit.user, &TENANT);
    let source = Source::new().with(
        "a.yaml",
        &[config_map("a", "1"), deployment("pet"), own_agent("pet")],
    );
    let sync = || ns.sync(&source).args(&["--as", &audit.user]);
    ns.diff(&source).args(&["--as", &audit.user]).code(1);
    assert_eq!(sync().ok().count("created"), 4);
    assert!(ns.status("pet")["coverageEndpoint"].is_string());
    sync().ok().nothing_to_do();
    source.write("a.yaml", &[config_map("b", "1")]);
    let report = sync().arg("--prune").ok();
    assert_eq!(report.outcome("ConfigMap", "a"), "deleted");
    // No write was refused on the way.
    let refused: Vec<_> = audit
        .writes()
        .into_iter()
        .filter(|event| event.code >= 400)
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn where_the_whole_cluster_may_not_be_listed_namespaces_are_listed_one_by_one() {
    let audit = Audit::new("lists");
    // More than are listed one by one without asking for all of them first.
    let spaces: Vec<Namespace> = (0..6)
        .map(|i| Namespace::new(&format!("lists{i}")))
        .collect();
    let mut objects = Vec::new();
    for ns in &spaces {
        ns.allow(&audit.user, &TENANT);
        objects.push(config_map("a", "1").within(&ns.name));
    }
    let source = Source::new().with("a.yaml", &objects);
    let sync = || spaces[0].sync(&source).args(&["--as", &audit.user]);
    assert_eq!(sync().ok().count("created"), 6);
    sync().ok().nothing_to_do();
    let whole = "/api/v1/configmaps";
    let tried: Vec<_> = audit
        .events()
        .into_iter()
        .filter(|e| e.uri.starts_with(whole))
        .collect();
    assert!(
        !tried.is_empty() && tried.iter().all(|e| e.code == 403),
        "{tried:?}"
    );
}

#[test]
fn an_object_that_one_may_not_read_or_write_fails_by_itself() {
    let ns = Namespace::new("forbidden");
    let audit = Audit::new("forbidden");
    ns.allow(&audit.user, &TENANT);
    let source = Source::new().with(
        "a.yaml",
        &[config_map("a", "1"), secret("s", "correct-horse")],
    );
    let sync = || ns.sync(&source).args(&["--as", &audit.user]).code(2);
    let report = sync();
    assert_eq!(report.outcome("ConfigMap", "a"), "created");
    assert_eq!(report.outcome("Secret", "s"), "refused");
    assert!(report.message("Secret", "s").contains("cannot be listed"));
    report.hides("correct-horse");

    // Now he may look, but not touch.
    let rule = json!([{ "op": "add", "path": "/rules/-", "value": { "apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"] } }]);
    api().patch(&ns.path("roles", "tenant"), &rule);
    let report = eventually("the new rule counts", || {
        let report = sync();
        (report.outcome("Secret", "s") != "refused").then_some(report)
    });
    assert_eq!(report.outcome("Secret", "s"), "failed");
    assert!(report.message("Secret", "s").contains("not allowed"));
    report.hides("correct-horse");
    assert!(!ns.exists("secrets", "s"));
}

/// Somebody who may not see a kind neither prunes its members nor takes it off the inventory.
#[test]
fn what_one_may_not_list_is_not_taken_for_gone() {
    let targets = "closurejvm.io/closurejvmtargets";
    for (kind, resource, object) in [
        ("Secret", "/secrets", secret("left", "x")),
        ("ClosureJVMTarget", targets, own_agent("left")),
    ] {
        let ns = Namespace::new("blind");
        let plural = resource.split_once('/').unwrap().1;
        let source = Source::new()
            .with("a.yaml", &[config_map("a", "1")])
            .with("left.yaml", &[object]);
        ns.sync(&source).ok();
        let audit = Audit::new("blind");
        let rights: Vec<&str> = TENANT.into_iter().filter(|r| *r != resource).collect();
        ns.allow(&audit.user, &rights);
        source.remove("left.yaml");
        ns.sync(&source)
            .args(&["--as", &audit.user])
            .arg("--prune")
            .run();
        assert!(ns.exists(plural, "left"));
        // Somebody with more rights finds it.
        let report = ns.sync(&source).arg("--prune").ok();
        assert_eq!(report.outcome(kind, "left"), "deleted");
    }
}

#[test]
fn who_may_not_write_the_inventory_touches_no_member() {
    let ns = Namespace::new("no-parent");
    let audit = Audit::new("no-parent");
    ns.allow(&audit.user, &["/configmaps"]);
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let output = ns.sync(&source).args(&["--as", &audit.user]).code(2);
    assert!(output.stderr.contains("not allowed"), "{output:?}");
    assert!(!ns.exists("configmaps", "a"));
}
