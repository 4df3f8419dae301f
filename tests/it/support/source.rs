//! A folder of manifests that a test writes.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

/// A folder of manifests.
pub struct Source(TempDir);

impl Source {
    /// An empty one.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With a file of these objects.
    pub fn with(self, file: &str, objects: &[Value]) -> Self {
        self.write(file, objects);
        self
    }

    /// With a file of this text.
    pub fn file(self, file: &str, text: &str) -> Self {
        self.write_text(file, text);
        self
    }

    /// Writes or overwrites a file of objects.
    pub fn write(&self, file: &str, objects: &[Value]) {
        self.write_text(file, &documents(objects));
    }

    /// Writes or overwrites a file.
    pub fn write_text(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn remove(&self, file: &str) {
        fs::remove_file(self.path().join(file)).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// The text of a file with these objects. YAML holds JSON.
pub fn documents(objects: &[Value]) -> String {
    objects
        .iter()
        .map(|object| format!("---\n{}\n", serde_json::to_string_pretty(object).unwrap()))
        .collect()
}
