//! What `covergence collect` writes and says.

use std::path::PathBuf;

use covergence::coverage::{ClassId, ExecutionData, Limits, Store, read_exec};
use serde_json::Value;
use tempfile::TempDir;

use super::covergence::{Output, Run};

/// Where the files of a test are.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn collect(&self, places: &[String], output: &str) -> Run {
        let (places, output) = (places.join(","), self.text(output));
        Run::new(&["collect", &places, "-o", &output, "--format", "json"])
    }

    pub fn store(&self, name: &str) -> Store {
        let bytes = std::fs::read(self.path(name)).unwrap();
        read_exec(&bytes, &Limits::default()).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let entries = self.0.path().read_dir().unwrap();
        let mut names: Vec<String> = entries
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }
}

/// What the report says of a pod.
pub fn pod(report: &Output, at: usize) -> Value {
    report.json()["pods"][at].clone()
}

/// Simple names of the classes in a store, sorted.
pub fn classes(store: &Store) -> Vec<String> {
    let mut names: Vec<String> = store.classes().map(|it| it.name.to_string()).collect();
    names.sort_unstable();
    names
}

pub fn class(id: u64, name: &str, probes: &str) -> ExecutionData {
    ExecutionData {
        id: ClassId(id),
        name: name.try_into().unwrap(),
        probes: probes.chars().map(|hit| hit == '1').collect(),
    }
}
