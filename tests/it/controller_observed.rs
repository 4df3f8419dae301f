//! `covergence run` as operators see it: `/readyz`, `/metrics`, Events and logs.

use std::fs;

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::audit::{Audit, Event};
use crate::support::controller::{Controller, Setup, directory_sync, sync};
use crate::support::git::Work;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, config_map, deployment, own_agent, secret, service};
use crate::support::namespace::{Namespace, condition_of, unique};
use crate::support::source::{Source, documents};

/// A ConfigMap that no server takes.
fn bad_map(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "not a key": "1" } })
}

/// Waits until the Sync's condition `Ready` is so.
fn await_ready(ns: &Namespace, name: &str, status: &str) {
    eventually(&format!("Ready of {name} is {status}"), || {
        let sync = ns.find("syncs", name)?;
        (condition_of(&sync, "Ready")["status"] == status).then_some(())
    });
}

/// Waits until a series has a value.
fn await_metric(controller: &Controller, name: &str, labels: &[&str], value: f64) {
    eventually(&format!("{name}{labels:?} is {value}"), || {
        (controller.metric(name, labels) == value).then_some(())
    });
}

#[test]
fn each_metric_moves_with_what_it_counts() {
    let ns = Namespace::new("metrics");
    let audit = Audit::new("metrics");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), config_map("b", "1")]);
    // Without Leases, which are renewed all the time.
    let controller = Setup {
        user: Some(&audit.user),
        config: json!({ "leases": { "enabled": false } }),
        ..Setup::new(&[&ns.name])
    }
    .start();
    let metric = |name: &str, labels: &[&str]| controller.metric(name, labels);
    let is = |name: &str, labels: &[&str], value| await_metric(&controller, name, labels, value);
    let own_name = format!(r#"namespace="{}",name="it""#, ns.name);
    let own: &str = &own_name;

    ns.create("syncs", &directory_sync(&ns.name, "it", &source, json!({})));
    await_ready(&ns, "it", "True");
    let revision = ns.get("syncs", "it")["status"]["lastAppliedRevision"].clone();
    let revision = format!("revision={revision}");
    let info = "covergence_sync_info";
    is(info, &[own, r#"ready="True""#, &revision], 1.0);
    is("covergence_apply_total", &[r#"outcome="created""#], 2.0);
    let runs = "covergence_reconcile_duration_seconds_count";
    assert!(metric(runs, &[r#"kind="Sync""#, own]) >= 1.0);

    ns.edit("configmaps", "a", &json!({ "data": { "key": "mine" } }));
    is("covergence_drift_total", &[r#"kind="ConfigMap""#], 1.0);
    is("covergence_apply_total", &[r#"outcome="configured""#], 1.0);
    source.write("a.yaml", &[config_map("a", "1")]);
    is("covergence_prune_total", &[], 1.0);
    source.write("a.yaml", &[config_map("a", "1"), bad_map("c")]);
    is(info, &[own, r#"ready="False""#], 1.0);
    assert!(metric("covergence_apply_total", &[r#"outcome="failed""#]) >= 1.0);
    assert_eq!(metric(info, &[own]), 1.0);

    ns.create("closurejvmtargets", &own_agent("pet"));
    ns.create("deployments", &deployment("pet"));
    eventually("a Target is looked at", || {
        (metric(runs, &[r#"kind="ClosureJVMTarget""#]) >= 1.0).then_some(())
    });
    assert_eq!(metric("covergence_watches", &[r#"state="failing""#]), 0.0);
    assert!(metric("covergence_watches", &[r#"state="synced""#]) >= 4.0);

    ns.delete("syncs", "it");
    eventually("no series is left of what is gone", || {
        let (_, page) = controller.http("/metrics")?;
        (!page.contains(own)).then_some(())
    });
    for queue in ["syncs", "targets"] {
        let (_, page) = controller.http("/metrics").unwrap();
        let series = format!(r#"covergence_queue_depth{{queue="{queue}"}} 0"#);
        assert!(page.lines().any(|line| line == series), "{page}");
    }
    for (verb, code) in [
        ("patch", 422),
        ("patch", 201),
        ("patch", 200),
        ("delete", 200),
    ] {
        let labels = [format!(r#"verb="{verb}""#), format!(r#"code="{code}""#)];
        let labels = [&*labels[0], &*labels[1]];
        eventually(
            &format!("{verb} {code} as the server has counted them"),
            || {
                let counted = metric("covergence_api_requests_total", &labels);
                let is_it = |event: &&Event| event.verb == verb && event.code == code;
                let asked = audit.events().iter().filter(is_it).count();
                assert!(asked > 0);
                (counted == asked as f64).then_some(())
            },
        );
    }
}

#[test]
fn git_servers_are_counted() {
    let ns = Namespace::new("git-metrics");
    let work = Work::new();
    work.write("a.yaml", &documents(&[config_map("a", "1")]));
    work.commit("one");
    let git = json!({ "url": work.path(), "ref": "main" });
    let spec = json!({ "source": { "git": git }, "interval": "1s" });
    ns.create("syncs", &sync(&ns.name, "it", spec));
    let controller = Setup::new(&[&ns.name]).start();
    await_ready(&ns, "it", "True");
    let fetched = [r#"outcome="fetched""#];
    await_metric(&controller, "covergence_git_fetch_total", &fetched, 1.0);
    let took = "covergence_git_fetch_duration_seconds_count";
    assert_eq!(controller.metric(took, &[]), 1.0);
    eventually("it has looked, and there was nothing new", || {
        let unchanged = [r#"outcome="unchanged""#];
        let looks = controller.metric("covergence_git_checks_total", &unchanged);
        (looks >= 1.0).then_some(())
    });
    work.write("a.yaml", &documents(&[config_map("a", "2")]));
    work.commit("two");
    await_metric(&controller, "covergence_git_fetch_total", &fetched, 2.0);
    let changed = [r#"outcome="changed""#];
    assert_eq!(
        controller.metric("covergence_git_checks_total", &changed),
        1.0
    );
}

#[test]
fn who_may_not_watch_syncs_is_not_ready() {
    let ns = Namespace::new("unready");
    let user = unique("unready");
    let groups = [
        "",
        "apps",
        "apiextensions.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
    ];
    let rule =
        |groups: &[&str]| json!([{ "apiGroups": groups, "resources": ["*"], "verbs": ["*"] }]);
    let role = json!({ "metadata": { "name": user }, "rules": rule(&groups) });
    api().create(&path("clusterroles", None, None), &role);
    let binding = json!({
        "metadata": { "name": user },
        "subjects": [{ "kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io" }],
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user },
    });
    api().create(&path("clusterrolebindings", None, None), &binding);
    let _tidy = Tidy(["clusterroles", "clusterrolebindings"].map(|it| path(it, None, Some(&user))));
    let controller = Setup {
        args: &["--as", &user],
        admin: true,
        ..Setup::new(&[&ns.name])
    }
    .launch();
    eventually("it says what it may not do", || {
        let (code, text) = controller.http("/readyz")?;
        let told = text.contains("watches: ") && text.contains("cannot list resource");
        (code == 503 && told).then_some(())
    });
    assert_eq!(controller.http("/healthz").unwrap().0, 200);
    let failing = || controller.metric("covergence_watches", &[r#"state="failing""#]);
    assert!(failing() >= 1.0);
    let more = json!({ "rules": rule(&[&groups[..], &["closurejvm.io"]].concat()) });
    api().edit(&path("clusterroles", None, Some(&user)), &more);
    controller.wait_until_ready();
    eventually("nothing fails", || (failing() == 0.0).then_some(()));
    assert!(controller.metric("covergence_watch_restarts_total", &[]) >= 1.0);
}

/// Deletes cluster-wide objects at the end of a test.
struct Tidy<const N: usize>([String; N]);

impl<const N: usize> Drop for Tidy<N> {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = api().send("DELETE", path, "", &Value::Null);
        }
    }
}

/// Types, reasons and messages of the Events of an object.
fn events(ns: &Namespace, name: &str) -> Vec<(String, String, String)> {
    let selector = format!("involvedObject.name%3D{name}");
    let events = api().list(&format!(
        "/api/v1/namespaces/{}/events?fieldSelector={selector}",
        ns.name
    ));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    events
        .iter()
        .map(|event| {
            (
                text(&event["type"]),
                text(&event["reason"]),
                text(&event["message"]),
            )
        })
        .collect()
}

/// Waits until an object has an Event of a type and a reason that says something.
fn await_event(ns: &Namespace, name: &str, type_: &str, reason: &str, says: &str) {
    eventually(&format!("{type_} {reason} of {name}: {says}"), || {
        let events = events(ns, name);
        let is_it =
            |(t, r, m): &(String, String, String)| t == type_ && r == reason && m.contains(says);
        events.iter().any(is_it).then_some(())
    });
}

#[test]
fn events_tell_what_happens_to_syncs_and_targets_and_are_few() {
    let ns = Namespace::new("told");
    let audit = Audit::new("told");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), config_map("b", "1")]);
    let controller = Setup {
        user: Some(&audit.user),
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.create("syncs", &directory_sync(&ns.name, "it", &source, json!({})));
    await_event(&ns, "it", "Normal", "ReconciliationSucceeded", "2 created");
    ns.edit("configmaps", "a", &json!({ "data": { "key": "mine" } }));
    let a = format!("ConfigMap {}/a", ns.name);
    await_event(&ns, "it", "Normal", "DriftCorrected", &a);
    source.write("a.yaml", &[config_map("a", "1")]);
    let b = format!("deleted ConfigMap {}/b", ns.name);
    await_event(&ns, "it", "Normal", "Pruned", &b);

    source.write("a.yaml", &[config_map("a", "1"), bad_map("c")]);
    await_event(&ns, "it", "Warning", "ReconciliationFailed", "c");
    for i in 0..4 {
        let request = format!("request-{i}");
        let annotations = json!({ "reconcile.fluxcd.io/requestedAt": request });
        ns.edit(
            "syncs",
            "it",
            &json!({ "metadata": { "annotations": annotations } }),
        );
        eventually("it was tried again", || {
            let status = ns.get("syncs", "it")["status"].clone();
            (status["lastHandledReconcileAt"] == request).then_some(())
        });
    }
    let failures = || controller.logged(r#""level":"warn""#).len();
    assert!(failures() >= 5);

    // A Service that is somebody else's.
    ns.create("services", &service("pet-coverage"));
    ns.create("deployments", &deployment("pet"));
    ns.create("closurejvmtargets", &own_agent("pet"));
    await_event(&ns, "pet", "Warning", "ServiceNotOurs", "");
    ns.delete("services", "pet-coverage");
    await_event(&ns, "pet", "Normal", "CoverageServiceApplied", "Service");
    ns.create("closurejvmtargets", &own_agent("toy"));
    await_event(&ns, "toy", "Warning", "DeploymentNotFound", "toy");

    // The same is told by one Event, which is written once a minute at most.
    let writes = audit.writes();
    let mut written: Vec<&str> = writes
        .iter()
        .filter(|event| event.resource == "events")
        .map(|event| &*event.name)
        .collect();
    let failed = events(&ns, "it")
        .into_iter()
        .filter(|(_, reason, _)| reason == "ReconciliationFailed");
    assert_eq!(failed.count(), 1);
    written.sort_unstable();
    assert!(written.len() >= 7, "{written:?}");
    assert!(
        written.windows(2).all(|pair| pair[0] != pair[1]),
        "{written:?}"
    );
}

/// Writes the configuration anew, with another level of the log.
fn set_level(controller: &Controller, level: &str) {
    let file = controller.folder().join("config.yaml");
    let text = fs::read_to_string(&file).unwrap();
    let config: Value = serde_json::from_str(text.trim_start_matches("---")).unwrap();
    let config = config.set("/spec/log/level", level);
    let new = file.with_extension("new");
    fs::write(&new, documents(&[config])).unwrap();
    fs::rename(new, file).unwrap();
}

#[test]
fn lines_of_the_log_say_what_they_are_about_and_the_level_changes_while_it_runs() {
    let ns = Namespace::new("log");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    ns.create("syncs", &directory_sync(&ns.name, "it", &source, json!({})));
    let controller = Setup {
        config: json!({ "log": { "level": "info" } }),
        ..Setup::new(&[&ns.name])
    }
    .start();
    await_ready(&ns, "it", "True");
    let revision = || ns.get("syncs", "it")["status"]["lastAppliedRevision"].clone();
    let lines = |text: &str| -> Vec<Value> {
        let lines = controller.logged(text);
        lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    // Each of them is JSON.
    assert!(!lines("").is_empty());
    let created = &lines("created: ")[0];
    assert_eq!(created["level"], "info");
    assert_eq!(created["sync"], format!("{}/it", ns.name));
    assert_eq!(created["object"], format!("ConfigMap {}/a", ns.name));
    assert_eq!(created["revision"], revision());

    set_level(&controller, "warn");
    let mut number = 1;
    let mut apply = || {
        let was = revision();
        number += 1;
        source.write("a.yaml", &[config_map("a", &number.to_string())]);
        eventually("it is applied", || (revision() != was).then_some(()));
    };
    eventually("nothing is said of what goes well", || {
        let before = lines("configured: ").len();
        apply();
        (lines("configured: ").len() == before).then_some(())
    });
    source.write("a.yaml", &[bad_map("a")]);
    let failed = eventually("failures are told", || lines("failed: ").into_iter().next());
    assert_eq!(failed["level"], "warn");
    for field in ["sync", "object"] {
        assert_eq!(failed[field], created[field]);
    }
    assert!(failed["revision"].as_str().unwrap().starts_with("sha256:"));

    set_level(&controller, "info,covergence=trace");
    eventually("everything is told", || {
        apply();
        (!lines(r#""level":"trace""#).is_empty()).then_some(())
    });
}

#[test]
fn arguments_go_before_the_environment_and_that_before_the_file() {
    let ns = Namespace::new("log-args");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    ns.create("syncs", &directory_sync(&ns.name, "it", &source, json!({})));
    let namespaces = [&*ns.name];
    // The file says trace, as JSON.
    let told = |controller: &Controller| {
        await_ready(&ns, "it", "True");
        controller.logged("")
    };
    let by_environment = Setup {
        env: &[
            ("COVERGENCE_LOG_LEVEL", "info"),
            ("COVERGENCE_LOG_FORMAT", "text"),
        ],
        ..Setup::new(&namespaces)
    }
    .start();
    let lines = told(&by_environment);
    assert!(
        lines.iter().any(|line| line.contains(" INFO ")),
        "{lines:#?}"
    );
    assert!(
        lines
            .iter()
            .all(|line| !line.contains("TRACE") && !line.starts_with('{'))
    );
    set_level(&by_environment, "trace");
    drop(by_environment);
    let by_arguments = Setup {
        env: &[
            ("COVERGENCE_LOG_LEVEL", "trace"),
            ("COVERGENCE_LOG_FORMAT", "text"),
        ],
        args: &["--log-level", "warn", "--log-format", "json"],
        ..Setup::new(&namespaces)
    }
    .start();
    source.write("a.yaml", &[bad_map("a")]);
    await_ready(&ns, "it", "False");
    let lines = eventually("it is told", || {
        let lines = by_arguments.logged("");
        (!lines.is_empty()).then_some(lines)
    });
    for line in lines {
        let line: Value = serde_json::from_str(&line).unwrap();
        assert!(
            line["level"] == "warn" || line["level"] == "error",
            "{line}"
        );
    }
}

const VALUE: &str = "correct-horse-battery";

#[test]
fn the_values_of_a_refused_secret_are_told_nowhere() {
    let ns = Namespace::new("hidden");
    let bad = secret("s", "").unset("/stringData").set("/data", VALUE);
    let apply = format!("{}?fieldManager=it", ns.path("secrets", "s"));
    let refused = api().send("PATCH", &apply, "application/apply-patch+yaml", &bad);
    assert!(refused.unwrap_err().message.contains(VALUE));
    let source = Source::new().with("a.yaml", &[bad]);
    ns.create("syncs", &directory_sync(&ns.name, "it", &source, json!({})));
    let controller = Setup {
        config: json!({ "log": { "level": "trace" } }),
        ..Setup::new(&[&ns.name])
    }
    .start();
    await_ready(&ns, "it", "False");
    eventually("an Event tells of it", || {
        (!events(&ns, "it").is_empty()).then_some(())
    });
    let (_, page) = controller.http("/metrics").unwrap();
    let sync = ns.get("syncs", "it")["status"].to_string();
    let told = format!("{page}{sync}{:?}", events(&ns, "it"));
    assert!(!told.contains(VALUE), "{told}");
    assert_eq!(controller.logged(VALUE), Vec::<String>::new());
    assert!(!controller.logged("Secret").is_empty());
}

#[test]
fn of_a_source_that_is_read_again_only_what_has_changed_is_parsed() {
    const FILES: usize = 50;
    let ns = Namespace::new("parsed");
    let work = Work::new();
    let write = |i: usize, value: &str| {
        let text = documents(&[config_map(&format!("map-{i}"), value)]);
        work.write(&format!("{i:02}.yaml"), &text);
    };
    // More than what is too little to be kept.
    let long = "x".repeat(2000);
    (0..FILES).for_each(|i| write(i, &long));
    work.commit("one");
    let git = json!({ "url": work.path(), "ref": "main" });
    let spec = json!({ "source": { "git": git }, "interval": "1s" });
    ns.create("syncs", &sync(&ns.name, "it", spec));
    let controller = Setup::new(&[&ns.name]).start();
    await_ready(&ns, "it", "True");
    let parsed = "covergence_files_parsed_total";
    assert_eq!(controller.metric(parsed, &[]), FILES as f64);
    write(7, "other");
    work.commit("two");
    eventually("the change is there", || {
        let changed = ns.find("configmaps", "map-7")?;
        changed.to_string().contains("other").then_some(())
    });
    assert_eq!(controller.metric(parsed, &[]), FILES as f64 + 1.0);
}
