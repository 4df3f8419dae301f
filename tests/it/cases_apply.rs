//! Cases from the field about what is applied, and what is no difference.

use serde_json::{Value, json};

use crate::support::api::autoscaling;
use crate::support::audit::Audit;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, config_map, deployment, own_agent, service};
use crate::support::namespace::{Namespace, condition_of};
use crate::support::source::Source;

/// Applies the source, and checks that nothing is left to do: by metadata, and by a dry run of everything.
fn settles(ns: &Namespace, source: &Source) {
    ns.sync(source).ok();
    ns.diff(source).arg("--all").ok().nothing_to_do();
    ns.diff(source)
        .args(&["--all", "--full"])
        .ok()
        .nothing_to_do();
    ns.sync(source).ok().nothing_to_do();
}

/// argo-cd#21135, argocd-operator#1290.
#[test]
fn c18_quantities_written_in_another_way_are_no_difference() {
    let ns = Namespace::new("c18");
    let resources = json!({
        "limits": { "cpu": "1000m", "memory": "1000M" },
        "requests": { "cpu": "0.5", "memory": "1000M" },
    });
    let source = Source::new().with(
        "a.yaml",
        &[deployment("pet").set("/spec/template/spec/containers/0/resources", resources)],
    );
    settles(&ns, &source);
    let live = ns.get("deployments", "pet");
    let live = &live["spec"]["template"]["spec"]["containers"][0]["resources"];
    // Numbers too: YAML has `cpu: 1`.
    assert_eq!(live["requests"]["cpu"], "500m");
    assert_eq!(live["limits"]["memory"], "1G");
}

/// argo-cd#18213, #13004, #16355.
#[test]
fn c23_empty_and_absent_are_no_difference() {
    let ns = Namespace::new("c23");
    let container = "/spec/template/spec/containers/0";
    let empty = deployment("empty")
        .set(&format!("{container}/resources"), json!({}))
        .set(&format!("{container}/env"), json!([]))
        .set("/spec/strategy", json!({}))
        .set("/metadata/labels", json!({}))
        .set("/metadata/annotations", json!({}))
        .set(
            "/spec/template/spec/volumes",
            json!([{ "name": "tmp", "emptyDir": {} }]),
        );
    let source = Source::new().with(
        "a.yaml",
        &[empty, config_map("map", "").set("/data", json!({}))],
    );
    settles(&ns, &source);

    // The other way round: the live object has what the source leaves out.
    let ns = Namespace::new("c23b");
    let plain = deployment("plain").unset("/metadata/labels");
    ns.create(
        "deployments",
        &plain
            .clone()
            .set(&format!("{container}/resources"), json!({})),
    );
    settles(&ns, &Source::new().with("a.yaml", &[plain]));
}

/// ai-platform#7, open-cluster-management-io/api#76.
#[test]
fn c25_nulls_and_serialised_leftovers_are_not_sent() {
    let ns = Namespace::new("c25");
    let exported = service("web")
        .set("/metadata/creationTimestamp", Value::Null)
        .set("/spec/ports/0/nodePort", Value::Null)
        .set("/spec/externalName", Value::Null)
        .set("/status", json!({ "loadBalancer": {}, "conditions": [] }));
    let source = Source::new().with("a.yaml", &[exported]);
    settles(&ns, &source);
    let live = ns.get("services", "web");
    let ours = entry(&live, "covergence").to_string();
    for never in ["creationTimestamp", "nodePort", "externalName", "f:status"] {
        assert!(!ours.contains(never), "{never} in {ours}");
    }
    assert!(ours.contains("f:selector"), "{ours}");
}

/// k8s#108081, k8s#46861.
#[test]
fn c26_what_is_invalid_only_together_is_said_in_the_servers_words_and_tried_once() {
    let ns = Namespace::new("c26");
    let env = |entry: Value| {
        deployment("pet").set("/spec/template/spec/containers/0/env", json!([entry]))
    };
    let source = Source::new()
        .with("a.yaml", &[deployment("pet")])
        .with("b.yaml", &[config_map("other", "1")]);
    ns.sync(&source).ok();
    let theirs = env(
        json!({ "name": "OPTS", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }),
    );
    let theirs = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "pet" },
        "spec": { "template": { "spec": { "containers": [{
            "name": "app", "env": theirs["spec"]["template"]["spec"]["containers"][0]["env"],
        }] } } },
    });
    api().apply(&ns.path("deployments", "pet"), "other-tool", &theirs);

    source.write("a.yaml", &[env(json!({ "name": "OPTS", "value": "x" }))]);
    source.write("b.yaml", &[config_map("other", "2")]);
    let words = "may not be specified when `value` is not empty";
    let diff = ns.diff(&source).code(2);
    assert_eq!(diff.action("Deployment", "pet"), "refuse");
    assert!(diff.reason("Deployment", "pet").contains(words));

    let audit = Audit::new("c26");
    let report = ns.sync(&source).admin(&audit.user).code(2);
    assert_eq!(report.outcome("Deployment", "pet"), "failed");
    assert!(report.message("Deployment", "pet").contains(words));
    let tries: Vec<_> = audit
        .writes()
        .into_iter()
        .filter(|e| e.resource == "deployments")
        .collect();
    assert_eq!(tries.len(), 1, "{tries:?}");
    assert_eq!(tries[0].code, 422);
    // The others are served all the same, and the Sync says that it is not ready.
    assert_eq!(ns.get("configmaps", "other")["data"]["key"], "2");
    let ready = condition_of(&ns.get("syncs", "it"), "Ready");
    assert_eq!(ready["status"], "False", "{ready}");
    assert!(
        ready["message"].as_str().unwrap().contains(words),
        "{ready}"
    );
}

/// k8s#25238, k8s#94585.
#[test]
fn c27_replicas_of_an_autoscaler_are_left_to_it() {
    let ns = Namespace::new("c27");
    let autoscaler = json!({
        "apiVersion": autoscaling(), "kind": "HorizontalPodAutoscaler", "metadata": { "name": "pet" },
        "spec": { "maxReplicas": 9, "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "pet" } },
    });
    let source = Source::new()
        .with("a.yaml", &[deployment("pet")])
        .with("hpa.yaml", &[autoscaler]);
    ns.sync(&source).ok();
    scale(&ns, "pet", 7);
    ns.sync(&source).ok();
    assert_eq!(ns.get("deployments", "pet")["spec"]["replicas"], 7);

    // Not even when something else changes.
    let image = "/spec/template/spec/containers/0/image";
    source.write("a.yaml", &[deployment("pet").set(image, "shop/pet:2")]);
    assert_eq!(
        ns.sync(&source).ok().outcome("Deployment", "pet"),
        "configured"
    );
    let live = ns.get("deployments", "pet");
    assert_eq!(live["spec"]["replicas"], 7);
    assert_eq!(live.pointer(image), Some(&json!("shop/pet:2")));
    ns.sync(&source).ok().nothing_to_do();
    scale(&ns, "pet", 5);
    ns.sync(&source).ok();
    assert_eq!(ns.get("deployments", "pet")["spec"]["replicas"], 5);
}

#[test]
fn c27_an_autoscaler_that_only_the_cluster_has_counts_as_well() {
    let ns = Namespace::new("c27b");
    let source = Source::new().with("a.yaml", &[deployment("pet")]);
    ns.sync(&source).ok();
    ns.create("horizontalpodautoscalers", &json!({
        "metadata": { "name": "pet" },
        "spec": { "maxReplicas": 9, "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "pet" } },
    }));
    scale(&ns, "pet", 7);
    ns.diff(&source).ok();
    ns.sync(&source).ok();
    assert_eq!(ns.get("deployments", "pet")["spec"]["replicas"], 7);
}

#[test]
fn c27_a_deployment_that_is_adopted_keeps_the_replicas_of_its_autoscaler() {
    let ns = Namespace::new("c27e");
    ns.create("deployments", &deployment("pet").set("/spec/replicas", 7));
    ns.create("horizontalpodautoscalers", &json!({
        "metadata": { "name": "pet" },
        "spec": { "maxReplicas": 9, "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "pet" } },
    }));
    let source = Source::new().with("a.yaml", &[deployment("pet")]);
    assert_eq!(
        ns.sync(&source).ok().outcome("Deployment", "pet"),
        "configured"
    );
    assert_eq!(ns.get("deployments", "pet")["spec"]["replicas"], 7);
}

#[test]
fn c27_without_an_autoscaler_a_scale_by_hand_is_drift() {
    let ns = Namespace::new("c27c");
    let source = Source::new().with("a.yaml", &[deployment("pet")]);
    ns.sync(&source).ok();
    scale(&ns, "pet", 7);
    let diff = ns.diff(&source).code(1);
    assert!(diff.reason("Deployment", "pet").contains(".spec.replicas"));
    assert_eq!(
        ns.sync(&source).ok().outcome("Deployment", "pet"),
        "configured"
    );
    assert_eq!(ns.get("deployments", "pet")["spec"]["replicas"], 2);
}

#[test]
fn c27_replicas_that_no_file_states_are_nobodys_business() {
    let ns = Namespace::new("c27d");
    let source = Source::new().with("a.yaml", &[deployment("pet").unset("/spec/replicas")]);
    ns.sync(&source).ok();
    scale(&ns, "pet", 7);
    ns.sync(&source).ok().nothing_to_do();
    assert_eq!(ns.get("deployments", "pet")["spec"]["replicas"], 7);
}

/// As an autoscaler and `kubectl scale` do.
fn scale(ns: &Namespace, name: &str, replicas: i32) {
    let patch = json!({ "spec": { "replicas": replicas } });
    api().edit(&ns.path("deployments:scale", name), &patch);
}

/// k8s#133704, k8s#88901.
#[test]
fn c29_spec_and_status_are_written_by_managers_of_their_own() {
    let ns = Namespace::new("c29");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    // Somebody else adds a field that the source leaves open.
    let includes = json!({ "spec": { "agents": { "coverage": { "includes": ["shop.*"] } } } });
    ns.edit("closurejvmtargets", "pet", &includes);
    let before = ns.get("closurejvmtargets", "pet");

    // A status write.
    ns.run_pods("pet", 2);
    ns.sync(&source).ok();
    let live = ns.get("closurejvmtargets", "pet");
    assert_ne!(before["status"], live["status"]);
    for manager in ["covergence", "kubectl-edit"] {
        assert_eq!(entry(&live, manager), entry(&before, manager));
        assert!(entry(&live, manager).get("f:status").is_none());
    }
    let theirs = entry(&live, "covergence-status");
    assert!(
        theirs.get("f:status").is_some() && theirs.get("f:spec").is_none(),
        "{theirs}"
    );

    // A write of the spec: status stays until it is computed anew, the other's field stays for ever.
    source.write(
        "pet.yaml",
        &[own_agent("pet").set("/spec/agents/coverage/port", 7300)],
    );
    ns.sync(&source).ok();
    let after = ns.get("closurejvmtargets", "pet");
    assert_eq!(after["status"]["phase"], "Instrumented");
    assert_eq!(
        after["spec"]["agents"]["coverage"]["includes"],
        json!(["shop.*"])
    );
    assert_eq!(
        entry(&after, "kubectl-edit"),
        entry(&before, "kubectl-edit")
    );
}

/// The fields that a manager owns.
fn entry(object: &Value, manager: &str) -> Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let found = entries.iter().find(|entry| entry["manager"] == manager);
    found.unwrap_or_else(|| panic!("no entry of {manager}: {entries:#?}"))["fieldsV1"].clone()
}

/// kubeflow/notebooks#1343, controller-runtime#2831.
#[test]
fn c50_idle_syncs_write_nothing() {
    let ns = Namespace::new("c50");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "1"), service("web")])
        .with("pet.yaml", &[deployment("pet"), own_agent("pet")]);
    ns.sync(&source).ok();
    eventually("the Deployment controller is done", || {
        let status = &ns.get("deployments", "pet")["status"];
        // It tells first what is missing, then what is there.
        let counted = status["unavailableReplicas"] == 2 && status["updatedReplicas"] == 2;
        (status["observedGeneration"] == 1 && counted).then_some(())
    });
    ns.sync(&source).ok();
    let versions = || -> Vec<Value> {
        let objects = [
            ("configmaps", "a"),
            ("services", "web"),
            ("services", "pet-coverage"),
            ("deployments", "pet"),
            ("closurejvmtargets", "pet"),
            ("syncs", "it"),
        ];
        objects
            .map(|(kind, name)| ns.get(kind, name)["metadata"]["resourceVersion"].clone())
            .into()
    };
    let before = versions();
    let audit = Audit::new("c50");
    for prune in ["--all", "--prune", "--force-conflicts"] {
        ns.sync(&source)
            .admin(&audit.user)
            .arg(prune)
            .ok()
            .nothing_to_do();
    }
    assert!(audit.events().len() > 3, "the log is not of these syncs");
    let writes = audit.writes();
    assert!(writes.is_empty(), "{writes:#?}");
    assert_eq!(before, versions());
}
