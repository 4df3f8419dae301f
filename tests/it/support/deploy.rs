//! The files of `deploy/`.

use std::fs;
use std::path::{Path, PathBuf};

use covergence::load::{Limits, load};
use covergence::source::{self, directory};
use serde_json::Value;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy")
}

pub fn read(file: &str) -> String {
    fs::read_to_string(folder().join(file)).unwrap()
}

/// The objects of a file, as they are written there.
pub fn manifests(file: &str) -> Vec<Value> {
    let snapshot = directory::read(&folder().join(file), &source::Limits::default()).unwrap();
    let loaded = load(&snapshot, &Limits::default());
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let documents = loaded.documents.iter();
    documents.map(|document| document.root.to_json()).collect()
}
