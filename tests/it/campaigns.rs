//! Campaigns on a real API server, with real JVMs under the real agent: the union of all that was ever seen, in one file.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use covergence::coverage::{
    ClassId, Direct, ExecutionData, Limits, Peer, PeerAddress, Request, Store, collect, encode,
    read_exec,
};
use covergence::storage::{Bucket, Storage, Update};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::audit::{Audit, Event};
use crate::support::controller::{Controller, Setup};
use crate::support::covergence::Run;
use crate::support::jacoco::Programs;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{deployment, own_agent};
use crate::support::namespace::{Namespace, condition_of, unique};
use crate::support::pods::{Network, PORT, Pod, publish};
use crate::support::s3::S3;
use crate::support::shipped::{NAMESPACE, binding};

const SERVICE: &str = "pet-coverage";

/// Namespace, network, a Deployment with its Target, and a folder for files.
struct Scene {
    ns: Namespace,
    net: Network,
    programs: Programs,
    root: TempDir,
}

impl Scene {
    fn new(prefix: &str) -> Self {
        let ns = Namespace::new(prefix);
        ns.create("deployments", &deployment("pet"));
        ns.create("closurejvmtargets", &own_agent("pet"));
        Self {
            ns,
            net: Network::new(),
            programs: Programs::compile("Pets", "17"),
            root: tempfile::tempdir().unwrap(),
        }
    }

    fn pod(&self, last: u8, name: &str) -> Pod {
        self.net.start(&self.programs, last, name)
    }

    fn publish(&self, pods: &[&Pod]) {
        let pods: Vec<(&str, &str)> = pods
            .iter()
            .map(|pod| (pod.name.as_str(), pod.address.as_str()))
            .collect();
        publish(&self.ns, SERVICE, &pods);
    }

    fn controller(&self) -> Controller {
        self.controller_with(json!({ "campaigns": { "root": self.root.path() } }))
    }

    fn controller_with(&self, config: Value) -> Controller {
        Setup {
            config,
            ..Setup::new(&[&self.ns.name])
        }
        .start()
    }

    /// Makes a Campaign that runs when it is made, and then when it is asked for.
    fn campaign(&self, spec: Value) {
        let mut whole = json!({
            "targetRef": { "name": "pet" }, "interval": "1h", "storage": { "path": "nightly/shop" },
        });
        for (key, value) in spec.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let campaign = json!({
            "apiVersion": "closurejvm.io/v1alpha1", "kind": "ClosureJVMCampaign",
            "metadata": { "name": "pets" }, "spec": whole,
        });
        self.ns.create("closurejvmcampaigns", &campaign);
    }

    fn status(&self) -> Value {
        self.ns.get("closurejvmcampaigns", "pets")["status"].clone()
    }

    fn ready(&self) -> Value {
        condition_of(&self.ns.get("closurejvmcampaigns", "pets"), "Ready")
    }

    /// Waits until there were so many runs.
    fn ran(&self, runs: u64) -> Value {
        eventually(&format!("run {runs}"), || {
            let status = self.status();
            (status["runs"].as_u64()? >= runs).then_some(status)
        })
    }

    /// Waits until it is not ready for this reason, and gives the message.
    fn not_ready(&self, reason: &str) -> String {
        eventually(reason, || {
            let ready = self.ready();
            let is_it = ready["status"] == "False" && ready["reason"] == reason;
            is_it.then(|| ready["message"].as_str().unwrap().to_owned())
        })
    }

    /// Asks for a run, and waits until that was made.
    fn run(&self, when: &str) -> Value {
        let annotations = json!({ "reconcile.fluxcd.io/requestedAt": when });
        let patch = json!({ "metadata": { "annotations": annotations } });
        self.ns.edit("closurejvmcampaigns", "pets", &patch);
        eventually(&format!("the request of {when}"), || {
            let status = self.status();
            (status["lastHandledReconcileAt"] == when).then_some(status)
        })
    }

    fn file(&self) -> PathBuf {
        let folder = self.root.path().join(&self.ns.name);
        folder.join("nightly/shop/pets.exec")
    }

    fn stored(&self) -> Store {
        union_in(&self.file())
    }
}

fn union_in(file: &Path) -> Store {
    read_exec(&fs::read(file).unwrap(), &Limits::default()).unwrap()
}

/// Classes of a union of which something was hit.
fn classes(union: &Store) -> BTreeSet<String> {
    union.classes().map(|it| it.name.to_string()).collect()
}

fn sessions(union: &Store) -> BTreeSet<String> {
    union.sessions().map(|it| it.id.to_string()).collect()
}

/// What an agent has now.
fn dump(pod: &Pod) -> Store {
    let address = SocketAddr::new(pod.address.parse().unwrap(), PORT);
    let peer = Peer {
        name: pod.name.clone(),
        address: PeerAddress::Sockets(vec![address]),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let collected = runtime.block_on(collect(&Direct, &[peer], &Request::default()));
    assert!(collected.is_complete(), "{collected:?}");
    collected.union
}

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_union_grows_over_pods_and_runs() {
    let scene = Scene::new("grows");
    let (mut a, mut b) = (scene.pod(2, "pet-a"), scene.pod(3, "pet-b"));
    a.does("cat");
    b.does("dog");
    scene.publish(&[&a, &b]);
    let _controller = scene.controller();
    scene.campaign(json!({}));
    let first = scene.ran(1);
    assert_eq!(first["phase"], "Collecting", "{first}");
    assert_eq!(first["pods"], json!({ "reached": 2, "total": 2 }));
    assert_eq!(first["file"], scene.file().to_str().unwrap());
    assert_eq!(first["lastGrowth"], first["lastRun"]);
    assert_eq!(first["growth"].as_array().unwrap().len(), 1);
    let ready = scene.ready();
    assert_eq!(ready["status"], "True", "{ready}");
    assert_eq!(ready["message"], "all 2 pods answered");
    let union = scene.stored();
    assert_eq!(classes(&union), names(&["Pets", "Pets$Cat", "Pets$Dog"]));
    assert_eq!(sessions(&union), names(&["pet-a", "pet-b"]));
    assert_eq!(first["probesHit"], union.summary().hit);

    // Nothing new: it is counted, and the file is as it was.
    let before = fs::metadata(scene.file()).unwrap().modified().unwrap();
    let second = scene.run("2");
    assert_eq!(second["runs"], 2);
    assert_eq!(second["growth"], first["growth"]);
    assert_eq!(
        fs::metadata(scene.file()).unwrap().modified().unwrap(),
        before
    );

    // What one says, and one that has taken another's place.
    a.does("1");
    b.kill();
    let mut c = scene.pod(4, "pet-c");
    c.does("2");
    scene.publish(&[&a, &c]);
    let third = scene.run("3");
    let union = scene.stored();
    assert_eq!(
        classes(&union),
        names(&["Pets", "Pets$Cat", "Pets$Dog", "Pets$Fish"])
    );
    assert_eq!(sessions(&union), names(&["pet-a", "pet-b", "pet-c"]));
    let hit = union.summary().hit;
    assert!(hit > second["probesHit"].as_u64().unwrap(), "{third}");
    assert_eq!(third["probesHit"], hit);
    assert_eq!(third["growth"].as_array().unwrap().len(), 2);

    let args = ["status", "-n", &scene.ns.name, "-o", "json"];
    let report = Run::on_lab(&args).run();
    let campaign = &report.json()["campaigns"][0];
    assert_eq!(campaign["ready"], "True", "{campaign}");
    assert_eq!(
        (&campaign["runs"], &campaign["probesHit"]),
        (&json!(3), &json!(hit))
    );
    assert_eq!(campaign["file"], scene.file().to_str().unwrap());
    let text = Run::on_lab(&args[..3]).run().stdout;
    assert!(text.contains(scene.file().to_str().unwrap()), "{text}");
    assert!(text.contains("; 1 Campaign"), "{text}");
}

#[test]
fn a_restart_goes_on_from_what_is_stored() {
    let scene = Scene::new("restart");
    let mut a = scene.pod(2, "pet-a");
    a.does("cat");
    scene.publish(&[&a]);
    let controller = scene.controller();
    scene.campaign(json!({}));
    let first = scene.ran(1);
    controller.kill();
    // What it knew is in the file alone.
    a.kill();
    let mut b = scene.pod(2, "pet-b");
    b.does("dog");
    scene.publish(&[&b]);
    let _controller = scene.controller();
    let second = scene.run("2");
    assert_eq!(second["runs"], 2, "{second}");
    assert_eq!(second["growth"][0], first["growth"][0]);
    let union = scene.stored();
    assert_eq!(classes(&union), names(&["Pets", "Pets$Cat", "Pets$Dog"]));
    assert_eq!(second["probesHit"], union.summary().hit);
}

#[test]
fn pods_that_do_not_answer_are_named_and_the_rest_is_kept() {
    let scene = Scene::new("partial");
    let mut a = scene.pod(2, "pet-a");
    a.does("cat");
    // Nobody listens there.
    let silent = scene.net.address(3);
    publish(
        &scene.ns,
        SERVICE,
        &[("pet-a", &a.address), ("pet-b", &silent)],
    );
    let controller = scene.controller();
    scene.campaign(json!({ "until": { "noNewProbesFor": "0s" } }));
    let message = scene.not_ready("Partial");
    assert!(
        message.starts_with("1 of 2 pods answered: pet-b: "),
        "{message}"
    );
    let status = scene.status();
    assert_eq!(status["pods"], json!({ "reached": 1, "total": 2 }));
    assert_eq!(
        status["phase"], "Collecting",
        "it would be over if it was complete: {status}"
    );
    assert_eq!(classes(&scene.stored()), names(&["Pets", "Pets$Cat"]));
    let args = ["status", "-n", &scene.ns.name];
    let output = Run::on_lab(&args).code(1);
    assert!(output.stdout.contains("pet-b: "), "{output:?}");
    assert_eq!(
        controller.metric("covergence_campaign_runs_total", &["partial"]),
        1.0
    );

    // Nobody at all: what is there stays there.
    a.kill();
    let second = scene.run("2");
    assert_eq!(second["pods"], json!({ "reached": 0, "total": 2 }));
    assert_eq!(second["probesHit"], status["probesHit"]);
    assert_eq!(classes(&scene.stored()), names(&["Pets", "Pets$Cat"]));
}

#[test]
fn what_is_missing_is_told_and_waited_for() {
    let scene = Scene::new("missing");
    let mut a = scene.pod(2, "pet-a");
    a.does("cat");
    scene.ns.delete("closurejvmtargets", "pet");
    let _controller = scene.controller();
    scene.campaign(json!({}));
    let message = scene.not_ready("TargetNotFound");
    assert!(
        message.ends_with(&format!("{}/pet", scene.ns.name)),
        "{message}"
    );
    assert_eq!(scene.status()["phase"], "Pending");
    let mut off = own_agent("pet");
    off["spec"]["coverageService"] = json!(false);
    scene.ns.create("closurejvmtargets", &off);
    scene.not_ready("CoverageDisabled");
    scene.ns.edit(
        "closurejvmtargets",
        "pet",
        &json!({ "spec": { "coverageService": true } }),
    );
    scene.not_ready("NoEndpoints");
    // An hour is not waited for it.
    scene.publish(&[&a]);
    scene.ran(1);
    assert_eq!(classes(&scene.stored()), names(&["Pets", "Pets$Cat"]));
}

#[test]
fn it_ends_when_it_says_so() {
    let scene = Scene::new("until");
    let mut a = scene.pod(2, "pet-a");
    a.does("cat");
    scene.publish(&[&a]);
    let _controller = scene.controller();
    // Its time is over already: one run is made.
    scene.campaign(json!({ "until": { "time": "2026-01-01T00:00:00Z" } }));
    let status = eventually("it is over", || {
        let status = scene.status();
        (status["phase"] == "Finished").then_some(status)
    });
    assert_eq!(status["runs"], 1, "{status}");
    assert!(status["nextRun"].is_null(), "{status}");
    assert_eq!(scene.ready()["reason"], "Finished");
    // It goes on when it is to end later, and ends when there is nothing new.
    let spec = json!({ "interval": "5s", "until": { "time": null, "noNewProbesFor": "6s" } });
    a.does("dog");
    scene
        .ns
        .edit("closurejvmcampaigns", "pets", &json!({ "spec": spec }));
    let status = eventually("it is quiet", || {
        let status = scene.status();
        let is_it = status["phase"] == "Finished" && status["observedGeneration"] == 2;
        is_it.then_some(status)
    });
    assert!(status["runs"].as_u64().unwrap() >= 3, "{status}");
    assert_eq!(
        classes(&scene.stored()),
        names(&["Pets", "Pets$Cat", "Pets$Dog"])
    );
    let told = eventually("an Event", || {
        let events = scene.ns.list("events");
        let of_it = events.into_iter().find(|event| {
            event["involvedObject"]["kind"] == "ClosureJVMCampaign" && event["reason"] == "Finished"
        });
        of_it.map(|event| event["message"].clone())
    });
    assert!(told.is_string());
}

#[test]
fn deleting_or_suspending_it_keeps_the_file_and_asks_nobody_any_more() {
    let scene = Scene::new("deleted");
    let mut a = scene.pod(2, "pet-a");
    a.does("cat");
    scene.publish(&[&a]);
    let audit = Audit::new("campaigns");
    let controller = Setup {
        config: json!({ "campaigns": { "root": scene.root.path() } }),
        user: Some(&audit.user),
        ..Setup::new(&[&scene.ns.name])
    }
    .start();
    scene.campaign(json!({}));
    scene.ran(1);
    let own = audit.events();
    let asked = own
        .iter()
        .filter(|it| it.resource == "endpointslices" && it.verb == "list");
    let before = asked.filter(|it| it.namespace == scene.ns.name).count();
    assert_eq!(before, 1, "one run asks once which pods there are");
    a.does("dog");
    scene.ns.edit(
        "closurejvmcampaigns",
        "pets",
        &json!({ "spec": { "suspend": true } }),
    );
    eventually("it is suspended", || {
        (scene.status()["phase"] == "Suspended").then_some(())
    });
    let stored = fs::read(scene.file()).unwrap();
    // A request is not answered while it is suspended, and a change of its Target's pods is none.
    scene.publish(&[&a]);
    scene.ns.delete("closurejvmcampaigns", "pets");
    assert_eq!(fs::read(scene.file()).unwrap(), stored);
    let ran = controller.metric("covergence_campaign_runs_total", &[]);
    assert_eq!(ran, 1.0);

    // One of the same name goes on with the file.
    scene.campaign(json!({}));
    let status = scene.ran(1);
    assert_eq!(status["runs"], 1);
    assert_eq!(
        classes(&scene.stored()),
        names(&["Pets", "Pets$Cat", "Pets$Dog"])
    );
}

#[test]
fn only_places_that_the_operator_allows_are_used() {
    let scene = Scene::new("places");
    let mut a = scene.pod(2, "pet-a");
    a.does("cat");
    scene.publish(&[&a]);
    let controller = scene.controller_with(json!({}));
    for path in ["../other", "/etc", "a/../../b", "a//b", ".hidden", ""] {
        let campaign = json!({
            "apiVersion": "closurejvm.io/v1alpha1", "kind": "ClosureJVMCampaign",
            "metadata": { "name": "evil" },
            "spec": { "targetRef": { "name": "pet" }, "storage": { "path": path } },
        });
        let at = scene.ns.path("closurejvmcampaigns", "");
        let refused = api().send(
            "POST",
            at.trim_end_matches('/'),
            "application/json",
            &campaign,
        );
        assert_eq!(refused.unwrap_err().code, 422, "{path:?}");
    }
    scene.campaign(json!({}));
    let message = scene.not_ready("StorageNotAllowed");
    assert!(message.contains("campaigns.root"), "{message}");
    let live = scene.ns.get("closurejvmcampaigns", "pets");
    assert_eq!(condition_of(&live, "Stalled")["status"], "True", "{live}");
    assert_eq!(live["status"]["phase"], "Failed");

    // A tenant who can write to the volume cannot lead it elsewhere by a link.
    let elsewhere = tempfile::tempdir().unwrap();
    let own = scene.root.path().join(&scene.ns.name);
    fs::create_dir(&own).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), own.join("nightly")).unwrap();
    controller.configure(&json!({ "campaigns": { "root": scene.root.path() } }));
    let message = scene.not_ready("StorageUnavailable");
    assert!(message.contains("is not followed"), "{message}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    fs::remove_file(own.join("nightly")).unwrap();
    scene.ran(1);
    assert!(scene.file().is_file());
}

#[test]
fn agents_forget_only_what_is_stored() {
    let scene = Scene::new("reset");
    let mut a = scene.pod(2, "pet-a");
    a.does("cat");
    scene.publish(&[&a]);
    // The volume is not there.
    let away = scene.root.path().with_extension("away");
    fs::rename(scene.root.path(), &away).unwrap();
    let _controller = scene.controller();
    scene.campaign(json!({ "reset": true }));
    scene.not_ready("StorageUnavailable");
    assert_eq!(
        classes(&dump(&a)),
        names(&["Pets", "Pets$Cat"]),
        "nothing is forgotten"
    );
    fs::rename(&away, scene.root.path()).unwrap();
    scene.ran(1);
    assert_eq!(classes(&dump(&a)), names(&[]));
    assert_eq!(classes(&scene.stored()), names(&["Pets", "Pets$Cat"]));
    a.does("dog");
    assert_eq!(classes(&dump(&a)), names(&["Pets", "Pets$Dog"]));
    let second = scene.run("2");
    assert_eq!(classes(&dump(&a)), names(&[]));
    let union = scene.stored();
    assert_eq!(classes(&union), names(&["Pets", "Pets$Cat", "Pets$Dog"]));
    assert_eq!(second["probesHit"], union.summary().hit);
    // One JVM is one session, however often it began anew.
    assert_eq!(union.sessions().count(), 1);
}

/// A peer that has one more class to tell each time it is asked to begin anew. What `before` does is done before the first such
/// answer.
fn forgetful(address: &str, before: impl FnOnce() + Send + 'static) {
    let listener = TcpListener::bind((address, PORT)).unwrap();
    let before = Mutex::new(Some(before));
    // It ends with the process of the test.
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut command = [0; 8];
            if stream.read_exact(&mut command).is_err() {
                continue;
            }
            let begins_anew = command[7] == 1;
            let mut answer = encode::header().to_vec();
            let class = |id, name: &str| ExecutionData {
                id: ClassId(id),
                name: name.try_into().unwrap(),
                probes: [true].into_iter().collect(),
            };
            match before.lock().unwrap().take_if(|_| begins_anew) {
                Some(before) => {
                    before();
                    encode::execution(&mut answer, class(2, "told/Once").as_ref());
                }
                None => encode::execution(&mut answer, class(1, "told/Always").as_ref()),
            }
            answer.push(0x20);
            drop(stream.write_all(&answer));
        }
    });
}

#[test]
fn what_agents_have_forgotten_is_stored_when_that_works_again() {
    let scene = Scene::new("kept");
    let away = scene.root.path().with_extension("away");
    let (from, to) = (scene.root.path().to_owned(), away.clone());
    // Between the first file and the second one, the volume goes away.
    forgetful(&scene.net.address(1), move || fs::rename(from, to).unwrap());
    publish(&scene.ns, SERVICE, &[("pet-a", &scene.net.address(1))]);
    let _controller = scene.controller();
    scene.campaign(json!({ "reset": true }));
    scene.not_ready("StorageUnavailable");
    let file = scene.file();
    let at = file.strip_prefix(scene.root.path()).unwrap();
    assert_eq!(classes(&union_in(&away.join(at))), names(&["told/Always"]));
    fs::rename(&away, scene.root.path()).unwrap();
    scene.ran(1);
    assert_eq!(
        classes(&scene.stored()),
        names(&["told/Always", "told/Once"])
    );
}

#[test]
fn without_a_change_nothing_is_asked_and_nothing_written_between_runs() {
    let scene = Scene::new("idle");
    let a = scene.pod(2, "pet-a");
    scene.publish(&[&a]);
    let audit = Audit::new("idle");
    let _controller = Setup {
        config: json!({ "campaigns": { "root": scene.root.path() }, "leases": { "enabled": false } }),
        user: Some(&audit.user),
        ..Setup::new(&[&scene.ns.name])
    }
    .start();
    scene.campaign(json!({}));
    scene.ran(1);
    // What the run has to tell is told.
    let mut before = audit.events().len();
    let quiet = eventually("nothing is asked any more", || {
        thread::sleep(Duration::from_secs(2));
        let now = audit.events().len();
        let is_quiet = now == before;
        before = now;
        is_quiet.then_some(now)
    });
    let modified = fs::metadata(scene.file()).unwrap().modified().unwrap();
    thread::sleep(Duration::from_secs(10));
    let asked = audit.events();
    let news: Vec<&Event> = asked
        .iter()
        .skip(quiet)
        .filter(|it| it.verb != "watch")
        .collect();
    assert!(news.is_empty(), "{news:#?}");
    assert_eq!(
        fs::metadata(scene.file()).unwrap().modified().unwrap(),
        modified
    );
}

#[test]
fn a_file_in_s3_and_its_keys() {
    let scene = Scene::new("s3");
    let mut a = scene.pod(2, "pet-a");
    a.does("cat");
    scene.publish(&[&a]);
    let server = S3::start();
    // One that lacks a right at first.
    let account = unique("less");
    let controller = Setup {
        config: json!({ "campaigns": { "endpoints": [&server.origin] } }),
        user: Some(&account),
        ..Setup::new(&[&scene.ns.name])
    }
    .start();
    let place = |endpoint: &str| {
        json!({ "s3": {
            "url": "s3://coverage/nightly", "endpoint": endpoint, "secretRef": { "name": "keys" },
        } })
    };
    // Somebody hopes that the controller may reach what he may not.
    scene.campaign(json!({ "storage": place("http://169.254.169.254") }));
    let message = scene.not_ready("StorageNotAllowed");
    assert!(message.contains("campaigns.endpoints"), "{message}");
    let spec = json!({ "spec": { "storage": place(&server.origin) } });
    scene.ns.edit("closurejvmcampaigns", "pets", &spec);
    // It may not read Secrets but where an admin says so.
    let message = scene.not_ready("CredentialsUnavailable");
    assert!(message.contains("forbidden"), "{message}");
    let account = (NAMESPACE, account.as_str());
    let role = binding(
        "RoleBinding",
        "keys",
        &scene.ns.name,
        "covergence-credentials",
        account,
    );
    scene.ns.create("rolebindings", &role);
    let secret = |key: &str| {
        json!({ "metadata": { "name": "keys" }, "stringData": {
            "accesskey": server.access_key, "secretkey": key,
        } })
    };
    scene.ns.create("secrets", &secret("hunter2hunter2"));
    let message = scene.not_ready("StorageUnavailable");
    assert!(
        message.ends_with("the server answers 403 (SignatureDoesNotMatch)"),
        "{message}"
    );
    scene
        .ns
        .edit("secrets", "keys", &secret(&server.secret_key));
    let first = scene.run("now");
    let first = if first["runs"].is_null() {
        scene.ran(1)
    } else {
        first
    };
    assert_eq!(first["file"], "s3://coverage/nightly/pets.exec");
    a.does("dog");
    let second = scene.run("2");
    assert_eq!(
        second["growth"].as_array().unwrap().len(),
        2,
        "{first} {second}"
    );

    let stored = Storage::Bucket(
        Bucket::new(&server.place("s3://coverage/nightly"), &server.keys()).unwrap(),
    );
    let look = |stored: Option<&[u8]>| {
        Ok(Update {
            content: None,
            outcome: stored.unwrap().to_vec(),
        })
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stored = runtime
        .block_on(stored.update(1 << 20, Arc::new(look)))
        .unwrap();
    let union = read_exec(&stored, &Limits::default()).unwrap();
    assert_eq!(classes(&union), names(&["Pets", "Pets$Cat", "Pets$Dog"]));
    assert_eq!(second["probesHit"], union.summary().hit);
    // Its keys are told nowhere.
    let said = [
        scene.ns.get("closurejvmcampaigns", "pets").to_string(),
        format!("{:?}", scene.ns.list("events")),
        controller.logged("").join("\n"),
    ];
    for text in said {
        for key in ["hunter2", &server.secret_key, &server.access_key] {
            assert!(!text.contains(key), "{text}");
        }
    }
}
