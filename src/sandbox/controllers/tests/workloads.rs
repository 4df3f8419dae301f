//! Pods and what makes them.

use serde_json::json;

use super::super::object::meta;
use super::{Pods, World, conditions, workload};

#[test]
fn a_deployment_has_ready_pods_at_once() {
    let mut world = World::new(Pods::Ready);
    let mut deployment = workload("Deployment", "web", "i:1");
    deployment["spec"]["replicas"] = 2.into();
    deployment["metadata"]["annotations"] = json!({ "note": "x" });
    world.add("deployments.apps", deployment);
    let deployment = world.find("deployments.apps", "web");
    let status = &deployment["status"];
    for field in [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
    ] {
        let wanted = if field == "observedGeneration" { 1 } else { 2 };
        assert_eq!(status[field], wanted, "{field}");
    }
    assert_eq!(status.get("unavailableReplicas"), None);
    assert_eq!(
        conditions(&deployment),
        [
            ["Available", "True", "MinimumReplicasAvailable"],
            ["Progressing", "True", "NewReplicaSetAvailable"],
        ]
    );
    assert_eq!(
        deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "1"
    );
    let sets = world.list("replicasets.apps");
    let [set] = sets.as_slice() else {
        panic!("{sets:?}")
    };
    let hash = set["metadata"]["labels"]["pod-template-hash"]
        .as_str()
        .unwrap();
    assert_eq!(meta(set, "name"), format!("web-{hash}"));
    assert_eq!(
        set["spec"]["selector"]["matchLabels"],
        json!({ "app": "web", "pod-template-hash": hash })
    );
    assert_eq!(
        set["metadata"]["annotations"],
        json!({
            "note": "x", "deployment.kubernetes.io/revision": "1",
            "deployment.kubernetes.io/desired-replicas": "2", "deployment.kubernetes.io/max-replicas": "3",
        })
    );
    let pods = world.list("pods");
    assert_eq!(pods.len(), 2);
    for pod in &pods {
        assert!(meta(pod, "name").starts_with(&format!("web-{hash}-")));
        assert_eq!(pod["status"]["phase"], "Running");
        assert_eq!(pod["spec"]["nodeName"], "sandbox");
        assert_eq!(
            pod["metadata"]["ownerReferences"][0]["uid"],
            set["metadata"]["uid"]
        );
        assert_eq!(pod["status"]["containerStatuses"][0]["ready"], true);
    }
    assert_ne!(pods[0]["status"]["podIP"], pods[1]["status"]["podIP"]);
}

#[test]
fn without_a_node_pods_wait() {
    let mut world = World::new(Pods::Pending);
    world.add("deployments.apps", workload("Deployment", "web", "i:1"));
    let deployment = world.find("deployments.apps", "web");
    assert_eq!(deployment["status"]["unavailableReplicas"], 1);
    assert_eq!(
        conditions(&deployment),
        [
            ["Available", "False", "MinimumReplicasUnavailable"],
            ["Progressing", "True", "ReplicaSetUpdated"],
        ]
    );
    let pods = world.list("pods");
    assert_eq!(pods[0]["status"]["phase"], "Pending");
    assert_eq!(pods[0]["spec"].get("nodeName"), None);
}

#[test]
fn a_new_template_takes_over_and_the_old_one_is_kept() {
    let mut world = World::new(Pods::Ready);
    let mut deployment = workload("Deployment", "web", "i:1");
    deployment["spec"]["replicas"] = 3.into();
    deployment["spec"]["revisionHistoryLimit"] = 1.into();
    world.add("deployments.apps", deployment);
    let image = |world: &mut World, image: &str| {
        let image = image.to_owned();
        world.change("deployments.apps", "web", |deployment| {
            deployment["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
        });
    };
    image(&mut world, "i:2");
    let told = |world: &World| -> Vec<(String, String, i64)> {
        let mut all: Vec<_> = world
            .list("replicasets.apps")
            .iter()
            .map(|set| {
                (
                    set["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
                        .as_str()
                        .unwrap()
                        .to_owned(),
                    set["spec"]["template"]["spec"]["containers"][0]["image"]
                        .as_str()
                        .unwrap()
                        .to_owned(),
                    set["status"]["replicas"].as_i64().unwrap(),
                )
            })
            .collect();
        all.sort();
        all
    };
    let row =
        |revision: &str, image: &str, replicas| (revision.to_owned(), image.to_owned(), replicas);
    assert_eq!(told(&world), [row("1", "i:1", 0), row("2", "i:2", 3)]);
    image(&mut world, "i:1");
    assert_eq!(told(&world), [row("2", "i:2", 0), row("3", "i:1", 3)]);
    let back = world.list("replicasets.apps");
    let history = "deployment.kubernetes.io/revision-history";
    assert!(
        back.iter()
            .any(|set| set["metadata"]["annotations"].get(history) == Some(&json!("1")))
    );
    image(&mut world, "i:3");
    assert_eq!(
        told(&world),
        [row("3", "i:1", 0), row("4", "i:3", 3)],
        "one is kept"
    );
    assert_eq!(world.list("pods").len(), 3);
}

#[test]
fn a_paused_deployment_scales_but_does_not_roll() {
    let mut world = World::new(Pods::Ready);
    world.add("deployments.apps", workload("Deployment", "web", "i:1"));
    world.change("deployments.apps", "web", |deployment| {
        deployment["spec"]["paused"] = true.into();
        deployment["spec"]["template"]["metadata"]["annotations"] = json!({ "a": "b" });
    });
    let deployment = world.find("deployments.apps", "web");
    assert_eq!(deployment["status"].get("updatedReplicas"), None);
    assert!(conditions(&deployment).contains(&["Progressing", "Unknown", "DeploymentPaused"]));
    world.change("deployments.apps", "web", |deployment| {
        deployment["spec"]["replicas"] = 2.into()
    });
    assert_eq!(world.list("replicasets.apps").len(), 1);
    assert_eq!(world.list("pods").len(), 2);
    world.change("deployments.apps", "web", |deployment| {
        deployment["spec"]["paused"] = false.into();
    });
    assert_eq!(world.list("replicasets.apps").len(), 2);
    let deployment = world.find("deployments.apps", "web");
    assert!(conditions(&deployment).contains(&["Progressing", "True", "NewReplicaSetAvailable"]));
}

#[test]
fn recreating_lets_the_old_pods_end_first() {
    let mut world = World::new(Pods::Ready);
    let mut deployment = workload("Deployment", "web", "i:1");
    deployment["spec"]["strategy"] = json!({ "type": "Recreate" });
    world.add("deployments.apps", deployment);
    world.change("deployments.apps", "web", |deployment| {
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "i:2".into();
    });
    let pods = world.list("pods");
    assert_eq!(pods.len(), 1);
    assert_eq!(pods[0]["spec"]["containers"][0]["image"], "i:2");
    assert_eq!(
        world.find("deployments.apps", "web")["status"]["updatedReplicas"],
        1
    );
}

#[test]
fn a_pod_that_is_deleted_is_replaced() {
    let mut world = World::new(Pods::Ready);
    world.add("deployments.apps", workload("Deployment", "web", "i:1"));
    let name = world.names("pods").remove(0);
    world.delete("pods", &name, "Background");
    let names = world.names("pods");
    assert_eq!(names.len(), 1);
    assert_ne!(names, [name]);
}

#[test]
fn a_stateful_set_has_pods_with_ordinals() {
    let mut world = World::new(Pods::Ready);
    let mut set = workload("StatefulSet", "db", "i:1");
    set["spec"]["replicas"] = 3.into();
    set["spec"]["serviceName"] = "db".into();
    world.add("statefulsets.apps", set);
    assert_eq!(world.names("pods"), ["db-0", "db-1", "db-2"]);
    let first = world.find("pods", "db-0");
    assert_eq!(first["spec"]["hostname"], "db-0");
    assert_eq!(
        first["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"],
        "db-0"
    );
    assert_eq!(
        world.find("statefulsets.apps", "db")["status"]["readyReplicas"],
        3
    );
    world.change("statefulsets.apps", "db", |set| {
        set["spec"]["replicas"] = 2.into();
        set["spec"]["template"]["spec"]["containers"][0]["image"] = "i:2".into();
    });
    assert_eq!(world.names("pods"), ["db-0", "db-1"]);
    for pod in world.list("pods") {
        assert_eq!(pod["spec"]["containers"][0]["image"], "i:2");
    }
    let status = &world.find("statefulsets.apps", "db")["status"];
    assert_eq!(status["currentRevision"], status["updateRevision"]);
}

#[test]
fn a_job_is_complete_when_its_pods_have_run() {
    let mut world = World::new(Pods::Ready);
    let spec = json!({ "restartPolicy": "Never", "containers": [{ "name": "c", "image": "i" }] });
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "once" },
        "spec": { "completions": 2, "template": { "spec": spec } },
    });
    world.add("jobs.batch", job);
    let job = world.find("jobs.batch", "once");
    assert_eq!(job["status"]["succeeded"], 2);
    assert_eq!(conditions(&job), [["Complete", "True", ""]]);
    assert_eq!(world.list("pods").len(), 2);
}

#[test]
fn a_daemon_set_has_a_pod_on_the_node() {
    let mut world = World::new(Pods::Ready);
    world.add("daemonsets.apps", workload("DaemonSet", "agent", "i:1"));
    assert_eq!(world.list("pods").len(), 1);
    assert_eq!(
        world.find("daemonsets.apps", "agent")["status"]["numberReady"],
        1
    );
    world.change("daemonsets.apps", "agent", |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] = "i:2".into();
    });
    let pods = world.list("pods");
    assert_eq!(pods.len(), 1);
    assert_eq!(pods[0]["spec"]["containers"][0]["image"], "i:2");
    let mut without = World::new(Pods::Pending);
    without.add("daemonsets.apps", workload("DaemonSet", "agent", "i:1"));
    assert_eq!(
        without.find("daemonsets.apps", "agent")["status"]["desiredNumberScheduled"],
        0
    );
    assert!(without.list("pods").is_empty());
}

#[test]
fn what_is_at_rest_is_left_alone() {
    let mut world = World::new(Pods::Ready);
    world.add("deployments.apps", workload("Deployment", "web", "i:1"));
    let version = world.state.store.version();
    // As when the changes since the last look are forgotten.
    world.state.controllers = super::super::Controllers::default();
    world.settle();
    assert_eq!(world.state.store.version(), version);
}

#[test]
fn an_update_that_gets_no_further_runs_out_of_time() {
    let mut world = World::new(Pods::Pending);
    let mut web = workload("Deployment", "web", "web:1");
    web["spec"]["progressDeadlineSeconds"] = json!(60);
    world.add("deployments.apps", web);
    let progressing = |world: &World| {
        let web = world.find("deployments.apps", "web");
        let mut all = web["status"]["conditions"].as_array().unwrap().iter();
        all.find(|condition| condition["type"] == "Progressing")
            .unwrap()
            .clone()
    };
    assert_eq!(progressing(&world)["status"], "True");
    assert!(world.state.controllers.wait());

    let mut status = world.find("deployments.apps", "web")["status"].clone();
    for condition in status["conditions"].as_array_mut().unwrap() {
        condition["lastUpdateTime"] = json!("2020-01-01T00:00:00Z");
    }
    world.tell("deployments.apps", "web", status);
    let condition = progressing(&world);
    assert_eq!(condition["status"], "False");
    assert_eq!(condition["reason"], "ProgressDeadlineExceeded");
    let message = condition["message"].as_str().unwrap();
    assert!(message.starts_with("ReplicaSet \"web-"), "{message}");
    assert!(
        message.ends_with("\" has timed out progressing."),
        "{message}"
    );
    assert!(!world.state.controllers.wait());
}
