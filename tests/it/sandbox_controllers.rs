//! The controllers of the sandbox beside Kubernetes' own: what they make of the same objects is the same.
//!
//! Pods are run by hand on both sides, on a node that is one by name alone. What is made up anew each time (names, uids, times,
//! addresses) is left out of the comparison, as are `managedFields`, which have tests of their own.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use covergence::sandbox::controllers::Pods;
use covergence::sandbox::{Options, Sandbox};
use regex::bytes::Regex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::support::api::{Api, path};
use crate::support::differential::sorted;
use crate::support::lab::{api, eventually};
use crate::support::namespace::unique;

const LISTED: [&str; 6] = [
    "deployments",
    "replicasets",
    "pods",
    "endpoints",
    "endpointslices",
    "configmaps",
];

/// A sandbox of the test's own, and the API server; each with a namespace and a node.
struct Both {
    ours: Api,
    namespace: String,
    node: String,
    /// How many addresses the pods of each side have got.
    addresses: [u32; 2],
    stop: CancellationToken,
    _runtime: Runtime,
    _dir: tempfile::TempDir,
}

impl Both {
    fn new(prefix: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let sandbox = Sandbox::new(Options {
            pods: Pods::Pending,
            ..Options::default()
        });
        let stop = CancellationToken::new();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let kubeconfig = dir.path().join("kubeconfig");
        std::fs::write(&kubeconfig, kubeconfig_of(&sandbox, address)).unwrap();
        runtime.spawn(sandbox.serve(listener, stop.clone()));
        let name = unique(prefix);
        let both = Self {
            ours: Api::connect(&kubeconfig),
            node: name.clone(),
            namespace: name,
            addresses: [0; 2],
            stop,
            _runtime: runtime,
            _dir: dir,
        };
        let named = json!({ "metadata": { "name": both.namespace } });
        both.each(|api| {
            api.create("/api/v1/namespaces", &named);
            api.create("/api/v1/nodes", &named);
        });
        both.settle("a new namespace");
        both
    }

    fn each(&self, act: impl Fn(&Api)) {
        act(api());
        act(&self.ours);
    }

    fn path(&self, resource: &str, name: &str) -> String {
        path(
            resource,
            Some(&self.namespace),
            (!name.is_empty()).then_some(name),
        )
    }

    fn create(&self, resource: &str, object: &Value) {
        self.each(|api| {
            api.create(&self.path(resource, ""), object);
        });
    }

    fn edit(&self, resource: &str, name: &str, patch: &Value) {
        self.each(|api| {
            api.edit(&self.path(resource, name), patch);
        });
    }

    fn delete(&self, resource: &str, name: &str, policy: &str) {
        let options = json!({ "propagationPolicy": policy });
        self.each(|api| {
            let path = self.path(resource, name);
            api.send("DELETE", &path, "application/json", &options)
                .unwrap();
        });
    }

    /// Makes an object that others own, which are named as `resource/name`.
    fn owned(&self, name: &str, owners: &[(&str, bool)], finalizers: &Value) {
        self.each(|api| {
            let owners: Vec<Value> = owners
                .iter()
                .map(|(owner, block)| {
                    let (resource, name) = owner.split_once('/').unwrap();
                    let owner = api.get(&self.path(resource, name));
                    json!({
                        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name,
                        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": block,
                    })
                })
                .collect();
            let metadata =
                json!({ "name": name, "ownerReferences": owners, "finalizers": finalizers });
            api.create(
                &self.path("configmaps", ""),
                &json!({ "metadata": metadata }),
            );
        });
    }

    /// Plays the node until nothing is left to do: new pods run, and pods that are to end do.
    fn run_pods(&mut self, ready: bool) {
        for side in 0..2 {
            let api = if side == 0 { api() } else { &self.ours };
            for pod in api.list(&self.path("pods", "")) {
                let name = pod["metadata"]["name"].as_str().unwrap();
                let own = self.path("pods", name);
                if pod["metadata"].get("deletionTimestamp").is_some() {
                    let at_once = json!({ "gracePeriodSeconds": 0 });
                    // It may be gone by now.
                    let _ = api.send("DELETE", &own, "application/json", &at_once);
                    continue;
                }
                if pod["spec"].get("nodeName").is_none() {
                    let target = json!({ "kind": "Node", "name": self.node });
                    let binding = json!({ "metadata": { "name": name }, "target": target });
                    let _ = api.send(
                        "POST",
                        &format!("{own}/binding"),
                        "application/json",
                        &binding,
                    );
                }
                let is_ready = pod["status"]["conditions"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|c| c["type"] == "Ready" && c["status"] == "True");
                if is_ready || !ready && pod["status"].get("podIP").is_some() {
                    continue;
                }
                let ip = pod["status"]["podIP"].as_str().map_or_else(
                    || {
                        self.addresses[side] += 1;
                        format!("10.0.0.{}", self.addresses[side])
                    },
                    str::to_owned,
                );
                let status = json!({ "status": {
                    "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }],
                    "conditions": [{ "type": "Ready", "status": if ready { "True" } else { "False" } }],
                } });
                let told = format!("{own}/status");
                let _ = api.send(
                    "PATCH",
                    &told,
                    "application/strategic-merge-patch+json",
                    &status,
                );
            }
        }
    }

    /// Waits until both sides show the same.
    fn settle(&self, when: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let (theirs, ours) = (self.view(api()), self.view(&self.ours));
            if theirs == ours {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{when}: ours is\n{ours:#}\nand theirs\n{theirs:#}"
            );
            sleep(Duration::from_millis(100));
        }
    }

    /// Runs pods until both sides show the same, and a Deployment is where it wants to be.
    fn roll(&mut self, when: &str) {
        eventually(when, || {
            self.run_pods(true);
            let own = self.path("deployments", "web");
            let done = |api: &Api| {
                let deployment = api.get(&own);
                let (spec, status) = (&deployment["spec"], &deployment["status"]);
                let counts = ["replicas", "updatedReplicas", "availableReplicas"];
                status["observedGeneration"] == deployment["metadata"]["generation"]
                    && counts
                        .iter()
                        .all(|count| spec["replicas"] == status[count].as_i64().unwrap_or(0))
            };
            (done(api()) && done(&self.ours)).then_some(())
        });
        eventually(when, || {
            self.run_pods(true);
            let leaving = |api: &Api| {
                let pods = api.list(&self.path("pods", ""));
                pods.iter()
                    .any(|pod| pod["metadata"].get("deletionTimestamp").is_some())
            };
            (!leaving(api()) && !leaving(&self.ours)).then_some(())
        });
        self.settle(when);
    }

    /// What is in the namespace, without what differs each time.
    fn view(&self, api: &Api) -> Value {
        let mut all = serde_json::Map::new();
        let namespace = api.find(&path("namespaces", None, Some(&self.namespace)));
        let status = namespace.map(|namespace| plain(&namespace["status"]));
        all.insert("namespace".to_owned(), status.into());
        let mut names = BTreeMap::new();
        for set in api.list(&self.path("replicasets", "")) {
            let hash = set["metadata"]["labels"]["pod-template-hash"].as_str();
            let image = &set["spec"]["template"]["spec"]["containers"][0]["image"];
            let note = &set["spec"]["template"]["metadata"]["annotations"];
            names.insert(
                hash.unwrap().to_owned(),
                format!("<{image}{note}>").replace('"', "'"),
            );
        }
        for resource in LISTED {
            let items = api.list(&self.path(resource, ""));
            let mut items: Vec<String> = items
                .iter()
                .filter(|item| item["addressType"] != "IPv6")
                .map(|item| self.normal(&plain(item).to_string(), &names))
                .collect();
            items.sort();
            if resource == "endpointslices" {
                // A real controller that has not seen its own slice yet makes another one like it.
                items.dedup();
            }
            let items = items
                .iter()
                .map(|item| serde_json::from_str::<Value>(item).unwrap());
            all.insert(resource.to_owned(), items.map(sorted).collect());
        }
        all.into()
    }

    fn normal(&self, text: &str, hashes: &BTreeMap<String, String>) -> String {
        let mut text = text.replace(&self.namespace, "NS");
        for (hash, name) in hashes {
            text = text.replace(hash, name);
        }
        for (pattern, name) in [
            (r">-[bcdfghjklmnpqrstvwxz2456789]{5}", ">-POD"),
            (
                r#""(web|early)-[bcdfghjklmnpqrstvwxz2456789]{5}""#,
                "\"SLICE\"",
            ),
            (r"10\.0\.0\.[0-9]+", "IP"),
        ] {
            let pattern = Regex::new(&format!("(?-u){pattern}")).unwrap();
            let replaced = pattern
                .replace_all(text.as_bytes(), name.as_bytes())
                .into_owned();
            text = String::from_utf8(replaced).unwrap();
        }
        text
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        api().delete(&path("nodes", None, Some(&self.node)));
        api().delete(&path("namespaces", None, Some(&self.namespace)));
        self.stop.cancel();
    }
}

fn kubeconfig_of(sandbox: &Sandbox, address: SocketAddr) -> String {
    sandbox.kubeconfig(address).unwrap()
}

/// Takes out what differs each time, and what later versions of Kubernetes have in another form (see `DIFFERENCES.md`).
fn plain(value: &Value) -> Value {
    const LEFT_OUT: [&str; 22] = [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "managedFields",
        "lastUpdateTime",
        "lastTransitionTime",
        "lastProbeTime",
        "startTime",
        "endpoints.kubernetes.io/last-change-trigger-time",
        "kubernetes.io/description",
        "ca.crt",
        "selfLink",
        "topology",
        "nodeName",
        "serving",
        "terminating",
        "tolerations",
        "apiVersion",
        "kind",
        // Objects are the same at the end, on ways of different lengths.
        "generation",
        "observedGeneration",
    ];
    match value {
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), plain(value)))
                .filter(|(_, value)| ![Value::Null, json!([]), json!({})].contains(value))
                .collect()
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

fn deployment(replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": "web", "labels": { "l": "1" }, "annotations": { "note": "x" } },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" }, "annotations": { "t": "1" } },
                "spec": { "containers": [{
                    "name": "c", "image": "i:1", "ports": [{ "name": "http", "containerPort": 8080 }],
                }] },
            },
        },
    })
}

fn image(image: &str) -> Value {
    let container = json!({ "name": "c", "image": image, "ports": [{ "name": "http", "containerPort": 8080 }] });
    json!({ "spec": { "template": { "spec": { "containers": [container] } } } })
}

#[test]
fn deployments_roll_scale_pause_and_go_back() {
    let mut both = Both::new("rolls");
    both.create("deployments", &deployment(2));
    both.settle("pods wait");
    both.roll("pods are ready");
    both.edit("deployments", "web", &image("i:2"));
    both.roll("another image");
    both.edit("deployments", "web", &json!({ "spec": { "replicas": 4 } }));
    both.roll("more replicas");
    both.edit(
        "deployments",
        "web",
        &json!({ "metadata": { "annotations": { "note": "y", "more": "z" } } }),
    );
    both.settle("other annotations");
    both.edit("deployments", "web", &json!({ "spec": { "paused": true } }));
    both.settle("paused");
    both.edit("deployments", "web", &image("i:3"));
    both.settle("another image while paused");
    both.edit(
        "deployments",
        "web",
        &json!({ "spec": { "paused": false, "revisionHistoryLimit": 1 } }),
    );
    both.roll("not paused any more");
    both.edit("deployments", "web", &image("i:2"));
    both.roll("back to an earlier image");
    both.edit("deployments", "web", &json!({ "spec": { "replicas": 0 } }));
    both.roll("no replicas");
    both.delete("deployments", "web", "Foreground");
    both.settle("gone");
}

#[test]
fn recreating_deployments_stop_first() {
    let mut both = Both::new("recreates");
    let mut object = deployment(2);
    object["spec"]["strategy"] = json!({ "type": "Recreate" });
    both.create("deployments", &object);
    both.roll("pods are ready");
    both.edit("deployments", "web", &image("i:2"));
    both.roll("another image");
}

#[test]
fn services_have_endpoints() {
    let mut both = Both::new("endpoints");
    let service = |name: &str, more: Value| {
        let mut service = json!({
            "metadata": { "name": name, "labels": { "l": "1" } },
            "spec": {
                "selector": { "app": "web" },
                "ports": [
                    { "name": "http", "port": 80, "targetPort": "http" },
                    { "name": "other", "port": 81, "targetPort": 9090 },
                ],
            },
        });
        for (field, value) in more.as_object().unwrap() {
            service["spec"][field] = value.clone();
        }
        service
    };
    both.create("services", &service("web", json!({})));
    both.create(
        "services",
        &service(
            "early",
            json!({ "clusterIP": "None", "publishNotReadyAddresses": true }),
        ),
    );
    both.create("services", &service("none", json!({ "selector": null })));
    both.settle("no pods");
    both.create("deployments", &deployment(2));
    both.settle("pods without an address");
    both.run_pods(false);
    both.settle("pods that are not ready");
    both.roll("pods that are ready");
    both.edit("services", "web", &json!({ "metadata": { "labels": { "l": "2" } }, "spec": { "ports": [{ "name": "q", "port": 90 }] } }));
    both.settle("other labels and ports");
    both.edit("deployments", "web", &json!({ "spec": { "replicas": 1 } }));
    both.roll("fewer pods");
    both.delete("services", "web", "Background");
    both.settle("a Service less");
}

#[test]
fn dependents_go_with_their_owners() {
    let both = Both::new("garbage");
    for name in ["parent", "first", "second", "foreground", "orphaned"] {
        both.owned(name, &[], &json!([]));
    }
    both.owned("child", &[("configmaps/parent", true)], &json!([]));
    both.owned("grandchild", &[("configmaps/child", false)], &json!([]));
    both.owned(
        "shared",
        &[("configmaps/first", false), ("configmaps/second", false)],
        &json!([]),
    );
    both.owned(
        "held",
        &[("configmaps/foreground", true)],
        &json!(["x.io/wait"]),
    );
    both.owned(
        "loose",
        &[("configmaps/foreground", false)],
        &json!(["x.io/wait"]),
    );
    both.owned("orphan", &[("configmaps/orphaned", true)], &json!([]));
    both.delete("configmaps", "parent", "Background");
    both.delete("configmaps", "first", "Background");
    both.delete("configmaps", "foreground", "Foreground");
    both.delete("configmaps", "orphaned", "Orphan");
    both.settle("owners are deleted");
    both.edit(
        "configmaps",
        "held",
        &json!({ "metadata": { "finalizers": null } }),
    );
    both.settle("what blocked its owner is gone");
    both.edit(
        "configmaps",
        "loose",
        &json!({ "metadata": { "finalizers": null } }),
    );
    both.delete("configmaps", "second", "Background");
    both.settle("the last owner is gone");
    let names = |api: &Api| -> Vec<String> {
        let all = api.list(&both.path("configmaps", ""));
        all.iter()
            .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&both.ours), ["kube-root-ca.crt", "orphan"]);
}

#[test]
fn orphaned_replica_sets_are_adopted() {
    let mut both = Both::new("adopts");
    both.create("deployments", &deployment(1));
    both.roll("pods are ready");
    both.delete("deployments", "web", "Orphan");
    both.settle("the Deployment is gone");
    both.create("deployments", &deployment(1));
    both.roll("the Deployment is back");
}

#[test]
fn namespaces_end_when_nothing_holds_them() {
    let both = Both::new("ends");
    both.create("deployments", &deployment(1));
    both.create("services", &json!({ "metadata": { "name": "web" }, "spec": { "selector": { "app": "web" }, "ports": [{ "port": 80 }] } }));
    both.owned("held", &[], &json!(["x.io/wait"]));
    both.settle("it is full");
    both.each(|api| {
        assert!(api.delete(&path("namespaces", None, Some(&both.namespace))));
    });
    eventually("it waits for what is held", || {
        let waits = |api: &Api| {
            let namespace = api.get(&path("namespaces", None, Some(&both.namespace)));
            let message = namespace["status"]["conditions"][3]["message"].as_str();
            message == Some("Some resources are remaining: configmaps. has 1 resource instances")
        };
        (waits(api()) && waits(&both.ours)).then_some(())
    });
    both.settle("it waits");
    both.edit(
        "configmaps",
        "held",
        &json!({ "metadata": { "finalizers": null } }),
    );
    eventually("it is gone", || {
        let own = path("namespaces", None, Some(&both.namespace));
        (api().find(&own).is_none() && both.ours.find(&own).is_none()).then_some(())
    });
}
