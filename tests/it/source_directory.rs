//! A directory or a file as a source.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use covergence::load::{Severity, Snapshot};
use covergence::source::directory::{self, DirectorySource};
use covergence::source::{Limits, SourceError};
use tempfile::TempDir;

fn tree(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn read(path: &Path) -> Snapshot {
    directory::read(path, &Limits::default()).unwrap()
}

fn paths(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.files.iter().map(|f| &*f.path).collect()
}

/// Severity, file and message of each diagnostic, as lines.
fn told(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .diagnostics
        .iter()
        .map(|d| format!("{:?} {}: {}", d.severity, d.file, d.message))
        .collect()
}

#[test]
fn manifests_are_read_recursively_in_the_order_of_their_paths() {
    let dir = tree(&[
        ("b.yaml", "b"),
        ("a/z.yml", "z"),
        ("a.yaml", "a"),
        ("a/deep/er/c.json", "c"),
        ("README.md", "no"),
        (".git/config.yaml", "no"),
        (".github/workflows/ci.yaml", "no"),
        (".pre-commit-config.yaml", "no"),
        ("pet.yaml~", "no"),
        ("4913", "no"),
        (".pet.yaml.swp", "no"),
    ]);
    let snapshot = read(dir.path());
    assert_eq!(
        paths(&snapshot),
        ["a.yaml", "a/deep/er/c.json", "a/z.yml", "b.yaml"]
    );
    assert_eq!(snapshot.files[1].bytes, b"c");
    assert!(snapshot.is_complete());
}

#[test]
fn one_file_is_read_whatever_its_ending() {
    let dir = tree(&[("pets.txt", "x"), ("other.yaml", "no")]);
    let snapshot = read(&dir.path().join("pets.txt"));
    assert_eq!(paths(&snapshot), ["pets.txt"]);
    assert_eq!(snapshot.files[0].bytes, b"x");
}

#[test]
fn c31_a_missing_path_is_an_error_and_an_empty_directory_is_not() {
    let dir = tree(&[("docs/README.md", "no manifests")]);
    let error = directory::read(&dir.path().join("gone"), &Limits::default()).unwrap_err();
    assert!(matches!(error, SourceError::NotFound { .. }), "{error}");
    let snapshot = read(&dir.path().join("docs"));
    assert!(snapshot.files.is_empty() && snapshot.is_complete());
}

#[test]
fn the_revision_is_that_of_names_and_contents() {
    let revision = |files: &[(&str, &str)]| read(tree(files).path()).revision;
    let base = revision(&[("a.yaml", "1"), ("b.yaml", "2")]);
    assert_eq!(base.len(), "sha256:".len() + 64);
    assert_eq!(
        base,
        revision(&[("b.yaml", "2"), ("a.yaml", "1"), ("c.txt", "3")])
    );
    for other in [
        &[("a.yaml", "1"), ("b.yaml", "3")][..],
        &[("a.yaml", "1"), ("c.yaml", "2")],
        &[("a.yaml", "1")],
        // The same bytes, cut differently.
        &[("a.yaml", "1b.yaml2")],
    ] {
        assert_ne!(base, revision(other), "{other:?}");
    }
}

#[test]
fn links_inside_the_root_are_followed_once_and_loops_end() {
    let dir = tree(&[("real/a.yaml", "a"), ("notes.txt", "n"), ("z.yaml", "z")]);
    let root = dir.path();
    symlink("real", root.join("alias")).unwrap();
    symlink("..", root.join("real/loop")).unwrap();
    symlink("z.yaml", root.join("b.yaml")).unwrap();
    symlink("notes.txt", root.join("linked.yaml")).unwrap();
    let snapshot = read(root);
    assert_eq!(paths(&snapshot), ["linked.yaml", "real/a.yaml", "z.yaml"]);
    assert_eq!(told(&snapshot), [""; 0]);
}

#[test]
fn a_configmap_volume_gives_each_file_once_under_its_own_name() {
    let dir = tree(&[("..2026_01/pet.yaml", "pet"), ("..2026_01/sub.yaml", "sub")]);
    let root = dir.path();
    symlink("..2026_01", root.join("..data")).unwrap();
    symlink("..data/pet.yaml", root.join("pet.yaml")).unwrap();
    symlink("..data/sub.yaml", root.join("sub.yaml")).unwrap();
    let snapshot = read(root);
    assert_eq!(paths(&snapshot), ["pet.yaml", "sub.yaml"]);
    assert!(snapshot.is_complete());
}

#[test]
fn links_out_of_the_root_are_refused_by_name_and_not_read() {
    let outside = tree(&[("secret.yaml", "hunter2"), ("README.md", "x")]);
    let dir = tree(&[("a.yaml", "a"), (".git/config", "hunter2")]);
    let root = dir.path();
    symlink(outside.path().join("secret.yaml"), root.join("file.yaml")).unwrap();
    symlink(outside.path(), root.join("folder")).unwrap();
    symlink(".git/config", root.join("git.yaml")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink("circle.yaml", root.join("circle.yaml")).unwrap();
    // Could hold no manifest, wherever it leads.
    symlink(outside.path().join("README.md"), root.join("README.md")).unwrap();
    let snapshot = read(root);
    assert_eq!(paths(&snapshot), ["a.yaml"]);
    let out = "is a symbolic link that leads out of the source; it was not followed";
    let told = told(&snapshot);
    assert!(told[0].starts_with("Error circle.yaml: is a symbolic link that leads nowhere"));
    assert!(told[1].starts_with("Error dangling: is a symbolic link that leads nowhere"));
    assert_eq!(
        told[2..],
        ["file.yaml", "folder", "git.yaml"].map(|name| format!("Error {name}: {out}"))
    );
}

#[test]
fn special_files_are_never_opened() {
    let dir = tree(&[("a.yaml", "a")]);
    let fifo = dir.path().join("fifo.yaml");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let socket = dir.path().join("socket.yaml");
    let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
    symlink("/dev/zero", dir.path().join("zero.yaml")).unwrap();
    let snapshot = read(dir.path());
    assert_eq!(paths(&snapshot), ["a.yaml"]);
    assert_eq!(
        told(&snapshot),
        [
            "Error fifo.yaml: is a FIFO, not a regular file; it was not opened",
            "Error socket.yaml: is a socket, not a regular file; it was not opened",
            "Error zero.yaml: is a symbolic link that leads out of the source; it was not followed",
        ]
    );
    let error = directory::read(&fifo, &Limits::default()).unwrap_err();
    assert!(matches!(error, SourceError::Special { .. }), "{error}");
}

#[test]
fn odd_names_are_escaped() {
    let dir = tree(&[("a\nError b.yaml", "x"), ("esc\u{1b}[2J.yaml", "x")]);
    let raw = dir.path().join(std::ffi::OsStr::from_bytes(b"\xff.yaml"));
    fs::write(raw, "x").unwrap();
    assert_eq!(
        paths(&read(dir.path())),
        ["\\xff.yaml", "a\\nError b.yaml", "esc\\u{1b}[2J.yaml"]
    );
}

#[test]
fn what_exceeds_a_limit_fails_alone_or_stops_the_reading() {
    let dir = tree(&[
        ("a.yaml", "1"),
        ("big.yaml", "123456"),
        ("d/e/f.yaml", "1"),
        ("z.yaml", "12345"),
    ]);
    let with = |limits| directory::read(dir.path(), &limits).unwrap();

    let snapshot = with(Limits {
        file_bytes: 5,
        ..Limits::default()
    });
    assert_eq!(paths(&snapshot), ["a.yaml", "d/e/f.yaml", "z.yaml"]);
    assert_eq!(
        told(&snapshot),
        ["Error big.yaml: is larger than 5 bytes; it was not read"]
    );

    let snapshot = with(Limits {
        files: 2,
        ..Limits::default()
    });
    assert_eq!(snapshot.files.len(), 2);
    assert_eq!(
        told(&snapshot),
        ["Error .: the source has more than 2 manifest files"]
    );

    let snapshot = with(Limits {
        total_bytes: 8,
        ..Limits::default()
    });
    assert_eq!(
        told(&snapshot),
        ["Error .: the source's manifests are larger than 8 bytes together"]
    );

    let snapshot = with(Limits {
        entries: 3,
        ..Limits::default()
    });
    assert_eq!(
        told(&snapshot),
        ["Error .: the source has more than 3 directory entries"]
    );

    let snapshot = with(Limits {
        depth: 1,
        ..Limits::default()
    });
    assert_eq!(paths(&snapshot), ["a.yaml", "big.yaml", "z.yaml"]);
    assert_eq!(
        told(&snapshot),
        ["Error d/e: is more than 1 directories deep"]
    );
}

#[test]
fn a_file_that_cannot_be_read_does_not_stop_the_others() {
    let dir = tree(&[("a.yaml", "a"), ("b.yaml", "b"), ("d/c.yaml", "c")]);
    fs::set_permissions(dir.path().join("b.yaml"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(dir.path().join("b.yaml")).is_ok() {
        // The superuser reads everything; then only a vanished file can stand for an unreadable one.
        fs::remove_file(dir.path().join("b.yaml")).unwrap();
        symlink("gone.yaml", dir.path().join("b.yaml")).unwrap();
    }
    let snapshot = read(dir.path());
    assert_eq!(paths(&snapshot), ["a.yaml", "d/c.yaml"]);
    assert_eq!(snapshot.diagnostics.len(), 1);
    assert_eq!(&*snapshot.diagnostics[0].file, "b.yaml");
    assert!(!snapshot.is_complete());
}

#[test]
fn overlays_warn_once_and_charts_are_errors() {
    let dir = tree(&[
        ("one/kustomization.yaml", "resources: [a.yaml]\n"),
        ("one/a.yaml", "a"),
        (
            "two/kustomization.yml",
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
        ),
        (
            "flux/kustomization.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n",
        ),
        ("chart/Chart.yaml", "name: c"),
        ("chart/values.yaml", "x: 1"),
        ("chart/templates/t.yaml", "{{ x }}"),
        ("umbrella/Chart.yaml", "name: u"),
        ("umbrella/b.yaml", "b"),
    ]);
    let snapshot = read(dir.path());
    assert_eq!(
        paths(&snapshot),
        ["flux/kustomization.yaml", "one/a.yaml", "umbrella/b.yaml"]
    );
    assert_eq!(
        told(&snapshot),
        [
            "Error chart/Chart.yaml: a Helm chart below the source's folder is not rendered",
            "Warning one/kustomization.yaml: an overlay below the source's folder is not built: the files beside it are read as plain manifests (1 more like it)",
            "Warning umbrella/Chart.yaml: a Helm chart below the source's folder is not rendered: the files beside it are read as plain manifests",
        ]
    );
    let chart = snapshot
        .diagnostics
        .iter()
        .find(|d| d.severity == Severity::Error)
        .unwrap();
    assert!(
        chart
            .hint
            .as_ref()
            .unwrap()
            .contains("own folder as a source")
    );
}

#[test]
fn a_folder_of_the_source_is_inside_of_it() {
    let dir = tree(&[("a/b/x.yaml", "x"), ("y.yaml", "y")]);
    let outside = tree(&[("z.yaml", "z")]);
    symlink(outside.path(), dir.path().join("out")).unwrap();
    symlink("a/b", dir.path().join("in")).unwrap();
    let find = |folder: &str| {
        let source = DirectorySource {
            folder: Some(folder.to_owned()),
            ..DirectorySource::from(dir.path().to_owned())
        };
        directory::find(&source, &Limits::default())
    };
    for inside in ["a/b", "in", "./a/../a/b/"] {
        let found = find(inside).unwrap();
        assert_eq!(paths(found.snapshot()), ["x.yaml"], "{inside}");
    }
    for wrong in ["out", "..", "../x", "/etc", "gone", "y.yaml"] {
        let error = find(wrong).unwrap_err();
        assert!(
            matches!(error, SourceError::NotFound { .. }),
            "{wrong}: {error}"
        );
    }
}
