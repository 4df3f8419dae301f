//! How the agent is taken out of a Deployment, so that what was there before is there again.

use serde_json::{Value, json};

use super::record::AgentRecord;
use super::{OPTIONS, others_carry_it};
use crate::api::names::{AGENT, AGENT_DIRECTORY, AGENT_MANAGER, AGENT_RECORD, COVERAGE_PORT};
use crate::plan::Live;
use crate::render::without_agent;

/// A JSON patch that takes the agent out, and as whom it is sent.
///
/// One write, so that there is one roll-out, and exactly to the pod template from before, so that its ReplicaSet is used
/// again. Server-side apply cannot do that: it takes out a value that was set over another one, and does not bring back the
/// other one.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeOut {
    /// The operations, the first of which let it fail for any other object or version.
    pub operations: Vec<Value>,
    /// The field manager. Where a value is put back, the one that it was taken from: who sets a value owns it, and so
    /// `managedFields` are as they were, too (seen on v1.20.2).
    pub manager: String,
}

/// Makes the patch for a Deployment as it was just read.
pub fn take_out(object: &Value, live: &Live, record: &AgentRecord) -> TakeOut {
    let mut patch = Patch::default();
    let tested = [
        ("/metadata/uid", &live.uid),
        ("/metadata/resourceVersion", &live.resource_version),
    ];
    for (path, value) in tested {
        patch.push("test", path, json!(value));
    }
    // What an applier has in its own manifest stays, and is its own from now on.
    let mut put_back = false;
    if others_carry_it(live).is_none() {
        put_back = take_out_of_template(object, record, &mut patch);
    }
    for map in ["labels", "annotations"] {
        let path = format!("/metadata/{map}");
        patch.remove_key(object, &path, AGENT_RECORD);
    }
    give_up_fields(object, &mut patch);
    let taken_from = record.taken_from.clone().filter(|_| put_back);
    TakeOut {
        operations: patch.0,
        manager: taken_from.unwrap_or_else(|| AGENT_MANAGER.to_owned()),
    }
}

/// Takes out what was put into the pod template; tells whether a value is put back.
fn take_out_of_template(object: &Value, record: &AgentRecord, patch: &mut Patch) -> bool {
    let is_agent = |item: &Value| item["name"] == AGENT;
    let pod = "/spec/template/spec";
    patch.remove_items(object, &format!("{pod}/initContainers"), is_agent);
    patch.remove_items(object, &format!("{pod}/volumes"), is_agent);
    let labels = "/spec/template/metadata/labels";
    let port = object
        .pointer(labels)
        .and_then(|it| it.get(COVERAGE_PORT)?.as_str());
    let port: Option<u64> = port.and_then(|port| port.parse().ok());
    patch.remove_key(object, labels, COVERAGE_PORT);
    let containers = format!("{pod}/containers");
    let all = object.pointer(&containers).and_then(Value::as_array);
    let chosen = all.and_then(|all| all.iter().position(|it| it["name"] == *record.container));
    let Some(chosen) = chosen else { return false };
    let container = format!("{containers}/{chosen}");
    let mounts = format!("{container}/volumeMounts");
    patch.remove_items(object, &mounts, |mount| {
        is_agent(mount) && mount["mountPath"] == AGENT_DIRECTORY
    });
    if let Some(port) = port.filter(|_| !record.port_was_there) {
        let is_it = |it: &Value| it["containerPort"] == port && it["protocol"] == "TCP";
        patch.remove_items(object, &format!("{container}/ports"), is_it);
    }
    restore_options(object, &format!("{container}/env"), record, patch)
}

/// Puts back what `JAVA_TOOL_OPTIONS` was. Where somebody has written another value since, only the agent is taken out of
/// that: a JVM does not start with an agent that is not there.
fn restore_options(object: &Value, env: &str, record: &AgentRecord, patch: &mut Patch) -> bool {
    let variables = object.pointer(env).and_then(Value::as_array);
    let place = variables.and_then(|all| all.iter().position(|it| it["name"] == OPTIONS));
    let (Some(variables), Some(place)) = (variables, place) else {
        return false;
    };
    let now = variables.get(place).and_then(|it| it["value"].as_str());
    let Some(rest) = now.and_then(without_agent) else {
        return false;
    };
    let is_untouched = rest == rest_of(record.java_tool_options.as_deref());
    let before = match is_untouched {
        true => record.java_tool_options.as_deref(),
        false => Some(&*rest),
    };
    let value = format!("{env}/{place}/value");
    match before {
        None => patch.remove_items(object, env, |it| it["name"] == OPTIONS),
        // The server keeps no empty value.
        Some("") => patch.push_removal(&value),
        Some(before) => {
            patch.push("replace", &value, json!(before));
            return true;
        }
    }
    false
}

/// What of an earlier value stands behind the agent's option: nothing when it was blank.
pub(super) fn rest_of(before: Option<&str>) -> &str {
    before
        .filter(|it| !it.trim().is_empty())
        .unwrap_or_default()
}

/// Gives up our share of the fields. An empty list would mean: as before.
fn give_up_fields(object: &Value, patch: &mut Patch) {
    let path = "/metadata/managedFields";
    let entries = object.pointer(path).and_then(Value::as_array);
    let Some(entries) = entries else { return };
    let is_ours = |entry: &Value| entry["manager"] == AGENT_MANAGER;
    match entries.iter().all(is_ours) {
        true if entries.is_empty() => {}
        true => patch.push("replace", path, json!([{}])),
        false => patch.remove_items(object, path, is_ours),
    }
}

/// Operations of a JSON patch (RFC 6902).
#[derive(Default)]
struct Patch(Vec<Value>);

impl Patch {
    fn push(&mut self, op: &str, path: &str, value: Value) {
        self.0
            .push(json!({ "op": op, "path": path, "value": value }));
    }

    fn push_removal(&mut self, path: &str) {
        self.0.push(json!({ "op": "remove", "path": path }));
    }

    /// Removes items of a list, or the list itself when no other is left: the server keeps no empty one.
    fn remove_items(&mut self, object: &Value, list: &str, goes: impl Fn(&Value) -> bool) {
        let items = object.pointer(list).and_then(Value::as_array);
        let items = items.map_or(&[][..], Vec::as_slice);
        let going: Vec<usize> = (0..items.len())
            .filter(|i| items.get(*i).is_some_and(&goes))
            .collect();
        match going.len() {
            0 => {}
            all if all == items.len() => self.push_removal(list),
            // From the end, so that the places of the others stay what they are.
            _ => {
                for place in going.iter().rev() {
                    self.push_removal(&format!("{list}/{place}"));
                }
            }
        }
    }

    fn remove_key(&mut self, object: &Value, map: &str, key: &str) {
        if object
            .pointer(map)
            .is_some_and(|map| map.get(key).is_some())
        {
            let key = key.replace('~', "~0").replace('/', "~1");
            self.push_removal(&format!("{map}/{key}"));
        }
    }
}
