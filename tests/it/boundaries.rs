//! The core does no IO: `load`, `render`, `policy`, `plan` and `api` read no file, clock or environment, are not async, and
//! do not know the Kubernetes client, git or the modules that do IO. Nobody but `cluster` knows the client at all, least of
//! all `sandbox`, which is a package of its own. (The first invariants of ARCHITECTURE.md.)

mod source;

use std::fs;
use std::path::Path as FilePath;

use regex::Regex;

use self::source::{Path, paths, tokens, without_tests};

/// Folders whose code is plain values in, plain values out.
const PURE: [&str; 5] = ["load", "render", "policy", "plan", "api"];

/// What the core may not name, and why. A path is meant with everything below it.
const FORBIDDEN: &[(&str, &str)] = &[
    ("crate::agent", "the core does not know modules that do IO"),
    ("crate::cli", "the core does not know the terminal"),
    ("crate::cluster", "the core does not know the cluster"),
    (
        "crate::coverage",
        "the core does not know modules that do IO",
    ),
    ("crate::durable", "the core writes no files"),
    ("crate::lease", "the core does not know modules that do IO"),
    ("crate::metrics", "the core counts nothing"),
    (
        "crate::overlay",
        "the core does not know modules that do IO",
    ),
    ("crate::reconcile", "the core does not know what drives it"),
    (
        "crate::sandbox",
        "the core does not know modules that do IO",
    ),
    (
        "covergence_sandbox",
        "the core does not know modules that do IO",
    ),
    (
        "crate::source",
        "the core does not know where sources come from",
    ),
    (
        "crate::storage",
        "the core does not know modules that do IO",
    ),
    ("crate::web", "the core does not know modules that do IO"),
    (
        "kube_client",
        "the core does not know the Kubernetes client",
    ),
    (
        "kube_runtime",
        "the core does not know the Kubernetes client",
    ),
    ("git2", "the core does not know git"),
    ("tokio", "the core is not async"),
    ("tracing", "the core returns what it has to say"),
    ("axum", "the core does no IO"),
    ("futures_util", "the core is not async"),
    ("hyper", "the core does no IO"),
    ("hyper_openssl", "the core does no IO"),
    ("hyper_util", "the core does no IO"),
    ("object_store", "the core does no IO"),
    ("rustix", "the core does no IO"),
    ("http", "the core does no IO"),
    ("openssl", "the core does no IO"),
    ("libc", "the core does no IO"),
    ("anstream", "the core does not know the terminal"),
    ("indicatif", "the core does not know the terminal"),
    ("clap", "the core does not know the terminal"),
    ("std::fs", "the core reads no files"),
    ("std::net", "the core does no IO"),
    ("std::env", "the core reads no environment"),
    ("std::process", "the core starts and ends nothing"),
    ("std::thread", "the core does not wait"),
    ("std::os", "the core does not know the operating system"),
    (
        "jiff::tz",
        "time zones are read from the environment and from files",
    ),
];

const MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];
const FILE_METHODS: [&str; 5] = [
    "canonicalize",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

/// Where a file belongs: `src/plan/build.rs` is `plan` and `crate::plan::build`.
struct Place {
    folder: String,
    module: Vec<String>,
}

impl Place {
    /// `file` is relative to `src/`.
    fn of(file: &str) -> Self {
        let parts: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
        let folder = if parts.len() > 1 {
            parts[0].to_owned()
        } else {
            String::new()
        };
        let names = parts
            .into_iter()
            .filter(|part| !matches!(*part, "mod" | "lib"));
        let module = std::iter::once("crate")
            .chain(names)
            .map(str::to_owned)
            .collect();
        Self { folder, module }
    }

    fn is_pure(&self) -> bool {
        PURE.contains(&self.folder.as_str())
    }

    /// Makes `super::x` and `self::x` a path from `crate`.
    fn absolute(&self, segments: &[String]) -> Vec<String> {
        let mut base = self.module.clone();
        let mut rest = segments;
        match rest.first().map(String::as_str) {
            Some("self") => rest = &rest[1..],
            Some("super") => {}
            _ => return segments.to_vec(),
        }
        while rest.first().is_some_and(|segment| segment == "super") {
            base.pop();
            rest = &rest[1..];
        }
        base.extend_from_slice(rest);
        base
    }
}

/// Says what is wrong with a path at a place.
fn judge(place: &Place, path: &Path) -> Option<&'static str> {
    let segments = place.absolute(&path.segments);
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    if let ["kube", second, ..] = words.as_slice() {
        let derives = ["CustomResource", "CustomResourceExt"].contains(second);
        if place.folder != "cluster" && !(place.folder == "api" && derives) {
            return Some(
                "only src/cluster knows the Kubernetes client (src/api may derive CustomResource)",
            );
        }
    }
    if !place.is_pure() {
        return None;
    }
    let is_call = words.len() > 1 || path.is_method;
    match words.as_slice() {
        ["async" | "await"] => return Some("the core is not async"),
        ["std"] | ["std" | "crate", "*"] | ["std", "io", "*"] => return Some("name what is meant"),
        ["std", "time", rest @ ..] if rest.first() != Some(&"Duration") => {
            return Some("the core reads no clock");
        }
        [.., "now"] if is_call => return Some("the core reads no clock"),
        [.., "stdin" | "stdout" | "stderr"] if is_call => {
            return Some("the core does not know the terminal");
        }
        [name] if path.is_macro && MACROS.contains(name) => {
            return Some("the core does not know the terminal");
        }
        [name] if path.is_method && FILE_METHODS.contains(name) => {
            return Some("the core reads no files");
        }
        ["extern"] => return Some("the core links nothing by itself"),
        // `env!` is read when we are built.
        ["std", "env"] if path.is_macro => return None,
        _ => {}
    }
    let hit = FORBIDDEN.iter().find(|(forbidden, _)| {
        let forbidden: Vec<&str> = forbidden.split("::").collect();
        // A crate's name alone is too common a word: a variable may be called `http`.
        words.starts_with(&forbidden) && words.len() > 1
    });
    hit.map(|(_, why)| *why)
}

/// What is wrong with a text, as `line: path: why`, and its modules that only tests see.
fn check(file: &str, text: &str) -> (Vec<String>, Vec<String>) {
    let place = Place::of(file);
    let (tokens, test_modules) = without_tests(&tokens(text));
    let mut found: Vec<String> = paths(&tokens)
        .iter()
        .filter_map(|path| Some((path, judge(&place, path)?)))
        .map(|(path, why)| {
            format!(
                "src/{file}:{}: {}: {why}",
                path.line,
                path.segments.join("::")
            )
        })
        .collect();
    found.dedup();
    (found, test_modules)
}

/// The image is built of what its Dockerfile copies.
#[test]
fn what_is_compiled_in_is_copied_into_the_image() {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR"));
    let root = root.canonicalize().unwrap();
    let dockerfile = fs::read_to_string(root.join("deploy/Dockerfile")).unwrap();
    let ignored = fs::read_to_string(root.join("deploy/Dockerfile.dockerignore")).unwrap();
    let sent: Vec<&str> = ignored
        .lines()
        .filter_map(|line| line.strip_prefix('!'))
        .collect();
    let copied = dockerfile
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .filter(|line| !line.starts_with("--from"));
    for source in copied.flat_map(|line| line.split_whitespace().rev().skip(1)) {
        assert!(sent.contains(&source), "{source} is ignored");
    }
    let included = Regex::new(r#"include_(?:str|bytes)!\(\s*"([^"]+)""#).unwrap();
    let source = root.join("src");
    let mut outside = 0;
    for file in rust_files(&source) {
        let path = source.join(&file);
        let text = fs::read_to_string(&path).unwrap();
        for found in included.captures_iter(&text) {
            let target = path
                .parent()
                .unwrap()
                .join(&found[1])
                .canonicalize()
                .unwrap();
            let within = target.strip_prefix(&root).unwrap();
            let folder = within.iter().next().unwrap().to_str().unwrap();
            let is_copied = dockerfile.contains(&format!("\nCOPY {folder} {folder}\n"));
            assert!(is_copied, "src/{file} includes {}", within.display());
            outside += usize::from(folder != "src");
        }
    }
    assert!(outside > 0, "the demo includes manifests");
}

/// All Rust files below a folder, as paths relative to it.
fn rust_files(root: &FilePath) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(
                    path.strip_prefix(root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .replace('\\', "/"),
                );
            }
        }
    }
    files.sort();
    files
}

/// The file, or the folder's files, of a module that a file declares.
fn is_module_file(declaring: &str, module: &str, file: &str) -> bool {
    let stem = declaring.trim_end_matches(".rs");
    let folder = match stem.rsplit_once('/') {
        Some((folder, "mod")) => format!("{folder}/"),
        None if matches!(stem, "mod" | "lib" | "main") => String::new(),
        _ => format!("{stem}/"),
    };
    file == format!("{folder}{module}.rs") || file.starts_with(&format!("{folder}{module}/"))
}

#[test]
fn the_core_does_no_io_and_only_cluster_knows_the_client() {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut only_tests: Vec<(String, String)> = Vec::new();
    for file in rust_files(&root) {
        let text = fs::read_to_string(root.join(&file)).unwrap();
        let (violations, modules) = check(&file, &text);
        only_tests.extend(modules.into_iter().map(|module| (file.clone(), module)));
        found.extend(
            violations
                .into_iter()
                .map(|violation| (file.clone(), violation)),
        );
    }
    found.retain(|(file, _)| {
        !only_tests
            .iter()
            .any(|(declaring, module)| is_module_file(declaring, module, file))
    });
    let found: Vec<String> = found.into_iter().map(|(_, violation)| violation).collect();
    assert!(
        found.is_empty(),
        "code that must not be there:\n{}",
        found.join("\n")
    );
}

/// What talks to the sandbox must not be able to tell it from any other API server.
#[test]
fn the_sandbox_knows_neither_the_client_nor_the_rest() {
    let manifest = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("src/sandbox/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let needed: Vec<&str> = manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .filter_map(|line| line.split_once(['.', ' ']))
        .map(|(name, _)| name)
        .collect();
    assert!(needed.contains(&"axum"), "{needed:?}");
    let known: Vec<&&str> = needed
        .iter()
        .filter(|name| {
            ["covergence", "kube", "k8s"]
                .iter()
                .any(|it| name.starts_with(it))
        })
        .collect();
    assert!(known.is_empty(), "{known:?}");
}

#[test]
fn the_core_is_there() {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = rust_files(&root);
    for folder in ["load", "render", "plan", "api", "cluster", "sandbox"] {
        let count = files
            .iter()
            .filter(|file| file.starts_with(&format!("{folder}/")))
            .count();
        assert!(count > 2, "src/{folder} has moved: tell this test where");
    }
}

/// A check that finds nothing proves nothing unless it would find something.
#[test]
fn the_check_finds_what_it_is_for() {
    for (file, text, line, path) in [
        ("plan/a.rs", "\nuse std::fs;\n", 2, "std::fs"),
        (
            "plan/a.rs",
            "use std::{\n    fmt,\n    fs::{File},\n};",
            3,
            "std::fs::File",
        ),
        (
            "plan/a.rs",
            "use std::{collections::BTreeMap, net as n};",
            1,
            "std::net",
        ),
        (
            "plan/a.rs",
            "fn a() {\n    let x = std::fs::read(\"x\");\n}",
            2,
            "std::fs::read",
        ),
        (
            "load/a.rs",
            "fn a() { ::std::env::var(\"HOME\"); }",
            1,
            "std::env::var",
        ),
        (
            "load/a.rs",
            "use std::time::{Duration, SystemTime};",
            1,
            "std::time::SystemTime",
        ),
        ("load/a.rs", "use std::time;", 1, "std::time"),
        ("load/a.rs", "use std::*;", 1, "std::*"),
        (
            "render/a.rs",
            "use jiff::Timestamp;\nfn a() { Timestamp::now(); }",
            2,
            "Timestamp::now",
        ),
        ("render/a.rs", "async fn a() {}", 1, "async"),
        ("render/a.rs", "fn a() { b().await }", 1, "await"),
        (
            "policy/a.rs",
            "use crate::{api::Sync, cluster::Cluster};",
            1,
            "crate::cluster::Cluster",
        ),
        (
            "policy/a.rs",
            "use super::super::source;",
            1,
            "super::super::source",
        ),
        (
            "plan/mod.rs",
            "use super::reconcile::Settings;",
            1,
            "super::reconcile::Settings",
        ),
        (
            "plan/a.rs",
            "use tokio::sync::Mutex;",
            1,
            "tokio::sync::Mutex",
        ),
        (
            "plan/a.rs",
            "fn a(r: git2::Repository) {}",
            1,
            "git2::Repository",
        ),
        ("plan/a.rs", "fn a() { println!(\"{}\", 1); }", 1, "println"),
        (
            "plan/a.rs",
            "use std::io;\nfn a() { io::stdout(); }",
            2,
            "io::stdout",
        ),
        ("plan/a.rs", "use std as s;", 1, "std"),
        (
            "plan/a.rs",
            "#[cfg(test)]\nfn a<A, B>() where A: C, B: D { tokio::x() }\nuse std::fs;",
            3,
            "std::fs",
        ),
        (
            "plan/a.rs",
            "fn a(p: &P) { p.canonicalize(); }",
            1,
            "canonicalize",
        ),
        ("plan/a.rs", "#[cfg(not(test))]\nuse std::fs;", 2, "std::fs"),
        (
            "plan/a.rs",
            "#[cfg(test)]\nmod tests { fn a() {} }\nuse std::fs;",
            3,
            "std::fs",
        ),
        (
            "plan/a.rs",
            "const A: &str = r#\"\"#;\nconst B: char = '\"';\nuse std::fs;",
            3,
            "std::fs",
        ),
        (
            "plan/a.rs",
            "fn a<'a>(x: &'a str) {}\n/* /* */ */ use std::fs;",
            2,
            "std::fs",
        ),
        (
            "plan/a.rs",
            "use covergence_sandbox::types;",
            1,
            "covergence_sandbox::types",
        ),
        ("api/a.rs", "use kube::Client;", 1, "kube::Client"),
        (
            "api/a.rs",
            "use kube::{CustomResource, Api};",
            1,
            "kube::Api",
        ),
        (
            "reconcile/a.rs",
            "fn a(c: kube::Client) {}",
            1,
            "kube::Client",
        ),
        (
            "cli/a.rs",
            "use kube::{config::Kubeconfig};",
            1,
            "kube::config::Kubeconfig",
        ),
        ("main.rs", "use kube::Client;", 1, "kube::Client"),
    ] {
        let (found, _) = check(file, text);
        let [only] = found.as_slice() else {
            panic!("{text:?} gave {found:?}");
        };
        assert!(
            only.starts_with(&format!("src/{file}:{line}: {path}: ")),
            "{text:?} gave {only}"
        );
    }
}

#[test]
fn the_check_spares_what_is_fine() {
    for (file, text) in [
        (
            "plan/a.rs",
            "// std::fs\n/* tokio::spawn */ const A: &str = \"std::fs\"; const B: &str = r##\"git2::x\"\"##;",
        ),
        (
            "plan/a.rs",
            "/// Reads `std::env`.\nfn a() { let version = env!(\"CARGO_PKG_VERSION\"); }",
        ),
        (
            "plan/a.rs",
            "const A: &str = std::env!(\"CARGO_PKG_VERSION\");",
        ),
        (
            "plan/a.rs",
            "#[cfg(test)]\nmod tests {\n    use std::fs;\n    fn a() { tokio::spawn(b); }\n}",
        ),
        (
            "plan/a.rs",
            "#[cfg(test)]\n#[allow(dead_code)]\nuse std::fs;\nfn b() {}",
        ),
        (
            "plan/a.rs",
            "use std::time::Duration; use std::collections::BTreeMap; use std::io::Write;",
        ),
        (
            "plan/a.rs",
            "use super::source_of;\nfn a(http: u8) { let now = http; b.now = now; }",
        ),
        (
            "plan/a.rs",
            "use crate::api::ObjectId; use crate::load::{Document, Origin};",
        ),
        (
            "api/a.rs",
            "use kube::{CustomResource, CustomResourceExt};\n#[kube(group = \"g\")]\nstruct A;",
        ),
        ("cluster/a.rs", "use kube::{Api, Client}; async fn a() {}"),
        ("source/git/a.rs", "use std::fs; use git2::Repository;"),
    ] {
        assert_eq!(check(file, text).0, Vec::<String>::new(), "{text}");
    }
    let (_, modules) = check(
        "load/mod.rs",
        "mod a;\n#[cfg(test)]\nmod secrecy_tests;\n#[cfg(test)]\npub(crate) mod b;",
    );
    assert_eq!(modules, ["secrecy_tests", "b"]);
    assert!(is_module_file("load/mod.rs", "b", "load/b.rs"));
    assert!(is_module_file("load/a.rs", "b", "load/a/b/c.rs"));
    assert!(!is_module_file("load/a.rs", "b", "load/b.rs"));
}
