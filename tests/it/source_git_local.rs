//! A commit of a repository on this machine as a source.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use covergence::load::Snapshot;
use covergence::source::git::{Credentials, GitSource, check};
use covergence::source::{Limits, SourceError};

use crate::support::git::{Work, fetch};

fn source(url: &str, reference: Option<&str>, path: Option<&str>) -> GitSource {
    GitSource {
        url: url.parse().unwrap(),
        reference: reference.map(str::to_owned),
        path: path.map(str::to_owned),
        values_files: Vec::new(),
        credentials: Credentials::default(),
    }
}

/// Reads; and a check says the same revision.
fn read(work: &Work, reference: Option<&str>, path: Option<&str>) -> Result<Snapshot, SourceError> {
    let source = source(work.path().to_str().unwrap(), reference, path);
    let checked = check(&source, Path::new("/nonexistent"), &Limits::default());
    let snapshot = fetch(&source, Path::new("/nonexistent"), &Limits::default());
    match (&checked, &snapshot) {
        (Ok(revision), Ok(snapshot)) => assert_eq!(*revision, snapshot.revision),
        // It looks at no tree.
        (
            Ok(_),
            Err(
                SourceError::PathMissing { .. }
                | SourceError::InSubmodule { .. }
                | SourceError::Repository { .. },
            ),
        ) => {}
        (Err(checked), Err(fetched)) => assert_eq!(checked.to_string(), fetched.to_string()),
        others => panic!("{others:?}"),
    }
    // What is opened in place needs no cache, and must not make one.
    assert!(!Path::new("/nonexistent").exists());
    snapshot
}

fn paths(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.files.iter().map(|f| &*f.path).collect()
}

fn told(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .diagnostics
        .iter()
        .map(|d| format!("{:?} {}: {}", d.severity, d.file, d.message))
        .collect()
}

#[test]
fn the_commit_is_read_and_not_the_work_tree() {
    let work = Work::new();
    work.write("a.yaml", "committed");
    let commit = work.commit("one");
    work.write("a.yaml", "edited");
    work.write("b.yaml", "new");
    let snapshot = read(&work, None, None).unwrap();
    assert_eq!(paths(&snapshot), ["a.yaml"]);
    assert_eq!(snapshot.files[0].bytes, b"committed");
    assert_eq!(snapshot.revision, format!("main@sha1:{commit}"));
}

#[test]
fn a_ref_is_a_branch_a_tag_a_full_name_or_a_commit() {
    let work = Work::new();
    work.write("a.yaml", "1");
    let first = work.commit("one");
    work.git(&["tag", "light"]);
    work.git(&["tag", "-a", "annotated", "-m", "x"]);
    work.git(&["tag", "-a", "twice", "annotated", "-m", "a tag of a tag"]);
    work.git(&["branch", "old"]);
    work.git(&["update-ref", "refs/pull/1/head", "HEAD"]);
    work.write("a.yaml", "2");
    let second = work.commit("two");
    for (reference, revision) in [
        ("light", format!("light@sha1:{first}")),
        ("annotated", format!("annotated@sha1:{first}")),
        ("twice", format!("twice@sha1:{first}")),
        ("old", format!("old@sha1:{first}")),
        ("refs/heads/old", format!("old@sha1:{first}")),
        ("refs/tags/light", format!("light@sha1:{first}")),
        ("refs/pull/1/head", format!("refs/pull/1/head@sha1:{first}")),
        ("HEAD~1", format!("sha1:{first}")),
        (&first, format!("sha1:{first}")),
        (&first[..8], format!("sha1:{first}")),
        ("main", format!("main@sha1:{second}")),
        ("HEAD", format!("main@sha1:{second}")),
    ] {
        let snapshot = read(&work, Some(reference), None).unwrap();
        assert_eq!(snapshot.revision, revision, "{reference}");
    }
    work.git(&["checkout", "-q", "--detach", "old"]);
    assert_eq!(
        read(&work, None, None).unwrap().revision,
        format!("sha1:{first}")
    );
}

#[test]
fn a_branch_wins_over_a_tag_of_the_same_name() {
    let work = Work::new();
    work.write("a.yaml", "1");
    work.commit("one");
    work.git(&["tag", "main"]);
    work.write("a.yaml", "2");
    let second = work.commit("two");
    let snapshot = read(&work, Some("main"), None).unwrap();
    assert_eq!(snapshot.revision, format!("main@sha1:{second}"));
}

#[test]
fn c41_a_missing_ref_is_its_own_error_with_similar_names() {
    let work = Work::new();
    work.write("a.yaml", "1");
    work.commit("one");
    work.git(&["branch", "release-1"]);
    for reference in ["release-2", "refs/heads/release-2"] {
        let error = read(&work, Some(reference), None).unwrap_err();
        assert!(matches!(error, SourceError::RefNotFound { .. }), "{error}");
        assert_eq!(error.hint().unwrap(), "did you mean release-1?");
    }
    let missing = "1".repeat(40);
    for reference in ["odd name", "..", &missing, "--upload-pack=x"] {
        let error = read(&work, Some(reference), None).unwrap_err();
        assert!(
            matches!(error, SourceError::RefNotFound { .. }),
            "{error:?}"
        );
    }
}

#[test]
fn a_tag_of_something_else_is_no_commit() {
    let work = Work::new();
    work.write("a.yaml", "1");
    work.commit("one");
    work.git(&["tag", "blob", "HEAD:a.yaml"]);
    let error = read(&work, Some("blob"), None).unwrap_err();
    assert!(matches!(error, SourceError::NotACommit { .. }), "{error:?}");
}

#[test]
fn an_empty_repository_has_no_head() {
    let error = read(&Work::new(), None, None).unwrap_err();
    assert!(matches!(error, SourceError::RefNotFound { .. }), "{error}");
}

#[test]
fn bare_repositories_file_urls_and_linked_work_trees_are_opened_in_place() {
    let work = Work::new();
    work.write("a.yaml", "1");
    let commit = work.commit("one");
    let outer = tempfile::tempdir().unwrap();
    let bare = outer.path().join("a b.git");
    work.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let linked = outer.path().join("linked");
    work.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        linked.to_str().unwrap(),
    ]);
    let encoded = format!("file://{}", bare.to_str().unwrap().replace(' ', "%20"));
    for (url, name) in [
        (bare.to_str().unwrap(), "main"),
        (&encoded, "main"),
        (linked.to_str().unwrap(), "side"),
    ] {
        let snapshot = fetch(&source(url, None, None), outer.path(), &Limits::default()).unwrap();
        assert_eq!(snapshot.revision, format!("{name}@sha1:{commit}"), "{url}");
        assert_eq!(paths(&snapshot), ["a.yaml"]);
    }
}

#[test]
fn what_is_no_repository_is_told_from_what_is_not_there() {
    let work = Work::new();
    work.write("sub/a.yaml", "1");
    work.commit("one");
    let at = |path: &str| {
        let url = work.path().join(path);
        fetch(
            &source(url.to_str().unwrap(), None, None),
            Path::new("/x"),
            &Limits::default(),
        )
        .unwrap_err()
    };
    let error = at("sub");
    assert!(
        matches!(error, SourceError::NotARepository { .. }),
        "{error}"
    );
    let error = at("gone");
    assert!(matches!(error, SourceError::NotFound { .. }), "{error}");
}

#[test]
fn c31_a_path_missing_in_the_commit_is_told_from_an_empty_one() {
    let work = Work::new();
    work.write("pets/a.yaml", "1");
    work.write("docs/README.md", "no manifests");
    let commit = work.commit("one");
    assert_eq!(paths(&read(&work, None, Some("pets")).unwrap()), ["a.yaml"]);
    assert_eq!(
        paths(&read(&work, None, Some("./pets/../pets/")).unwrap()),
        ["a.yaml"]
    );
    assert_eq!(
        paths(&read(&work, None, Some("pets/a.yaml")).unwrap()),
        ["a.yaml"]
    );
    let empty = read(&work, None, Some("docs")).unwrap();
    assert!(empty.files.is_empty() && empty.is_complete());
    for path in ["gone", "pets/a.yaml/x", "../pets", "pets/gone.yaml"] {
        let error = read(&work, None, Some(path)).unwrap_err();
        assert!(matches!(error, SourceError::PathMissing { .. }), "{error}");
        assert!(
            error.to_string().contains(&format!("main@sha1:{commit}")),
            "{error}"
        );
    }
}

#[test]
fn a_directory_and_its_commit_give_the_same_files() {
    let work = Work::new();
    for (path, text) in [
        ("a.yaml", "a"),
        ("d/b.yml", "b"),
        ("d/README.md", "x"),
        (".hidden/c.yaml", "c"),
        ("k/kustomization.yaml", "resources: []"),
        ("c/Chart.yaml", "name: c"),
        ("c/templates/t.yaml", "{{ x }}"),
    ] {
        work.write(path, text);
    }
    symlink("d", work.path().join("e")).unwrap();
    symlink("../../d/README.md", work.path().join("d/out.yaml")).unwrap();
    symlink("README.md", work.path().join("d/in.yaml")).unwrap();
    work.commit("one");
    let commit = read(&work, None, None).unwrap();
    let directory = covergence::source::directory::read(work.path(), &Limits::default()).unwrap();
    assert_eq!(paths(&commit), ["a.yaml", "d/b.yml", "d/in.yaml"]);
    assert_eq!(paths(&commit), paths(&directory));
    let files = |snapshot: &Snapshot| {
        let named = snapshot.diagnostics.iter().map(|d| d.file.to_string());
        named.collect::<Vec<_>>()
    };
    assert_eq!(
        files(&commit),
        ["c/Chart.yaml", "d/out.yaml", "k/kustomization.yaml"]
    );
    assert_eq!(files(&commit), files(&directory));
}

#[test]
fn links_are_resolved_inside_the_commit_and_refused_outside_it() {
    let work = Work::new();
    work.write("base/a.yaml", "a");
    work.write("prod/b.yaml", "b");
    symlink("../base", work.path().join("prod/base")).unwrap();
    symlink("hop2.yaml", work.path().join("prod/hop1.yaml")).unwrap();
    symlink("base/a.yaml", work.path().join("prod/hop2.yaml")).unwrap();
    symlink("/etc/passwd", work.path().join("prod/absolute.yaml")).unwrap();
    symlink("../../../etc/passwd", work.path().join("prod/up.yaml")).unwrap();
    symlink("round.yaml", work.path().join("prod/round.yaml")).unwrap();
    symlink("gone", work.path().join("prod/nowhere")).unwrap();
    symlink("..", work.path().join("prod/self")).unwrap();
    work.commit("one");
    let snapshot = read(&work, None, Some("prod")).unwrap();
    // Every real file once; the outer directory comes last, through `self`, and has nothing new.
    assert_eq!(paths(&snapshot), ["b.yaml", "base/a.yaml"]);
    assert_eq!(snapshot.files[1].bytes, b"a");
    let out = "is a symbolic link that leads out of the source; it was not followed";
    assert_eq!(
        told(&snapshot),
        [
            format!("Error absolute.yaml: {out}"),
            "Error nowhere: is a symbolic link that leads nowhere".to_owned(),
            "Error round.yaml: is a symbolic link that leads in a circle".to_owned(),
            format!("Error up.yaml: {out}"),
        ]
    );
    assert_eq!(
        paths(&read(&work, None, Some("prod/base")).unwrap()),
        ["a.yaml"]
    );
}

#[test]
fn c45_a_submodule_is_an_error_only_under_our_path() {
    let work = Work::new();
    work.write("pets/a.yaml", "a");
    work.write("other/b.yaml", "b");
    let commit = work.commit("one");
    // A gitlink without .gitmodules, as left behind by a deleted submodule.
    let entry = format!("160000,{commit},other/module");
    work.git(&["update-index", "--add", "--cacheinfo", &entry]);
    work.git(&["commit", "-q", "-m", "two"]);
    let snapshot = read(&work, None, Some("pets")).unwrap();
    assert!(snapshot.is_complete());
    for path in [None, Some("other")] {
        let snapshot = read(&work, None, path).unwrap();
        assert_eq!(snapshot.diagnostics.len(), 1);
        assert!(!snapshot.is_complete(), "its manifests would be pruned");
    }
    for path in ["other/module", "other/module/deploy"] {
        let error = read(&work, None, Some(path)).unwrap_err();
        assert!(
            matches!(&error, SourceError::InSubmodule { submodule, .. } if submodule == "other/module"),
            "{error}"
        );
    }
}

#[test]
fn c44_an_lfs_pointer_is_passed_on_as_it_is() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let work = Work::new();
    work.write(
        ".gitattributes",
        "*.yaml filter=lfs diff=lfs merge=lfs -text\n",
    );
    work.write("big.yaml", pointer);
    work.git(&["-c", "filter.lfs.clean=cat", "add", "-A"]);
    work.commit("one");
    let snapshot = read(&work, None, None).unwrap();
    assert_eq!(snapshot.files[0].bytes, pointer.as_bytes());
}

/// Only the superuser can make a repository that belongs to someone else.
#[test]
fn c43_a_repository_of_another_user_is_read() {
    let work = Work::new();
    work.write("a.yaml", "1");
    work.commit("one");
    if std::os::unix::fs::chown(work.path(), Some(12345), Some(12345)).is_err() {
        eprintln!("not run: needs the right to give files away");
        return;
    }
    std::os::unix::fs::chown(work.path().join(".git"), Some(12345), Some(12345)).unwrap();
    assert_eq!(paths(&read(&work, None, None).unwrap()), ["a.yaml"]);
}

#[test]
fn nothing_of_the_repository_is_executed() {
    let work = Work::new();
    let trace = work.path().join("trace");
    let command = format!("sh -c 'touch {}; cat'", trace.display());
    work.write(".gitattributes", "*.yaml filter=evil\n");
    work.write("a.yaml", "1");
    work.commit("one");
    work.git(&["config", "filter.evil.smudge", &command]);
    work.git(&["config", "filter.evil.clean", &command]);
    work.git(&["config", "core.fsmonitor", &command]);
    work.git(&["config", "core.hooksPath", "."]);
    assert_eq!(paths(&read(&work, None, None).unwrap()), ["a.yaml"]);
    assert!(!trace.exists());
}

#[test]
fn a_damaged_repository_is_told_from_a_missing_path() {
    let work = Work::new();
    work.write("a.yaml", "1");
    work.commit("one");
    let blob = work.git(&["rev-parse", "HEAD:a.yaml"]);
    let object = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    fs::remove_file(work.path().join(object)).unwrap();
    let error = read(&work, None, None).unwrap_err();
    assert!(matches!(error, SourceError::Repository { .. }), "{error}");
}

/// Ten trees, each of which names the next one ten times: 10^10 files in a few hundred bytes.
#[test]
fn a_git_bomb_ends() {
    let work = Work::new();
    let mut entry = format!(
        "100644 blob {}\ta.yaml\n",
        work.pipe(&["hash-object", "-w", "--stdin"], "x")
    );
    for _ in 0..10 {
        let tree = work.pipe(&["mktree"], &entry);
        entry = (0..10)
            .map(|n| format!("040000 tree {tree}\td{n}\n"))
            .collect();
    }
    let tree = work.pipe(&["mktree"], &entry);
    let commit = work.git(&["commit-tree", &tree, "-m", "bomb"]);
    let source = source(work.path().to_str().unwrap(), Some(&commit), None);
    let limits = Limits {
        entries: 5_000,
        ..Limits::default()
    };
    let snapshot = fetch(&source, Path::new("/x"), &limits).unwrap();
    assert!(!snapshot.is_complete());
    assert!(
        told(&snapshot)
            .contains(&"Error .: the source has more than 5000 directory entries".to_owned())
    );
}
