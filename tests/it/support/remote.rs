//! A repository behind an HTTP server that notes what it is asked.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::controller::sync;
use super::git::Work;
use super::http::{Http, Rules};
use super::manifest::config_map;
use super::namespace::Namespace;
use super::source::documents;

/// A work tree and the server that it is pushed to.
pub struct Remote {
    pub work: Work,
    pub http: Http,
    _served: TempDir,
}

impl Remote {
    /// An empty one.
    pub fn new() -> Self {
        let (work, served) = (Work::new(), tempfile::tempdir().unwrap());
        let bare = served.path().join("pets.git");
        let bare = bare.to_str().unwrap();
        work.git(&["init", "-q", "--bare", "-b", "main", bare]);
        work.git(&["remote", "add", "origin", bare]);
        let http = Http::start(served.path(), Rules::default());
        Self {
            work,
            http,
            _served: served,
        }
    }

    /// Commits a ConfigMap `a` with this value, and pushes. Gives the commit.
    pub fn push(&self, value: &str) -> String {
        self.write(value);
        let commit = self.work.commit(value);
        self.publish();
        commit
    }

    /// Writes the ConfigMap `a`.
    pub fn write(&self, value: &str) {
        let text = documents(&[config_map("a", value)]);
        self.work.write("pets/a.yaml", &text);
    }

    /// Pushes the branch as it is, whatever the server has.
    pub fn publish(&self) {
        self.work.git(&["push", "-q", "--force", "origin", "main"]);
    }

    /// The Sync `it` of its folder `pets`.
    pub fn sync(&self, ns: &Namespace, interval: &str) -> Value {
        let git = json!({ "url": self.http.url(""), "ref": "main", "path": "pets" });
        let source = json!({ "git": git });
        let spec = json!({ "source": source, "interval": interval, "prune": true });
        sync(&ns.name, "it", spec)
    }

    /// What was asked so far: the first lines of the requests.
    pub fn asked(&self) -> Vec<String> {
        let seen = self.http.seen.lock().unwrap();
        seen.iter().map(|(line, _)| line.clone()).collect()
    }
}
