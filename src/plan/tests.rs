//! Whole plans from small worlds.

use std::sync::Arc;

use serde_json::{Value, json};

use super::fields::Fields;
use super::live::{ManagedFields, Owner};
use super::*;
use crate::api::names::APPLIED_DIGEST;
use crate::api::sync::PruneLimit;
use crate::api::{GroupKind, ObjectId};
use crate::load::{Origin, Position};
use crate::render::{Deployment, Desired, Target, coverage_service, stamp, with_owner};

const SET: &str = "applyset-x-v1";

fn id(group: &str, kind: &str, name: &str) -> ObjectId {
    ObjectId {
        group_kind: GroupKind::new(group, kind),
        namespace: Some("n".into()),
        name: name.into(),
    }
}

fn desired(api_version: &str, kind: &str, name: &str, rest: Value) -> Desired {
    let mut object = json!({
        "apiVersion": api_version, "kind": kind, "metadata": { "name": name, "namespace": "n" },
    });
    object
        .as_object_mut()
        .unwrap()
        .extend(rest.as_object().unwrap().clone());
    let digest = stamp(&mut object, Some(SET));
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Desired {
        id: id(group, kind, name),
        api_version: api_version.into(),
        origin: Origin {
            file: "a.yaml".into(),
            position: Position { line: 1, column: 1 },
        },
        object: object.into(),
        digest,
        agent: None,
    }
}

fn config(name: &str) -> Desired {
    desired("v1", "ConfigMap", name, json!({ "data": { "k": "v" } }))
}

fn deployment(name: &str) -> Desired {
    let spec = json!({ "replicas": 2, "selector": { "matchLabels": { "app": name } } });
    desired("apps/v1", "Deployment", name, json!({ "spec": spec }))
}

fn target(name: &str, on: bool) -> Desired {
    let spec = json!({
        "deploymentRef": { "name": name }, "coverageService": on, "agents": { "coverage": { "enabled": true } },
    });
    desired(
        "closurejvm.io/v1alpha1",
        "ClosureJVMTarget",
        name,
        json!({ "spec": spec }),
    )
}

/// The `fieldsV1` of whoever applied just this.
fn fields(value: &Value) -> Fields {
    let map = value.as_object().into_iter().flatten();
    map.map(|(k, v)| (format!("f:{k}"), fields(v))).collect()
}

/// The same without what is below a step.
fn without(fields: &Fields, path: &[&str]) -> Fields {
    let (first, rest) = path.split_first().unwrap();
    let kept = fields
        .iter()
        .filter(|(step, _)| !rest.is_empty() || step != first);
    kept.map(|(step, under)| match step == *first {
        true => (step, without(under, rest)),
        false => (step, under.clone()),
    })
    .collect()
}

/// The live object as it is right after it was applied.
fn applied(object: &Value) -> Live {
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut live = Live::from_object(object).unwrap();
    live.uid = format!("uid-{}-{}", text("/kind"), text("/metadata/name"));
    live.resource_version = "1".into();
    live.managed_fields = Arc::new(vec![ManagedFields {
        manager: "covergence".into(),
        operation: "Apply".into(),
        api_version: text("/apiVersion"),
        fields: fields(object),
        ..ManagedFields::default()
    }]);
    live
}

fn plan(desired: &[Desired], known: &Known) -> Plan {
    plan_with(desired, known, |_| {})
}

/// The same by other rules of pruning.
fn plan_with<'a>(
    desired: &[Desired],
    known: &Known,
    change: impl FnOnce(&mut PruneRules<'a>),
) -> Plan {
    let index = index(desired);
    let mut prune = PruneRules {
        enabled: true,
        complete: true,
        unseen: None,
        other_source: None,
        empty: desired.is_empty(),
        allow_empty: false,
        limits: &[],
        approved: false,
        own_namespace: "n",
        home: None,
    };
    change(&mut prune);
    build(&Inputs {
        desired,
        index: &index,
        known,
        applyset: SET,
        force_conflicts: false,
        serve_targets: true,
        agents: None,
        prune,
    })
}

fn told(plan: &Plan) -> Vec<(Action, String)> {
    plan.steps
        .iter()
        .map(|step| (step.action, step.id.to_string()))
        .collect()
}

fn member(known: &mut Known, desired: &Desired) {
    known
        .members
        .insert(desired.id.clone(), Arc::new(applied(&desired.object)));
}

/// A Target, its Deployment and its Service, all in the cluster as applied.
fn covered(name: &str) -> (Known, Vec<Desired>) {
    let (source, mut known) = (vec![deployment(name), target(name, true)], Known::default());
    source.iter().for_each(|d| member(&mut known, d));
    let mut live = source[1].object.as_ref().clone();
    live["metadata"]["uid"] = json!(format!("uid-ClosureJVMTarget-{name}"));
    let parsed = Target::from_json(&live).unwrap();
    let deployment = Deployment::from_json(&source[0].object);
    let mut service = coverage_service(&parsed, Some(&deployment)).unwrap();
    with_owner(&mut service, name, &format!("uid-ClosureJVMTarget-{name}"));
    stamp(&mut service, None);
    known
        .children
        .insert(child_id(&parsed), Arc::new(applied(&service)));
    known.deployments.insert(source[0].id.clone(), deployment);
    known.targets.insert(source[1].id.clone(), parsed);
    (known, source)
}

#[test]
fn what_is_as_applied_is_left_alone() {
    let (known, source) = covered("pet");
    let plan = plan(&source, &known);
    assert!(!plan.has_differences(), "{:?}", told(&plan));
    assert_eq!(plan.steps.len(), 3);
}

#[test]
fn a_service_is_planned_before_its_target_exists_and_needs_both() {
    let source = [target("pet", true), deployment("pet")];
    let plan = plan(&source, &Known::default());
    let service = plan.steps.last().unwrap();
    assert_eq!(
        (service.action, service.id.to_string()),
        (Action::Create, "Service n/pet-coverage".into())
    );
    assert_eq!(service.needs, [source[0].id.clone(), source[1].id.clone()]);
    assert_eq!(
        plan.steps[0].id, source[1].id,
        "the Deployment comes before its Target"
    );
}

#[test]
fn c39_without_deployment_or_switch_the_service_goes() {
    let (known, mut source) = covered("pet");
    source[1] = target("pet", false);
    let off = plan(&source, &known);
    assert!(
        told(&off).contains(&(Action::Delete, "Service n/pet-coverage".into())),
        "{:?}",
        told(&off)
    );

    let (mut known, mut source) = covered("pet");
    let gone = source.remove(0).id;
    known.members.remove(&gone);
    known.deployments.clear();
    let absent = plan(&source, &known);
    assert!(told(&absent).contains(&(Action::Delete, "Service n/pet-coverage".into())));
}

#[test]
fn c39_a_pruned_deployment_takes_the_service_along_and_comes_first() {
    let (known, mut source) = covered("pet");
    source.remove(0);
    let plan = plan(&source, &known);
    let deletes: Vec<_> = plan
        .steps
        .iter()
        .filter(|s| s.action == Action::Delete)
        .map(|s| s.id.to_string())
        .collect();
    assert_eq!(deletes, ["Deployment.apps n/pet", "Service n/pet-coverage"]);
    assert!(
        plan.steps
            .iter()
            .filter(|s| s.action == Action::Delete)
            .all(|s| s.body == Body::Prune)
    );
}

#[test]
fn the_service_of_a_pruned_target_is_left_to_the_garbage_collector() {
    let (known, mut source) = covered("pet");
    source.remove(1);
    let plan = plan(&source, &known);
    assert!(told(&plan).contains(&(
        Action::Delete,
        "ClosureJVMTarget.closurejvm.io n/pet".into()
    )));
    assert!(
        plan.steps
            .iter()
            .all(|step| step.id.group_kind.kind != "Service"),
        "{:?}",
        told(&plan)
    );
}

#[test]
fn c53_a_service_of_that_name_is_taken_only_from_an_earlier_self() {
    for (kind, name, expected) in [
        ("ClosureJVMTarget", "pet", Action::Configure),
        ("ClosureJVMTarget", "other", Action::Refuse),
        ("Pet", "pet", Action::Refuse),
    ] {
        let (mut known, source) = covered("pet");
        let service = Arc::make_mut(known.children.values_mut().next().unwrap());
        service.owner_references[0].uid = "another".into();
        service.owner_references[0].kind = kind.into();
        service.owner_references[0].name = name.into();
        let plan = plan(&source, &known);
        let step = plan.steps.last().unwrap();
        assert_eq!(step.action, expected, "{kind} {name}");
        // The API server takes no second controller beside the one of before.
        let Body::Child { purge, .. } = &step.body else {
            panic!("{step:?}");
        };
        let owners = |patch: &Value| patch["metadata"]["ownerReferences"].clone();
        let one = expected == Action::Configure;
        assert_eq!(
            purge
                .as_ref()
                .map(owners)
                .map(|it| it[0]["uid"] != "another"),
            one.then_some(true)
        );
    }
    // Nobody's Service, and ours whose reference somebody took out (the server tells: no owner, and our entry says so).
    for (ours, expected) in [(false, Action::Refuse), (true, Action::Configure)] {
        let (mut known, source) = covered("pet");
        let service = Arc::make_mut(known.children.values_mut().next().unwrap());
        service.owner_references.clear();
        if ours {
            let entry = &mut Arc::make_mut(&mut service.managed_fields)[0].fields;
            *entry = without(entry, &["f:metadata", "f:ownerReferences"]);
        } else {
            service.managed_fields = Arc::default();
        }
        let plan = plan(&source, &known);
        assert_eq!(plan.steps.last().unwrap().action, expected, "{ours}");
    }
}

#[test]
fn a_hand_edit_is_undone_and_another_appliers_change_is_a_conflict() {
    for (operation, action, forced) in [
        ("Update", Action::Configure, true),
        ("Apply", Action::Refuse, false),
    ] {
        let source = [config("a")];
        let mut known = Known::default();
        member(&mut known, &source[0]);
        let live = Arc::make_mut(known.members.values_mut().next().unwrap());
        let managed = Arc::make_mut(&mut live.managed_fields);
        let entry = &mut managed[0].fields;
        *entry = without(entry, &["f:data"]);
        managed.push(ManagedFields {
            manager: "someone".into(),
            operation: operation.into(),
            fields: fields(&json!({ "data": { "k": "v" } })),
            ..ManagedFields::default()
        });
        let plan = plan(&source, &known);
        let step = &plan.steps[0];
        assert_eq!(step.action, action, "{operation}");
        assert_eq!(step.reason, "drift: .data.k was changed by someone");
        assert_eq!(matches!(step.body, Body::Apply { force: true, .. }), forced);
        assert_eq!(step.conflicts.len(), usize::from(!forced));
    }
}

#[test]
fn objects_of_others_are_refused_and_unowned_ones_adopted() {
    let judge = |change: &dyn Fn(&mut Live)| {
        let source = [config("a")];
        let mut live = applied(&source[0].object);
        live.labels = StringMap::default();
        live.managed_fields = Arc::default();
        change(&mut live);
        let known = Known {
            others: [(source[0].id.clone(), Arc::new(live))].into(),
            ..Known::default()
        };
        plan(&source, &known).steps[0].action
    };
    let mark = |key: &str| {
        let key = key.to_owned();
        move |live: &mut Live| live.annotations = [(&*key, "x")].into_iter().collect()
    };
    assert_eq!(judge(&|_| {}), Action::Configure);
    assert_eq!(judge(&mark("meta.helm.sh/release-name")), Action::Refuse);
    assert_eq!(
        judge(&mark("argocd.argoproj.io/tracking-id")),
        Action::Refuse
    );
    assert_eq!(
        judge(&|live| {
            let label = ("applyset.kubernetes.io/part-of", "applyset-other-v1");
            live.labels = [label].into_iter().collect();
        }),
        Action::Refuse
    );
    assert_eq!(
        judge(&|live| live.owner_references.push(Owner {
            controller: true,
            ..Owner::default()
        })),
        Action::Refuse
    );
    assert_eq!(
        judge(&|live| live.deletion_timestamp = Some("now".into())),
        Action::Refuse
    );
}

#[test]
fn c27_replicas_belong_to_the_autoscaler_where_there_is_one() {
    let source = [deployment("pet")];
    let mut known = Known::default();
    member(&mut known, &source[0]);
    known.replicas.insert(source[0].id.clone(), 7);
    let drifted = plan(&source, &known);
    assert_eq!(
        drifted.steps[0].reason,
        "drift: .spec.replicas was set to 7"
    );

    known.scaled.insert(source[0].id.clone());
    let left = plan(&source, &known);
    assert_eq!(left.steps[0].action, Action::Unchanged);
    // Should something else change, the autoscaler's number is what is sent.
    let live = Arc::make_mut(known.members.values_mut().next().unwrap());
    live.annotations = [(APPLIED_DIGEST, "another")].into_iter().collect();
    let changed = plan(&source, &known);
    let Body::Apply { object, .. } = &changed.steps[0].body else {
        panic!("nothing to send")
    };
    assert_eq!(object["spec"]["replicas"], 7);
}

#[test]
fn pruning_stops_at_the_limit_and_an_approval_lifts_it() {
    let (source, mut known) = ([config("a")], Known::default());
    for name in ["a", "b", "c"] {
        member(&mut known, &config(name));
    }
    let limits = [Limit::of_all(PruneLimit::Count(1))];
    let plan = plan_with(&source, &known, |rules| rules.limits = &limits);
    assert_eq!(plan.count(Action::Delete), 0);
    assert_eq!(plan.count(Action::Refuse), 2);
    assert_eq!(plan.waiting().count(), 2);
    assert!(plan.prune_refused.is_some_and(|why| why.contains("2 of 3")));

    let plan = plan_with(&source, &known, |rules| {
        rules.limits = &limits;
        rules.approved = true;
    });
    assert_eq!(plan.count(Action::Delete), 2);
    assert_eq!((plan.waiting().count(), plan.prune_refused), (0, None));
}

/// A claim, an object that asks for it, and one that may go.
fn to_confirm() -> (Vec<Desired>, Known) {
    let mut known = Known::default();
    let claim = desired("v1", "PersistentVolumeClaim", "data", json!({}));
    let mut marked = config("marked");
    Arc::make_mut(&mut marked.object)["metadata"]["annotations"] =
        json!({ "closurejvm.io/prune": "confirm" });
    for left in [claim, marked, config("plain")] {
        member(&mut known, &left);
    }
    member(&mut known, &config("a"));
    (vec![config("a")], known)
}

#[test]
fn what_needs_an_approval_waits_and_the_rest_goes_in_the_same_run() {
    let (source, known) = to_confirm();
    // One may go at once: those that wait do not count.
    let limits = [Limit::of_all(PruneLimit::Count(1))];
    let plan = plan_with(&source, &known, |rules| rules.limits = &limits);
    let told = |plan: &Plan| -> Vec<(Action, Option<Approval>, String)> {
        let steps = plan.steps.iter();
        steps
            .map(|step| (step.action, step.approval, step.id.name.clone()))
            .collect()
    };
    let mut waiting = told(&plan);
    waiting.sort_by(|a, b| a.2.cmp(&b.2));
    assert_eq!(
        waiting,
        [
            (Action::Unchanged, None, "a".into()),
            (Action::Keep, Some(Approval::Needed), "data".into()),
            (Action::Keep, Some(Approval::Needed), "marked".into()),
            (Action::Delete, None, "plain".into()),
        ]
    );
    assert_eq!(plan.prune_refused, None);

    let plan = plan_with(&source, &known, |rules| rules.approved = true);
    assert_eq!(plan.count(Action::Delete), 3);
    let given = |step: &&Step| step.approval == Some(Approval::Given);
    assert_eq!(plan.steps.iter().filter(given).count(), 2);
    assert_eq!(plan.waiting().count(), 0);
}

#[test]
fn an_approval_is_no_leave_to_prune_what_may_not_be_pruned_at_all() {
    let (source, known) = to_confirm();
    let refused = plan_with(&source, &known, |rules| {
        rules.approved = true;
        rules.unseen = Some("secrets cannot be listed");
    });
    assert_eq!(refused.count(Action::Delete), 0);
    assert_eq!(
        (refused.count(Action::Refuse), refused.waiting().count()),
        (3, 0)
    );
    let off = plan_with(&source, &known, |rules| {
        rules.approved = true;
        rules.enabled = false;
    });
    assert_eq!((off.count(Action::Keep), off.waiting().count()), (3, 0));
}

#[test]
fn a_copied_label_makes_no_member() {
    let mut known = Known::default();
    let copy = config("copy");
    member(&mut known, &copy);
    let live = Arc::make_mut(known.members.get_mut(&copy.id).unwrap());
    let entry = &mut Arc::make_mut(&mut live.managed_fields)[0];
    entry.manager = "kubectl-expose".into();
    entry.operation = "Update".into();
    let plan = plan(&[config("a")], &known);
    assert_eq!(
        told(&plan).last(),
        Some(&(Action::Keep, "ConfigMap n/copy".into()))
    );
}

#[test]
fn an_object_that_is_served_in_two_groups_is_not_pruned_in_one_of_them() {
    let mut known = Known::default();
    let new = desired(
        "networking.k8s.io/v1",
        "Ingress",
        "web",
        json!({ "spec": { "a": 1 } }),
    );
    let old = desired(
        "extensions/v1beta1",
        "Ingress",
        "web",
        json!({ "spec": { "a": 1 } }),
    );
    member(&mut known, &new);
    member(&mut known, &old);
    let plan = plan(&[new], &known);
    assert_eq!(
        told(&plan),
        [(Action::Unchanged, "Ingress.networking.k8s.io n/web".into())]
    );
}

#[test]
fn a_live_deployments_selector_counts_and_not_the_one_it_cannot_have() {
    let (known, mut source) = covered("pet");
    let spec = json!({ "selector": { "matchLabels": { "app": "strangers" } } });
    source[0] = desired("apps/v1", "Deployment", "pet", json!({ "spec": spec }));
    let plan = plan(&source, &known);
    let service = plan
        .steps
        .iter()
        .find(|step| step.id.group_kind.kind == "Service")
        .unwrap();
    assert_eq!(service.action, Action::Unchanged);
}

#[test]
fn what_is_left_alone_is_rendered_as_it_is_in_the_cluster() {
    let alone = |d: &mut Desired| {
        let mark = json!({ "kustomize.toolkit.fluxcd.io/reconcile": "disabled" });
        Arc::make_mut(&mut d.object)["metadata"]["annotations"] = mark;
    };
    // The source switches coverage off, and says that the Target is not to be changed.
    let (known, mut source) = covered("pet");
    source[1] = target("pet", false);
    alone(&mut source[1]);
    let kept = plan(&source, &known);
    assert_eq!(kept.count(Action::Keep), 1);
    assert_eq!(kept.count(Action::Delete), 0, "{:?}", told(&kept));

    let (known, mut source) = covered("pet");
    let spec = json!({ "replicas": 2, "selector": { "matchLabels": { "app": "new" } } });
    source[0] = desired("apps/v1", "Deployment", "pet", json!({ "spec": spec }));
    alone(&mut source[0]);
    let service = plan(&source, &known).steps.pop().unwrap();
    assert_eq!(service.action, Action::Unchanged, "{}", service.reason);
}

#[test]
fn a_service_comes_in_the_wave_of_its_target() {
    let mut source = [deployment("pet"), target("pet", true), config("late")];
    for (d, wave) in source.iter_mut().zip(["-1", "2", "3"]) {
        Arc::make_mut(&mut d.object)["metadata"]["annotations"] =
            json!({ "argocd.argoproj.io/sync-wave": wave });
    }
    let plan = plan(&source, &Known::default());
    let order: Vec<_> = plan
        .steps
        .iter()
        .map(|step| (step.id.group_kind.kind.as_str(), step.wave))
        .collect();
    assert_eq!(
        order,
        [
            ("Deployment", -1),
            ("ClosureJVMTarget", 2),
            ("Service", 2),
            ("ConfigMap", 3)
        ]
    );
}
