//! Manifests as people write them: each is read as kubectl reads it, and comes back from what we print of it.

use covergence::api;
use covergence::load::{Diagnostic, Schemas, Severity, to_yaml};
use serde_json::Value;

use crate::support::corpus;
use crate::support::oracle::{annotated, differences, kubectl_reads, loader_reads};

/// Fewer would mean that the folder was not found.
const LEAST: usize = 300;

#[test]
fn every_document_is_read_as_kubectl_reads_it() {
    let files = corpus::files();
    let mut documents = 0;
    let mut wrong = Vec::new();
    for (file, read) in files.iter().zip(kubectl_reads(&files)) {
        let loaded = loader_reads(file);
        let errors = loaded
            .diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error);
        wrong.extend(errors.map(|d| format!("{}:{:?} {}", d.file, d.position, d.message)));
        let ours: Vec<Value> = loaded.documents.iter().map(annotated).collect();
        documents += ours.len();
        let different = match read {
            Ok(theirs) => differences(&ours, &theirs),
            Err(why) => Some(why),
        };
        wrong.extend(different.map(|what| format!("{}: {what}", file.0)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(documents >= LEAST, "{documents} documents");
}

#[test]
fn what_is_printed_is_read_back_by_kubectl_and_by_us() {
    let files = corpus::files();
    let mut printed = Vec::new();
    let mut objects = Vec::new();
    for file in &files {
        for document in &loader_reads(file).documents {
            let name = format!("{}:{}.yaml", file.0, document.origin.position.line);
            printed.push((name, to_yaml(&document.root.to_json()).into_bytes()));
            objects.push(annotated(document));
        }
    }
    assert!(objects.len() >= LEAST);
    for ((file, object), read) in printed.iter().zip(&objects).zip(kubectl_reads(&printed)) {
        let text = String::from_utf8_lossy(&file.1);
        let kubectls = read.unwrap_or_else(|why| panic!("{}: {why}\n{text}", file.0));
        let ours: Vec<Value> = loader_reads(file).documents.iter().map(annotated).collect();
        let object = std::slice::from_ref(object);
        for read in [&kubectls, &ours] {
            let different = differences(object, read);
            assert_eq!(different, None, "{}\n{text}", file.0);
        }
    }
}

#[test]
fn manifests_of_built_in_kinds_are_sound() {
    let crds = api::crds().unwrap();
    let mut errors: Vec<Diagnostic> = Vec::new();
    for file in corpus::files() {
        let documents = loader_reads(&file).documents;
        let schemas = Schemas::of_source(&documents, &crds);
        let found = documents
            .iter()
            .flat_map(|document| schemas.check(document));
        errors.extend(found.filter(|d| d.severity == Severity::Error));
    }
    let errors: Vec<String> = errors
        .iter()
        .map(|d| format!("{}:{:?} {}", d.file, d.position, d.message))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}
