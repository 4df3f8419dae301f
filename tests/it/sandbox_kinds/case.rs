//! The cases of `tests/it/sandbox_kinds/*.yaml`, and what an API server answers to them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::answer::Answer;
use crate::support::api::{Api, Refused};
use crate::support::lab::api;
use crate::support::namespace::Namespace;
use crate::support::oracle::loader_reads;

/// The folder of the cases.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sandbox_kinds")
}

/// An object, and changes that are tried on it.
pub struct Group {
    name: String,
    base: Value,
    create: Vec<Value>,
    update: Vec<Value>,
}

/// The groups of a file.
pub fn groups(topic: &str) -> Vec<Group> {
    let name = format!("{topic}.yaml");
    let bytes = fs::read(folder().join(&name)).unwrap();
    let documents = loader_reads(&(name, bytes)).documents;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    documents
        .iter()
        .map(|document| {
            let document = document.root.to_json();
            Group {
                name: document["metadata"]["name"].as_str().unwrap().to_owned(),
                base: document["base"].clone(),
                create: list(&document["create"]),
                update: list(&document["update"]),
            }
        })
        .collect()
}

impl Group {
    /// Asks for each case; the answers by the group's name, what is done, and the change.
    pub fn ask(&self) -> Vec<([String; 3], Value)> {
        let namespace = Namespace::new("kinds");
        let place = Place::of(api(), &self.base, &namespace.name);
        let mut answers = Vec::new();
        for change in &self.create {
            let given = in_namespace(&changed(&self.base, change), &namespace.name);
            let answer = place.create(&given);
            answers.push((
                self.label("create", change),
                answer.to_json(&namespace.name),
            ));
        }
        for change in &self.update {
            let base = in_namespace(&self.base, &namespace.name);
            let answer = place.update(&base, change);
            answers.push((
                self.label("update", change),
                answer.to_json(&namespace.name),
            ));
        }
        place.delete(self.base["metadata"]["name"].as_str().unwrap());
        answers
    }

    fn label(&self, verb: &str, change: &Value) -> [String; 3] {
        [self.name.clone(), verb.to_owned(), change.to_string()]
    }
}

/// Where objects of a kind are.
pub struct Place<'a> {
    api: &'a Api,
    path: String,
    /// Services get addresses and ports only if they are really made.
    dry: bool,
}

impl<'a> Place<'a> {
    /// The place of an object's kind.
    pub fn of(api: &'a Api, object: &Value, namespace: &str) -> Self {
        Self::find(api, object, namespace).unwrap_or_else(|| panic!("no kind of {object}"))
    }

    /// The place of an object's kind, if it is served.
    pub fn find(api: &'a Api, object: &Value, namespace: &str) -> Option<Self> {
        let version = object["apiVersion"].as_str()?;
        let root = match version {
            "v1" => "/api/v1".to_owned(),
            version => format!("/apis/{version}"),
        };
        let list = api.find(&root)?;
        let resources = list["resources"].as_array()?;
        let resource = resources.iter().find(|resource| {
            let name = resource["name"].as_str().unwrap();
            resource["kind"] == object["kind"] && !name.contains('/')
        })?;
        let plural = resource["name"].as_str()?;
        let path = match resource["namespaced"].as_bool()? {
            true => format!("{root}/namespaces/{namespace}/{plural}"),
            false => format!("{root}/{plural}"),
        };
        let dry = plural != "services";
        Some(Self { api, path, dry })
    }

    /// What becomes of a new object; it does not stay.
    pub fn create(&self, given: &Value) -> Answer {
        let answer = self.send("POST", &self.path, given);
        if let (false, Ok(made)) = (self.dry, &answer) {
            self.delete(made["metadata"]["name"].as_str().unwrap());
        }
        Answer::to(given, answer)
    }

    /// What becomes of a change of an object, which is made for it.
    fn update(&self, base: &Value, change: &Value) -> Answer {
        let path = format!(
            "{}/{}",
            self.path,
            base["metadata"]["name"].as_str().unwrap()
        );
        loop {
            let live = self.api.find(&path).unwrap_or_else(|| {
                let made = self.api.send("POST", &self.path, "application/json", base);
                made.unwrap_or_else(|refused| panic!("{base}: {refused:?}"))
            });
            let given = changed(&live, change);
            let answer = self.send("PUT", &path, &given);
            // Controllers may have been faster.
            if matches!(answer, Err(Refused { code: 409, .. })) {
                continue;
            }
            if !self.dry {
                self.delete(base["metadata"]["name"].as_str().unwrap());
            }
            return Answer::to(&given, answer);
        }
    }

    fn send(&self, method: &str, path: &str, object: &Value) -> Result<Value, Refused> {
        let query = if self.dry { "?dryRun=All" } else { "" };
        let path = format!("{path}{query}");
        self.api.send(method, &path, "application/json", object)
    }

    fn delete(&self, name: &str) {
        let path = format!("{}/{name}?gracePeriodSeconds=0", self.path);
        self.api.delete(&path);
    }
}

fn in_namespace(object: &Value, namespace: &str) -> Value {
    serde_json::from_str(&object.to_string().replace("NAMESPACE", namespace)).unwrap()
}

/// The object with other values at some paths, such as `spec/ports/0/port`; `null` takes a field away.
fn changed(object: &Value, change: &Value) -> Value {
    let mut object = object.clone();
    for (path, value) in change.as_object().unwrap() {
        let (steps, last) = path.rsplit_once('/').unwrap_or(("", path));
        let mut place = &mut object;
        for step in steps.split('/').filter(|step| !step.is_empty()) {
            place = match step.parse::<usize>() {
                Ok(index) => &mut place[index],
                Err(_) => {
                    if place[step].is_null() {
                        place[step] = json!({});
                    }
                    &mut place[step]
                }
            };
        }
        match place {
            Value::Array(items) => {
                let index: usize = last.parse().unwrap();
                if index == items.len() {
                    items.push(value.clone());
                } else {
                    items[index] = value.clone();
                }
            }
            Value::Object(fields) => set(fields, last, value),
            other => panic!("{path}: {other}"),
        }
    }
    object
}

fn set(fields: &mut Map<String, Value>, name: &str, value: &Value) {
    match value {
        Value::Null => fields.remove(name),
        value => fields.insert(name.to_owned(), value.clone()),
    };
}
