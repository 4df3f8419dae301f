//! SECURITY.md and the limits of README.md say what is so.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use covergence::api::Config;
use covergence::reconcile::Limits;
use covergence::{load, source};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap()
}

/// The rows of the first table below a heading, each as its cells.
fn table(document: &str, heading: &str) -> Vec<Vec<String>> {
    let text = read(document);
    let below = text.split(&format!("\n## {heading}\n")).nth(1).unwrap();
    let rows = below.lines().skip_while(|line| !line.starts_with('|'));
    let cells = |row: &str| {
        row.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    rows.take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(cells)
        .collect()
}

/// What stands between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn sources(folder: &Path, all: &mut String) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|it| it == "rs") {
            *all += &fs::read_to_string(path).unwrap();
        }
    }
}

#[test]
fn every_test_that_is_named_exists() {
    let mut all = String::new();
    sources(&root().join("src"), &mut all);
    sources(&root().join("tests"), &mut all);
    let rows = table("SECURITY.md", "Attack classes");
    assert!(rows.len() > 30);
    for row in rows {
        let tests = quoted(&row[3]);
        assert!(!tests.is_empty(), "{row:?}");
        for test in tests {
            // A test stands right below its attribute, or in a macro of properties.
            let is_there =
                all.contains(&format!("    fn {test}(")) || all.contains(&format!("\nfn {test}("));
            let is_async = all.contains(&format!("async fn {test}("));
            assert!(
                is_there || is_async,
                "SECURITY.md names `{test}`, which is no test"
            );
        }
    }
}

#[test]
fn every_bound_that_is_named_is_that_of_the_code() {
    let rows = table("SECURITY.md", "Bounds that are no settings");
    assert!(rows.len() > 8);
    for row in rows {
        let [file, name, value] = [1, 2, 3].map(|cell| quoted(&row[cell])[0].to_owned());
        let text = read(&file);
        let start = text
            .find(&format!("const {name}: "))
            .unwrap_or_else(|| panic!("{file} has no {name}"));
        let found = text[start..]
            .split_once("= ")
            .unwrap()
            .1
            .split_once(';')
            .unwrap()
            .0;
        assert_eq!(found, value, "{file} {name}");
    }
}

/// Every limit by its name in a Config, and what it is when the Config says nothing.
fn defaults() -> Vec<(&'static str, u64)> {
    // By name, so that none is forgotten.
    let Limits { source, load } = Limits::default();
    let source::Limits {
        file_bytes,
        total_bytes,
        files,
        entries,
        depth,
        path_bytes,
        all_path_bytes,
        faults,
        fetch_bytes,
        timeout: _,
    } = source;
    let load::Limits {
        file_bytes: loaded_bytes,
        file_documents,
        documents,
        nesting,
        file_values,
        values,
        alias_bytes,
        file_faults,
        faults: loaded_faults,
    } = load;
    assert_eq!((file_bytes, faults), (loaded_bytes as u64, loaded_faults));
    let counts = [
        ("files", files),
        ("entries", entries),
        ("directoryDepth", depth),
        ("pathBytes", path_bytes),
        ("allPathBytes", all_path_bytes),
        ("fetchBytes", fetch_bytes),
        ("fileDocuments", file_documents),
        ("documents", documents),
        ("fileValues", file_values),
        ("values", values),
        ("nesting", nesting),
        ("aliasBytes", alias_bytes),
        ("fileFaults", file_faults),
        ("faults", faults),
    ];
    let bytes = [("fileBytes", file_bytes), ("totalBytes", total_bytes)];
    bytes
        .into_iter()
        .chain(counts.map(|(name, count)| (name, count as u64)))
        .collect()
}

#[test]
fn every_limit_is_a_setting_and_documented_with_its_default() {
    let grouped = |number: u64| {
        let digits = number.to_string();
        let parts = digits.as_bytes().rchunks(3).rev();
        let parts: Vec<_> = parts.map(|part| str::from_utf8(part).unwrap()).collect();
        parts.join(",")
    };
    let documented: BTreeSet<(String, String)> = table("README.md", "Limits")
        .into_iter()
        .map(|row| (quoted(&row[0])[0].to_owned(), row[1].clone()))
        .collect();
    let expected: BTreeSet<_> = defaults()
        .into_iter()
        .map(|(name, it)| (name.to_owned(), grouped(it)))
        .collect();
    assert_eq!(documented, expected);

    let schema = Config::definition().unwrap();
    let limits = &schema["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        ["properties"]["limits"];
    let settings: BTreeSet<&str> = limits["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        settings,
        defaults().into_iter().map(|(name, _)| name).collect()
    );
}
