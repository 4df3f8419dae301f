//! Who did what, one JSON line for each answered request, as the API server logs it at level `Metadata`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::review::described;
use super::{Attributes, Decision, Target, uuid};
use crate::request::User;

/// The log.
#[derive(Debug)]
pub struct Log(File);

/// An answered request.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Path and query.
    pub uri: &'a str,
    /// What was asked.
    pub attributes: Attributes<'a>,
    /// Version of the group in the path; empty for paths that are about no objects.
    pub version: &'a str,
    /// Who asked, after impersonation; `None` for those who are not known.
    pub user: Option<&'a User>,
    /// `User-Agent`.
    pub agent: &'a str,
    /// Address of the sender.
    pub address: &'a str,
    /// HTTP status.
    pub code: u16,
    /// Reason of a refusal.
    pub reason: &'a str,
    /// Whether it was allowed; `None` when that was not asked.
    pub decision: Option<&'a Decision>,
    /// When it came in.
    pub received: Timestamp,
}

impl Log {
    /// Opens a log, which goes on where it ended.
    ///
    /// # Errors
    /// As files fail.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600);
        options.open(path).map(Self)
    }

    /// Writes a line, in one piece, so that lines of many threads stay whole. It is readable at once.
    ///
    /// # Errors
    /// As files fail.
    pub fn write(&self, event: &Event<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(&event.line())?;
        line.push(b'\n');
        (&self.0).write_all(&line)
    }
}

impl Event<'_> {
    fn line(&self) -> Value {
        let mut line = Map::new();
        let mut set = |key: &str, value: Value| line.insert(key.to_owned(), value);
        set("kind", "Event".into());
        set("apiVersion", "audit.k8s.io/v1".into());
        set("level", "Metadata".into());
        set("auditID", uuid().into());
        set("stage", "ResponseComplete".into());
        set("requestURI", self.uri.into());
        set("verb", self.attributes.verb.into());
        let sender = self.user.and_then(|user| user.sender.as_deref());
        let user = sender.or(self.user);
        set("user", user.map_or_else(|| json!({}), described));
        if let (Some(_), Some(user)) = (sender, self.user) {
            set("impersonatedUser", described(user));
        }
        set("sourceIPs", json!([self.address]));
        set("userAgent", self.agent.into());
        if let Some(reference) = self.reference() {
            set("objectRef", reference);
        }
        let status = match self.reason {
            "" => json!({ "metadata": {}, "code": self.code }),
            reason => {
                json!({ "metadata": {}, "status": "Failure", "reason": reason, "code": self.code })
            }
        };
        set("responseStatus", status);
        set("requestReceivedTimestamp", micro(self.received).into());
        set("stageTimestamp", micro(Timestamp::now()).into());
        if let Some(Decision { allowed, reason }) = self.decision {
            let decision = if *allowed { "allow" } else { "forbid" };
            let annotations = json!({
                "authorization.k8s.io/decision": decision, "authorization.k8s.io/reason": reason,
            });
            set("annotations", annotations);
        }
        line.into()
    }

    fn reference(&self) -> Option<Value> {
        let Target::Resource {
            group,
            resource,
            subresource,
            namespace,
            name,
        } = self.attributes.target
        else {
            return None;
        };
        let parts = [
            ("resource", resource),
            ("namespace", namespace),
            ("name", name),
            ("apiGroup", group),
            ("apiVersion", self.version),
            ("subresource", subresource),
        ];
        let said = parts.into_iter().filter(|(_, value)| !value.is_empty());
        Some(
            said.map(|(key, value)| (key.to_owned(), value.into()))
                .collect::<Map<_, _>>()
                .into(),
        )
    }
}

fn micro(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}
