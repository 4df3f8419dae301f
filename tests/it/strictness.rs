//! `validate` finds what the API server refuses, and calls nothing an error that it takes.
//!
//! The mistakes are in `tests/it/mistakes`, a file for each subject. Behind the line that a diagnostic is to point at stands
//! what it is to say: `#~ error: …` or `#~ warning: …`. Everything else in these files is sound.

use std::fs;
use std::path::{Path, PathBuf};

use covergence::load::{Limits, Snapshot, SourceFile, load};
use serde_json::{Value, json};

use crate::support::api::{autoscaling, path};
use crate::support::covergence::Run;
use crate::support::kubectl::attempt;
use crate::support::lab::{api, eventually};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// A document of a file of mistakes: its lines, from 1, and what is expected there.
struct Document {
    first: u64,
    last: u64,
    expected: Vec<(u64, String)>,
}

impl Document {
    fn name(&self, file: &Path) -> String {
        let file = file.file_name().unwrap().to_str().unwrap();
        format!("{file}:{}", self.first)
    }

    /// Whether there is nothing wrong but unknown fields: v1.20 takes those of custom resources, and forgets them.
    fn is_misspelt(&self) -> bool {
        let unknown = |(_, says): &(u64, String)| says.starts_with("error: unknown field");
        !self.expected.is_empty() && self.expected.iter().all(unknown)
    }

    /// Whether the answer depends on the server's release.
    fn is_of_newer_servers(&self) -> bool {
        let newer = |(_, says): &(u64, String)| says.contains("before Kubernetes");
        self.expected.iter().any(newer)
    }

    /// The document itself, out of the text of its file.
    fn text(&self, file: &str) -> String {
        let skipped = usize::try_from(self.first - 1).unwrap();
        let lines = file.lines().skip(skipped);
        lines
            .take_while(|line| *line != "---")
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Whether an error is expected.
    fn is_refused(&self) -> bool {
        self.expected
            .iter()
            .any(|(_, says)| says.starts_with("error: "))
    }
}

/// Whether kubectl itself finds a field that it does not know.
fn kubectl_refuses(document: &str) -> bool {
    let output = attempt(
        &["apply", "--dry-run=client", "-f", "-"],
        document.as_bytes(),
    );
    !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("unknown field")
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mistakes");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn documents(text: &str) -> Vec<Document> {
    let mut documents = Vec::new();
    let fresh = |first| Document {
        first,
        last: first,
        expected: Vec::new(),
    };
    let mut current = fresh(1);
    for (line, number) in text.lines().zip(1..) {
        if line == "---" {
            documents.push(std::mem::replace(&mut current, fresh(number + 1)));
            continue;
        }
        current.last = number;
        let expected = line.split("#~ ").skip(1);
        current
            .expected
            .extend(expected.map(|says| (number, says.trim().to_owned())));
    }
    documents.push(current);
    documents
}

/// What validate says of a source: line and words, in the order of the lines.
fn said(output: &Value) -> Vec<(u64, String)> {
    let diagnostics = output["diagnostics"].as_array().unwrap();
    let line = |d: &Value| d["position"]["line"].as_u64().unwrap();
    let says = |d: &Value| {
        format!(
            "{}: {}",
            d["severity"].as_str().unwrap(),
            d["message"].as_str().unwrap()
        )
    };
    let mut said: Vec<_> = diagnostics.iter().map(|d| (line(d), says(d))).collect();
    said.sort();
    said
}

fn validate(path: &Path) -> Run {
    Run::new(&["validate", "--name", "it", "-n", "shop"]).arg(path)
}

#[test]
fn each_mistake_is_found_where_it_is_and_nothing_else() {
    let mut mistakes = 0;
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        let mut expected: Vec<_> = documents(&text)
            .into_iter()
            .flat_map(|d| d.expected)
            .collect();
        expected.sort();
        mistakes += expected.len();
        let output = validate(&file).args(&["-o", "json"]).run();
        assert_eq!(said(&output.json()), expected, "{}", file.display());
    }
    assert!(mistakes > 150, "{mistakes}");
}

#[test]
fn the_text_of_each_diagnostic() {
    for file in files() {
        let topic = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let bare: Vec<_> = text
            .lines()
            .map(|line| line.split(" #~ ").next().unwrap())
            .collect();
        let source = Source::new().file(&format!("{topic}.yaml"), &bare.join("\n"));
        let output = validate(source.path()).run();
        output.hides("hunter2");
        insta::assert_snapshot!(topic, output.stdout);
    }
}

#[test]
fn the_api_server_refuses_what_validate_calls_an_error_and_takes_the_rest() {
    let namespace = Namespace::new("strictness");
    let definition = define_gadgets();
    let mut differing = Vec::new();
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replace("autoscaling/v1", autoscaling());
        let name = file.file_name().unwrap().to_str().unwrap();
        let source = Source::new().file(name, &text);
        let output = namespace.diff(&source).run().json();
        let refusals = refusals(&output);
        for document in documents(&text) {
            let within =
                |(line, _): &&(u64, String)| (document.first..=document.last).contains(line);
            let refusal = refusals.iter().find(within);
            if document.is_of_newer_servers() {
                continue;
            }
            let forgotten = || document.is_misspelt() && kubectl_refuses(&document.text(&text));
            if document.is_refused() != refusal.is_some() && !forgotten() {
                let name = document.name(&file);
                differing.push(format!("{name}: {:?} but {refusal:?}", document.expected));
            }
        }
    }
    api().delete(&definition);
    assert!(differing.is_empty(), "{differing:#?}");
}

/// Where and why the server refuses documents as they are sent to it, or they are not even sent.
fn refusals(output: &Value) -> Vec<(u64, String)> {
    let refused = |step: &&Value| {
        let reason = step["reason"].as_str().unwrap();
        reason.starts_with("the API server would refuse it")
    };
    let steps = output["steps"].as_array().unwrap().iter().filter(refused);
    let steps = steps.map(|step| {
        (
            step["origin"]["line"].as_u64().unwrap(),
            step["reason"].to_string(),
        )
    });
    let unsent = output["diagnostics"].as_array().unwrap().iter();
    let unsent = unsent.filter(|d| d["severity"] == "error");
    let unsent = unsent.map(|d| {
        (
            d["position"]["line"].as_u64().unwrap(),
            d["message"].to_string(),
        )
    });
    steps.chain(unsent).collect()
}

/// Makes the kind known that custom.yaml is about, and gives the path of its definition.
fn define_gadgets() -> String {
    let file = files()
        .into_iter()
        .find(|file| file.ends_with("custom.yaml"))
        .unwrap();
    let snapshot = Snapshot {
        revision: String::new(),
        files: vec![SourceFile {
            path: "custom.yaml".into(),
            bytes: fs::read(file).unwrap(),
        }],
        diagnostics: Vec::new(),
    };
    let definition = load(&snapshot, &Limits::default()).documents[0]
        .root
        .to_json();
    let name = definition["metadata"]["name"].as_str();
    api().create(&path("customresourcedefinitions", None, None), &definition);
    // kubectl's own validation asks for this, which takes the server a moment.
    eventually("the schema of gadgets is known", || {
        let described = api().text("/openapi/v2");
        let known = described.contains("org.example.strictness.v1.Gadget");
        known.then_some(())
    });
    path("customresourcedefinitions", None, name)
}

#[test]
fn sizes_are_limited_as_on_the_server() {
    let namespace = Namespace::new("strictness");
    let object = |kind: &str, name: &str, more: Value| {
        let mut object = json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name } });
        object
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        object
    };
    let text = |bytes: usize| "x".repeat(bytes);
    let annotated = |bytes| json!({ "metadata": { "name": format!("annotated-{bytes}"), "annotations": { "a": text(bytes) } } });
    // The annotation with the digest counts, too.
    let source = Source::new().with(
        "sizes.yaml",
        &[
            object("ConfigMap", "annotated", annotated((256 << 10) - 1 - 200)),
            object("ConfigMap", "annotated", annotated(256 << 10)),
            object(
                "ConfigMap",
                "full",
                json!({ "data": { "a": text(1 << 20) } }),
            ),
            object(
                "ConfigMap",
                "overfull",
                json!({ "data": { "a": text((1 << 20) - 2), "b": "xyz" } }),
            ),
            object(
                "Secret",
                "overfull",
                json!({ "stringData": { "a": text((1 << 20) + 1) } }),
            ),
        ],
    );
    let output = validate(source.path()).args(&["-o", "json"]).code(1).json();
    let expected = [
        "error: `metadata.annotations` has 257 KiB, and may have no more than 256",
        "error: `data` has 1025 KiB of values, and a ConfigMap may have no more than 1024",
        "error: `stringData` has 1025 KiB of values, and a Secret may have no more than 1024",
    ];
    let said: Vec<_> = said(&output).into_iter().map(|(_, says)| says).collect();
    assert_eq!(said, expected);
    let plan = namespace.diff(&source).run();
    let of = |step: &Value| {
        format!(
            "{} {}",
            step["kind"].as_str().unwrap(),
            step["name"].as_str().unwrap()
        )
    };
    let refused = plan
        .steps()
        .into_iter()
        .filter(|step| step["action"] == "refuse");
    let refused: Vec<_> = refused.map(|step| of(&step)).collect();
    let annotated = format!("ConfigMap annotated-{}", 256 << 10);
    assert_eq!(
        refused,
        [annotated.as_str(), "ConfigMap overfull", "Secret overfull"]
    );
}

#[test]
fn what_we_ship_has_no_error() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["manifests", "deploy"] {
        let output = validate(&root.join(folder)).args(&["-o", "json"]).ok();
        let diagnostics = output.json()["diagnostics"].clone();
        let errors = diagnostics.as_array().unwrap().iter();
        let errors: Vec<_> = errors.filter(|d| d["severity"] == "error").collect();
        assert!(errors.is_empty(), "{folder}: {errors:#?}");
    }
}

#[test]
fn definitions_elsewhere_are_named_with_schema() {
    let gadget = "\
apiVersion: strictness.example.org/v1
kind: Gadget
metadata: {name: a}
spec: {sise: 1}
";
    let definition = fs::read_to_string(
        files()
            .into_iter()
            .find(|file| file.ends_with("custom.yaml"))
            .unwrap(),
    )
    .unwrap();
    let definition = definition.split("\n---\n").next().unwrap();
    let source = Source::new().file("gadget.yaml", gadget);
    let elsewhere = Source::new()
        .file("crds/gadget.yaml", definition)
        .file("README.yaml", "# nothing yet\n");
    let says = |run: Run| run.args(&["-o", "json"]).run().json()["diagnostics"].clone();

    let unknown = says(validate(source.path()));
    assert_eq!(
        unknown[0]["message"],
        "not checked: no schema for strictness.example.org/v1 Gadget"
    );
    assert_eq!(
        unknown[0]["hint"],
        "give the file of its CustomResourceDefinition with --schema"
    );

    let folder = elsewhere.path();
    for named in [folder.to_owned(), folder.join("crds/gadget.yaml")] {
        let found = says(validate(source.path()).arg("--schema").arg(&named));
        let found: Vec<_> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["message"].as_str().unwrap())
            .collect();
        assert_eq!(
            found,
            ["`spec.size` is missing", "unknown field `spec.sise`"]
        );
    }

    let nothing = Source::new().file(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    let refused = validate(source.path())
        .arg("--schema")
        .arg(nothing.path())
        .code(2);
    assert!(
        refused.stderr.contains("holds no CustomResourceDefinition"),
        "{refused:?}"
    );
    let broken = Source::new().file("a.yaml", "a: [\n");
    let refused = validate(source.path())
        .arg("--schema")
        .arg(broken.path())
        .code(2);
    assert!(refused.stderr.contains("a.yaml:"), "{refused:?}");
}
