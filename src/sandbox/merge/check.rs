//! Whether what is applied has its type.

use std::collections::BTreeSet;

use serde_json::Value;

use super::item;
use super::schema::Scalar;
use super::shape::{Class, Shape, Type, list};

/// What is wrong, as the API server lists it; `None` when nothing is.
pub(super) fn check(of: Type<'_>, value: &Value) -> Option<String> {
    let mut errors = Vec::new();
    walk(of, value, &Path::Root, &mut errors);
    match errors.as_slice() {
        [] => None,
        [error] => Some(error.clone()),
        errors => Some(format!("errors:\n  {}", errors.join("\n  "))),
    }
}

/// Where a value is: written out only when something is wrong there.
enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, &'a str),
}

impl Path<'_> {
    fn text(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Field(path, name) => format!("{}.{name}", path.text()),
            Self::Item(path, id) => format!("{}{}", path.text(), item::shown(id)),
        }
    }

    fn error(&self, what: &str) -> String {
        match self {
            Self::Root => what.to_owned(),
            path => format!("{}: {what}", path.text()),
        }
    }
}

fn walk(of: Type<'_>, value: &Value, path: &Path<'_>, errors: &mut Vec<String>) {
    match (of.class(), value) {
        (Class::Any, _) | (_, Value::Null) => {}
        (Class::Scalar(scalar), value) => {
            if let Some(expected) = misfit(scalar, value) {
                errors.push(path.error(&expected));
            }
        }
        (Class::Object, Value::Object(fields)) => {
            for (name, value) in fields {
                let path = Path::Field(path, name);
                match of.field(name) {
                    Some((of, _)) => walk(of, value, &path, errors),
                    None => errors.push(path.error("field not declared in schema")),
                }
            }
        }
        (Class::List, Value::Array(_)) => items(of, value, path, errors),
        (Class::Object, value) => {
            errors.push(path.error(&format!("expected map, got &{{{}}}", go(value))));
        }
        (Class::List, value) => {
            errors.push(path.error(&format!("expected list, got &{{{}}}", go(value))));
        }
    }
}

fn items(of: Type<'_>, value: &Value, path: &Path<'_>, errors: &mut Vec<String>) {
    let shape = of.shape(value);
    let mut seen = BTreeSet::new();
    for (index, item) in list(Some(value)).iter().enumerate() {
        let id = match &shape {
            Shape::List(items) => items.identify(item),
            _ => Ok(format!("i:{index}").into()),
        };
        match id {
            Err(why) => errors.push(path.error(&format!("element {index}: {why}"))),
            Ok(id) => {
                if let Some(of) = of.items() {
                    walk(of, item, &Path::Item(path, &id), errors);
                }
                if seen.contains(&id) {
                    let key = item::shown(&id);
                    errors.push(path.error(&format!("duplicate entries for key {key}")));
                }
                seen.insert(id);
            }
        }
    }
}

fn misfit(scalar: Scalar, value: &Value) -> Option<String> {
    let (fits, expected) = match scalar {
        Scalar::Integer | Scalar::Number => (value.is_number(), "numeric (int or float)"),
        Scalar::String | Scalar::Bytes | Scalar::Time => (value.is_string(), "string"),
        Scalar::Boolean => (value.is_boolean(), "boolean"),
        Scalar::IntOrString | Scalar::Quantity => {
            (!value.is_object() && !value.is_array(), "any scalar")
        }
    };
    if fits {
        return None;
    }
    let got = match scalar {
        Scalar::Integer | Scalar::Number => go_type(value).to_owned(),
        Scalar::String | Scalar::Bytes | Scalar::Time => {
            format!("&value.valueUnstructured{{Value:{}}}", go_syntax(value))
        }
        _ => format!("&{{{}}}", go(value)),
    };
    Some(format!("expected {expected}, got {got}"))
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A value as Go prints it.
fn go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name}:{}", go(value)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
        scalar => scalar.to_string(),
    }
}

/// A value as Go writes it in its own syntax.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name:?}:{}", go_syntax(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
        scalar => scalar.to_string(),
    }
}
