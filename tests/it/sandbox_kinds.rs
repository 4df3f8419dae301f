//! What an API server makes of new and changed objects of Kubernetes' own kinds: defaults, rules, what may not change.
//!
//! The cases are in `tests/it/sandbox_kinds/*.yaml`; a real API server's answers to them are beside them, in `*.json`. The
//! suite asks the real one and the sandbox, and both must answer so. After a change of the cases,
//! `COVERGENCE_RENEW=1 tests/run -E 'test(sandbox_kinds::)'` writes the real one's answers anew.

mod answer;
mod case;

use std::collections::{BTreeMap, BTreeSet};
use std::{env, fs};

use covergence::load::Severity;
use serde_json::{Map, Value, json};

use self::answer::{Answer, is_expected};
use self::case::{Place, folder, groups};
use crate::support::corpus;
use crate::support::lab::{OwnLab, api};
use crate::support::namespace::Namespace;
use crate::support::oracle::{File, loader_reads};

/// Answers by group, verb and change.
type Answers = BTreeMap<String, BTreeMap<String, BTreeMap<String, Value>>>;

fn check(topic: &str) {
    let path = folder().join(format!("{topic}.json"));
    let mut answers = Answers::new();
    for group in groups(topic) {
        for ([name, verb, change], answer) in group.ask() {
            let verbs = answers.entry(name).or_default();
            verbs.entry(verb).or_default().insert(change, answer);
        }
    }
    if env::var_os("COVERGENCE_RENEW").is_some() {
        let text = serde_json::to_string_pretty(&answers).unwrap();
        fs::write(&path, text + "\n").unwrap();
        return;
    }
    let expected = fs::read(&path).unwrap();
    let expected: Answers = serde_json::from_slice(&expected).unwrap();
    let wrong = differences(&answers, &expected);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn differences(answers: &Answers, expected: &Answers) -> Vec<String> {
    let flat = |answers: &Answers| -> BTreeMap<String, Value> {
        let mut flat = BTreeMap::new();
        for (name, verbs) in answers {
            for (verb, changes) in verbs {
                for (change, answer) in changes {
                    flat.insert(format!("{verb} {name} {change}"), answer.clone());
                }
            }
        }
        flat
    };
    let (answers, expected) = (flat(answers), flat(expected));
    let cases: BTreeSet<&String> = answers.keys().chain(expected.keys()).collect();
    let nothing = Value::Null;
    let mut wrong = Vec::new();
    for case in cases {
        let (answer, expected) = (
            answers.get(case).unwrap_or(&nothing),
            expected.get(case).unwrap_or(&nothing),
        );
        if !is_expected(answer, expected) {
            wrong.push(format!(
                "{case}\n  is       {answer}\n  should be {expected}"
            ));
        }
    }
    wrong
}

#[test]
fn configuration() {
    check("configuration");
}

#[test]
fn jobs() {
    check("jobs");
}

#[test]
fn networking() {
    check("networking");
}

#[test]
fn pods() {
    check("pods");
}

#[test]
fn policies() {
    check("policies");
}

#[test]
fn rbac() {
    check("rbac");
}

#[test]
fn services() {
    check("services");
}

#[test]
fn storage() {
    check("storage");
}

#[test]
fn workloads() {
    check("workloads");
}

/// Objects to which both need not answer alike, and why.
const EXCEPTIONS: [(&str, &str); 5] = [
    (
        "Deployment exported",
        "v1.20 takes a resource version of new objects in a dry run",
    ),
    (
        "HorizontalPodAutoscaler web",
        "v1.20 stores it in the first version's form, which has another order",
    ),
    ("Pod volumes", "v1.20 has no ephemeral volumes"),
    (
        "CertificateSigningRequest csr-1",
        "the sandbox does not read requests for certificates",
    ),
    (
        "SubjectAccessReview unused",
        "reviews are no stored objects; tested elsewhere",
    ),
];

#[test]
fn manifests_as_people_write_them_are_taken_or_refused_alike() {
    let ours = OwnLab::sandbox();
    let ours = ours.api();
    let namespace = Namespace::new("kinds-corpus");
    ours.create(
        "/api/v1/namespaces",
        &json!({ "metadata": { "name": namespace.name } }),
    );
    let mut compared = 0;
    let mut wrong = Vec::new();
    for mut object in manifests() {
        let shown = format!(
            "{} {}",
            object["kind"].as_str().unwrap_or_default(),
            object["metadata"]["name"].as_str().unwrap_or_default()
        );
        let excepted = EXCEPTIONS.iter().any(|(name, _)| *name == shown);
        let definition = object["kind"] == "CustomResourceDefinition";
        let places = [api(), &ours].map(|api| Place::find(api, &object, &namespace.name));
        let [Some(theirs), Some(ours)] = places else {
            continue;
        };
        if excepted || definition {
            continue;
        }
        if !object["metadata"]["namespace"].is_null() {
            object["metadata"]["namespace"] = json!(namespace.name);
        }
        let (theirs, ours) = (theirs.create(&object), ours.create(&object));
        compared += 1;
        if theirs.code() != ours.code() || theirs.fields() != ours.fields() {
            let (theirs, ours) = (
                theirs.to_json(&namespace.name),
                ours.to_json(&namespace.name),
            );
            wrong.push(format!("{shown}: {theirs}\n  ours: {ours}"));
        } else if let (Some(a), Some(b)) = (theirs.object(), ours.object()) {
            let different = objects_differ(&theirs, a, &ours, b);
            if !different.is_empty() {
                wrong.push(format!("{shown}: {}", Value::Object(different)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 250, "{compared} objects");
}

/// Additions in which both differ, but for fields that v1.20 does not know and therefore forgets.
fn objects_differ(theirs: &Answer, a: &Value, ours: &Answer, b: &Value) -> Map<String, Value> {
    let (theirs, ours) = (theirs.additions(a), ours.additions(b));
    let paths: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    let mut different = Map::new();
    for path in paths {
        let (theirs, ours) = (theirs.get(path), ours.get(path));
        let forgotten = theirs == Some(&Value::Null) && ours.is_none();
        if theirs != ours && !forgotten {
            different.insert(path.clone(), json!([theirs, ours]));
        }
    }
    different
}

/// The objects of `tests/corpus` and `tests/it/mistakes` that can be read.
fn manifests() -> Vec<Value> {
    let mistakes = folder().with_file_name("mistakes");
    let mut files = corpus::files();
    for entry in fs::read_dir(mistakes).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        files.push((name.to_owned(), fs::read(&path).unwrap()));
    }
    files.iter().flat_map(objects).collect()
}

fn objects(file: &File) -> Vec<Value> {
    let loaded = loader_reads(file);
    let readable = |d: &covergence::load::Diagnostic| d.severity != Severity::Error;
    if !loaded.diagnostics.iter().all(readable) {
        return Vec::new();
    }
    let objects = loaded.documents.iter();
    objects.map(|document| document.root.to_json()).collect()
}
