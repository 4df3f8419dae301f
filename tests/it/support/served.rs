//! A repository on a git server that goes and comes back.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::controller::sync;
use super::git::Work;
use super::server::{Server, free_port};
use super::source::documents;

/// A repository, where it is written and where it is served. Manifests are in its folder `deploy`.
pub struct Served {
    pub work: Work,
    base: TempDir,
    port: u16,
    server: Option<Server>,
}

impl Served {
    /// With one commit of one file.
    pub fn new(objects: &[Value]) -> Self {
        let mut served = Self {
            work: Work::new(),
            base: tempfile::tempdir().unwrap(),
            port: free_port(),
            server: None,
        };
        served.work.write("deploy/all.yaml", &documents(objects));
        served.work.commit("one");
        served.publish();
        served.up();
        served
    }

    /// Makes what is served anew, from the work tree's repository.
    fn publish(&self) {
        let bare = self.base.path().join("pets.git");
        let bare = bare.to_str().unwrap();
        self.work.git(&["clone", "-q", "--bare", ".", bare]);
        // Also the branch that its HEAD names may be deleted.
        let setting = ["receive.denyDeleteCurrent", "ignore"];
        self.work
            .git(&["-C", bare, "config", setting[0], setting[1]]);
        self.work.git(&["remote", "add", "origin", bare]);
    }

    /// Another repository, with nothing in common, takes this one's place.
    pub fn replace(&mut self, objects: &[Value]) -> String {
        fs::remove_dir_all(self.base.path().join("pets.git")).unwrap();
        self.work = Work::new();
        self.work.write("deploy/other.yaml", &documents(objects));
        let commit = self.work.commit("another beginning");
        self.publish();
        commit
    }

    /// Commits these objects instead of those before, and pushes. Gives the commit.
    pub fn push(&self, objects: &[Value]) -> String {
        self.work.write("deploy/all.yaml", &documents(objects));
        let commit = self.work.commit("change");
        self.push_all();
        commit
    }

    /// Makes the served branches those of the work tree, whatever they were.
    pub fn push_all(&self) {
        let all = "refs/heads/*:refs/heads/*";
        self.work
            .git(&["push", "-q", "--force", "--prune", "origin", all]);
    }

    /// Ends the server.
    pub fn down(&mut self) {
        self.server = None;
    }

    /// Starts the server, on the port of before.
    pub fn up(&mut self) {
        self.server = Some(Server::git_daemon_on(self.port, self.base.path()));
    }

    pub fn url(&self) -> String {
        format!("git://127.0.0.1:{}/pets.git", self.port)
    }

    /// A Sync of its branch `main`.
    pub fn sync(&self, namespace: &str, name: &str) -> Value {
        git_sync(namespace, name, &self.url(), "deploy")
    }
}

/// A Sync of a repository's branch `main`, which prunes and looks as often as it may.
pub fn git_sync(namespace: &str, name: &str, url: &str, path: &str) -> Value {
    sync(
        namespace,
        name,
        json!({
            "source": { "git": { "url": url, "ref": "main", "path": path } },
            "interval": "5s",
            "prune": true,
        }),
    )
}
