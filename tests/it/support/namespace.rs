//! A namespace of a test's own, and the Sync in it.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Value, json};

use super::api::path;
use super::covergence::Run;
use super::lab::{api, eventually};
use super::source::Source;

/// A namespace on the shared control plane. It goes with the test.
pub struct Namespace {
    pub name: String,
}

impl Namespace {
    /// Makes one whose name starts so.
    pub fn new(prefix: &str) -> Self {
        let namespace = Self {
            name: unique(prefix),
        };
        let object = json!({ "metadata": { "name": namespace.name } });
        api().create("/api/v1/namespaces", &object);
        namespace
    }

    /// A name for a namespace that is not there yet; if it is at the end, it goes too.
    pub fn unborn(prefix: &str) -> Self {
        Self {
            name: unique(prefix),
        }
    }

    // --- covergence ---------------------------------------------------------------------------------------------------

    /// `covergence sync` of a source into this namespace, with JSON.
    pub fn sync(&self, source: &Source) -> Run {
        self.run("sync", source)
    }

    /// `covergence diff`, with JSON.
    pub fn diff(&self, source: &Source) -> Run {
        self.run("diff", source)
    }

    /// `covergence sync` as another Sync of this namespace.
    pub fn sync_as(&self, name: &str, source: &Source) -> Run {
        self.named("sync", name, source).args(&["-o", "json"])
    }

    /// A command on a source, as the Sync `it` of this namespace.
    pub fn run(&self, command: &str, source: &Source) -> Run {
        self.text(command, source).args(&["-o", "json"])
    }

    /// The same, with text.
    pub fn text(&self, command: &str, source: &Source) -> Run {
        self.named(command, "it", source)
    }

    /// `covergence sync --prune` of a source as it now is, all of whose prunes are approved.
    pub fn sync_approved(&self, source: &Source) -> Run {
        let plan = self.diff(source).run();
        let revision = plan.json()["revision"].as_str().unwrap().to_owned();
        self.sync(source)
            .args(&["--prune", "--approve-prune", &revision])
    }

    fn named(&self, command: &str, name: &str, source: &Source) -> Run {
        Run::on_lab(&[command, "--name", name, "--namespace", &self.name]).arg(source.path())
    }

    // --- the cluster --------------------------------------------------------------------------------------------------

    pub fn path(&self, resource: &str, name: &str) -> String {
        path(resource, Some(&self.name), Some(name))
    }

    pub fn find(&self, resource: &str, name: &str) -> Option<Value> {
        api().find(&self.path(resource, name))
    }

    pub fn get(&self, resource: &str, name: &str) -> Value {
        api().get(&self.path(resource, name))
    }

    pub fn exists(&self, resource: &str, name: &str) -> bool {
        self.find(resource, name).is_some()
    }

    pub fn list(&self, resource: &str) -> Vec<Value> {
        api().list(&path(resource, Some(&self.name), None))
    }

    pub fn create(&self, resource: &str, object: &Value) -> Value {
        api().create(&path(resource, Some(&self.name), None), object)
    }

    /// Names of the ConfigMaps that Kubernetes did not make itself, sorted.
    pub fn members(&self) -> Vec<String> {
        let maps = self.list("configmaps");
        let names = maps
            .iter()
            .map(|map| map["metadata"]["name"].as_str().unwrap().to_owned());
        let mut names: Vec<String> = names.filter(|name| name != "kube-root-ca.crt").collect();
        names.sort_unstable();
        names
    }

    /// A JSON merge patch.
    pub fn edit(&self, resource: &str, name: &str, patch: &Value) -> Value {
        api().edit(&self.path(resource, name), patch)
    }

    /// Deletes and waits until it is gone.
    pub fn delete(&self, resource: &str, name: &str) {
        let path = self.path(resource, name);
        assert!(api().delete(&path), "{path} was not there");
        eventually(&format!("{path} is gone"), || {
            api().find(&path).is_none().then_some(())
        });
    }

    /// Lets a user do everything with these resources (`<group>/<resource>`) here, and nothing anywhere else.
    pub fn allow(&self, user: &str, resources: &[&str]) {
        let rules: Vec<Value> = resources
            .iter()
            .map(|resource| {
                let (group, resource) = resource.split_once('/').unwrap();
                json!({ "apiGroups": [group], "resources": [resource, format!("{resource}/status")], "verbs": ["*"] })
            })
            .collect();
        self.create(
            "roles",
            &json!({ "metadata": { "name": "tenant" }, "rules": rules }),
        );
        self.create(
            "rolebindings",
            &json!({
                "metadata": { "name": "tenant" },
                "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant" },
                "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
            }),
        );
    }

    /// Deletes, and leaves it at that: it may be back before anybody looks.
    pub fn delete_at_once(&self, resource: &str, name: &str) {
        let path = self.path(resource, name);
        assert!(api().delete(&path), "{path} was not there");
    }

    /// The status of a Target.
    pub fn status(&self, target: &str) -> Value {
        self.get("closurejvmtargets", target)["status"].clone()
    }

    /// A condition of a Target.
    pub fn condition(&self, target: &str, condition: &str) -> Value {
        condition_of(&self.get("closurejvmtargets", target), condition)
    }

    /// A condition of a Sync; `null` when it has none of that type, or is not there.
    pub fn sync_condition(&self, sync: &str, condition: &str) -> Value {
        let sync = self.find("syncs", sync).unwrap_or_default();
        condition_of(&sync, condition)
    }

    /// Waits until a Sync says what waits for an approval, in words that hold all these parts, and gives the command that
    /// approves it.
    pub fn wait_until_prune_waits(&self, sync: &str, parts: &[&str]) -> String {
        eventually(&format!("Sync {sync} tells what waits: {parts:?}"), || {
            let waits = self.sync_condition(sync, "PruneWaits");
            let message = waits["message"].as_str()?;
            let (told, command) = message.split_once("\n  ")?;
            let is_it = waits["status"] == "True" && parts.iter().all(|part| told.contains(part));
            is_it.then(|| command.to_owned())
        })
    }

    /// Approves the prunes of a revision, or a deletion.
    pub fn approve(&self, sync: &str, what: &str) {
        let annotations = json!({ "closurejvm.io/approve-prune": what });
        self.edit(
            "syncs",
            sync,
            &json!({ "metadata": { "annotations": annotations } }),
        );
    }

    /// What is approved, if anything.
    pub fn approved(&self, sync: &str) -> Value {
        self.get("syncs", sync)["metadata"]["annotations"]["closurejvm.io/approve-prune"].clone()
    }

    /// Waits until a Sync is ready by its present spec.
    pub fn wait_until_ready(&self, sync: &str) {
        eventually(&format!("Sync {sync} is ready"), || {
            let sync = self.find("syncs", sync)?;
            let seen = &sync["status"]["observedGeneration"];
            let ready = condition_of(&sync, "Ready");
            (ready["status"] == "True" && *seen == sync["metadata"]["generation"]).then_some(())
        });
    }

    /// Waits until a Sync is not ready for this reason, and gives the message.
    pub fn wait_until_not_ready(&self, sync: &str, reason: &str) -> String {
        eventually(&format!("Sync {sync} is not ready: {reason}"), || {
            let ready = self.sync_condition(sync, "Ready");
            let is_it = ready["status"] == "False" && ready["reason"] == reason;
            is_it.then(|| ready["message"].as_str().unwrap().to_owned())
        })
    }

    /// Asks for a run of a Sync, and waits until it has been.
    pub fn ask_for_a_run(&self, sync: &str, when: &str) {
        self.request(sync, when);
        self.wait_until_handled(sync, when);
    }

    /// Asks for a run of a Sync.
    pub fn request(&self, sync: &str, when: &str) {
        let annotations = json!({ "reconcile.fluxcd.io/requestedAt": when });
        let patch = json!({ "metadata": { "annotations": annotations } });
        self.edit("syncs", sync, &patch);
    }

    /// Waits until the run that was asked for has been.
    pub fn wait_until_handled(&self, sync: &str, when: &str) {
        eventually(&format!("the request of {when:?} is answered"), || {
            let status = &self.get("syncs", sync)["status"];
            (status["lastHandledReconcileAt"] == when).then_some(())
        });
    }

    /// Waits until a ConfigMap's only value is this.
    pub fn wait_for_value(&self, name: &str, value: &str) {
        eventually(&format!("ConfigMap {name} says {value}"), || {
            (self.find("configmaps", name)?["data"]["key"] == value).then_some(())
        });
    }

    /// Waits until these are all ConfigMaps, but for Kubernetes' own.
    pub fn wait_for_members(&self, names: &[&str]) {
        eventually(&format!("the ConfigMaps are {names:?}"), || {
            (self.members() == names).then_some(())
        });
    }

    /// Makes all pods of `app: <app>` run and end as scheduler and kubelet would, until the rollout of the Deployment of that
    /// name is over.
    pub fn roll_out(&self, app: &str) {
        let node = json!({ "metadata": { "name": "node1" } });
        if let Err(refused) = api().send("POST", "/api/v1/nodes", "application/json", &node) {
            assert_eq!(refused.code, 409, "{refused:?}");
        }
        eventually(&format!("{app} is rolled out"), || {
            let selector = format!(
                "{}?labelSelector=app%3D{app}",
                path("pods", Some(&self.name), None)
            );
            for pod in api().list(&selector) {
                self.run_or_end(&pod);
            }
            let live = self.get("deployments", app);
            let (status, wanted) = (&live["status"], &live["spec"]["replicas"]);
            let counts = ["replicas", "updatedReplicas", "availableReplicas"];
            let is_seen = status["observedGeneration"] == live["metadata"]["generation"];
            (is_seen && counts.iter().all(|count| status[count] == *wanted)).then_some(())
        });
    }

    fn run_or_end(&self, pod: &Value) {
        let name = pod["metadata"]["name"].as_str().unwrap();
        if pod["metadata"].get("deletionTimestamp").is_some() {
            let path = format!("{}?gracePeriodSeconds=0", self.path("pods", name));
            // It may be gone.
            let _ = api().send("DELETE", &path, "", &Value::Null);
            return;
        }
        if pod["spec"].get("nodeName").is_some() {
            return;
        }
        let binding = json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": name }, "target": { "kind": "Node", "name": "node1" } });
        let path = self.path("pods:binding", name);
        if api()
            .send("POST", &path, "application/json", &binding)
            .is_err()
        {
            return;
        }
        // Each name has an address of its own.
        let hash = RandomState::new().hash_one(name);
        let [a, b, c, ..] = hash.to_be_bytes();
        let ip = format!("10.{a}.{b}.{}", c.max(1));
        let status = json!({ "status": {
            "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }],
            "conditions": [{ "type": "Ready", "status": "True" }],
        } });
        let path = format!("{}?fieldManager=kubelet", self.path("pods:status", name));
        let content = "application/merge-patch+json";
        let _ = api().send("PATCH", &path, content, &status);
    }

    /// Makes the pods of `app: <app>` run on a node, as scheduler and kubelet would, and waits until the Deployment of
    /// that name has seen it.
    pub fn run_pods(&self, app: &str, replicas: usize) {
        let node = json!({ "metadata": { "name": "node1" } });
        if let Err(refused) = api().send("POST", "/api/v1/nodes", "application/json", &node) {
            assert_eq!(refused.code, 409, "{refused:?}");
        }
        let pods = eventually(&format!("{replicas} pods of {app}"), || {
            let selector = format!(
                "{}?labelSelector=app%3D{app}",
                path("pods", Some(&self.name), None)
            );
            let pods = api().list(&selector);
            (pods.len() == replicas).then_some(pods)
        });
        for (i, pod) in pods.iter().enumerate() {
            let name = pod["metadata"]["name"].as_str().unwrap();
            let binding = json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": name }, "target": { "kind": "Node", "name": "node1" } });
            api().create(&self.path("pods:binding", name), &binding);
            let ip = format!("10.0.0.{}", i + 1);
            let status = json!({ "status": {
                "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }],
                "conditions": [{ "type": "Ready", "status": "True" }],
            } });
            api().edit(&self.path("pods:status", name), &status);
        }
        eventually(&format!("{replicas} available replicas of {app}"), || {
            let deployment = self.get("deployments", app);
            (deployment["status"]["availableReplicas"] == replicas).then_some(())
        });
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // A lab that ends with the run needs no tidying, which is a hundred requests for each namespace.
        if std::env::var_os("COVERGENCE_LAB_ENDS").is_none() {
            let path = path("namespaces", None, Some(&self.name));
            let _ = api().send("DELETE", &path, "", &Value::Null);
        }
    }
}

/// A condition of any object; `null` when it has none of that type.
pub fn condition_of(object: &Value, condition: &str) -> Value {
    let conditions = object["status"]["conditions"].as_array();
    let found = conditions
        .into_iter()
        .flatten()
        .find(|c| c["type"] == condition);
    found.cloned().unwrap_or_default()
}

/// A name that nobody else has.
pub fn unique(prefix: &str) -> String {
    // Every RandomState has keys of its own.
    let random = RandomState::new().hash_one(std::process::id());
    format!("{prefix}-{:06x}", random & 0xff_ffff)
}
