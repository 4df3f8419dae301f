//! Who owns which field: the desired object and `fieldsV1` walked together.
//!
//! A write by someone else to a field we applied removes it from our entry, whatever the value (measured on v1.20.2:
//! edits, renamed keys, deletes). So drift shows in metadata alone, without a schema and without a dry run.

use std::fmt;

use serde_json::{Map, Value};

use super::fields::Fields;
use super::live::ManagedFields;

/// The way to a field, as `fieldsV1` spells its steps: `f:spec`, `k:{"name":"a"}`, `v:"x"`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<String>);

impl FieldPath {
    /// The way along these steps.
    pub fn new<'a>(steps: impl IntoIterator<Item = &'a str>) -> Self {
        Self(steps.into_iter().map(str::to_owned).collect())
    }
}

/// As the API server prints it in a conflict: `.spec.ports[port=80,protocol="TCP"].name`.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.0 {
            match step.split_once(':') {
                Some(("f", name)) => write!(f, ".{name}")?,
                Some(("k", keys)) => {
                    let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
                    let keys: Vec<String> = keys.iter().map(|(k, v)| format!("{k}={v}")).collect();
                    write!(f, "[{}]", keys.join(","))?;
                }
                Some(("v", value)) => write!(f, "[={value}]")?,
                _ => write!(f, "[{step}]")?,
            }
        }
        Ok(())
    }
}

/// Finds the leaves of `desired` that `fields` does not hold: what somebody else has changed since.
pub fn lost_fields(desired: &Value, fields: &Fields) -> Vec<FieldPath> {
    let mut walk = Walk {
        path: Vec::new(),
        lost: Vec::new(),
    };
    for (key, value) in desired.as_object().into_iter().flatten() {
        match key.as_str() {
            // Identity is nobody's field.
            "apiVersion" | "kind" => {}
            "metadata" => {
                walk.path.push("f:metadata".into());
                let nothing = Fields::default();
                let under = fields.get("f:metadata").unwrap_or(&nothing);
                let named = value.as_object().into_iter().flatten();
                for (key, value) in
                    named.filter(|(key, _)| !matches!(key.as_str(), "name" | "namespace"))
                {
                    walk.key(key, value, under);
                }
                walk.path.pop();
            }
            _ => walk.key(key, value, fields),
        }
    }
    walk.lost
}

/// Names the managers, other than us, that own a field or something below it.
pub fn other_owners<'a>(path: &FieldPath, managed: &'a [ManagedFields]) -> Vec<&'a ManagedFields> {
    owners(path, managed)
        .filter(|entry| !entry.is_ours())
        .collect()
}

/// Names the managers that own a field or something below it.
pub fn owners<'a>(
    path: &FieldPath,
    managed: &'a [ManagedFields],
) -> impl Iterator<Item = &'a ManagedFields> {
    let holds = |entry: &&ManagedFields| {
        let mut fields = &entry.fields;
        for step in &path.0 {
            match fields.get(step) {
                Some(under) => fields = under,
                // Owning a whole atomic list or map is owning what is in it.
                None => {
                    return !std::ptr::eq(fields, &entry.fields) && fields.is_empty();
                }
            }
        }
        true
    };
    managed.iter().filter(holds)
}

/// Lists the fields below `path` (such as `["spec", "ports"]`) that anyone but us owns, with the owner's entry.
pub fn intruders<'a>(
    path: &[&str],
    managed: &'a [ManagedFields],
) -> Vec<(&'a ManagedFields, FieldPath)> {
    let ours = managed
        .iter()
        .find(|entry| entry.is_ours())
        .map(|entry| &entry.fields);
    let ours = ours.and_then(|fields| descend(path, fields));
    foreign_steps(path, managed)
        .filter(|(_, step)| ours.is_none_or(|ours| ours.get(step).is_none()))
        .map(|(entry, step)| {
            let mut path: Vec<String> = path.iter().map(|key| format!("f:{key}")).collect();
            path.push(step.to_owned());
            (entry, FieldPath(path))
        })
        .collect()
}

/// Lists the steps right below `path` that entries other than ours hold, whether we hold them as well or not.
pub fn foreign_steps<'a>(
    path: &[&str],
    managed: &'a [ManagedFields],
) -> impl Iterator<Item = (&'a ManagedFields, &'a str)> {
    managed
        .iter()
        .filter(|entry| !entry.is_ours())
        .filter_map(move |entry| Some((entry, descend(path, &entry.fields)?)))
        .flat_map(|(entry, theirs)| theirs.iter().map(move |(step, _)| (entry, step)))
        .filter(|(_, step)| *step != ".")
}

fn descend<'a>(path: &[&str], fields: &'a Fields) -> Option<&'a Fields> {
    path.iter()
        .try_fold(fields, |fields, key| fields.get(&format!("f:{key}")))
}

/// Tells whether a list holds the item that a step such as `k:{"port":80,"protocol":"TCP"}` speaks of.
pub fn holds_item(list: &Value, step: &str) -> bool {
    let keys = step.strip_prefix("k:");
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    keys.is_some_and(|keys| items.iter().any(|item| has_keys(item, keys)))
}

struct Walk {
    path: Vec<String>,
    lost: Vec<FieldPath>,
}

impl Walk {
    fn key(&mut self, key: &str, value: &Value, fields: &Fields) {
        self.path.push(format!("f:{key}"));
        match fields.get(self.path.last().map_or("", String::as_str)) {
            Some(under) => self.value(value, under),
            None => self.lose(value),
        }
        self.path.pop();
    }

    fn value(&mut self, value: &Value, owned: &Fields) {
        // Empty: a leaf, or a list or map that is owned as a whole.
        if owned.is_empty() {
            return;
        }
        match value {
            Value::Object(map) => map
                .iter()
                .for_each(|(key, value)| self.key(key, value, owned)),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(i, item)| self.item(i, item, owned)),
            _ => self.lose(value),
        }
    }

    fn item(&mut self, index: usize, item: &Value, owned: &Fields) {
        let entry = owned.iter().find(|(step, _)| match step.split_once(':') {
            Some(("k", keys)) => has_keys(item, keys),
            Some(("v", value)) => serde_json::from_str::<Value>(value).is_ok_and(|v| v == *item),
            Some(("i", i)) => i.parse() == Ok(index),
            _ => false,
        });
        match entry {
            Some((step, under)) => {
                self.path.push(step.to_owned());
                self.value(item, under);
                self.path.pop();
            }
            None => {
                self.path.push(name_item(index, item));
                self.lose(item);
                self.path.pop();
            }
        }
    }

    /// Names the leaves below, as the server's own conflicts do.
    ///
    /// An empty value is not a leaf: the server enters no owner for it (measured on v1.20.2).
    fn lose(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    self.path.push(format!("f:{key}"));
                    self.lose(value);
                    self.path.pop();
                }
            }
            Value::Array(items) if items.is_empty() => {}
            _ => self.lost.push(FieldPath(self.path.clone())),
        }
    }
}

/// Tells whether a list item has these key values; a key that the item leaves out was filled in by the server.
fn has_keys(item: &Value, keys: &str) -> bool {
    let Ok(keys) = serde_json::from_str::<Map<String, Value>>(keys) else {
        return false;
    };
    keys.iter()
        .all(|(key, value)| item.get(key).is_none_or(|own| own == value))
        && keys.keys().any(|key| item.get(key).is_some())
}

/// Spells a list item that nobody owns for people: by its name when it has one.
fn name_item(index: usize, item: &Value) -> String {
    match item.get("name") {
        Some(name) => format!("k:{{\"name\":{name}}}"),
        None => index.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lost(desired: &Value, fields: &Value) -> Vec<String> {
        let fields = serde_json::from_value(fields.clone()).unwrap();
        lost_fields(desired, &fields)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn service() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": "a", "namespace": "n", "labels": { "x": "y" }, "finalizers": ["x.io/f"] },
            "spec": { "clusterIP": "None", "ports": [{ "port": 80, "protocol": "TCP", "name": "web" }], "selector": { "app": "a" } },
        })
    }

    fn owned() -> Value {
        json!({
            "f:metadata": { "f:labels": { "f:x": {} }, "f:finalizers": { "v:\"x.io/f\"": {} } },
            "f:spec": {
                "f:clusterIP": {},
                "f:ports": { "k:{\"port\":80,\"protocol\":\"TCP\"}": { ".": {}, "f:port": {}, "f:protocol": {}, "f:name": {} } },
                "f:selector": { "f:app": {} },
            },
        })
    }

    #[test]
    fn everything_owned_is_no_drift() {
        assert_eq!(lost(&service(), &owned()), [""; 0]);
        // A later API server owns the selector as a whole.
        let mut atomic = owned();
        atomic["f:spec"]["f:selector"] = json!({});
        assert_eq!(lost(&service(), &atomic), [""; 0]);
    }

    #[test]
    fn each_lost_leaf_is_named() {
        let mut fields = owned();
        fields["f:spec"]["f:selector"] = json!({ ".": {} });
        fields["f:metadata"]
            .as_object_mut()
            .unwrap()
            .remove("f:finalizers");
        let port = fields.pointer_mut("/f:spec/f:ports").unwrap();
        port["k:{\"port\":80,\"protocol\":\"TCP\"}"]
            .as_object_mut()
            .unwrap()
            .remove("f:name");
        assert_eq!(
            lost(&service(), &fields),
            [
                ".metadata.finalizers",
                ".spec.ports[port=80,protocol=\"TCP\"].name",
                ".spec.selector.app"
            ]
        );
    }

    #[test]
    fn c23_empty_values_are_no_leaves() {
        let desired =
            json!({ "spec": { "strategy": {}, "emptyDir": { "a": {} }, "args": [] }, "data": {} });
        assert_eq!(
            lost(&desired, &json!({ "f:spec": { ".": {}, "f:x": {} } })),
            [""; 0]
        );
    }

    #[test]
    fn owners_are_found_also_through_atomic_parents() {
        let entry = |manager: &str, fields: Value| ManagedFields {
            manager: manager.into(),
            operation: "Update".into(),
            fields: serde_json::from_value(fields).unwrap(),
            ..ManagedFields::default()
        };
        let managed = [
            entry(
                "edit",
                json!({ "f:spec": { "f:selector": { "f:app": {} } } }),
            ),
            entry("whole", json!({ "f:spec": { "f:selector": {} } })),
            entry("other", json!({ "f:spec": { "f:ports": {} } })),
        ];
        let path = FieldPath(vec!["f:spec".into(), "f:selector".into(), "f:app".into()]);
        let owners: Vec<_> = other_owners(&path, &managed)
            .iter()
            .map(|e| e.manager.as_str())
            .collect();
        assert_eq!(owners, ["edit", "whole"]);
        let found: Vec<_> = intruders(&["spec", "selector"], &managed)
            .iter()
            .map(|(_, p)| p.to_string())
            .collect();
        assert_eq!(found, [".spec.selector.app"]);
    }
}
