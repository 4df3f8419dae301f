//! A watched cluster answers as the server does, asks nothing twice, and tells what others have changed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use covergence::cluster::{Cluster, ClusterError, Kind, NamespaceState, WriteGuard};
use covergence::metrics::ApiVerb;
use covergence::plan::Action;
use covergence::reconcile::{Outcome, Planned};
use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::audit::{Audit, Event};
use crate::support::lab::{OwnLab, api, eventually};
use crate::support::manifest::{
    Change, config_map, definition, deployment, own_agent, own_agent_of,
};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;
use crate::support::watcher::{Watcher, ids};

/// A bit of everything: metadata, replicas, a Target with its Service, and one of a Deployment that is not ours.
fn everything(ns: &Namespace) -> Source {
    ns.create("deployments", &deployment("theirs"));
    let objects: Vec<_> = (0..5).map(|i| config_map(&format!("c{i}"), "1")).collect();
    Source::new().with("a.yaml", &objects).with(
        "pet.yaml",
        &[
            deployment("pet"),
            own_agent("pet"),
            own_agent_of("other", "theirs"),
        ],
    )
}

/// What is to be done, and why.
fn steps(planned: &Planned) -> Vec<String> {
    let steps = planned.plan.steps.iter();
    steps
        .map(|step| format!("{} {}: {}", step.action.word(), step.id, step.reason))
        .collect()
}

fn is_settled(planned: &Planned) -> bool {
    let mut steps = planned.plan.steps.iter();
    steps.all(|step| step.action == Action::Unchanged)
}

/// What was asked, but for the one watch that follows each list: it begins some time later, and a server may log it only at
/// its end.
fn asked(audit: &Audit<'_>) -> Vec<Event> {
    let is_watch = |event: &Event| event.verb == "watch";
    let (watches, others): (Vec<_>, Vec<_>) = audit.events().into_iter().partition(is_watch);
    for Event { resource, .. } in &watches {
        let watched = watches.iter().filter(|it| it.resource == *resource);
        let listed = others
            .iter()
            .filter(|it| it.verb == "list" && it.resource == *resource);
        assert!(watched.count() <= listed.count(), "{watches:#?}");
    }
    others
}

#[test]
fn a_second_plan_of_an_unchanged_set_asks_nothing() {
    let ns = Namespace::new("idle");
    let source = everything(&ns);
    ns.sync(&source).ok();
    for app in ["pet", "theirs"] {
        ns.run_pods(app, 2);
    }
    eventually("the pods stand behind the Services", || {
        let slices = ns.list("endpointslices");
        let full = |slice: &Value| slice["endpoints"].as_array().is_some_and(|e| e.len() == 2);
        (slices.iter().filter(|slice| full(slice)).count() == 2).then_some(())
    });
    // Their status follows the rollout.
    ns.sync(&source).ok();
    let audit = Audit::new("idle");
    let watcher = Watcher::admin(&audit.user);
    let first = watcher.plan(&ns, &source).unwrap();
    assert!(is_settled(&first), "{:#?}", steps(&first));
    assert_eq!(watcher.cluster.synced(), Ok(()));
    // Once for each Deployment: its metadata does not tell how far its rollout is.
    let first_asked = asked(&audit);
    let gets: Vec<_> = first_asked
        .iter()
        .filter(|e| e.verb == "get" && e.resource == "deployments")
        .collect();
    assert!((1..=2).contains(&gets.len()), "{gets:#?}");

    for _ in 0..3 {
        let planned = watcher.plan(&ns, &source).unwrap();
        assert_eq!(steps(&planned), steps(&first));
    }
    let report = watcher.sync(&ns, &source);
    assert!(
        report.done.iter().all(|d| d.outcome == Outcome::Unchanged),
        "{report:#?}"
    );
    assert!(report.trouble.is_empty(), "{report:#?}");
    let all = asked(&audit);
    let more = all.iter().skip(first_asked.len());
    // Counting the pods behind Services is the one thing that a plan does not do and a sync does.
    let more: Vec<_> = more
        .filter(|e| !e.uri.contains("discovery.k8s.io"))
        .collect();
    assert!(more.is_empty(), "{more:#?}");
    watcher.sync(&ns, &source);
    let more: Vec<_> = asked(&audit).into_iter().skip(all.len()).collect();
    assert!(more.is_empty(), "{more:#?}");
}

#[test]
fn what_others_do_is_told_and_seen_by_the_next_plan() {
    let ns = Namespace::new("told");
    let source = everything(&ns);
    let user = unique("told");
    let mut watcher = Watcher::admin(&user);
    let report = watcher.sync(&ns, &source);
    assert!(
        report.done.iter().all(|d| d.outcome == Outcome::Created),
        "{report:#?}"
    );

    ns.edit("configmaps", "c1", &json!({ "data": { "key": "theirs" } }));
    let changes = watcher.change(Some(&ns.name), "c1");
    let change = changes
        .iter()
        .find(|change| change.id.name == "c1")
        .unwrap();
    let versions =
        [&change.before, &change.after].map(|live| live.as_ref().unwrap().resource_version.clone());
    assert_ne!(versions[0], versions[1]);
    let planned = watcher.plan(&ns, &source).unwrap();
    let drifted: Vec<_> = planned
        .plan
        .steps
        .iter()
        .filter(|s| s.action != Action::Unchanged)
        .collect();
    assert_eq!(drifted.len(), 1, "{:#?}", steps(&planned));
    assert_eq!(
        drifted[0].reason,
        "drift: .data.key was changed by kubectl-edit"
    );

    ns.delete("configmaps", "c2");
    let changes = watcher.change(Some(&ns.name), "c2");
    let gone = changes
        .iter()
        .find(|change| change.id.name == "c2")
        .unwrap();
    assert!(gone.before.is_some() && gone.after.is_none());

    ns.delete("services", "pet-coverage");
    let changes = watcher.change(Some(&ns.name), "pet-coverage");
    let gone = changes
        .iter()
        .find(|c| c.id.group_kind.kind == "Service")
        .unwrap();
    let owner = gone.before.as_ref().unwrap().controller().unwrap();
    assert_eq!(
        (owner.kind.as_str(), owner.name.as_str()),
        ("ClosureJVMTarget", "pet")
    );

    // The Deployment of a Target that is nobody's member, and a member's copy by hand.
    ns.edit(
        "deployments",
        "theirs",
        &json!({ "spec": { "replicas": 3 } }),
    );
    watcher.change(Some(&ns.name), "theirs");
    let mut copy = ns.get("configmaps", "c3");
    copy["metadata"] = json!({ "name": "copy", "labels": copy["metadata"]["labels"] });
    ns.create("configmaps", &copy);
    let changes = watcher.change(Some(&ns.name), "copy");
    let copied = changes
        .iter()
        .find(|change| change.id.name == "copy")
        .unwrap();
    assert!(copied.before.is_none() && copied.after.as_ref().unwrap().applyset().is_some());

    watcher.sync(&ns, &source);
    assert!(is_settled(&watcher.plan(&ns, &source).unwrap()), "repaired");
    assert_eq!(ns.get("configmaps", "c1")["data"]["key"], "1");
}

#[test]
fn our_own_writes_are_no_news() {
    let ns = Namespace::new("echo");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), config_map("b", "1")]);
    let user = unique("echo");
    let mut watcher = Watcher::admin(&user);
    // The first run starts the watches; the second writes, and the third deletes.
    watcher.sync(&ns, &source);
    source.write("a.yaml", &[config_map("a", "2"), own_agent("lonely")]);
    let report = watcher.sync(&ns, &source);
    let outcomes: Vec<_> = report.done.iter().map(|done| done.outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Configured, Outcome::Created, Outcome::Deleted],
        "{report:#?}"
    );
    // What was written is known at once, whatever the watches are up to.
    let planned = watcher.plan(&ns, &source).unwrap();
    assert!(is_settled(&planned), "{:#?}", steps(&planned));
    let status = &planned.plan.targets[0].live.as_ref().unwrap().status;
    assert!(status.phase.is_some(), "{status:?}");

    // Whatever the watches had to tell of it has come before this.
    let mark = |resource, object: serde_json::Value| ns.create(resource, &object);
    let member = ns.get("configmaps", "a")["metadata"]["labels"].clone();
    mark(
        "configmaps",
        json!({ "metadata": { "name": "mark", "labels": member } }),
    );
    mark("closurejvmtargets", own_agent("mark-target"));
    let sync = json!({ "apiVersion": "closurejvm.io/v1alpha1", "kind": "Sync", "metadata": { "name": "mark-sync" }, "spec": {} });
    mark("syncs", sync);
    let mut seen = Vec::new();
    for name in ["mark", "mark-target", "mark-sync"] {
        if !seen
            .iter()
            .any(|change: &covergence::cluster::Change| change.id.name == name)
        {
            seen.extend(watcher.change(Some(&ns.name), name));
        }
    }
    let expected = [
        "ConfigMap mark",
        "ClosureJVMTarget mark-target",
        "Sync mark-sync",
    ];
    assert_eq!(ids(&seen), BTreeSet::from(expected.map(str::to_owned)));
}

#[test]
fn what_is_known_equals_a_list() {
    let ns = Namespace::new("equal");
    let source = everything(&ns);
    ns.sync(&source).ok();
    let user = unique("equal");
    let watcher = Watcher::admin(&user);
    watcher.plan(&ns, &source).unwrap();
    source.write("a.yaml", &[config_map("c0", "2"), config_map("new", "1")]);
    ns.sync(&source).arg("--prune").ok();
    // The same questions to a cluster that is watched and to one that is not.
    let options = covergence::cluster::ConnectOptions {
        kubeconfig: Some(crate::support::lab::shared().join("kubeconfig")),
        ..Default::default()
    };
    let plain = watcher.run(Cluster::connect(&options)).unwrap();
    let spaces = BTreeSet::from([ns.name.clone()]);
    let kinds = watcher
        .run(plain.kinds(&BTreeSet::from([
            "v1".into(),
            "closurejvm.io/v1alpha1".into(),
        ])))
        .unwrap();
    let maps = kinds.get("v1", "ConfigMap").unwrap();
    let targets = kinds
        .get("closurejvm.io/v1alpha1", "ClosureJVMTarget")
        .unwrap();
    let applyset = crate::support::watcher::settings(&ns, &source).applyset();
    let ask = |cluster: &Cluster| {
        watcher.run(async {
            let members = cluster.members_in(maps, &spaces, &applyset).await.unwrap();
            let mut seen: Vec<String> = members.iter().map(|live| format!("{live:?}")).collect();
            for target in cluster.targets_in(targets, &spaces).await.unwrap() {
                seen.push(format!("{target:?}"));
            }
            seen.sort_unstable();
            seen
        })
    };
    eventually("the watches have caught up", || {
        (ask(&watcher.cluster) == ask(&plain)).then_some(())
    });
    assert_eq!(ask(&plain).len(), 4);
}

#[test]
fn a_tenant_sees_what_its_account_may_see() {
    let (own, other) = (Namespace::new("tenant"), Namespace::new("neighbour"));
    let rules = json!([
        { "apiGroups": ["", "apps", "closurejvm.io", "discovery.k8s.io"], "resources": ["*"], "verbs": ["*"] },
    ]);
    own.create(
        "roles",
        &json!({ "metadata": { "name": "tenant" }, "rules": rules }),
    );
    own.create(
        "rolebindings",
        &json!({
            "metadata": { "name": "tenant" },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant" },
            "subjects": [{ "kind": "ServiceAccount", "name": "deployer", "namespace": own.name }],
        }),
    );
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), own_agent("pet")]);
    own.sync(&source).ok();
    other.sync(&source).ok();

    let user = unique("controller");
    let mut watcher = Watcher::admin(&user);
    let tenant = watcher
        .cluster
        .as_service_account(&own.name, "deployer")
        .unwrap();
    let planned = watcher.plan_as(&tenant, &own, &source).unwrap();
    assert!(is_settled(&planned), "{:#?}", steps(&planned));
    // Next door it sees nothing, though the controller itself does.
    let foreign = watcher.plan_as(&tenant, &other, &source).unwrap();
    assert!(!is_settled(&foreign) && !foreign.survey.known.unseen.is_empty());
    assert!(is_settled(&watcher.plan(&other, &source).unwrap()));

    own.edit("configmaps", "a", &json!({ "data": { "key": "theirs" } }));
    watcher.change(Some(&own.name), "a");
    // Its own watch may be later than the controller's, which has told already.
    eventually("the tenant sees it as well", || {
        let planned = watcher.plan_as(&tenant, &own, &source).unwrap();
        (planned.plan.count(Action::Configure) == 1).then_some(())
    });
}

#[test]
fn a_new_kind_is_known_at_once() {
    let group = format!("{}.example.com", unique("g"));
    let version = BTreeSet::from([format!("{group}/v1")]);
    let user = unique("kinds");
    let watcher = Watcher::admin(&user);
    let knows = || {
        let kinds = watcher.run(watcher.cluster.kinds(&version)).unwrap();
        kinds.get(&format!("{group}/v1"), "Thing").is_some()
    };
    assert!(!knows());
    let crd = definition(&group, "Thing");
    api().create(&path("customresourcedefinitions", None, None), &crd);
    // Far sooner than what is not there would be asked for again without a watch.
    eventually("the new kind is known", || knows().then_some(()));
    let name = crd["metadata"]["name"].as_str().unwrap();
    assert!(api().delete(&path("customresourcedefinitions", None, Some(name))));
    eventually("the kind is gone", || (!knows()).then_some(()));
}

#[test]
fn a_namespace_that_goes_is_told_from_one_that_is_there() {
    let ns = Namespace::new("going");
    let user = unique("going");
    let mut watcher = Watcher::admin(&user);
    let state =
        |watcher: &Watcher, name: &str| watcher.run(watcher.cluster.namespace_state(name)).unwrap();
    assert_eq!(state(&watcher, &ns.name), Some(NamespaceState::Active));
    assert_eq!(state(&watcher, "there-is-none"), None);
    let held = json!({ "metadata": { "name": "held", "finalizers": ["example.com/hold"] } });
    ns.create("configmaps", &held);
    assert!(api().delete(&path("namespaces", None, Some(&ns.name))));
    watcher.change(None, &ns.name);
    assert_eq!(state(&watcher, &ns.name), Some(NamespaceState::Terminating));
    ns.edit(
        "configmaps",
        "held",
        &json!({ "metadata": { "finalizers": null } }),
    );
    eventually("the namespace is gone", || {
        state(&watcher, &ns.name).is_none().then_some(())
    });
}

#[test]
fn watches_outlive_the_api_server() {
    let lab = OwnLab::new();
    let api = lab.api();
    let maps = path("configmaps", Some("default"), None);
    let member = |name: &str| {
        let labels = json!({ "applyset.kubernetes.io/part-of": "applyset-x-v1" });
        json!({ "metadata": { "name": name, "labels": labels } })
    };
    api.create(&maps, &member("first"));
    let mut watcher = Watcher::of(lab.dir(), "somebody", &["system:masters"]);
    let names = |watcher: &Watcher| {
        let spaces = BTreeSet::from(["default".to_owned()]);
        let cluster = &watcher.cluster;
        watcher.run(async {
            let kinds = cluster
                .kinds(&BTreeSet::from(["v1".to_owned()]))
                .await
                .unwrap();
            let kind: &Kind = kinds.get("v1", "ConfigMap").unwrap();
            let members = cluster
                .members_in(kind, &spaces, "applyset-x-v1")
                .await
                .unwrap();
            members
                .iter()
                .map(|live| live.name.clone())
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(names(&watcher), ["first"]);
    lab.restart_apiserver();
    // What was known is not lost meanwhile, and what comes later is told, once.
    assert_eq!(names(&watcher), ["first"]);
    api.create(&maps, &member("second"));
    let changes = watcher.change(Some("default"), "second");
    let names_told: Vec<_> = changes
        .iter()
        .map(|change| change.id.name.as_str())
        .collect();
    assert!(!names_told.contains(&"first"), "{names_told:?}");
    assert_eq!(names(&watcher), ["first", "second"]);
}

/// Permits so many writes.
struct Permits(AtomicUsize);

impl WriteGuard for Permits {
    fn permit(&self) -> Option<Box<dyn Send>> {
        let left = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        left.ok().map(|n| Box::new(n) as Box<dyn Send>)
    }
}

#[test]
fn nothing_is_written_once_the_guard_refuses() {
    let ns = Namespace::new("guard");
    let audit = Audit::new("guard");
    let watcher = Watcher::admin(&audit.user);
    let cluster = watcher
        .cluster
        .guarded(Arc::new(Permits(AtomicUsize::new(1))));
    let (kinds, versions) = (&watcher.cluster, BTreeSet::from(["v1".to_owned()]));
    let kinds = watcher.run(kinds.kinds(&versions)).unwrap();
    let kind = kinds.get("v1", "ConfigMap").unwrap();
    let object = |name: &str| config_map(name, "1").within(&ns.name);
    let apply = |name: &str| watcher.run(cluster.apply(kind, &object(name), false));
    let first = apply("a").unwrap();
    assert_eq!(apply("b").unwrap_err(), ClusterError::NotOurs);
    let expected = first.expected();
    let delete = cluster.delete(kind, Some(&ns.name), "a", &expected);
    assert_eq!(watcher.run(delete), Err(ClusterError::NotOurs));
    // A dry run writes nothing.
    assert!(
        watcher
            .run(cluster.dry_run(kind, &object("c"), false))
            .is_ok()
    );
    let writes = audit.writes();
    assert_eq!(writes.len(), 1, "{writes:#?}");
    assert_eq!(ns.members(), ["a"]);
}

#[test]
fn requests_are_counted() {
    let ns = Namespace::new("count");
    let audit = Audit::new("count");
    let watcher = Watcher::admin(&audit.user);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let cluster = watcher.cluster.observed(Arc::new(move |verb, status| {
        log.lock().unwrap().push((verb, status));
    }));
    let kind = Kind::sync();
    watcher.run(async {
        let all = (0..20).map(|_| cluster.get(&kind, Some(&ns.name), "none"));
        for answer in futures_util::future::join_all(all).await {
            assert_eq!(answer, Ok(None));
        }
        cluster.syncs().await.unwrap();
    });
    eventually("the watch has begun", || {
        seen.lock()
            .unwrap()
            .contains(&(ApiVerb::Watch, Some(200)))
            .then_some(())
    });
    let seen = seen.lock().unwrap();
    let count = |verb, status| seen.iter().filter(|s| **s == (verb, Some(status))).count();
    assert_eq!(count(ApiVerb::Get, 404), 20);
    assert_eq!(count(ApiVerb::List, 200), 1);
    assert_eq!(
        audit
            .events()
            .iter()
            .filter(|e| e.verb == "get" && e.code == 404)
            .count(),
        20
    );
}

#[test]
fn watches_that_nobody_needs_are_stopped() {
    let audit = Audit::new("unused");
    let watcher = Watcher::admin(&audit.user);
    watcher.run(watcher.cluster.syncs()).unwrap();
    watcher.run(watcher.cluster.syncs()).unwrap();
    watcher.cluster.stop_unused(Duration::from_secs(3600));
    watcher.run(watcher.cluster.syncs()).unwrap();
    let lists = || {
        let events = audit.events().into_iter();
        let of_syncs = events.filter(|e| e.verb == "list" && e.resource == "syncs");
        of_syncs.count()
    };
    assert_eq!(lists(), 1);
    watcher.cluster.stop_unused(Duration::ZERO);
    watcher.run(watcher.cluster.syncs()).unwrap();
    assert_eq!(lists(), 2);
}
