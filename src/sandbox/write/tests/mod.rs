//! Requests and what the API server answered to them, kube-apiserver v1.20.2 unless said otherwise.

mod applies;
mod definitions;
mod deletions;
mod objects;
mod patches;
mod subresources;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Written, write};
use crate::error::ApiError;
use crate::request::{PatchType, Request, User, Verb};
use crate::state::State;
use crate::store::Key;
use crate::types;

/// A sandbox with a namespace.
pub(super) struct Api {
    pub(super) state: State,
}

impl Api {
    pub(super) fn new() -> Self {
        let mut state = State {
            kinds: types::built_in(),
            ..State::default()
        };
        for name in ["default", "shop"] {
            let key = Key {
                resource: "namespaces".into(),
                namespace: String::new(),
                name: name.to_owned(),
            };
            let object = json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name },
                "spec": { "finalizers": ["kubernetes"] }, "status": { "phase": "Active" },
            });
            state.store.put(key, object);
        }
        Self { state }
    }

    /// Sends a request such as `PUT /api/v1/namespaces/shop/configmaps/a?dryRun=All`; patches name their type, as in
    /// `APPLY`, `MERGE`, `JSON`, `STRATEGIC`.
    pub(super) fn send(&mut self, line: &str, body: Value) -> Result<Written, ApiError> {
        let mut request = self.request(line, body);
        request.user = User {
            name: "admin".to_owned(),
            groups: vec!["system:masters".to_owned()],
            ..User::default()
        };
        write(&mut self.state, &request)
    }

    pub(super) fn request(&self, line: &str, body: Value) -> Request {
        let (method, path) = line.split_once(' ').expect("a method and a path");
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let (group, version) = if parts[0] == "api" {
            ("", parts[1])
        } else {
            (parts[1], parts[2])
        };
        parts.drain(..if group.is_empty() { 2 } else { 3 });
        let namespace = (parts.len() > 2
            && parts[0] == "namespaces"
            && !matches!(parts[2], "status" | "finalize"))
        .then(|| parts.drain(..2).next_back().unwrap_or_default().to_owned());
        let kind = self.state.kinds.at(group, version, parts[0]);
        let query: BTreeMap<String, String> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let name = parts.get(1).map(|&name| name.to_owned());
        Request {
            verb: match method {
                "POST" => Verb::Create,
                "PUT" => Verb::Update,
                "DELETE" if name.is_none() => Verb::DeleteCollection,
                "DELETE" => Verb::Delete,
                "APPLY" => Verb::Patch(PatchType::Apply),
                "MERGE" => Verb::Patch(PatchType::Merge),
                "JSON" => Verb::Patch(PatchType::Json),
                "STRATEGIC" => Verb::Patch(PatchType::Strategic),
                other => panic!("{other} is no method"),
            },
            kind: kind.expect("a kind that is served").clone(),
            namespace,
            name,
            subresource: parts.get(2).map(|&name| name.to_owned()),
            manager: query
                .get("fieldManager")
                .map_or("probe", String::as_str)
                .to_owned(),
            query,
            body,
            user: User::default(),
        }
    }

    /// Sends a request that succeeds, and gives the code and the object.
    pub(super) fn done(&mut self, line: &str, body: Value) -> (u16, Value) {
        let written = self
            .send(line, body)
            .unwrap_or_else(|error| panic!("{line}: {error:?}"));
        (written.code, (*written.object).clone())
    }

    /// Sends a request that is refused, and gives code, reason and message.
    pub(super) fn refused(&mut self, line: &str, body: Value) -> (u16, &'static str, String) {
        match self.send(line, body) {
            Ok(written) => panic!("{line} was done: {written:?}"),
            Err(error) => (error.code, error.reason, error.message),
        }
    }

    /// A stored object.
    pub(super) fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let key = Key {
            resource: resource.into(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        self.state.store.get(&key).cloned()
    }
}
