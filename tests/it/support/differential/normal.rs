//! Takes the noise out of answers: times, and what each side makes up for itself.

use serde_json::{Value, json};

use super::answer::{Answer, Memory};

/// An answer as it is compared.
pub fn normal(answer: &Answer, memory: &mut Memory, minor: u32) -> Value {
    let mut body = answer.body.clone();
    if body["kind"] == "Status" && body["apiVersion"] == "v1" {
        refusal(&mut body, memory);
    } else if body.is_object() {
        object(&mut body, memory);
        if minor < 22 {
            before_1_22(&mut body);
        }
    }
    json!({ "code": answer.code, "body": body })
}

fn refusal(status: &mut Value, memory: &mut Memory) {
    let fields = status.as_object_mut().unwrap();
    fields.remove("metadata");
    if let Some(uid) = fields
        .get_mut("details")
        .and_then(|details| details.get_mut("uid"))
    {
        *uid = memory.uid(uid.as_str().unwrap()).into();
    }
    // Messages about preconditions quote what was made up.
    if let Some(Value::String(message)) = status.get_mut("message") {
        for (at, word) in memory.uids.iter().chain(&memory.versions).enumerate() {
            *message = message.replace(&format!("({word})"), &format!("(value {at})"));
            *message = message.replace(&format!(": {word},"), &format!(": value {at},"));
        }
    }
    // Their order is that of a hash map.
    if let Some(causes) = status["details"]["causes"].as_array_mut() {
        causes.sort_by_key(ToString::to_string);
    }
}

fn object(object: &mut Value, memory: &mut Memory) {
    if object["kind"] == "Service" {
        addresses(object);
    }
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    metadata.remove("selfLink");
    for name in ["creationTimestamp", "deletionTimestamp"] {
        if let Some(time) = metadata.get_mut(name).filter(|time| !time.is_null()) {
            *time = "a time".into();
        }
    }
    if let Some(Value::String(uid)) = metadata.get_mut("uid") {
        *uid = memory.uid(uid);
    }
    if let Some(Value::String(version)) = metadata.get_mut("resourceVersion") {
        *version = memory.version(version);
    }
    if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
        managed(entries);
    }
}

/// Entries in the order of their names: that of their times says who came first within a second.
fn managed(entries: &mut [Value]) {
    for entry in entries.iter_mut() {
        if let Some(time) = entry.get_mut("time") {
            *time = "a time".into();
        }
    }
    entries.sort_by_key(|entry| {
        let text = |name| entry[name].as_str().unwrap_or_default().to_owned();
        ["operation", "manager", "apiVersion", "subresource"].map(text)
    });
}

/// Servers before 1.22 do not tell subresources apart in entries, and let writes to the object itself take its status and
/// leave it: there is nothing of status to compare.
fn before_1_22(object: &mut Value) {
    let Some(Value::Array(entries)) = object["metadata"].get_mut("managedFields") else {
        return;
    };
    for entry in entries.iter_mut() {
        let entry = entry.as_object_mut().unwrap();
        entry.remove("subresource");
        if let Some(Value::Object(fields)) = entry.get_mut("fieldsV1") {
            fields.remove("f:status");
        }
    }
    entries.retain(|entry| entry["fieldsV1"] != json!({}));
    if entries.is_empty()
        && let Some(metadata) = object["metadata"].as_object_mut()
    {
        metadata.remove("managedFields");
    }
}

/// Addresses and ports of nodes are given out at random.
fn addresses(service: &mut Value) {
    let given = |address: &Value| {
        address
            .as_str()
            .is_some_and(|address| address.starts_with("10."))
    };
    let spec = &mut service["spec"];
    if given(&spec["clusterIP"]) {
        spec["clusterIP"] = "an address".into();
    }
    for address in spec["clusterIPs"].as_array_mut().into_iter().flatten() {
        if given(address) {
            *address = "an address".into();
        }
    }
    for port in spec["ports"].as_array_mut().into_iter().flatten() {
        if port["nodePort"].is_number() {
            port["nodePort"] = "a port".into();
        }
    }
}

/// A place where two answers differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Such as `.body.spec.replicas`.
    pub path: String,
    pub sandbox: Option<Value>,
    pub server: Option<Value>,
}

/// All places where two answers differ.
pub fn differences(sandbox: &Value, server: &Value) -> Vec<Difference> {
    let (mut sandbox, server) = (sandbox.clone(), server.clone());
    if sandbox["code"] == 422 && server["code"] == 422 && known(&sandbox, &server) {
        for part in ["message", "details"] {
            sandbox["body"][part] = server["body"][part].clone();
        }
    }
    let mut found = Vec::new();
    walk(Some(&sandbox), Some(&server), String::new(), &mut found);
    found
}

/// Whether all that one of two refusals of an invalid object names is also named by the other, if in other words.
///
/// The sandbox need not find everything that is wrong, but what it finds must be.
fn known(sandbox: &Value, server: &Value) -> bool {
    let causes = |side: &Value| -> Vec<[Value; 2]> {
        let causes = side["body"]["details"]["causes"].as_array();
        let causes = causes.into_iter().flatten();
        causes
            .map(|cause| ["field", "reason"].map(|part| cause[part].clone()))
            .collect()
    };
    let theirs = causes(server);
    causes(sandbox).iter().all(|cause| theirs.contains(cause))
}

fn walk(
    sandbox: Option<&Value>,
    server: Option<&Value>,
    path: String,
    found: &mut Vec<Difference>,
) {
    if sandbox == server {
        return;
    }
    match (sandbox, server) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut names: Vec<_> = left.keys().chain(right.keys()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                walk(
                    left.get(name),
                    right.get(name),
                    format!("{path}.{name}"),
                    found,
                );
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for at in 0..left.len().max(right.len()) {
                walk(left.get(at), right.get(at), format!("{path}[{at}]"), found);
            }
        }
        _ => found.push(Difference {
            path,
            sandbox: sandbox.cloned(),
            server: server.cloned(),
        }),
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |value: &Option<Value>| match value {
            None => "nothing".to_owned(),
            Some(value) => value.to_string(),
        };
        let Self {
            path,
            sandbox,
            server,
        } = self;
        write!(
            f,
            "{path}: sandbox {}, server {}",
            shown(sandbox),
            shown(server)
        )
    }
}

/// A document with its lists in an order of their own.
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, sorted(value)))
            .collect(),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(sorted).collect();
            items.sort_by_key(ToString::to_string);
            items.into()
        }
        value => value,
    }
}
