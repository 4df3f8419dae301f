//! Folders with a Helm chart: what helm renders is what is applied.

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
