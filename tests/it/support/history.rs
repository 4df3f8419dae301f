//! Who wrote what, and when: what the API server says of several users.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use super::lab::{api, eventually, shared};
use super::namespace::unique;

/// What happens on the shared control plane from now on.
pub struct History {
    log: PathBuf,
    from: u64,
}

/// One request to change an object, whatever was answered.
#[derive(Clone, Debug)]
pub struct Write {
    /// The user, or the account of that name.
    pub by: String,
    /// The object; its status is a part of it.
    pub object: String,
    /// When the server had it.
    pub begin: Timestamp,
    /// When it was answered.
    pub end: Timestamp,
}

impl History {
    pub fn start() -> Self {
        let log = shared().join("audit.log");
        let from = log.metadata().unwrap().len();
        Self { log, from }
    }

    /// What these users wrote in a namespace up to now, in the order in which it was asked for: neither Events nor Leases,
    /// which every replica has of its own.
    pub fn writes(&self, users: &[&str], namespace: &str) -> Vec<Write> {
        // The log is written as answers go out: once our own last request is in it, so are those before.
        let mark = unique("mark");
        let path = format!("/api/v1/namespaces/default/configmaps/{mark}");
        assert!(api().find(&path).is_none());
        let text = eventually("the audit log is written", || {
            let text = self.read();
            text.contains(&mark).then_some(text)
        });
        let all = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let mut writes: Vec<Write> = all
            .filter_map(|event| write(&event, users, namespace))
            .collect();
        writes.sort_by_key(|write| write.begin);
        writes
    }

    fn read(&self) -> String {
        let mut file = File::open(&self.log).unwrap();
        file.seek(SeekFrom::Start(self.from)).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        text
    }
}

fn write(event: &Value, users: &[&str], namespace: &str) -> Option<Write> {
    let object = &event["objectRef"];
    let verb = event["verb"].as_str()?;
    let reads = matches!(verb, "get" | "list" | "watch");
    let dry = event["requestURI"].as_str()?.contains("dryRun=All");
    let resource = object["resource"].as_str()?;
    let is_own = matches!(resource, "events" | "leases");
    if reads || dry || is_own || object["namespace"] != namespace {
        return None;
    }
    let names = [&event["user"], &event["impersonatedUser"]];
    let by = users.iter().find(|user| {
        let is_it = |name: &str| name == **user || name.ends_with(&format!(":{user}"));
        names
            .iter()
            .any(|name| name["username"].as_str().is_some_and(is_it))
    })?;
    let time = |field: &str| event[field].as_str()?.parse().ok();
    Some(Write {
        by: (*by).to_owned(),
        object: format!("{resource}/{}", object["name"].as_str()?),
        begin: time("requestReceivedTimestamp")?,
        end: time("stageTimestamp")?,
    })
}
