//! `covergence diff --from REF --to REF`: what a change of a repository changes, without a cluster.

use serde_json::{Value, json};

use crate::support::covergence::Run;
use crate::support::git::Work;
use crate::support::kubectl::kubectl;
use crate::support::manifest::{
    Change, config_map, definition, deployment, namespace, own_agent, secret, service, target,
};
use crate::support::namespace::Namespace;
use crate::support::source::documents;

/// A repository whose folder `deploy` is compared.
struct Repository(Work);

impl Repository {
    fn new(objects: &[Value]) -> Self {
        let work = Work::new();
        work.write("README.md", "a shop\n");
        let repository = Self(work);
        repository.commit(objects);
        repository
    }

    /// Commits just these objects.
    fn commit(&self, objects: &[Value]) -> String {
        self.0.write("deploy/all.yaml", &documents(objects));
        self.0.commit("next")
    }

    fn diff(&self, from: &str, to: &str) -> Run {
        self.since(from).args(&["--to", to])
    }

    fn since(&self, from: &str) -> Run {
        Run::new(&[
            "diff",
            "--name",
            "shop",
            "--namespace",
            "shop",
            "--from",
            from,
        ])
        .arg(self.0.path().join("deploy"))
    }
}

fn shop(image: &str) -> Vec<Value> {
    vec![
        namespace("shop"),
        deployment("pet").set("/spec/template/spec/containers/0/image", image),
        service("pet"),
        own_agent("pet"),
        config_map("settings", image),
        secret("db", "correct-horse-battery"),
    ]
}

#[test]
fn two_revisions_are_compared_as_kubernetes_sees_them() {
    let repository = Repository::new(&shop("shop/pet:1"));
    let mut objects = shop("shop/pet:2");
    // Written otherwise, and the same to Kubernetes.
    objects[2] = service("pet")
        .set("/spec/type", "ClusterIP")
        .set("/spec/ports/0/targetPort", 80);
    objects[5] = secret("db", "staple-of-the-trade");
    objects.remove(3);
    objects.push(config_map("new", "1"));
    let commit = repository.commit(&objects);

    let output = repository
        .diff("HEAD~1", "main")
        .args(&["-o", "json"])
        .code(1);
    let plan = output.json();
    assert_eq!(plan["revision"], format!("main@sha1:{commit}"));
    assert!(plan["from"].as_str().unwrap().contains("sha1:"), "{plan}");
    assert_eq!(plan["diagnostics"], json!([]));
    let action = |kind: &str, name: &str| output.step(kind, name)["action"].clone();
    assert_eq!(action("Deployment", "pet"), "configure");
    assert_eq!(action("ConfigMap", "new"), "create");
    assert_eq!(action("ClosureJVMTarget", "pet"), "delete");
    let diff = |kind: &str, name: &str| {
        output.step(kind, name)["diff"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let image = diff("Deployment", "pet");
    let changed: Vec<_> = image
        .lines()
        .filter(|line| line.starts_with(['+', '-']))
        .skip(2)
        .collect();
    assert_eq!(
        changed,
        ["-      - image: shop/pet:1", "+      - image: shop/pet:2"]
    );
    // What is the default is no change.
    assert_eq!(diff("Service", "pet"), "");
    assert!(diff("Secret", "db").contains("password: \"*** (after)\""));
    for value in ["correct-horse-battery", "staple-of-the-trade"] {
        output.hides(value);
    }
    // There is no difference between a revision and itself.
    repository.diff("main", &commit).code(0);
}

#[test]
fn a_folder_is_compared_with_a_revision_and_the_order_turns_round() {
    let repository = Repository::new(&shop("shop/pet:1"));
    repository.since("HEAD").code(0);
    repository
        .0
        .write("deploy/more.yaml", &documents(&[config_map("more", "1")]));
    let output = repository.since("HEAD").args(&["-o", "json"]).code(1);
    assert_eq!(output.step("ConfigMap", "more")["action"], "create");
    repository.0.commit("more");
    let output = repository
        .diff("HEAD", "HEAD~1")
        .args(&["-o", "json"])
        .code(1);
    assert_eq!(output.step("ConfigMap", "more")["action"], "delete");
    // Of a repository elsewhere.
    let url = repository.0.path().to_str().unwrap().to_owned();
    let elsewhere = [
        "diff",
        "--git",
        &url,
        "--path",
        "deploy",
        "--name",
        "shop",
        "--namespace",
        "shop",
    ];
    let output = Run::new(&elsewhere)
        .args(&["--from", "HEAD~1", "--to", "HEAD", "-o", "json"])
        .code(1);
    assert_eq!(output.step("ConfigMap", "more")["action"], "create");
}

#[test]
fn custom_kinds_need_no_cluster_either() {
    let pet = |size: Value| {
        json!({
            "apiVersion": "pets.example.com/v1", "kind": "Pet", "metadata": { "name": "a" }, "spec": { "size": size },
        })
    };
    let unknown = |size: u32| {
        json!({
            "apiVersion": "nobody.example.com/v1", "kind": "Unknown", "metadata": { "name": "u" },
            "spec": { "size": size, "list": ["a"] },
        })
    };
    let kinds = definition("pets.example.com", "Pet");
    let repository = Repository::new(&[kinds.clone(), pet(json!(1)), unknown(1)]);
    repository.commit(&[kinds.clone(), pet(json!(2)), unknown(2)]);
    let output = repository
        .diff("HEAD~1", "HEAD")
        .args(&["-o", "json"])
        .code(1);
    for (kind, name) in [("Pet", "a"), ("Unknown", "u")] {
        let step = output.step(kind, name);
        assert_eq!(step["action"], "configure", "{step}");
        assert!(
            step["diff"]
                .as_str()
                .unwrap()
                .contains("-  size: 1\n+  size: 2\n"),
            "{step}"
        );
    }
    // What its definition does not allow, the API server would not either.
    repository.commit(&[kinds, pet(json!("large")), unknown(2)]);
    let output = repository
        .diff("HEAD~1", "HEAD")
        .args(&["-o", "json"])
        .code(2);
    let step = output.step("Pet", "a");
    assert_eq!(step["action"], "refuse", "{step}");
    assert!(
        step["reason"].as_str().unwrap().contains("spec.size"),
        "{step}"
    );
}

#[test]
fn what_is_wrong_with_either_revision_is_told() {
    let repository = Repository::new(&shop("shop/pet:1"));
    let bad = deployment("pet").set("/spec/replicas", -1);
    repository.commit(&[namespace("shop"), bad]);
    let output = repository.diff("HEAD~1", "HEAD").code(2);
    assert!(
        output.stdout.contains("the API server would refuse it"),
        "{output:?}"
    );
    let output = repository.diff("HEAD", "HEAD~1").code(2);
    assert!(
        output.stderr.contains("must be greater than or equal to 0"),
        "{output:?}"
    );
    repository.0.write("deploy/all.yaml", "a: [");
    repository.0.commit("broken");
    assert!(
        repository
            .diff("HEAD~2", "HEAD")
            .code(2)
            .stderr
            .contains("all.yaml:1")
    );
    let output = repository.diff("HEAD", "HEAD~2").code(2);
    assert!(
        output.stderr.contains("error: in ") && output.stderr.contains("all.yaml:1"),
        "{output:?}"
    );
    let none = repository.diff("HEAD", "nowhere").code(2);
    assert!(none.stderr.contains("nowhere"), "{none:?}");
    // A folder that is in no repository has no revisions.
    let folder = tempfile::tempdir().unwrap();
    let none = Run::new(&["diff", "--from", "HEAD"])
        .arg(folder.path())
        .code(2);
    assert!(none.stderr.contains("repository"), "{none:?}");
}

#[test]
fn on_what_was_saved_of_a_cluster_only_the_change_shows() {
    let ns = Namespace::new("revisions");
    let repository = Repository::new(&[
        config_map("a", "1"),
        config_map("b", "1"),
        secret("s", "correct-horse-battery"),
    ]);
    let folder = repository.0.path().join("deploy");
    let file = tempfile::tempdir().unwrap();
    let file = file.path().join("saved");
    let set = ["--name", "it", "--namespace", &ns.name];
    Run::on_lab(&["sync"]).args(&set).arg(&folder).ok();
    // The cluster is not as the first revision left it: that is nothing that the change does.
    ns.edit("configmaps", "b", &json!({ "data": { "key": "by hand" } }));
    kubectl(
        &["apply", "-f", "-"],
        &[config_map("theirs", "1").within(&ns.name)],
    );
    repository.commit(&[
        config_map("a", "2"),
        config_map("b", "1"),
        config_map("theirs", "2"),
        secret("s", "correct-horse-battery"),
    ]);
    Run::on_lab(&["snapshot"])
        .args(&set)
        .arg(&folder)
        .arg("-o")
        .arg(&file)
        .ok();
    let output = Run::new(&["diff", "--from", "HEAD~1", "--to", "HEAD", "-o", "json"])
        .args(&set)
        .arg(&folder)
        .arg("--snapshot")
        .arg(&file)
        .code(2);
    let action = |kind: &str, name: &str| output.step(kind, name)["action"].clone();
    assert_eq!(action("ConfigMap", "a"), "configure");
    assert_eq!(action("ConfigMap", "b"), "unchanged");
    assert_eq!(action("Secret", "s"), "unchanged");
    // What is in the cluster already has owners, whom a sync would ask as well.
    let step = output.step("ConfigMap", "theirs");
    assert_eq!(step["action"], "refuse", "{step}");
    let owner = &step["conflicts"][0]["manager"];
    assert_eq!(owner, "kubectl-client-side-apply", "{step}");
}

#[test]
fn an_agent_is_shown_where_it_goes() {
    let repository = Repository::new(&[namespace("shop"), deployment("pet").within("shop")]);
    repository.commit(&[
        namespace("shop"),
        deployment("pet").within("shop"),
        target("pet").within("shop"),
    ]);
    let output = repository
        .diff("HEAD~1", "HEAD")
        .args(&["-o", "markdown"])
        .code(1);
    assert!(
        output
            .stdout
            .starts_with("### Covergence: 2 to create, 1 to configure, 1 unchanged\n"),
        "{output:?}"
    );
    assert!(output.stdout.contains("JAVA_TOOL_OPTIONS"), "{output:?}");
}
