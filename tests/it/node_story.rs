//! What it is all for, on a node with real pods: a commit brings the agent to a running service, a name has all its pods, and what ran
//! in any of them comes together in one file; the next commit leaves the service as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::controller::{Controller, Setup, sync};
use crate::support::covergence::Run;
use crate::support::git::Work;
use crate::support::jacoco::Programs;
use crate::support::lab::eventually;
use crate::support::node::{APP, COVERGENCE, Place, Pod, node};
use crate::support::source::documents;

const JAR: &str = "/covergence-agent/jacocoagent.jar";

/// The service, as its team has it.
fn shop(replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "shop" },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "shop" } },
            "strategy": { "rollingUpdate": { "maxSurge": "100%", "maxUnavailable": 0 } },
            "template": {
                "metadata": { "labels": { "app": "shop" } },
                "spec": {
                    "automountServiceAccountToken": false,
                    "terminationGracePeriodSeconds": 20,
                    "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
                    "containers": [{
                        "name": "shop",
                        "image": APP,
                        "imagePullPolicy": "Never",
                        "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": "-Dshop.sells=pets" }],
                        "ports": [{ "name": "http", "containerPort": 8080, "protocol": "TCP" }],
                        "readinessProbe": { "httpGet": { "path": "/healthz", "port": "http" }, "periodSeconds": 1 },
                        "securityContext": {
                            "runAsUser": 1000,
                            "allowPrivilegeEscalation": false,
                            "capabilities": { "drop": ["ALL"] },
                            "readOnlyRootFilesystem": true,
                        },
                    }],
                },
            },
        },
    })
}

fn target() -> Value {
    json!({
        "apiVersion": "closurejvm.io/v1alpha1",
        "kind": "ClosureJVMTarget",
        "metadata": { "name": "shop" },
        "spec": {
            "deploymentRef": { "name": "shop" },
            "coverageService": true,
            "agents": { "coverage": { "enabled": true, "includes": ["shop.*"] } },
        },
    })
}

/// A namespace that a controller keeps like a repository.
struct Story {
    place: Place,
    repository: Work,
    programs: Programs,
    files: TempDir,
    _controller: Controller,
}

impl Story {
    fn begin() -> Self {
        let (place, repository) = (Place::new("story"), Work::new());
        repository.write("shop.yaml", &documents(&[shop(2)]));
        repository.commit("The shop opens");
        let git = json!({ "url": repository.path(), "ref": "main" });
        let spec = json!({ "source": { "git": git }, "interval": "1s", "prune": true });
        let controller = Setup {
            lab: node(),
            syncs: &[sync(&place.name, "shop", spec)],
            ..Setup::new(&[&place.name])
        }
        .start();
        Self {
            place,
            repository,
            programs: Programs::compile("JacocoSide", "17"),
            files: TempDir::new().unwrap(),
            _controller: controller,
        }
    }

    fn commit(&self, file: &str, objects: &[Value]) {
        self.repository.write(file, &documents(objects));
        self.repository.commit(file);
    }

    fn status(&self) -> Value {
        let target = self.place.find("closurejvmtargets", "shop");
        target.unwrap_or_default()["status"].clone()
    }

    /// Waits until so many pods have the agent, and gives them, the oldest first.
    fn instrumented(&self, replicas: u32) -> Vec<Pod> {
        eventually(&format!("{replicas} replicas are instrumented"), || {
            let status = self.status();
            let counts = [
                &status["instrumentedReplicas"],
                &status["endpoints"]["total"],
            ];
            let done =
                status["phase"] == "Instrumented" && counts.iter().all(|it| **it == replicas);
            done.then_some(())
        });
        let pods = self.place.settled("shop");
        assert_eq!(pods.len(), replicas as usize);
        pods
    }

    /// What the Deployment's owner would call its state.
    fn deployment(&self) -> Value {
        let mut live = self.place.get("deployments", "shop");
        let metadata = live["metadata"].as_object_mut().unwrap();
        for moving in ["generation", "managedFields", "resourceVersion"] {
            metadata.remove(moving);
        }
        // Counts rollouts.
        live["metadata"]["annotations"]
            .as_object_mut()
            .unwrap()
            .remove("deployment.kubernetes.io/revision");
        live.as_object_mut().unwrap().remove("status");
        live
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.files.path().join(name)
    }

    /// `covergence collect` of the Target, from outside of the cluster.
    fn collect(&self, file: &str) -> Run {
        Run::new(&["collect", "-o"])
            .arg(self.file(file))
            .arg(format!("{}/shop", self.place.name))
            .on(node())
    }

    fn read(&self, file: &Path) -> Read {
        Read::of(&self.programs, &fs::read(file).unwrap())
    }
}

/// What JaCoCo reads in a file: of each class, which probes were hit; and the ids of sessions.
#[derive(Debug, PartialEq, Eq)]
struct Read {
    classes: BTreeMap<String, String>,
    sessions: Vec<String>,
}

impl Read {
    fn of(programs: &Programs, file: &[u8]) -> Self {
        let hex: String = file.iter().map(|byte| format!("{byte:02x}")).collect();
        let answer = programs.answers(&format!("stream {hex}\nend\n"));
        assert!(
            !answer.contains("broken") && !answer.contains("refused"),
            "{answer}"
        );
        let mut read = Self {
            classes: BTreeMap::new(),
            sessions: Vec::new(),
        };
        for line in answer.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["session", id, ..] => read.sessions.push(text(id)),
                ["class", _, name, probes] => {
                    read.classes.insert(text(name), probes.to_owned());
                }
                _ => {}
            }
        }
        read
    }

    fn has(&self, class: &str) -> bool {
        self.classes.contains_key(class)
    }

    /// Names of the pods whose sessions are in it: an agent's default id begins with the name of its host.
    fn pods(&self) -> Vec<String> {
        let mut pods: Vec<String> = self
            .sessions
            .iter()
            .map(|id| id.rsplit_once('-').unwrap().0.to_owned())
            .collect();
        pods.sort();
        pods.dedup();
        pods
    }

    /// Probes that were hit here or there.
    fn with(&self, other: &Self) -> BTreeMap<String, String> {
        let mut all = self.classes.clone();
        for (class, probes) in &other.classes {
            let known = all.entry(class.clone()).or_insert_with(|| probes.clone());
            let either = known.chars().zip(probes.chars());
            *known = either.map(|(a, b)| if a == '1' { a } else { b }).collect();
        }
        all
    }
}

/// UTF-16 units, four digits each.
fn text(units: &str) -> String {
    let units = units.as_bytes().chunks(4).map(|unit| {
        let digits = std::str::from_utf8(unit).unwrap();
        u16::from_str_radix(digits, 16).unwrap()
    });
    char::decode_utf16(units).map(Result::unwrap).collect()
}

fn names(pods: &[Pod]) -> Vec<String> {
    let mut names: Vec<String> = pods.iter().map(|pod| pod.name.clone()).collect();
    names.sort();
    names
}

fn addresses(pods: &[Pod]) -> Vec<String> {
    let mut addresses: Vec<String> = pods.iter().map(|pod| pod.address.clone()).collect();
    addresses.sort();
    addresses
}

#[test]
fn coverage_of_all_replicas_arrives_and_goes_without_a_trace() {
    let story = Story::begin();
    let plain = story.place.settled("shop");
    let before = story.deployment();
    assert!(!plain[0].process().contains("jacoco"), "no agent yet");

    story.commit("target.yaml", &[target()]);
    let pods = story.instrumented(2);
    the_service_leads_to_the_pods(&story, &pods);
    the_agent_is_in_the_pods(&story, &pods);
    what_ran_in_either_pod_is_in_the_union(&story, &pods);
    the_published_endpoint_gives_the_same_in_the_cluster(&story, &pods);

    story.commit("shop.yaml", &[shop(5)]);
    let pods = story.instrumented(5);
    // A JVM that has asked before would remember the answer for half a minute.
    assert_eq!(pods[4].resolve(&host(&story)), addresses(&pods));
    what_ends_is_not_lost(&story, &pods);

    fs::remove_file(story.repository.path().join("target.yaml")).unwrap();
    story.repository.commit("Enough");
    eventually("the Target is gone, and its Service", || {
        let gone = story.place.find("closurejvmtargets", "shop").is_none();
        (gone
            && story
                .place
                .labelled("services", "app.kubernetes.io/component=coverage")
                .is_empty())
        .then_some(())
    });
    eventually("the Deployment is as it was", || {
        (story.deployment() == before).then_some(())
    });
    for pod in story.place.settled("shop") {
        let process = pod.process();
        assert!(
            !process.contains("jacoco")
                && process.contains("JAVA_TOOL_OPTIONS=-Dshop.sells=pets\n"),
            "{process}"
        );
    }
}

fn endpoint(story: &Story) -> String {
    story.status()["coverageEndpoint"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn host(story: &Story) -> String {
    let endpoint = endpoint(story);
    endpoint.rsplit_once(':').unwrap().0.to_owned()
}

/// What the reference operator checks in a cluster, and a little more.
fn the_service_leads_to_the_pods(story: &Story, pods: &[Pod]) {
    let services = story
        .place
        .labelled("services", "app.kubernetes.io/component=coverage");
    let [service] = &services[..] else {
        panic!("{services:?}");
    };
    let name = service["metadata"]["name"].as_str().unwrap();
    assert_eq!(service["spec"]["clusterIP"], "None");
    let ports = service["spec"]["ports"].as_array().unwrap();
    assert_eq!(
        (ports.len(), &ports[0]["port"], &ports[0]["targetPort"]),
        (1, &json!(6300), &json!(6300))
    );
    let target = story.place.get("closurejvmtargets", "shop");
    assert_eq!(
        service["metadata"]["ownerReferences"][0]["uid"],
        target["metadata"]["uid"]
    );
    assert_eq!(
        endpoint(story),
        format!("{name}.{}.svc.cluster.local:6300", story.place.name)
    );

    let label = format!("kubernetes.io/service-name={name}");
    eventually("each pod is an endpoint of it", || {
        let slices = story.place.labelled("endpointslices", &label);
        let endpoints = slices
            .iter()
            .filter_map(|slice| slice["endpoints"].as_array());
        let mut listed: Vec<&str> = endpoints
            .flatten()
            .map(|it| it["addresses"][0].as_str().unwrap())
            .collect();
        listed.sort_unstable();
        (listed == addresses(pods)).then_some(())
    });
    // As a driver in the cluster resolves it.
    for pod in pods {
        assert_eq!(
            pod.resolve(&host(story)),
            addresses(pods),
            "in {}",
            pod.name
        );
    }
}

fn the_agent_is_in_the_pods(story: &Story, pods: &[Pod]) {
    for pod in pods {
        let process = pod.process();
        let options = process
            .lines()
            .find_map(|it| it.strip_prefix("JAVA_TOOL_OPTIONS="))
            .unwrap();
        let agent = format!("-javaagent:{JAR}=");
        assert!(
            options.starts_with(&agent) && options.ends_with(" -Dshop.sells=pets"),
            "{options}"
        );
        let live = story.place.get("pods", &pod.name);
        let installed =
            &live["status"]["initContainerStatuses"][0]["state"]["terminated"]["message"];
        let installed: Value = serde_json::from_str(installed.as_str().unwrap()).unwrap();
        assert_eq!(
            (&installed["agent"], &installed["version"]),
            (&json!("JaCoCo"), &json!("0.8.6"))
        );
    }
}

fn what_ran_in_either_pod_is_in_the_union(story: &Story, pods: &[Pod]) {
    assert_eq!(pods[0].ask("/price?pet=dog&count=5"), "225");
    assert_eq!(
        pods[1].ask("/greet?language=de&name=Anna"),
        "Guten Tag, Anna"
    );
    assert_eq!(pods[1].ask("/price?pet=cat"), "30");
    let output = story
        .collect("union.exec")
        .args(&["--format", "json", "--per-pod"])
        .arg(story.file("pods"))
        .ok();
    let report = output.json();
    assert_eq!(
        (
            &report["complete"],
            report["pods"].as_array().unwrap().len()
        ),
        (&json!(true), 2)
    );

    let union = story.read(&story.file("union.exec"));
    let alone: Vec<Read> = pods
        .iter()
        .map(|pod| story.read(&story.file("pods").join(format!("{}.exec", pod.name))))
        .collect();
    assert_eq!(union.pods(), names(pods));
    assert!(
        !alone[0].has("shop/Greeting") && alone[1].has("shop/Greeting"),
        "{alone:?}"
    );
    assert_eq!(union.classes, alone[0].with(&alone[1]));
    // Neither has what the other one has of a class that both ran.
    let price = |read: &Read| read.classes["shop/Price"].clone();
    assert_ne!(price(&union), price(&alone[0]));
    assert_ne!(price(&union), price(&alone[1]));
}

fn the_published_endpoint_gives_the_same_in_the_cluster(story: &Story, pods: &[Pod]) {
    let arguments = json!([
        "collect",
        endpoint(story),
        "-o",
        "/out/union.exec",
        "--format",
        "json"
    ]);
    story.place.create(
        "pods",
        &json!({ "metadata": { "name": "driver" }, "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "containers": [{
                "name": "driver",
                "image": COVERGENCE,
                "imagePullPolicy": "Never",
                "args": arguments,
                "securityContext": { "readOnlyRootFilesystem": true },
                "volumeMounts": [{ "name": "out", "mountPath": "/out" }],
            }],
            "volumes": [{ "name": "out", "emptyDir": {} }],
        } }),
    );
    let phase = eventually("the driver ends", || {
        let phase = story.place.get("pods", "driver")["status"]["phase"].clone();
        ["Succeeded", "Failed"]
            .iter()
            .any(|end| phase == *end)
            .then_some(phase)
    });
    let said = story.place.kubectl(&["logs", "driver"]);
    assert_eq!(phase, "Succeeded", "{said}");
    let report: Value = serde_json::from_str(&said).unwrap();
    let ours = story.read(&story.file("union.exec"));
    assert_eq!(report["pods"].as_array().unwrap().len(), pods.len());
    assert_eq!(report["classes"], ours.classes.len());
}

/// Of five pods three end while they are followed; what only they ran comes with their last words.
fn what_ends_is_not_lost(story: &Story, pods: &[Pod]) {
    let following = story
        .collect("followed.exec")
        .args(&["--follow", "--every", "10m"])
        .follow();
    for _ in pods {
        following.until("connected");
    }
    // ReplicaSets end the youngest pods first.
    let (stay, go) = pods.split_at(2);
    for pod in go {
        assert!(pod.ask("/order?pet=cat&count=2").ends_with(": 60"));
    }
    story.commit("shop.yaml", &[shop(2)]);
    for _ in go {
        following.until("its last data has come");
    }
    assert_eq!(names(&story.instrumented(2)), names(stay));
    following.interrupt();
    let read = story.read(&story.file("followed.exec"));
    assert_eq!(read.pods(), names(pods));
    assert!(read.has("shop/Order"), "{read:?}");
    story.collect("later.exec").ok();
    assert!(
        !story.read(&story.file("later.exec")).has("shop/Order"),
        "only they ran it"
    );
}
