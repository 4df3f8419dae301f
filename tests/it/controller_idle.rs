//! A controller that has nothing to do asks nothing of the API server and writes nothing: its own counters say so.

use std::collections::BTreeMap;
use std::env;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api::{Api, path};
use crate::support::audit::{Audit, Event};
use crate::support::controller::{Setup, directory_sync};
use crate::support::lab::{OwnLab, eventually};
use crate::support::manifest::{Change, config_map, deployment, own_agent};
use crate::support::source::Source;

const NAMESPACE: &str = "idle";

/// What the API server asks of itself, to keep the Service `kubernetes` and its own flow control: whether the controller has asked for any of it,
/// only the audit log tells.
const ITS_OWN: [&str; 6] = [
    "GET endpoints",
    "GET endpointslices",
    "GET flowschemas",
    "GET namespaces",
    "GET prioritylevelconfigurations",
    "GET services",
];

/// How long nothing happens: 20 seconds, or `COVERGENCE_IDLE_SECONDS` (300 shows that watches which end and begin anew ask
/// for nothing either).
fn window() -> Duration {
    let seconds = env::var("COVERGENCE_IDLE_SECONDS");
    Duration::from_secs(seconds.map_or(20, |seconds| seconds.parse().unwrap()))
}

#[test]
fn c50_without_a_change_nothing_is_asked_and_nothing_written() {
    let idle = idle(json!({ "enabled": false }));
    assert!(idle.counted.is_empty(), "{:#?}", idle.counted);
    assert!(idle.events.is_empty(), "{:#?}", idle.events);
}

#[test]
fn c50_with_leases_nothing_but_leases_is_asked_and_written() {
    let idle = idle(json!({ "enabled": true }));
    let is_lease = |event: &&Event| event.resource == "leases";
    assert!(idle.events.iter().any(|event| is_lease(&event)));
    let others: Vec<_> = idle
        .events
        .iter()
        .filter(|event| !is_lease(event))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    let others: Vec<_> = idle
        .counted
        .iter()
        .filter(|(what, _)| !what.ends_with(" leases"))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// What was asked of the API server while nothing happened, but for watches.
struct Idle {
    /// By verb and resource, as the server counts it, whoever asked.
    counted: BTreeMap<String, u64>,
    /// One by one, as the audit log has it, for the controller alone.
    events: Vec<Event>,
}

fn idle(leases: Value) -> Idle {
    let lab = OwnLab::new();
    let api = lab.api();
    let audit = Audit::on(lab.dir(), &api, "idle");
    api.create(
        "/api/v1/namespaces",
        &json!({ "metadata": { "name": NAMESPACE } }),
    );
    let source = Source::new().with(
        "pets.yaml",
        &[config_map("a", "1"), deployment("dog"), own_agent("dog")],
    );
    let syncs = ["one", "two"]
        .map(|name| directory_sync(NAMESPACE, name, &source, json!({ "targetNamespace": name })));
    for name in ["one", "two"] {
        api.create(
            "/api/v1/namespaces",
            &json!({ "metadata": { "name": name } }),
        );
    }
    let _controller = Setup {
        lab: lab.dir(),
        user: Some(&audit.user),
        syncs: &syncs,
        config: json!({ "leases": leases, "namespaces": [] }),
        ..Setup::new(&[NAMESPACE])
    }
    .start();
    for pet in ["cat", "bird"] {
        let at = |resource| path(resource, Some(NAMESPACE), None);
        api.create(&at("deployments"), &deployment(pet));
        // Of a new kind, the server knows one verb before another.
        eventually("the kind is served", || {
            let target = own_agent(pet).within(NAMESPACE);
            let made = api.send(
                "POST",
                &at("closurejvmtargets"),
                "application/json",
                &target,
            );
            made.ok().map(drop)
        });
    }
    eventually("all is served", || {
        let served = |target: &Value| target["status"]["coverageEndpoint"].is_string();
        let targets = api.list(&path("closurejvmtargets", None, None));
        let applied = |sync: &Value| sync["status"]["conditions"][0]["status"] == "True";
        let syncs = api.list(&path("syncs", None, None));
        let all = targets.len() == 4 && targets.iter().all(served);
        (all && syncs.len() == 2 && syncs.iter().all(applied)).then_some(())
    });
    // Events are written aside, a moment later, and on a busy machine what the first runs have written is looked at again later
    // still; after that there is nothing more to say.
    let before = eventually("nothing changes any more, and nothing is asked", || {
        let state = || {
            (
                versions(&api),
                audit.events().iter().filter(is_asked).count(),
            )
        };
        let before = state();
        sleep(Duration::from_secs(2));
        (state() == before).then_some(before.0)
    });

    let (seen, counted) = (audit.events().len(), requests(&api));
    sleep(window());
    let now = requests(&api);
    let events = audit.events().split_off(seen);
    assert_eq!(versions(&api), before);
    Idle {
        counted: grown(&counted, now),
        events: events
            .into_iter()
            .filter(|event| event.verb != "watch")
            .collect(),
    }
}

/// Whether it is neither a watch nor about the Leases, which are renewed for as long as the controller lives.
fn is_asked(event: &&Event) -> bool {
    event.verb != "watch" && event.resource != "leases"
}

/// The resourceVersion of all that the controller cares for.
fn versions(api: &Api) -> BTreeMap<String, String> {
    let kinds = ["syncs", "closurejvmtargets", "services", "deployments"];
    let all = kinds
        .into_iter()
        .flat_map(|kind| api.list(&path(kind, None, None)));
    let version = |object: Value| {
        let metadata = &object["metadata"];
        let text = |key: &str| metadata[key].as_str().unwrap().to_owned();
        (text("uid"), text("resourceVersion"))
    };
    all.map(version).collect()
}

fn requests(api: &Api) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let text = api.text("/metrics");
    let series = text
        .lines()
        .filter_map(|line| line.strip_prefix("apiserver_request_total{"));
    for line in series {
        let (labels, count) = line.rsplit_once("} ").unwrap();
        let label = |name: &str| {
            let (_, rest) = labels.split_once(&format!("{name}=\"")).unwrap();
            rest.split('"').next().unwrap()
        };
        let what = format!("{} {}", label("verb"), label("resource"));
        *counts.entry(what).or_default() += count.parse::<f64>().unwrap() as u64;
    }
    counts
}

fn grown(before: &BTreeMap<String, u64>, now: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let more = now.into_iter().map(|(what, count)| {
        let more = count - before.get(&what).unwrap_or(&0);
        (what, more)
    });
    more.filter(|(what, more)| *more > 0 && !ITS_OWN.contains(&what.as_str()))
        .collect()
}
