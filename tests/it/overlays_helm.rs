//! Folders with a Helm chart: what helm renders is what is applied.

use std::process::Command;

use serde_json::Value;

use crate::support::covergence::{Output, Run};
use crate::support::git::Work;
use crate::support::overlay::{chart, map};
use crate::support::source::Source;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-{{ .Values.suffix }}, namespace: {{ .Release.Namespace }}}\ndata: {key: {{ .Values.key | quote }}}\n";

const HOOK: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n";

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: pets.example.com}\nspec:\n  group: example.com\n  names: {kind: Pet, plural: pets}\n  scope: Namespaced\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n";

fn shop() -> Source {
    chart(&[
        ("values.yaml", "suffix: a\nkey: one\n"),
        ("templates/map.yaml", MAP),
        ("templates/hook.yaml", HOOK),
        ("crds/pets.yaml", CRD),
    ])
}

fn render(source: &Source) -> Run {
    Run::new(&["render", "--name", "it", "-n", "shop", "-o", "json"]).arg(source.path())
}

/// Names and values of all objects.
fn objects(output: &Output) -> Vec<(String, Value)> {
    let json = output.json();
    let items = json["items"].as_array().unwrap().iter();
    let named = items.map(|it| {
        (
            it["metadata"]["name"].as_str().unwrap().to_owned(),
            it["data"]["key"].clone(),
        )
    });
    named.collect()
}

#[test]
fn a_chart_is_rendered_with_its_crds_and_without_its_hooks() {
    let output = render(&shop()).ok();
    assert_eq!(
        objects(&output),
        [
            ("pets.example.com".into(), Value::Null),
            ("it-a".into(), "one".into())
        ]
    );
    let rendered = &output.json()["items"][1];
    assert_eq!(rendered["metadata"]["namespace"], "shop");
}

#[test]
fn values_and_the_releases_name_are_given_with_the_command() {
    let values = Source::new()
        .file("first.yaml", "suffix: b\nkey: two\n")
        .file("second.yaml", "key: three\n");
    let path = |name: &str| values.path().join(name);
    let given = |run: Run| {
        let run = run.arg("--values").arg(path("first.yaml"));
        let run = run.arg("--values").arg(path("second.yaml"));
        run.args(&["--release-name", "other"]).ok()
    };
    let chart = shop();
    let wanted = ("other-b".to_owned(), Value::from("three"));
    assert_eq!(objects(&given(render(&chart)))[1], wanted);
    // Also for a chart that is in a repository.
    let work = Work::new();
    work.write(
        "charts/shop/Chart.yaml",
        "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
    );
    work.write("charts/shop/templates/map.yaml", MAP);
    work.commit("one");
    let run = Run::new(&[
        "render",
        "-n",
        "shop",
        "-o",
        "json",
        "--path",
        "charts/shop",
        "--git",
    ]);
    assert_eq!(objects(&given(run.arg(work.path())))[0], wanted);
    let plain = Source::new().file("a.yaml", &map("a", "x"));
    let refused = given_to_plain(&plain, &path("first.yaml"));
    assert!(
        refused.contains("there is no Chart.yaml to render with them"),
        "{refused}"
    );
}

fn given_to_plain(plain: &Source, values: &std::path::Path) -> String {
    let run = Run::new(&["validate"])
        .arg(plain.path())
        .arg("--values")
        .arg(values);
    run.code(1).stdout
}

#[test]
fn charts_that_it_depends_on_must_be_there() {
    let source = shop().file(
        "Chart.yaml",
        "apiVersion: v2\nname: shop\nversion: 0.1.0\ndependencies:\n- {name: db, version: 1.0.0, repository: \"https://charts.example.com\"}\n",
    );
    let output = Run::new(&["validate", "-o", "json"])
        .arg(source.path())
        .code(1)
        .json();
    let found = &output["diagnostics"][0];
    let message = found["message"].as_str().unwrap();
    assert!(message.starts_with("helm template failed: "), "{message}");
    assert!(
        message.contains("missing in charts/ directory: db"),
        "{message}"
    );
    assert_eq!(
        found["hint"],
        "commit the charts that it depends on: `helm dependency build` puts them into charts/"
    );
    source.write_text(
        "charts/db/Chart.yaml",
        "apiVersion: v2\nname: db\nversion: 1.0.0\n",
    );
    source.write_text("charts/db/templates/a.yaml", &map("db", "x"));
    assert_eq!(objects(&render(&source).ok()).len(), 3);
}

#[test]
fn templates_see_their_own_chart_only() {
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  key: {{ list (.Files.Get \"/etc/passwd\") (.Files.Get \"../../../../etc/passwd\") (lookup \"v1\" \"Secret\" \"kube-system\" \"\" | toString) | join \"|\" | quote }}\n";
    let source = chart(&[("templates/a.yaml", template)]);
    assert_eq!(
        objects(&render(&source).ok()),
        [("a".into(), "||map[]".into())]
    );
}

/// helm follows them to any file that it may read, and into the network.
#[test]
fn schemas_that_lead_out_are_refused_and_packed_ones_are_not_looked_at() {
    let schema = "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n  \"$ref\": \"file:///etc/passwd\",\n  \"properties\": { \"$ref\": {}, \"a\": { \"$ref\": \"#/definitions/a\" } },\n  \"allOf\": [{ \"$schema\": \"https://schemas.example/1\" }, { \"$ref\": \"other.json\" }]\n}\n";
    let source = chart(&[
        ("values.schema.json", schema),
        ("templates/a.yaml", &map("a", "x")),
    ]);
    let output = Run::new(&["validate"]).arg(source.path()).code(1);
    insta::assert_snapshot!(output.stdout, @r##"
    error: "file:///etc/passwd" leads out of the schema, and is not followed
     --> values.schema.json:3:11
      |
    3 |   "$ref": "file:///etc/passwd",
      |           ^^^^^^^^^^^^^^^^^^^^
      = help: put what it leads to into the same file, and refer to it as "#/$defs/…"

    error: "https://schemas.example/1" leads out of the schema, and is not followed
     --> values.schema.json:5:26
      |
    5 |   "allOf": [{ "$schema": "https://schemas.example/1" }, { "$ref": "other.json" }]
      |                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = help: put what it leads to into the same file, and refer to it as "#/$defs/…"

    error: "other.json" leads out of the schema, and is not followed
     --> values.schema.json:5:67
      |
    5 |   "allOf": [{ "$schema": "https://schemas.example/1" }, { "$ref": "other.json" }]
      |                                                                   ^^^^^^^^^^^^
      = help: put what it leads to into the same file, and refer to it as "#/$defs/…"

    0 objects, 3 errors, 0 warnings
    "##);

    source.remove("values.schema.json");
    source.write_text(
        "charts/sub/Chart.yaml",
        "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
    );
    source.write_text("charts/sub/values.schema.json", schema);
    source.write_text("charts/sub/templates/b.yaml", &map("b", "x"));
    Run::new(&["validate"]).arg(source.path()).code(1);
    let packed = Command::new("tar")
        .args(["-czf", "sub-1.0.0.tgz", "--remove-files", "sub"])
        .current_dir(source.path().join("charts"))
        .status();
    assert!(packed.unwrap().success());
    assert_eq!(objects(&render(&source).ok()).len(), 2);
}
