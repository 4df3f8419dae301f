//! Rows of custom objects: name, age, and what their definition says.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age, text};
use crate::types::{Column, Kind};

/// The column that is there when a definition names none.
fn plain() -> Column {
    Column {
        name: "Age".to_owned(),
        r#type: "date".to_owned(),
        path: ".metadata.creationTimestamp".to_owned(),
        priority: 0,
    }
}

fn columns(kind: &Kind) -> Vec<Column> {
    match kind.columns.is_empty() {
        true => vec![plain()],
        false => kind.columns.clone(),
    }
}

pub fn definitions(kind: &Kind) -> Vec<Value> {
    let name = json!({ "name": "Name", "type": "string", "format": "name", "description": "", "priority": 0 });
    let column = |column: Column| {
        let Column {
            name,
            r#type,
            priority,
            ..
        } = column;
        json!({ "name": name, "type": r#type, "format": "", "description": "", "priority": priority })
    };
    std::iter::once(name)
        .chain(columns(kind).into_iter().map(column))
        .collect()
}

pub fn cells(kind: &Kind, object: &Value, now: Timestamp) -> Vec<Value> {
    let cell = |column: Column| cell(&column, object, now);
    std::iter::once(text::name(object))
        .chain(columns(kind).into_iter().map(cell))
        .collect()
}

fn cell(column: &Column, object: &Value, now: Timestamp) -> Value {
    let Some(value) = find(object, &column.path).filter(|value| !value.is_null()) else {
        return Value::Null;
    };
    match (column.r#type.as_str(), value) {
        ("date", Value::String(time)) => age::since(time, now).into(),
        ("date", _) => "<unknown>".into(),
        ("integer" | "number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_)) => value.clone(),
        ("string", other) => other.to_string().into(),
        _ => Value::Null,
    }
}

/// What a JSON path leads to; of several things, the first. Fields, quoted fields, indices and one test for equality
/// (`.status.conditions[?(@.type=="Ready")].status`) are understood.
fn find<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut at = object;
    let mut rest = path.trim_start_matches('$');
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (step, after) = inner.split_once(']')?;
            at = match step.strip_prefix("?(").and_then(|it| it.strip_suffix(')')) {
                Some(test) => at.as_array()?.iter().find(|it| is_true(it, test))?,
                None => item(at, step)?,
            };
            rest = after;
        } else {
            let field = rest.trim_start_matches('.');
            let end = end_of(field);
            let (name, after) = field.split_at_checked(end)?;
            if !name.is_empty() {
                at = at.get(name.replace('\\', ""))?;
            }
            rest = after;
        }
    }
    Some(at)
}

/// Where a field's name ends; dots in it are escaped.
fn end_of(field: &str) -> usize {
    let mut escaped = false;
    let ends = |it: char| {
        let ends = matches!(it, '.' | '[') && !escaped;
        escaped = it == '\\';
        ends
    };
    field.find(ends).unwrap_or(field.len())
}

fn item<'a>(at: &'a Value, step: &str) -> Option<&'a Value> {
    let quoted = step
        .strip_prefix(['\'', '"'])
        .and_then(|it| it.strip_suffix(['\'', '"']));
    match (quoted, step) {
        (Some(field), _) => at.get(field),
        (None, "*") => at.as_array()?.first(),
        (None, index) => at.get(index.parse::<usize>().ok()?),
    }
}

fn is_true(item: &Value, test: &str) -> bool {
    let Some((path, wanted)) = test.split_once("==") else {
        return false;
    };
    let wanted = wanted.trim().trim_matches(['\'', '"']);
    match find(item, path.trim().trim_start_matches('@')) {
        Some(Value::String(found)) => found == wanted,
        Some(found) => {
            let found = found.to_string();
            found == wanted
        }
        None => false,
    }
}
