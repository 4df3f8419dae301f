//! `covergence run`: who waits for whom, and who does not.

use serde_json::{Value, json};

use crate::support::audit::Audit;
use crate::support::controller::{Setup, directory_sync, sync};
use crate::support::lab::eventually;
use crate::support::manifest::{Change as _, config_map, deployment};
use crate::support::namespace::Namespace;
use crate::support::server::free_port;
use crate::support::source::Source;

const WAVE: &str = "argocd.argoproj.io/sync-wave";

fn with(name: &str, value: &str) -> Source {
    Source::new().with("a.yaml", &[config_map(name, value)])
}

fn needing(ns: &Namespace, name: &str, source: &Source, needs: &[&str]) -> Value {
    let needs: Vec<Value> = needs.iter().map(|name| json!({ "name": name })).collect();
    directory_sync(&ns.name, name, source, json!({ "dependsOn": needs }))
}

#[test]
fn failing_syncs_do_not_delay_a_healthy_one() {
    let ns = Namespace::new("healthy");
    let audit = Audit::new("healthy");
    let git = json!({ "url": format!("http://127.0.0.1:{}/pets.git", free_port()) });
    let unreachable = sync(&ns.name, "unreachable", json!({ "source": { "git": git } }));
    // A name that no server takes.
    let refused: Vec<Value> = (0..20)
        .map(|i| config_map(&format!("r{i}"), "1").set("/data/not~1allowed", "1"))
        .collect();
    let refused = Source::new().with("a.yaml", &refused);
    let good = with("good", "1");
    let _controller = Setup {
        user: Some(&audit.user),
        syncs: &[
            unreachable,
            directory_sync(&ns.name, "refused", &refused, json!({})),
            directory_sync(&ns.name, "good", &good, json!({})),
        ],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("good");
    ns.wait_until_not_ready("unreachable", "ArtifactFailed");
    ns.wait_until_not_ready("refused", "ReconciliationFailed");
    for i in 0..20 {
        good.write("a.yaml", &[config_map("good", &format!("v{i}"))]);
        ns.wait_for_value("good", &format!("v{i}"));
    }
    let tries = audit
        .events()
        .iter()
        .filter(|event| event.name == "r7")
        .count();
    assert!((1..=8).contains(&tries), "{tries}");
    // What helps is not waited for.
    refused.write("a.yaml", &[config_map("r7", "1")]);
    ns.wait_until_ready("refused");
}

#[test]
fn a_sync_goes_on_when_what_it_depends_on_is_ready() {
    let ns = Namespace::new("depends");
    let (base, shop, top) = (with("base", "1"), with("shop", "1"), with("top", "1"));
    base.write_text("b.yaml", "kind: [");
    let _controller = Setup {
        syncs: &[
            needing(&ns, "top", &top, &["shop"]),
            needing(&ns, "shop", &shop, &["base"]),
            needing(&ns, "base", &base, &[]),
        ],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_not_ready("base", "ReconciliationFailed");
    let message = ns.wait_until_not_ready("shop", "DependencyNotReady");
    assert!(message.contains(&format!("{}/base", ns.name)), "{message}");
    ns.wait_until_not_ready("top", "DependencyNotReady");
    assert_eq!(ns.members(), ["base"]);
    base.remove("b.yaml");
    ns.wait_until_ready("shop");
    ns.wait_until_ready("top");
    assert_eq!(ns.members(), ["base", "shop", "top"]);
}

#[test]
fn a_dependency_that_is_missing_is_waited_for() {
    let ns = Namespace::new("missing");
    let (base, shop) = (with("base", "1"), with("shop", "1"));
    let controller = Setup {
        syncs: &[needing(&ns, "shop", &shop, &["base"])],
        ..Setup::new(&[&ns.name])
    }
    .start();
    let message = ns.wait_until_not_ready("shop", "DependencyNotReady");
    assert!(message.contains("does not exist"), "{message}");
    assert!(ns.sync_condition("shop", "Stalled").is_null());
    controller.write_syncs(&[
        needing(&ns, "shop", &shop, &["base"]),
        needing(&ns, "base", &base, &[]),
    ]);
    ns.wait_until_ready("shop");
}

#[test]
fn syncs_that_depend_on_each_other_are_stalled() {
    let ns = Namespace::new("circle");
    let names = ["one", "two", "three"];
    let sources = names.map(|name| with(name, "1"));
    let sync = |i: usize, needs: &[&str]| needing(&ns, names[i], &sources[i], needs);
    let controller = Setup {
        syncs: &[sync(0, &["two"]), sync(1, &["three"]), sync(2, &["one"])],
        ..Setup::new(&[&ns.name])
    }
    .start();
    for name in names {
        let message = ns.wait_until_not_ready(name, "DependencyCycle");
        assert!(message.contains("->"), "{message}");
        assert_eq!(ns.sync_condition(name, "Stalled")["status"], "True");
    }
    assert_eq!(ns.members(), Vec::<String>::new());
    controller.write_syncs(&[sync(0, &["two"]), sync(1, &["three"]), sync(2, &[])]);
    for name in names {
        ns.wait_until_ready(name);
    }
}

#[test]
fn nothing_is_written_while_a_sync_is_suspended() {
    let ns = Namespace::new("suspend");
    let (source, other) = (with("a", "1"), with("other", "1"));
    let suspended = |suspend: bool| {
        [
            directory_sync(&ns.name, "it", &source, json!({ "suspend": suspend })),
            directory_sync(&ns.name, "other", &other, json!({})),
        ]
    };
    let controller = Setup {
        syncs: &suspended(false),
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    ns.wait_until_ready("other");
    controller.write_syncs(&suspended(true));
    eventually("it is suspended", || {
        (ns.get("syncs", "it")["spec"]["suspend"] == true).then_some(())
    });
    // The look that this change makes comes before the next one of the same Sync ends.
    eventually("the controller has seen it", || {
        let value = controller.metric(
            "covergence_sync_info",
            &["name=\"it\"", "suspended=\"true\""],
        );
        (value >= 1.0).then_some(())
    });
    source.write("a.yaml", &[config_map("a", "2"), config_map("b", "2")]);
    ns.edit("configmaps", "a", &json!({ "data": { "key": "mine" } }));
    let version = ns.get("configmaps", "a")["metadata"]["resourceVersion"].clone();
    for i in 0..5 {
        other.write("a.yaml", &[config_map("other", &format!("v{i}"))]);
        ns.wait_for_value("other", &format!("v{i}"));
    }
    let now = ns.get("configmaps", "a")["metadata"]["resourceVersion"].clone();
    assert_eq!(now, version);
    assert_eq!(ns.members(), ["a", "other"]);
    controller.write_syncs(&suspended(false));
    ns.wait_for_value("a", "2");
    ns.wait_for_value("b", "2");
    ns.wait_until_ready("it");
}

#[test]
fn a_run_that_waits_gives_way_to_a_new_revision_and_ends_in_time() {
    let ns = Namespace::new("waits");
    // Nobody runs its pods.
    let source = Source::new().with(
        "a.yaml",
        &[deployment("pet"), config_map("a", "1").annotated(WAVE, "1")],
    );
    let waits = |timeout: &str| {
        directory_sync(
            &ns.name,
            "it",
            &source,
            json!({ "wait": true, "timeout": timeout }),
        )
    };
    let controller = Setup {
        syncs: &[waits("1h")],
        ..Setup::new(&[&ns.name])
    }
    .start();
    eventually("the first wave is there", || ns.find("deployments", "pet"));
    assert_eq!(ns.members(), Vec::<String>::new());
    source.write("a.yaml", &[config_map("a", "2").annotated(WAVE, "1")]);
    ns.wait_for_value("a", "2");
    ns.wait_until_ready("it");
    assert!(!ns.exists("deployments", "pet"));

    controller.write_syncs(&[waits("1s")]);
    source.write(
        "a.yaml",
        &[deployment("pet"), config_map("b", "1").annotated(WAVE, "1")],
    );
    let message = ns.wait_until_not_ready("it", "ReconciliationFailed");
    assert!(message.contains("pet"), "{message}");
    ns.run_pods("pet", 2);
    ns.wait_until_ready("it");
    assert_eq!(ns.members(), ["b"]);
}

#[test]
fn waves_come_one_after_the_other() {
    let ns = Namespace::new("inwaves");
    let audit = Audit::new("inwaves");
    let wave = |name: &str, wave: &str| config_map(name, "1").annotated(WAVE, wave);
    let source = Source::new().with(
        "a.yaml",
        &[
            wave("late", "2"),
            wave("first", "-3"),
            config_map("middle", "1"),
        ],
    );
    let _controller = Setup {
        user: Some(&audit.user),
        syncs: &[directory_sync(&ns.name, "it", &source, json!({}))],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    let written: Vec<String> = audit
        .writes()
        .into_iter()
        .filter(|event| event.resource == "configmaps")
        .map(|event| event.name)
        .collect();
    assert_eq!(written, ["first", "middle", "late"]);
}
