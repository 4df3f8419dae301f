//! Sequences written by hand.

use serde_json::{Value, json};

use super::sequence::Story;
use super::step::{Resource, Step, Verb};

impl Story {
    pub fn of(of: Resource) -> Self {
        let steps = Vec::new();
        Self { of, steps }
    }

    pub fn apply(self, manager: &str, fields: Value) -> Self {
        self.write(Verb::Apply, manager, "", fields)
    }

    pub fn force(self, manager: &str, fields: Value) -> Self {
        self.write(Verb::Apply, manager, "&force=true", fields)
    }

    pub fn create(self, manager: &str, fields: Value) -> Self {
        self.write(Verb::Create, manager, "", fields)
    }

    pub fn put(self, manager: &str, fields: Value) -> Self {
        self.write(Verb::Put, manager, "", fields)
    }

    pub fn merge(self, manager: &str, patch: Value) -> Self {
        self.then(Step::new(Verb::Merge, by(manager), patch))
    }

    pub fn strategic(self, manager: &str, patch: Value) -> Self {
        self.then(Step::new(Verb::Strategic, by(manager), patch))
    }

    pub fn json(self, manager: &str, operations: Value) -> Self {
        self.then(Step::new(Verb::Json, by(manager), operations))
    }

    pub fn delete(self, options: Value) -> Self {
        self.then(Step::new(Verb::Delete, "", options))
    }

    pub fn get(self) -> Self {
        self.then(Step::new(Verb::Get, "", Value::Null))
    }

    /// The request before, without keeping what comes of it.
    pub fn dry(mut self) -> Self {
        self.steps.last_mut().unwrap().query += "&dryRun=All";
        self
    }

    /// The request before, at a subresource.
    pub fn at(mut self, subresource: &'static str) -> Self {
        self.steps.last_mut().unwrap().subresource = subresource;
        self
    }

    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    fn write(self, verb: Verb, manager: &str, more: &str, fields: Value) -> Self {
        let version = self
            .of
            .api
            .strip_prefix("apis/")
            .or(self.of.api.strip_prefix("api/"));
        let mut object = json!({
            "apiVersion": version, "kind": self.of.kind, "metadata": { "name": "$NAME" },
        });
        for (name, value) in fields.as_object().unwrap() {
            match (name.as_str(), value.as_object()) {
                ("metadata", Some(metadata)) => {
                    object["metadata"]
                        .as_object_mut()
                        .unwrap()
                        .extend(metadata.clone());
                }
                _ => object[name] = value.clone(),
            }
        }
        self.then(Step::new(verb, by(manager) + more, object))
    }
}

fn by(manager: &str) -> String {
    format!("fieldManager={manager}")
}
