//! The API server's own limit: the requests of a first sync, sent as fast as it answers them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Res;
use crate::audit::Event;
use crate::http::{Connection, Server};

/// What covergence asks for, too: only the metadata of what it has applied.
const ACCEPT: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/// An apply, as covergence sent it.
pub struct Apply {
    uri: String,
    body: Value,
    text: Vec<u8>,
}

/// The applies of a first sync, in groups that must not overlap.
pub struct Script(Vec<Vec<Apply>>);

impl Script {
    /// Takes the applies out of a recording. The groups are: Namespaces, what is in them, the Services of Targets, the
    /// status of Targets. What it costs to keep the Sync itself is covergence's own.
    pub fn from_recording(events: Vec<Event>) -> Self {
        let mut groups: Vec<Vec<Apply>> = (0..4).map(|_| Vec::new()).collect();
        for event in events.into_iter().filter(Event::is_write) {
            let Some(body) = event.request_object else {
                continue;
            };
            let Some(object) = event.object_ref else {
                continue;
            };
            let group = match (object.resource.as_str(), object.subresource.as_str()) {
                ("syncs" | "customresourcedefinitions", _) => continue,
                ("namespaces", _) => 0,
                (_, "status") => 3,
                _ if owner(&body).is_some() => 2,
                _ => 1,
            };
            let text = body.to_string().into_bytes();
            if let Some(group) = groups.get_mut(group) {
                group.push(Apply {
                    uri: event.uri,
                    body,
                    text,
                });
            }
        }
        Self(groups)
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// Sends everything, and returns how long it took with all connections open.
    pub fn play(mut self, server: &Server, connections: usize) -> Res<(Self, Duration)> {
        let mut open = Vec::new();
        for _ in 0..connections {
            let mut connection = server.connect()?;
            connection.get_text("/version")?;
            open.push(connection);
        }
        let mut wall = Duration::ZERO;
        let mut uids = BTreeMap::new();
        for group in &mut self.0 {
            for apply in group.iter_mut() {
                apply.adopt(&uids);
            }
            let start = Instant::now();
            let answers = send_all(group, &mut open)?;
            wall += start.elapsed();
            for (apply, answer) in group.iter().zip(answers) {
                if apply.uri.contains("/closurejvmtargets/") {
                    let answer: Value = serde_json::from_slice(&answer)?;
                    uids.insert(
                        id(&answer),
                        answer.pointer("/metadata/uid").cloned().unwrap_or_default(),
                    );
                }
            }
        }
        Ok((self, wall))
    }
}

impl Apply {
    /// Puts the uid of the Target as it now is into its Service.
    fn adopt(&mut self, uids: &BTreeMap<(String, String), Value>) {
        let Some(owner) = owner(&self.body) else {
            return;
        };
        let key = (id(&self.body).0, owner.to_owned());
        if let (Some(uid), Some(slot)) = (
            uids.get(&key),
            self.body.pointer_mut("/metadata/ownerReferences/0/uid"),
        ) {
            *slot = uid.clone();
            self.text = self.body.to_string().into_bytes();
        }
    }
}

fn owner(body: &Value) -> Option<&str> {
    body.pointer("/metadata/ownerReferences/0/name")?.as_str()
}

fn id(object: &Value) -> (String, String) {
    let text = |pointer| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    (text("/metadata/namespace"), text("/metadata/name"))
}

fn send_all(group: &[Apply], open: &mut [Connection]) -> Res<Vec<Vec<u8>>> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(vec![Vec::new(); group.len()]);
    let failure = Mutex::new(None);
    let barrier = Barrier::new(open.len());
    thread::scope(|scope| {
        for connection in open.iter_mut() {
            scope.spawn(|| {
                barrier.wait();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(apply) = group.get(i) else {
                        return;
                    };
                    let problem = match connection.send("PATCH", &apply.uri, ACCEPT, &apply.text) {
                        Ok(answer) if answer.status < 300 => {
                            if let Some(slot) =
                                answers.lock().ok().as_mut().and_then(|a| a.get_mut(i))
                            {
                                *slot = answer.body;
                            }
                            continue;
                        }
                        Ok(answer) => {
                            format!("{}: {}", apply.uri, String::from_utf8_lossy(&answer.body))
                        }
                        Err(error) => format!("{}: {error}", apply.uri),
                    };
                    if let Ok(mut failure) = failure.lock() {
                        *failure = Some(problem);
                    }
                    return;
                }
            });
        }
    });
    match failure.into_inner() {
        Ok(None) => Ok(answers.into_inner().unwrap_or_default()),
        Ok(Some(problem)) => Err(problem.into()),
        Err(_) => Err("a thread of the generator panicked".into()),
    }
}
