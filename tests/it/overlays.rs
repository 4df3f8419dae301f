//! Folders with a kustomization: what is built is what is applied.

use serde_json::Value;

use crate::support::covergence::Run;
use crate::support::git::Work;
use crate::support::kubectl::kubectl;
use crate::support::namespace::Namespace;
use crate::support::overlay::map;
use crate::support::source::Source;

/// A base, and an overlay of it that needs a file which is no manifest.
const FILES: [(&str, &str); 5] = [
    ("base/kustomization.yaml", "resources: [web.yaml]\n"),
    (
        "base/web.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}], selector: {app: web}}\n",
    ),
    (
        "overlays/prod/kustomization.yaml",
        "resources: [../../base]\nnamePrefix: prod-\nconfigMapGenerator:\n- name: conf\n  files: [app.conf]\n",
    ),
    ("overlays/prod/app.conf", "colour = red\n"),
    (
        "overlays/prod/not-named.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: never}\n",
    ),
];

fn shop() -> Source {
    let source = Source::new();
    for (path, text) in FILES {
        source.write_text(path, text);
    }
    source
}

fn render(source: &[&str]) -> Run {
    Run::new(&["render", "--name", "it", "-n", "shop"]).args(source)
}

/// An overlay of one generated object with a mistake in it.
fn mistaken() -> Source {
    Source::new()
        .file(
            "kustomization.yaml",
            "resources: [a.yaml]\nnamePrefix: x-\n",
        )
        .file(
            "a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, lables: {x: y}}\n",
        )
}

#[test]
fn an_overlay_gives_what_kustomize_gives_from_a_folder_and_from_its_commit() {
    let source = shop();
    let work = Work::new();
    for (path, text) in FILES {
        work.write(path, text);
    }
    work.commit("one");
    let overlay = ["--path", "overlays/prod"];
    let folder = source.path().to_str().unwrap();
    let from_folder = render(&[folder])
        .args(&overlay)
        .args(&["-o", "json"])
        .ok()
        .json();
    let repository = work.path().to_str().unwrap();
    let from_commit = render(&["--git", repository])
        .args(&overlay)
        .args(&["-o", "json"])
        .ok();
    assert_eq!(from_folder, from_commit.json());

    let path = source.path().join("overlays/prod");
    let built = Source::new().file(
        "built.yaml",
        &kubectl(&["kustomize", path.to_str().unwrap()], &[]),
    );
    let plain = render(&[built.path().to_str().unwrap(), "-o", "json"])
        .ok()
        .json();
    assert_eq!(from_folder, plain);
    let names = plain["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["metadata"]["name"]);
    let names: Vec<&str> = names.filter_map(Value::as_str).collect();
    assert!(names.contains(&"prod-web") && names.len() == 2, "{names:?}");
}

#[test]
fn places_are_those_of_the_output() {
    let source = mistaken();
    let output = Run::new(&["validate"]).arg(source.path()).code(1);
    insta::assert_snapshot!(output.stdout, @r#"
    error: unknown field `metadata.lables`
     --> output of kustomization.yaml:4:3
      |
    4 |   lables:
      |   ^^^^^^
      = help: did you mean `labels`?

    1 object, 1 error, 0 warnings
    "#);
    let source = shop();
    let rendered = render(&[source.path().to_str().unwrap(), "--path", "overlays/prod"]).ok();
    let comment = rendered
        .stdout
        .lines()
        .find(|line| line.starts_with("# "))
        .unwrap();
    assert_eq!(comment, "# output of overlays/prod/kustomization.yaml:1:1");
}

#[test]
fn what_cannot_be_built_is_told_with_kustomizes_last_words() {
    let source = Source::new()
        .file("kustomization.yaml", "resources: [a.yaml, b.yaml]\n")
        .file("a.yaml", &map("a", "x"))
        .file("b.yaml", &map("a", "y"));
    let output = Run::new(&["validate", "-o", "json"])
        .arg(source.path())
        .code(1)
        .json();
    let found = &output["diagnostics"][0];
    assert_eq!(found["file"], "kustomization.yaml");
    let message = found["message"].as_str().unwrap();
    assert!(
        message.starts_with("kubectl kustomize failed: "),
        "{message}"
    );
    assert!(
        message.contains("may not add resource with an already registered id"),
        "{message}"
    );
    // The place of the copy is nobody's business.
    assert!(!message.contains("covergence-build"), "{message}");
    assert_eq!(output["objects"], 0);
    render(&[source.path().to_str().unwrap()]).code(2);
}

#[test]
fn what_has_to_be_installed_is_named() {
    let kustomization = Source::new().file("Kustomization", "resources: []\n");
    let chart = Source::new().file("Chart.yaml", "apiVersion: v2\nname: a\nversion: 0.1.0\n");
    let told = [kustomization, chart].map(|source| {
        let run = Run::new(&["validate"]).arg(source.path());
        run.env("PATH", "/nonexistent:relative").code(1).stdout
    });
    insta::assert_snapshot!(told.join("\n"), @r#"
    error: this is a kustomize overlay, and neither kustomize nor kubectl is on PATH to build it
    --> Kustomization
     = help: install kustomize (https://kubectl.docs.kubernetes.io/installation/kustomize/), or kubectl, which has it built in

    0 objects, 1 error, 0 warnings

    error: this is a Helm chart, and helm is not on PATH to render it
    --> Chart.yaml
     = help: install helm (https://helm.sh/docs/intro/install/)

    0 objects, 1 error, 0 warnings
    "#);
}

/// Below a folder of manifests there may be overlays of others; which of them is meant, nobody said.
#[test]
fn an_overlay_below_the_sources_folder_is_not_built() {
    let source = shop().file("a.yaml", &map("a", "x"));
    let output = Run::new(&["validate"]).arg(source.path()).ok();
    insta::assert_snapshot!(output.stdout, @r#"
    warning: an overlay below the source's folder is not built: the files beside it are read as plain manifests (1 more like it)
    --> base/kustomization.yaml
     = help: give the overlay's own folder as a source to have it built

    3 objects, 0 errors, 1 warning
    "#);
}

#[test]
fn sync_diff_and_rbac_work_on_what_is_built_and_keep_what_was_when_it_fails() {
    let ns = Namespace::new("overlay");
    let source = Source::new()
        .file(
            "kustomization.yaml",
            "resources: [a.yaml, b.yaml]\nnameSuffix: -x\n",
        )
        .file("a.yaml", &map("a", "one"))
        .file("b.yaml", &map("b", "one"));
    let first = ns.sync(&source).args(&["--prune"]).ok();
    assert_eq!(first.outcome("ConfigMap", "a-x"), "created");
    let origin = &first.step("ConfigMap", "a-x")["origin"]["file"];
    assert_eq!(*origin, "output of kustomization.yaml");
    ns.diff(&source).ok().nothing_to_do();
    let rights = Run::new(&["rbac", "-n", &ns.name, "--name", "it"])
        .arg(source.path())
        .ok();
    assert!(rights.stdout.contains("- a-x"), "{}", rights.stdout);

    source.write_text("kustomization.yaml", "resources: [a.yaml, gone.yaml]\n");
    let failed = ns.sync(&source).args(&["--prune"]).code(2).json();
    let found = failed["diagnostics"][0]["message"].as_str().unwrap();
    assert_eq!(found, "\"gone.yaml\" is not in the source");
    assert_eq!(ns.members(), ["a-x", "b-x"]);
    source.write_text(
        "kustomization.yaml",
        "resources: [a.yaml]\nnameSuffix: -x\n",
    );
    let pruned = ns.sync(&source).args(&["--prune"]).ok();
    assert_eq!(pruned.outcome("ConfigMap", "b-x"), "deleted");
}
