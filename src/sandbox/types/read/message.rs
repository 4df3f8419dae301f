//! Where a value is that cannot be read, and what Go calls its type.

use serde_json::Value;

use super::scalar::Failure;
use crate::merge::{Node, NodeId, Schema};

/// The way to a value.
#[derive(Debug, Default)]
pub struct Place<'a> {
    steps: Vec<Step<'a>>,
}

#[derive(Debug)]
enum Step<'a> {
    Field { owner: &'a str, name: &'a str },
    Key(String),
    Index(usize),
}

impl<'a> Place<'a> {
    pub fn field(&mut self, owner: &'a str, name: &'a str) {
        self.steps.push(Step::Field { owner, name });
    }

    pub fn key(&mut self, key: &str) {
        self.steps.push(Step::Key(key.to_owned()));
    }

    pub fn index(&mut self, index: usize) {
        self.steps.push(Step::Index(index));
    }

    pub fn leave(&mut self) {
        self.steps.pop();
    }

    /// The path of a field here, such as `spec.containers[0].bogus`.
    pub fn path(&self, field: &str) -> String {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                Step::Field { name, .. } => push(&mut path, name),
                Step::Key(key) => push(&mut path, key),
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        push(&mut path, field);
        path
    }

    /// What is said of a value of another type.
    pub fn mismatch(&self, value: &Value, wanted: &str) -> String {
        let given = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            // Numbers are named where it is their size or fraction that does not fit.
            Value::Number(number) if wanted.starts_with("int") => format!("number {number}"),
            Value::Number(_) => "number".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        let into = match self.go_field() {
            Some(field) => format!("struct field {field}"),
            None => "value".to_owned(),
        };
        format!("json: cannot unmarshal {given} into Go {into} of type {wanted}")
    }

    /// What is said of a scalar that cannot be read.
    pub fn explain(&self, failure: Failure) -> String {
        match failure {
            Failure::Type { given, wanted } => self.mismatch(&given, &wanted),
            Failure::Content(said) => said,
        }
    }

    /// The innermost struct, then the names of all fields from the root on, as Go's JSON package has it.
    fn go_field(&self) -> Option<String> {
        let mut names = Vec::new();
        let mut innermost = "";
        for step in &self.steps {
            if let Step::Field { owner, name } = step {
                innermost = owner;
                names.push(*name);
            }
        }
        (!names.is_empty()).then(|| format!("{innermost}.{}", names.join(".")))
    }
}

/// What Go calls a type.
pub fn go_type(schema: &Schema, id: NodeId) -> String {
    let name = schema.about(id).map_or("", |about| &about.name);
    match schema.node(id) {
        Node::Scalar(_) => name.to_owned(),
        Node::Struct(_) | Node::Any => {
            let mut parts = name.rsplit('.');
            match (parts.next(), parts.next()) {
                (Some(last), Some(package)) => format!("{package}.{last}"),
                _ => "struct".to_owned(),
            }
        }
        Node::Map { values, .. } => format!("map[string]{}", go_type(schema, *values)),
        Node::List { items, .. } => format!("[]{}", go_type(schema, *items)),
    }
}

/// `PodSpec` of `io.k8s.api.core.v1.PodSpec`.
pub fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn push(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}
