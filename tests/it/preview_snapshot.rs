//! `covergence snapshot`, and `covergence diff --snapshot`: what is told without the cluster is what the cluster tells.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::covergence::{Output, Run};
use crate::support::kubectl::kubectl;
use crate::support::lab::{self, api, eventually};
use crate::support::manifest::{
    Change, config_map, definition, deployment, own_agent, secret, service, target,
};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;

/// A file of `covergence snapshot`, made for the Sync `it` of a namespace.
struct Saved {
    folder: TempDir,
}

impl Saved {
    fn of(ns: &Namespace, source: &Source) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let saved = Self { folder };
        saved.renew(ns, source).ok();
        saved
    }

    /// The same, once the controllers have nothing more to do: the same state gives the same file.
    fn at_rest(ns: &Namespace, source: &Source) -> Self {
        let saved = Self::of(ns, source);
        eventually("two files are the same", || {
            let before = fs::read(saved.path()).unwrap();
            std::thread::sleep(Duration::from_secs(2));
            saved.renew(ns, source).ok();
            (fs::read(saved.path()).unwrap() == before).then_some(())
        });
        saved
    }

    fn renew(&self, ns: &Namespace, source: &Source) -> Run {
        ns.text("snapshot", source).arg("-o").arg(self.path())
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("it.snapshot")
    }

    /// `covergence diff` without a cluster.
    fn diff(&self, ns: &Namespace, source: &Source) -> Run {
        Run::new(&["diff", "--name", "it", "--namespace", &ns.name])
            .arg(source.path())
            .arg("--snapshot")
            .arg(self.path())
    }
}

/// `covergence diff` with the lab, which it is told of in a way that no output repeats.
fn online(ns: &Namespace, source: &Source) -> Run {
    let kubeconfig = lab::shared().join("kubeconfig");
    Run::new(&["diff", "--name", "it", "--namespace", &ns.name])
        .arg(source.path())
        .env("KUBECONFIG", kubeconfig.to_str().unwrap())
}

/// Compares what both say, in all forms.
fn same(ns: &Namespace, source: &Source, saved: &Saved, flags: &[&str]) -> Output {
    for output in ["json", "text"] {
        let flags = [&["-o", output], flags].concat();
        let there = online(ns, source).args(&flags).run();
        let here = saved.diff(ns, source).args(&flags).run();
        assert_eq!(here.code, there.code);
        assert_eq!(here.stderr, there.stderr);
        for (here, there) in here.stdout.lines().zip(there.stdout.lines()) {
            assert_eq!(here, there);
        }
        assert_eq!(here.stdout.len(), there.stdout.len());
    }
    online(ns, source).args(&["-o", "json"]).args(flags).run()
}

/// So many objects of each kind; a thousand of them are ten times this.
const EACH: usize = 100;

/// A thousand objects. Every Deployment of the first half has a Target.
fn thousand(source: &Source, edition: &str) {
    let name = |i: usize| format!("pet-{i:03}");
    for i in 0..EACH {
        let name = name(i);
        let container = json!({
            "name": "app", "image": format!("shop/pet:{edition}"),
            "ports": [{ "name": "http", "containerPort": 8080 }],
            "env": [{ "name": "A", "value": "1" }, { "name": "B", "valueFrom": { "configMapKeyRef": { "name": name, "key": "key" } } }],
            "resources": { "requests": { "cpu": "1000m", "memory": "1Gi" } },
            "volumeMounts": [{ "name": "tmp", "mountPath": "/tmp" }],
        });
        let pod =
            json!({ "containers": [container], "volumes": [{ "name": "tmp", "emptyDir": {} }] });
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": name },
            "rules": [{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"] }],
        });
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": { "name": name },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name },
            "subjects": [{ "kind": "ServiceAccount", "name": name }],
        });
        let job = json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": name },
            "spec": { "template": { "spec": { "restartPolicy": "Never", "containers": [{ "name": "a", "image": "a:1" }] } } },
        });
        let more = match i % 2 {
            0 => own_agent(&name),
            _ => config_map(&format!("more-{name}"), "1"),
        };
        let objects = [
            deployment(&name).set("/spec/template/spec", pod),
            service(&name).set("/spec/ports/0/targetPort", "http"),
            config_map(&name, edition),
            config_map(&format!("other-{name}"), "1"),
            secret(&name, &format!("hunter-{edition}-{i}")),
            json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name } }),
            role,
            binding,
            job,
            more,
        ];
        source.write(&format!("{name}.yaml"), &objects);
    }
}

#[test]
fn a_thousand_objects_give_the_same_plan_without_the_cluster() {
    let ns = Namespace::new("offline");
    let source = Source::new();
    thousand(&source, "1");
    ns.sync(&source).ok();

    // Hand edits, other managers, what is gone and what is strange.
    for i in 0..10 {
        let name = format!("pet-{i:03}");
        ns.edit("deployments", &name, &json!({ "spec": { "replicas": 5 } }));
        ns.edit(
            "configmaps",
            &name,
            &json!({ "data": { "key": "by hand", "more": "x" } }),
        );
        ns.edit(
            "secrets",
            &name,
            &json!({ "data": { "password": "YnkgaGFuZA==" } }),
        );
        // Odd ones have no Target.
        if i % 2 == 0 {
            ns.edit(
                "services",
                &format!("{name}-coverage"),
                &json!({ "spec": { "selector": { "extra": "x" } } }),
            );
        }
        let other = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": format!("other-{name}") }, "data": { "key": "2" },
        });
        let path = ns.path("configmaps", &format!("other-{name}"));
        api().apply(&path, "helm", &other);
        ns.delete("serviceaccounts", &name);
    }
    let stranger = config_map("stranger", "1").within(&ns.name);
    kubectl(&["apply", "-f", "-"], &[stranger]);
    ns.create(
        "secrets",
        &secret("someones", "correct-horse-battery").set("/metadata/namespace", ns.name.as_str()),
    );

    // Another edition for a half of the files, others that are gone, and some that are new.
    let next = Source::new();
    thousand(&next, "1");
    let edition = Source::new();
    thousand(&edition, "2");
    for i in 0..EACH {
        let file = format!("pet-{i:03}.yaml");
        match i {
            0..50 => next.write_text(
                &file,
                &fs::read_to_string(edition.path().join(&file)).unwrap(),
            ),
            90.. => next.remove(&file),
            _ => {}
        }
    }
    next.write(
        "new.yaml",
        &[
            config_map("new", "1"),
            target("pet-001"),
            config_map("stranger", "2"),
        ],
    );

    let saved = Saved::at_rest(&ns, &next);
    let plan = same(&ns, &next, &saved, &["--prune"]).json();
    for (action, at_least) in [
        ("create", 1),
        ("configure", 150),
        ("delete", 90),
        ("refuse", 10),
        ("unchanged", 400),
    ] {
        let count = plan["summary"][action].as_u64().unwrap();
        assert!(count >= at_least, "{action}: {count}");
    }
    // Without --prune, and as it was before: the file is of the set, not of one plan.
    same(&ns, &next, &saved, &[]);
    same(&ns, &source, &saved, &["--prune", "--full"]);

    // Of Secrets it holds neither values nor what could be read from them.
    let bytes = fs::read(saved.path()).unwrap();
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
    let text = unpacked(&saved);
    for value in [
        "hunter-1-3",
        "aHVudGVyLTEt",
        "YnkgaGFuZA",
        "correct-horse-battery",
        "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5",
    ] {
        assert!(!text.contains(value), "{value}");
    }
    let mode = fs::metadata(saved.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// What is in the file.
fn unpacked(saved: &Saved) -> String {
    let bytes = fs::read(saved.path()).unwrap();
    let begin = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let json = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes[begin..]).unwrap();
    String::from_utf8(json).unwrap()
}

#[test]
fn kinds_namespaces_and_what_would_go_with_them_are_in_it() {
    let ns = Namespace::new("offline-kinds");
    let elsewhere = Namespace::unborn("offline-other");
    let other = elsewhere.name.clone();
    let group = format!("{}.example.com", unique("g"));
    let pet = json!({
        "apiVersion": format!("{group}/v1"), "kind": "Pet", "metadata": { "name": "a" }, "spec": { "size": 1 },
    });
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": other } });
    let all = [
        namespace,
        definition(&group, "Pet"),
        config_map("in-other", "1").within(&other),
    ];
    let source = Source::new()
        .with("a.yaml", &all)
        .with("pet.yaml", std::slice::from_ref(&pet));
    ns.sync(&source).ok();
    // Somebody's own, in the namespace that is to go.
    kubectl(
        &["apply", "-f", "-"],
        &[config_map("theirs", "1").within(&other)],
    );
    let saved = Saved::of(&ns, &source);
    source.write(
        "pet.yaml",
        &[
            pet.clone().set("/spec/size", 2),
            pet.set("/metadata/name", "b").set("/spec/size", 3),
        ],
    );
    same(&ns, &source, &saved, &["--prune"]);
    source.remove("a.yaml");
    same(&ns, &source, &saved, &["--prune"]);
    let left = saved
        .diff(&ns, &source)
        .args(&["--prune", "-o", "json"])
        .run();
    let step = left.step("Namespace", &other);
    assert_eq!(step["action"], "refuse", "{step}");
    assert!(
        step["reason"]
            .as_str()
            .unwrap()
            .contains("ConfigMap theirs"),
        "{step}"
    );
}

#[test]
fn what_was_not_looked_for_is_told() {
    let ns = Namespace::new("offline-doubts");
    kubectl(
        &["apply", "-f", "-"],
        &[config_map("theirs", "1").within(&ns.name)],
    );
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let saved = Saved::of(&ns, &source);
    source.write("b.yaml", &[config_map("theirs", "2")]);
    let plan = saved.diff(&ns, &source).args(&["-o", "json"]).code(1);
    let told = plan.json()["diagnostics"].clone();
    let message = format!(
        "ConfigMap {}/theirs was not looked for when the snapshot was made, and is taken as new",
        ns.name
    );
    assert_eq!(told.as_array().unwrap().len(), 1, "{told}");
    assert_eq!(
        (&told[0]["severity"], &told[0]["message"]),
        (&json!("warning"), &Value::from(message))
    );
}

#[test]
fn a_file_that_is_of_no_use_says_why() {
    let ns = Namespace::new("offline-files");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let saved = Saved::of(&ns, &source);
    let whole = fs::read(saved.path()).unwrap();
    let says = |bytes: &[u8], words: &str| {
        fs::write(saved.path(), bytes).unwrap();
        let output = saved.diff(&ns, &source).code(2);
        assert!(output.stderr.contains(words), "{output:?}");
        assert!(output.stdout.is_empty());
    };
    says(&whole[..whole.len() / 2], "it is damaged");
    says(b"apiVersion: v1\n", "it is no file of covergence snapshot");
    let newer = [b"covergence snapshot 9\n", &whole[22..]].concat();
    says(
        &newer,
        "it was made by a newer Covergence (format 9; this one knows format 1)",
    );
    fs::write(saved.path(), &whole).unwrap();
    let other = Run::new(&["diff", "--name", "other", "--namespace", &ns.name])
        .arg(source.path())
        .arg("--snapshot")
        .arg(saved.path())
        .code(2);
    let words = format!(
        "was made for Sync {0}/it, and this is {0}/other: give --namespace {0} --name it",
        ns.name
    );
    assert!(other.stderr.contains(&words), "{other:?}");
    fs::remove_file(saved.path()).unwrap();
    let gone = saved.diff(&ns, &source).code(2);
    assert!(gone.stderr.contains("it.snapshot: "), "{gone:?}");
    // A context and a file would be two clusters.
    saved.diff(&ns, &source).args(&["--context", "x"]).code(2);
}
