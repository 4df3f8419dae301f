//! The manifests of `tests/corpus`.

use std::fs;
use std::path::Path;

use super::oracle::File;

/// All of them, in the order of their paths.
pub fn files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let ending = path
                .extension()
                .and_then(|it| it.to_str())
                .unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if ["yaml", "yml", "json"].contains(&ending) {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
                files.push((name.to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}
