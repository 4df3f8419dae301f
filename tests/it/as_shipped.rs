//! The controller as `deploy/` ships it, on a control plane of its own, by the steps of deploy/README.md.
//!
//! Tests disturb a cluster as its admin; what has to get along with the shipped rights is `covergence run`. Therefore
//! every controller that any test starts has the token of a ServiceAccount with just those rights (`support/shipped.rs`), on
//! an API server with OwnerReferencesPermissionEnforcement, and `tests/run --rights` reads the audit log when all tests are
//! through (`tests/rights`). Here is the rest: the very installation, its configuration as a pod mounts it, two
//! replicas, tenants with what `covergence rbac` prints, and whether a refusal or an idle right would be found.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::api::{Api, path};
use crate::support::controller::{Setup, directory_sync, get, sync};
use crate::support::covergence::Run;
use crate::support::deploy::{self, manifests};
use crate::support::git::Work;
use crate::support::kubectl;
use crate::support::lab::{OwnLab, api, eventually};
use crate::support::manifest::{
    Change, config_map, deployment, namespace, own_agent, secret, target,
};
use crate::support::namespace::{Namespace, condition_of};
use crate::support::request::Event;
use crate::support::rights::{Right, refused, rights_of, unused};
use crate::support::server::free_port;
use crate::support::shipped::{ACCOUNT, Account, NAMESPACE, binding, may};
use crate::support::source::{Source, documents};

const TEAM: &str = "team-a";
const OPS: &str = "ops";

/// An account with a right less than the others; what it is refused is meant.
const LESS: &str = "less";

/// The commands below a heading of the README.
fn commands(heading: &str) -> String {
    block(heading, "sh")
}

/// What a kind of code blocks below a heading of the README says.
fn block(heading: &str, language: &str) -> String {
    let readme = deploy::read("README.md");
    let (_, section) = readme.split_once(&format!("# {heading}\n")).unwrap();
    let section = section.split("\n##").next().unwrap();
    let fence = format!("```{language}\n");
    let blocks = section.split(&fence).skip(1);
    let blocks: String = blocks
        .map(|text| text.split("```").next().unwrap())
        .collect();
    assert!(!blocks.is_empty(), "{heading} has no {language}");
    blocks
}

/// A cluster, its admin's folder, and the team's repository.
struct Site {
    lab: OwnLab,
    api: Api,
    folder: TempDir,
    repository: Work,
}

impl Site {
    fn new() -> Self {
        let lab = OwnLab::whole();
        let site = Self {
            api: lab.api(),
            lab,
            folder: tempfile::tempdir().unwrap(),
            repository: Work::new(),
        };
        site.check_out();
        fs::create_dir(site.overlay()).unwrap();
        // With the Sync in the configuration that it has as an example.
        let kustomization = block("Install", "yaml");
        fs::write(site.overlay().join("kustomization.yaml"), kustomization).unwrap();
        site
    }

    /// A copy of `deploy/`, edited as it says itself where the cluster asks for it.
    fn check_out(&self) {
        let source = Source::new();
        let to = self.folder.path().join("covergence");
        let copied = Command::new("cp")
            .arg("-r")
            .arg(deploy::folder())
            .arg(source.path())
            .status();
        assert!(copied.unwrap().success());
        fs::create_dir(&to).unwrap();
        fs::rename(source.path().join("deploy"), to.join("deploy")).unwrap();
        // Kubernetes 1.20 has budgets in policy/v1beta1 only.
        if self.api.find("/apis/policy/v1").is_none() {
            let budget = deploy::read("pdb.yaml").replace(
                "\napiVersion: policy/v1\n",
                "\napiVersion: policy/v1beta1\n",
            );
            fs::write(to.join("deploy/pdb.yaml"), budget).unwrap();
        }
    }

    fn overlay(&self) -> PathBuf {
        self.folder.path().join("overlay")
    }

    /// Runs commands as the cluster's admin, in the folder of the kustomization.
    fn shell(&self, commands: &str) {
        let repository = self.repository.path().to_str().unwrap();
        let commands = commands.replace("https://git.example/shop.git", repository);
        let bin = Path::new(env!("CARGO_BIN_EXE_covergence"))
            .parent()
            .unwrap();
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &commands])
            .current_dir(self.overlay())
            .env_clear()
            .env("PATH", format!("{}:{}", bin.display(), kubectl::path()))
            .env("HOME", self.folder.path())
            .env("KUBECONFIG", self.lab.dir().join("kubeconfig"))
            .output()
            .unwrap();
        let [stdout, stderr] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
        println!("{commands}\n{stdout}{stderr}");
        assert!(output.status.success(), "{commands}: {stderr}");
    }

    fn apply(&self, objects: &[Value]) {
        let file = self.folder.path().join("objects.yaml");
        fs::write(&file, documents(objects)).unwrap();
        self.shell(&format!("kubectl apply -f {}", file.display()));
    }

    fn find(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.api.find(&path(resource, Some(namespace), Some(name)))
    }

    fn edit(&self, resource: &str, namespace: &str, name: &str, patch: &Value) {
        self.api
            .edit(&path(resource, Some(namespace), Some(name)), patch);
    }

    fn delete(&self, resource: &str, namespace: &str, name: &str) {
        self.api
            .delete(&path(resource, Some(namespace), Some(name)));
    }

    fn until_there(&self, resource: &str, namespace: &str, name: &str) {
        eventually(&format!("{resource} {namespace}/{name}"), || {
            self.find(resource, namespace, name)
        });
    }

    fn until_gone(&self, resource: &str, namespace: &str, name: &str) {
        eventually(&format!("{resource} {namespace}/{name} is gone"), || {
            self.find(resource, namespace, name).is_none().then_some(())
        });
    }

    fn until_value(&self, namespace: &str, name: &str, value: &str) {
        eventually(
            &format!("ConfigMap {namespace}/{name} holds {value}"),
            || {
                let found = self.find("configmaps", namespace, name)?;
                (found["data"]["key"] == value).then_some(())
            },
        );
    }

    fn until_ready(&self, namespace: &str, name: &str) {
        eventually(&format!("Sync {namespace}/{name} is ready"), || {
            let ready = condition_of(&self.find("syncs", namespace, name)?, "Ready");
            (ready["status"] == "True").then_some(())
        });
    }

    /// Commits the team's manifests and asks for a look at them.
    fn commit(&self, objects: &[Value]) {
        self.repository
            .write("deploy/all.yaml", &documents(objects));
        let revision = self.repository.commit("more");
        if self.find("syncs", TEAM, "shop").is_some() {
            let ask = json!({ "metadata": { "annotations": { "reconcile.fluxcd.io/requestedAt": revision } } });
            self.edit("syncs", TEAM, "shop", &ask);
        }
    }

    fn git_sync(&self, namespace: &str, name: &str, spec: Value) -> Value {
        let git = json!({ "url": self.repository.path(), "path": "deploy", "secretRef": { "name": "login" } });
        sync(namespace, name, spec)
            .set("/spec/source/git", git)
            .set("/spec/prune", true)
    }

    /// Waits until an account may do what it has been given last, to an object of a namespace.
    fn await_right(&self, user: &str, verb: &str, resource: &str, place: (&str, &str)) {
        let right = right(verb, resource, place);
        eventually(&format!("{user} may {right:?}"), || {
            may(&self.api, user, &right).then_some(())
        });
    }

    /// All that an account has asked up to now, also in the place of tenants.
    fn asked(&self, user: &str) -> Vec<Event> {
        let mark = "/api/v1/namespaces/default/configmaps/mark";
        assert!(self.api.find(mark).is_none());
        let log = self.lab.dir().join("audit.log");
        eventually("the audit log is written", || {
            let text = fs::read_to_string(&log).unwrap();
            text.contains(mark).then(|| {
                let events = text.lines().filter_map(Event::read);
                events.filter(|event| event.user == user).collect()
            })
        })
    }
}

/// A folder like that of a mounted ConfigMap: links to a folder that is replaced as a whole.
struct Mount {
    folder: TempDir,
    versions: std::cell::Cell<u32>,
}

impl Mount {
    fn new() -> Self {
        let versions = std::cell::Cell::new(0);
        Self {
            folder: tempfile::tempdir().unwrap(),
            versions,
        }
    }

    /// Shows these files and no others, as the kubelet does (AtomicWriter).
    fn show(&self, data: &Value) {
        let at = self.folder.path();
        let files = data.as_object().unwrap();
        self.versions.set(self.versions.get() + 1);
        let version = format!("..version_{}", self.versions.get());
        fs::create_dir(at.join(&version)).unwrap();
        for (name, text) in files {
            fs::write(at.join(&version).join(name), text.as_str().unwrap()).unwrap();
        }
        symlink(&version, at.join("..data_tmp")).unwrap();
        fs::rename(at.join("..data_tmp"), at.join("..data")).unwrap();
        for name in files
            .keys()
            .filter(|name| at.join(name).symlink_metadata().is_err())
        {
            symlink(Path::new("..data").join(name), at.join(name)).unwrap();
        }
        for entry in at.read_dir().unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if !name.starts_with("..") && !files.contains_key(&name) {
                fs::remove_file(at.join(name)).unwrap();
            }
        }
    }
}

/// A pod of the Deployment, as far as it is a process.
struct Replica {
    child: Child,
    port: u16,
    _home: TempDir,
}

impl Replica {
    /// Starts it as the Deployment says, and waits until both of its probes are good.
    fn start(name: &str, account: &Account<'_>, mount: &Mount) -> Self {
        let deployment = &manifests("deployment.yaml")[0];
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let arguments = container["args"].as_array().unwrap();
        let arguments = arguments
            .iter()
            .map(|argument| match argument.as_str().unwrap() {
                "/etc/covergence" => mount.folder.path().to_str().unwrap(),
                other => other,
            });
        // The ports of all pods are the same, and here they are on one machine.
        let port = free_port();
        let run = Run::new(&arguments.collect::<Vec<_>>())
            .args(&["--listen", &format!("127.0.0.1:{port}")]);
        let (mut command, home) = run
            .arg("--kubeconfig")
            .arg(account.kubeconfig())
            .into_parts();
        command
            .env("POD_NAME", name)
            .env("POD_NAMESPACE", NAMESPACE);
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        let replica = Self {
            child,
            port,
            _home: home,
        };
        for probe in ["livenessProbe", "readinessProbe"] {
            let path = container[probe]["httpGet"]["path"].as_str().unwrap();
            eventually(&format!("{name}: {path}"), || {
                (get(replica.port, path)?.0 == 200).then_some(())
            });
        }
        replica
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_readme_leads_to_a_controller_whose_rights_are_enough_and_none_is_idle() {
    let site = Site::new();
    let install = commands("Install");
    let (apply, rollout) = install.split_once('\n').unwrap();
    // Nothing runs pods here.
    assert!(rollout.starts_with("kubectl -n covergence-system rollout status"));
    site.shell(apply);
    let account = Account::of(site.lab.dir(), &site.api, ACCOUNT);
    account.await_rights(NAMESPACE);
    let mount = Mount::new();
    mount.show(&configuration(&site));
    let replicas =
        ["covergence-0", "covergence-1"].map(|name| Replica::start(name, &account, &mount));

    a_tenant_is_served(&site);
    an_agent_comes_and_its_rollout_fails(&site);
    syncs_of_the_configuration_come_and_go(&site, &mount);
    what_a_deleted_sync_leaves_is_let_go(&site);
    let [lost, left] = replicas;
    drop(lost);
    syncs_may_act_as_the_controller_itself(&site, &mount);
    a_lost_replica_is_replaced(&site);

    // The server logs a watch when it ends.
    drop(left);
    let granted = rights_of(&manifests("rbac.yaml"));
    let asked = eventually("all rights have been used", || {
        let asked = site.asked(&account.user());
        assert!(refused(&asked).is_empty(), "{:#?}", refused(&asked));
        let asked: Vec<Event> = asked.into_iter().map(Event::for_sender).collect();
        let idle = unused(&granted, &asked);
        println!("not used so far: {idle:?}");
        idle.is_empty().then_some(asked)
    });
    a_right_too_many_is_found(&granted, &asked);
    a_right_too_few_is_found(&site);

    let last = Replica::start("covergence-2", &account, &mount);
    let uninstall = commands("Uninstall");
    let (objects, rest) = uninstall.trim_end().rsplit_once('\n').unwrap();
    site.shell(objects);
    // Its pods end with the rest.
    drop(last);
    site.shell(rest);
}

/// The files of the installed ConfigMap, with what a test needs besides: sources in folders, and short Leases.
fn configuration(site: &Site) -> Value {
    let map = site
        .find("configmaps", NAMESPACE, "covergence-config")
        .unwrap();
    let text = map["data"]["config.yaml"].as_str().unwrap();
    let more = format!(
        "spec:\n  directories: [{}]\n  leases: {{duration: 3s}}\n",
        std::env::temp_dir().display()
    );
    json!({ "config.yaml": text.replace("spec:\n", &more) })
}

/// A right on an object of a namespace.
fn right(verb: &str, resource: &str, (namespace, name): (&str, &str)) -> Right {
    Right {
        namespace: namespace.to_owned(),
        group: String::new(),
        resource: resource.to_owned(),
        name: name.to_owned(),
        verb: verb.to_owned(),
    }
}

fn account_of(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

fn a_tenant_is_served(site: &Site) {
    site.apply(&[namespace(TEAM), secret("login", "secret").within(TEAM)]);
    let pet = [deployment("pet"), own_agent("pet")];
    let maps = |value| [config_map("a", value), config_map("b", value)];
    site.commit(&[&maps("1")[..], &pet].concat());
    site.shell(&commands("Tenants"));
    let more = "covergence rbac --git https://git.example/shop.git --path deploy -n team-a --name shop --prune \
                --secret login | kubectl apply --server-side -f -";
    site.shell(more);
    site.await_right(
        &account_of(TEAM, "shop"),
        "delete",
        "configmaps",
        (TEAM, "a"),
    );
    let controller = account_of(NAMESPACE, ACCOUNT);
    site.await_right(
        &controller,
        "impersonate",
        "serviceaccounts",
        (TEAM, "shop"),
    );

    site.apply(&[site.git_sync(
        TEAM,
        "shop",
        json!({ "serviceAccountName": "shop", "prune": true }),
    )]);
    site.until_ready(TEAM, "shop");
    site.until_value(TEAM, "a", "1");
    site.until_there("services", TEAM, "pet-coverage");
    site.edit(
        "configmaps",
        TEAM,
        "a",
        &json!({ "data": { "key": "mine" } }),
    );
    site.until_value(TEAM, "a", "1");
    site.edit(
        "services",
        TEAM,
        "pet-coverage",
        &json!({ "spec": { "selector": { "app": "mine" } } }),
    );
    eventually("the Service is repaired", || {
        let service = site.find("services", TEAM, "pet-coverage")?;
        (service["spec"]["selector"]["app"] == "pet").then_some(())
    });
    site.delete("services", TEAM, "pet-coverage");
    site.until_there("services", TEAM, "pet-coverage");

    site.apply(&[
        deployment("by-hand").within(TEAM),
        own_agent("by-hand").within(TEAM),
    ]);
    site.until_there("services", TEAM, "by-hand-coverage");
    let [pet, switch] = pet;
    let off = switch.set("/spec/coverageService", false);
    site.commit(&[config_map("a", "2"), pet, off]);
    site.until_value(TEAM, "a", "2");
    site.until_gone("configmaps", TEAM, "b");
    site.until_gone("services", TEAM, "pet-coverage");
}

/// A Deployment that comes with no source gets the agent, whose port is limited, and whose pods do not start; there is no kubelet,
/// so the test says what it would say. A Campaign is put off.
fn an_agent_comes_and_its_rollout_fails(site: &Site) {
    let ports = json!([{ "containerPort": 8080 }]);
    let campaign = json!({
        "apiVersion": "closurejvm.io/v1alpha1", "kind": "ClosureJVMCampaign", "metadata": { "name": "web" },
        "spec": { "targetRef": { "name": "web" }, "suspend": true, "storage": { "path": "web" } },
    });
    site.apply(&[
        deployment("web")
            .set("/spec/progressDeadlineSeconds", 4)
            .set("/spec/template/spec/containers/0/ports", ports)
            .within(TEAM),
        target("web")
            .set("/spec/networkPolicy/from", json!([{ "podSelector": {} }]))
            .within(TEAM),
        campaign.within(TEAM),
    ]);
    let policies = "networkpolicies.networking.k8s.io/v1";
    site.until_there(policies, TEAM, "web-coverage");
    let with_agent = "?labelSelector=closurejvm.io%2Fcoverage-port%3D6300%2Capp%3Dweb";
    let pods = path("pods", Some(TEAM), None) + with_agent;
    let pod = eventually("a pod has the agent", || {
        site.api.list(&pods).into_iter().next()
    });
    let said = |container: &str, state: Value| {
        let status = json!({ "name": container, "ready": false, "restartCount": 0, "image": "", "imageID": "" });
        status.set("/state", state.clone()).set("/lastState", state)
    };
    let ended = |code: i32| json!({ "terminated": { "exitCode": code, "reason": "Error" } });
    let status = json!({
        "initContainerStatuses": [said("covergence-agent", ended(0))],
        "containerStatuses": [said("app", ended(134))],
    });
    let name = pod["metadata"]["name"].as_str().unwrap();
    site.edit("pods:status", TEAM, name, &json!({ "status": status }));
    let condition = |resource: &str, reason: &str| {
        eventually(&format!("{resource}: {reason}"), || {
            let ready = condition_of(&site.find(resource, TEAM, "web")?, "Ready");
            (ready["reason"] == reason).then_some(())
        });
    };
    condition("closurejvmtargets", "RolloutFailed");
    condition("closurejvmcampaigns", "Suspended");
    let open = json!({ "spec": { "networkPolicy": null } });
    site.edit("closurejvmtargets", TEAM, "web", &open);
    site.until_gone(policies, TEAM, "web-coverage");
}

fn syncs_of_the_configuration_come_and_go(site: &Site, mount: &Mount) {
    let source = Source::new().with("a.yaml", &[config_map("extra", "1")]);
    let rights = "covergence rbac PATH -n team-a --name extra --service-account shop --prune | kubectl apply --server-side -f -";
    site.shell(&rights.replace("PATH", source.path().to_str().unwrap()));
    site.await_right(
        &account_of(TEAM, "shop"),
        "delete",
        "configmaps",
        (TEAM, "extra"),
    );
    let spec = json!({ "serviceAccountName": "shop", "deletionPolicy": "Delete" });
    let extra = directory_sync(TEAM, "extra", &source, spec);
    mount.show(&configuration(site).set("/extra.yaml", documents(&[extra])));
    site.until_ready(TEAM, "extra");
    site.until_value(TEAM, "extra", "1");
    mount.show(&configuration(site));
    site.until_gone("syncs", TEAM, "extra");
    site.until_gone("configmaps", TEAM, "extra");
}

fn what_a_deleted_sync_leaves_is_let_go(site: &Site) {
    site.delete("syncs", TEAM, "shop");
    eventually("its member is nobody's", || {
        let labels = &site.find("configmaps", TEAM, "a")?["metadata"]["labels"];
        labels
            .get("applyset.kubernetes.io/part-of")
            .is_none()
            .then_some(())
    });
}

fn syncs_may_act_as_the_controller_itself(site: &Site, mount: &Mount) {
    site.apply(&[namespace(OPS), secret("login", "secret").within(OPS)]);
    site.shell(&commands("Syncs that act as the controller"));
    let controller = account_of(NAMESPACE, ACCOUNT);
    site.await_right(&controller, "get", "secrets", (OPS, "login"));
    site.await_right(&controller, "patch", "configmaps", (OPS, "a"));
    let whole = configuration(site)["config.yaml"]
        .as_str()
        .unwrap()
        .to_owned();
    let without = whole.replace("  defaultServiceAccount: default\n", "");
    assert_ne!(whole, without);
    mount.show(&json!({ "config.yaml": without }));
    site.apply(&[site.git_sync(OPS, "shop", json!({}))]);
    site.until_ready(OPS, "shop");
    site.until_value(OPS, "a", "2");
}

/// What it looked after is looked after, and its Lease is tidied away.
fn a_lost_replica_is_replaced(site: &Site) {
    for service in ["by-hand-coverage", "pet-coverage"] {
        site.delete("services", TEAM, service);
    }
    site.until_there("services", TEAM, "by-hand-coverage");
    eventually("one Lease is left", || {
        let leases = "leases.coordination.k8s.io/v1";
        let there = site.api.list(&path(leases, Some(NAMESPACE), None));
        (there.len() == 1).then_some(())
    });
}

fn a_right_too_many_is_found(granted: &[Right], asked: &[Event]) {
    let [more] = &rights_of(&[json!({ "rules": [
        { "apiGroups": [""], "resources": ["services"], "verbs": ["update"] },
    ] })])[..] else {
        panic!("one right");
    };
    let seeded = [granted, std::slice::from_ref(more)].concat();
    assert_eq!(unused(&seeded, asked), std::slice::from_ref(more));
}

/// An account that stands in for the controller's loses rights while it is at work.
fn a_right_too_few_is_found(site: &Site) {
    site.apply(&[namespace(LESS)]);
    let setup = Setup {
        lab: site.lab.dir(),
        user: Some(LESS),
        ..Setup::new(&[LESS])
    };
    let _controller = setup.start();
    let mut role = manifests("rbac.yaml").swap_remove(0);
    role["metadata"]["name"] = LESS.into();
    for rule in role["rules"].as_array_mut().unwrap() {
        if rule["resources"] == json!(["services"]) {
            rule["verbs"]
                .as_array_mut()
                .unwrap()
                .retain(|verb| verb != "create");
        }
    }
    site.apply(&[
        role,
        binding("ClusterRoleBinding", LESS, "", LESS, (NAMESPACE, LESS)),
    ]);
    site.shell(&format!(
        "kubectl delete clusterrolebinding covergence:{LESS}"
    ));
    site.apply(&[
        deployment("pet").within(LESS),
        own_agent("pet").within(LESS),
    ]);
    let user = account_of(NAMESPACE, LESS);
    eventually("the refusal is found", || {
        let asked = site.asked(&user);
        let mut refused = refused(&asked).into_iter();
        refused
            .find(|event| event.resource == "services" && event.verb == "patch")
            .map(drop)
    });

    // Whoever writes Syncs gets no further with the controller than the cluster's admin has said.
    site.shell(&format!(
        "kubectl -n {LESS} delete rolebinding {LESS}:{LESS}"
    ));
    let impersonate = right("impersonate", "serviceaccounts", (LESS, "shop"));
    eventually("it may be no tenant", || {
        (!may(&site.api, &user, &impersonate)).then_some(())
    });
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let spec = json!({ "serviceAccountName": "shop" });
    site.apply(&[directory_sync(LESS, "it", &source, spec)]);
    eventually("the Sync says why", || {
        let ready = condition_of(&site.find("syncs", LESS, "it")?, "Ready");
        (ready["status"] == "False" && ready["message"].as_str()?.contains("impersonate"))
            .then_some(())
    });
    assert!(site.find("configmaps", LESS, "a").is_none());
}

/// operator-sdk#4020, redis-operator#98, submariner#3077, konflux-ci#8501: where OwnerReferencesPermissionEnforcement is on,
/// `blockOwnerDeletion` takes the right to update the owner's finalizers, which the controller does not have.
#[test]
fn c52_services_do_not_block_the_deletion_of_their_target() {
    let ns = Namespace::new("c52");
    let _controller = Setup::new(&[&ns.name]).start();
    ns.create("deployments", &deployment("pet"));
    let target = ns.create("closurejvmtargets", &own_agent("pet"));
    let service = eventually("it has a Service", || ns.find("services", "pet-coverage"));
    let owner = service["metadata"]["ownerReferences"][0].clone();
    assert_eq!(owner["uid"], target["metadata"]["uid"]);
    assert_eq!(owner["controller"], true);
    assert_eq!(owner.get("blockOwnerDeletion"), None);

    let blocking = crate::support::manifest::service("blocking");
    let blocking = blocking.set(
        "/metadata/ownerReferences",
        json!([owner.set("/blockOwnerDeletion", true)]),
    );
    let services = path("services", Some(&ns.name), None);
    let controller = account_of(NAMESPACE, ACCOUNT);
    let answer = api().send_as(
        Some(&controller),
        "POST",
        &services,
        "application/json",
        &blocking,
    );
    let refused =
        answer.expect_err("this control plane lets everybody block the deletion of owners");
    assert!(
        refused.message.contains("blockOwnerDeletion"),
        "{refused:?}"
    );
}
