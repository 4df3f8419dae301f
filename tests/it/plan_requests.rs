//! What a look costs: no writes ever, and no request for an object that has not changed.

use serde_json::json;

use crate::support::audit::Audit;
use crate::support::manifest::{Change, config_map, deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

fn many(n: usize) -> Vec<serde_json::Value> {
    (0..n).map(|i| config_map(&format!("c{i}"), "1")).collect()
}

#[test]
fn a_diff_never_writes() {
    let ns = Namespace::new("read-only");
    let source = Source::new()
        .with("a.yaml", &many(3))
        .with("pet.yaml", &[deployment("pet"), own_agent("pet")]);
    let audit = Audit::new("read-only");
    let diff = || ns.diff(&source).admin(&audit.user);
    diff().code(1);
    ns.sync(&source).arg("--dry-run").admin(&audit.user).code(1);
    assert!(!ns.exists("syncs", "it"));
    ns.sync(&source).ok();
    ns.edit("configmaps", "c0", &json!({ "data": { "key": "drifted" } }));
    source.write("a.yaml", &many(2));
    diff()
        .args(&["--prune", "--full", "--force-conflicts"])
        .code(1);
    assert!(audit.events().iter().any(|event| event.is_dry_run()));
    let writes = audit.writes();
    assert!(writes.is_empty(), "{writes:#?}");
}

#[test]
fn unchanged_objects_cost_no_request_of_their_own() {
    let mut requests = Vec::new();
    for n in [5, 40] {
        let ns = Namespace::new("cost");
        let source = Source::new()
            .with("a.yaml", &many(n))
            .with("pet.yaml", &[deployment("pet"), own_agent("pet")]);
        ns.sync(&source).ok();
        for command in ["diff", "sync"] {
            let audit = Audit::new("cost");
            ns.run(command, &source).admin(&audit.user).ok();
            let events = audit.events();
            let of_members: Vec<_> = events
                .iter()
                .filter(|e| e.resource == "configmaps" && e.verb != "list")
                .collect();
            assert!(of_members.is_empty(), "{of_members:#?}");
            requests.push((command, events.len()));
        }
    }
    assert_eq!(
        requests[0], requests[2],
        "the number of objects must not matter"
    );
    assert_eq!(
        requests[1], requests[3],
        "the number of objects must not matter"
    );
    assert!(
        requests.iter().all(|(_, n)| (3..20).contains(n)),
        "{requests:?}"
    );
}

#[test]
fn one_changed_object_costs_its_own_requests_only() {
    let ns = Namespace::new("one");
    let objects = many(20);
    let source = Source::new().with("a.yaml", &objects);
    ns.sync(&source).ok();
    let mut changed = objects;
    changed[7] = config_map("c7", "2");
    source.write("a.yaml", &changed);
    let of_members = |audit: &Audit<'_>| -> Vec<(String, String)> {
        let events = audit.events().into_iter();
        let own = events.filter(|e| e.resource == "configmaps" && e.verb != "list");
        own.map(|e| (e.verb, e.name)).collect()
    };
    let audit = Audit::new("one");
    ns.diff(&source).admin(&audit.user).code(1);
    // The live object, and what the server would make of it.
    let mut asked = of_members(&audit);
    asked.sort_unstable();
    assert_eq!(
        asked,
        [("get".into(), "c7".into()), ("patch".into(), "c7".into())]
    );
    let audit = Audit::new("one");
    ns.sync(&source).admin(&audit.user).ok();
    assert_eq!(of_members(&audit), [("patch".into(), "c7".into())]);
}

#[test]
fn a_full_dry_run_agrees_with_the_fast_path() {
    let ns = Namespace::new("full");
    let source = Source::new()
        .with("a.yaml", &many(5))
        .with("pet.yaml", &[deployment("pet"), own_agent("pet")]);
    ns.sync(&source).ok();
    let audit = Audit::new("full");
    ns.diff(&source)
        .arg("--full")
        .admin(&audit.user)
        .ok()
        .nothing_to_do();
    let dry: Vec<_> = audit
        .events()
        .into_iter()
        .filter(|e| e.is_dry_run())
        .map(|e| e.name)
        .collect();
    // Five ConfigMaps, Deployment, Target and Service.
    assert_eq!(dry.len(), 8, "{dry:?}");

    ns.edit("configmaps", "c1", &json!({ "data": { "key": "drifted" } }));
    ns.edit(
        "configmaps",
        "c2",
        &json!({ "data": { "extra": "theirs" } }),
    );
    ns.edit(
        "configmaps",
        "c3",
        &json!({ "metadata": { "labels": { "theirs": "too" } } }),
    );
    ns.delete("configmaps", "c4");
    ns.edit(
        "services",
        "pet-coverage",
        &json!({ "spec": { "selector": { "track": "canary" } } }),
    );
    source.write(
        "pet.yaml",
        &[
            deployment("pet").set("/spec/minReadySeconds", 1),
            own_agent("pet"),
        ],
    );
    let told = |flags: &[&str]| -> Vec<_> {
        let steps = ns.diff(&source).args(flags).code(1).steps();
        steps
            .into_iter()
            .map(|s| (s["name"].clone(), s["action"].clone(), s["diff"].clone()))
            .collect()
    };
    let (fast, full) = (told(&["--all"]), told(&["--all", "--full"]));
    assert_eq!(fast, full);
    let changed: Vec<_> = fast
        .iter()
        .filter(|(_, action, _)| action != "unchanged")
        .map(|(name, ..)| name.clone())
        .collect();
    assert_eq!(changed, ["c1", "c4", "pet", "pet-coverage"]);
}
