//! What is reported, and the object it becomes.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::table::{Key, Series};
use crate::api::digest::hex;

/// As much as `events.k8s.io/v1` allows for a note.
const MOST_BYTES: usize = 1024;
/// Put in place of the rest.
const ELLIPSIS: char = '…';

/// Whether an Event asks for attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum EventType {
    /// It is as it should be.
    Normal,
    /// Somebody should look.
    Warning,
}

/// The object that an Event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRef {
    /// `apiVersion`.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Namespace, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// uid, by which `kubectl describe` finds the Events of an object.
    pub uid: String,
}

/// `Kind namespace/name`.
impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

/// What happened to an object.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub about: ObjectRef,
    pub type_: EventType,
    pub reason: String,
    pub message: String,
}

impl Report {
    pub(super) fn new(about: ObjectRef, type_: EventType, reason: &str, message: &str) -> Self {
        Self {
            about,
            type_,
            reason: reason.to_owned(),
            message: cut(message),
        }
    }

    /// What is the same in reports of the same thing.
    pub(super) fn key(&self) -> Key {
        // Names and texts always are JSON.
        let told = serde_json::to_vec(self).unwrap_or_default();
        Sha256::digest(told).into()
    }

    /// The Event, as often and as long as it has happened so far.
    pub(super) fn event(&self, series: &Series) -> Value {
        let Self {
            about,
            type_,
            reason,
            message,
        } = self;
        let time = |time: Timestamp| format!("{time:.0}");
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": self.name(series.first),
                // Where the server wants those about objects that are in no namespace (`ValidateEvent`).
                "namespace": about.namespace.as_deref().unwrap_or("default"),
            },
            "involvedObject": about,
            "type": type_,
            "reason": reason,
            "message": message,
            "source": { "component": "covergence" },
            "reportingComponent": "covergence",
            "firstTimestamp": time(series.first),
            "lastTimestamp": time(series.last),
            "count": series.count,
        })
    }

    /// `<name>.<hash>`, as client-go has it: another one for each series, the same for all of a series. Names that an
    /// Event cannot have (those of roles may hold colons) make way for the kind.
    fn name(&self, first: Timestamp) -> String {
        let series = Sha256::new()
            .chain_update(self.key())
            .chain_update(first.as_nanosecond().to_be_bytes())
            .finalize();
        let mut hash = hex(&series);
        hash.truncate(16);
        let name = format!("{}.{hash}", self.about.name);
        if is_subdomain(&name) {
            name
        } else {
            format!("{}.{hash}", self.about.kind.to_ascii_lowercase())
        }
    }
}

fn is_subdomain(name: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(plain)
            && bytes.last().is_some_and(plain)
            && bytes.iter().all(|byte| plain(byte) || *byte == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_part)
}

fn cut(message: &str) -> String {
    if message.len() <= MOST_BYTES {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(MOST_BYTES - ELLIPSIS.len_utf8());
    let mut kept = message.to_owned();
    kept.truncate(end);
    kept.push(ELLIPSIS);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, message: &str) -> Report {
        let about = ObjectRef {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            namespace: Some("shop".into()),
            name: name.into(),
            uid: "u".into(),
        };
        Report::new(about, EventType::Warning, "ApplyFailed", message)
    }

    fn series() -> Series {
        Series {
            first: "2026-01-31T09:30:00.25Z".parse().unwrap(),
            last: "2026-01-31T09:35:00.75Z".parse().unwrap(),
            count: 3,
        }
    }

    #[test]
    fn an_event_says_what_how_often_and_since_when() {
        let event = report("pets", "no").event(&series());
        let name = event["metadata"]["name"].as_str().unwrap();
        let hash = name.strip_prefix("pets.").unwrap();
        assert!(hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit()));
        assert_eq!(
            event,
            json!({
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": { "name": name, "namespace": "shop" },
                "involvedObject": {
                    "apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "pets", "uid": "u",
                },
                "type": "Warning",
                "reason": "ApplyFailed",
                "message": "no",
                "source": { "component": "covergence" },
                "reportingComponent": "covergence",
                "firstTimestamp": "2026-01-31T09:30:00Z",
                "lastTimestamp": "2026-01-31T09:35:00Z",
                "count": 3,
            })
        );
    }

    #[test]
    fn a_series_keeps_its_name_and_the_next_has_another() {
        let name = |series: &Series| report("pets", "no").event(series)["metadata"]["name"].clone();
        let mut later = series();
        later.last = "2026-01-31T09:39:00Z".parse().unwrap();
        later.count = 4;
        assert_eq!(name(&series()), name(&later));
        later.first = later.last;
        assert_ne!(name(&series()), name(&later));
    }

    #[test]
    fn a_name_that_no_event_may_have_makes_way() {
        for object in ["system:node", "Größe", "a_b", "-a", "a.", &"x".repeat(253)] {
            let name = report(object, "no").name(Timestamp::UNIX_EPOCH);
            assert!(name.starts_with("configmap."), "{name}");
        }
        let name = report("a.b-c", "no").name(Timestamp::UNIX_EPOCH);
        assert!(name.starts_with("a.b-c."), "{name}");
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let fits = "é".repeat(512);
        assert_eq!(cut(&fits), fits);
        let message = cut(&"é".repeat(513));
        assert_eq!(message, "é".repeat(510) + "…");
        assert!(message.len() <= MOST_BYTES);
    }

    #[test]
    fn what_differs_in_anything_is_another_event() {
        let of = report("pets", "no").key();
        assert_eq!(report("pets", "no").key(), of);
        assert_ne!(report("pets", "yes").key(), of);
        assert_ne!(report("toys", "no").key(), of);
    }
}
