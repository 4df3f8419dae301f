//! Real repositories, made by the `git` command.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use covergence::load::Snapshot;
use covergence::source::git::GitSource;
use covergence::source::{Found, Limits, SourceError};
use tempfile::TempDir;

/// A repository with a work tree, on branch `main`, without the user's settings.
pub struct Work(TempDir);

impl Work {
    pub fn new() -> Self {
        let work = Self(tempfile::tempdir().unwrap());
        work.git(&["init", "-q", "-b", "main"]);
        work
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Commits everything and returns the commit's name.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn git(&self, args: &[&str]) -> String {
        self.pipe(args, "")
    }

    pub fn pipe(&self, args: &[&str], input: &str) -> String {
        let mut child = command(self.path(), args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "git {args:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

/// A git command whose result depends on its arguments only.
pub fn command(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(directory)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "t")
        .env("GIT_AUTHOR_EMAIL", "t@example.com")
        .env("GIT_COMMITTER_NAME", "t")
        .env("GIT_COMMITTER_EMAIL", "t@example.com");
    command
}

/// Fetches the manifests of a commit that has no overlay.
pub fn fetch(source: &GitSource, cache: &Path, limits: &Limits) -> Result<Snapshot, SourceError> {
    let found = covergence::source::git::fetch(source, cache, limits);
    found.map(|found| match found {
        Found::Manifests(snapshot) => snapshot,
        Found::Overlay(overlay) => panic!("{overlay:?}"),
    })
}
