//! Requests, counted from the API server's audit log: it alone tells whose they were.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::Res;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    #[serde(rename = "requestURI")]
    pub uri: String,
    pub verb: String,
    user: User,
    pub object_ref: Option<ObjectRef>,
    /// The body, where the policy keeps it.
    pub request_object: Option<Value>,
    response_status: Option<ResponseStatus>,
}

#[derive(Clone, Debug, Deserialize)]
struct User {
    username: String,
}

#[derive(Clone, Debug, Deserialize)]
struct ResponseStatus {
    code: u16,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ObjectRef {
    pub resource: String,
    pub namespace: String,
    pub name: String,
    pub subresource: String,
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            &self.namespace,
            &self.resource,
            &self.name,
            &self.subresource,
        ];
        let parts: Vec<&str> = parts
            .into_iter()
            .map(String::as_str)
            .filter(|p| !p.is_empty())
            .collect();
        f.write_str(&parts.join("/"))
    }
}

impl Event {
    fn is_dry_run(&self) -> bool {
        self.uri.contains("dryRun=")
    }

    pub fn is_change(&self) -> bool {
        matches!(
            self.verb.as_str(),
            "create" | "update" | "patch" | "delete" | "deletecollection"
        )
    }

    pub fn is_write(&self) -> bool {
        self.is_change() && !self.is_dry_run()
    }

    /// The write of a Kubernetes Event.
    pub fn is_note(&self) -> bool {
        let object = self.object_ref.as_ref();
        self.is_write() && object.is_some_and(|object| object.resource == "events")
    }

    /// A request for one object, rather than for a list or for what the server can do.
    pub fn object(&self) -> Option<&ObjectRef> {
        self.object_ref
            .as_ref()
            .filter(|object| !object.name.is_empty() && (self.is_change() || self.verb == "get"))
    }

    pub fn failed(&self) -> bool {
        self.response_status
            .as_ref()
            .is_some_and(|status| status.code >= 400 && status.code != 404)
    }
}

/// The requests of one phase, by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    pub writes: usize,
    /// Kubernetes Events, which tell people of writes.
    pub events: usize,
    pub dry_runs: usize,
    pub gets: usize,
    pub lists: usize,
    pub watches: usize,
    /// Discovery and the like.
    pub other: usize,
}

impl Requests {
    pub fn of(events: &[Event]) -> Self {
        let mut requests = Self::default();
        for event in events {
            let count = if event.is_note() {
                &mut requests.events
            } else if event.is_write() {
                &mut requests.writes
            } else if event.is_dry_run() {
                &mut requests.dry_runs
            } else if event.object().is_some() {
                &mut requests.gets
            } else if event.verb == "list" {
                &mut requests.lists
            } else if event.verb == "watch" {
                &mut requests.watches
            } else {
                &mut requests.other
            };
            *count += 1;
        }
        requests
    }

    pub fn total(self) -> usize {
        self.writes
            + self.events
            + self.dry_runs
            + self.gets
            + self.lists
            + self.watches
            + self.other
    }
}

/// The log, read from where it was left.
pub struct AuditLog {
    path: PathBuf,
    position: u64,
}

impl AuditLog {
    pub fn open(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            position: 0,
        }
    }

    /// Forgets what has been logged.
    pub fn skip(&mut self) -> Res<()> {
        self.position = std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len());
        Ok(())
    }

    /// Returns a user's requests since the last call. The server logs a request after it has answered it, so call this a
    /// moment later.
    pub fn events(&mut self, user: &str) -> Res<Vec<Event>> {
        let mut file = BufReader::new(File::open(&self.path)?);
        file.seek(SeekFrom::Start(self.position))?;
        let mut events = Vec::new();
        let mut line = String::new();
        while file.read_line(&mut line)? > 0 {
            let event: Event = serde_json::from_str(&line)?;
            if event.user.username == user {
                events.push(event);
            }
            line.clear();
        }
        self.position = file.stream_position()?;
        Ok(events)
    }
}

/// The objects that these requests read or change one by one.
pub fn objects<'a>(events: impl IntoIterator<Item = &'a Event>) -> BTreeSet<String> {
    events
        .into_iter()
        .filter_map(Event::object)
        .map(ToString::to_string)
        .collect()
}
