//! Defaults as tables: where, and what.

use serde_json::{Map, Value};

/// What a field is where it is not said.
#[derive(Clone, Copy)]
pub(super) enum Default {
    /// Text, also in the place of an empty one.
    Text(&'static str),
    /// A number.
    Int(i64),
    /// A number, also in the place of zero.
    Count(i64),
    /// `true` or `false`.
    Flag(bool),
    /// An object without fields.
    Empty,
}

use self::Default::{Count, Empty, Flag, Int, Text};

/// Fields and their defaults. `a[].b` is `b` in each item of the list `a`; `a+.b` makes the object `a` where there is none,
/// while `a.b` leaves it alone.
pub(super) type Table = [(&'static str, Default)];

/// Adds what a table says.
pub(super) fn add(object: &mut Value, table: &Table) {
    for (path, default) in table {
        set(object, path, *default);
    }
}

fn set(value: &mut Value, path: &str, default: Default) {
    let Some(fields) = value.as_object_mut() else {
        return;
    };
    let Some((step, rest)) = path.split_once('.') else {
        return fill(fields, path, default);
    };
    if let Some(list) = step.strip_suffix("[]") {
        let items = fields.get_mut(list).and_then(Value::as_array_mut);
        for item in items.into_iter().flatten() {
            set(item, rest, default);
        }
    } else if let Some(name) = step.strip_suffix('+') {
        set(object_in(fields, name), rest, default);
    } else if let Some(next) = fields.get_mut(step) {
        set(next, rest, default);
    }
}

fn fill(fields: &mut Map<String, Value>, name: &str, default: Default) {
    let missing = match (fields.get(name), default) {
        (None | Some(Value::Null), _) => true,
        (Some(Value::String(text)), Text(_)) => text.is_empty(),
        (Some(Value::Number(number)), Count(_)) => number.as_i64() == Some(0),
        _ => false,
    };
    if missing {
        fields.insert(name.to_owned(), default.value());
    }
}

/// The object in a field, made where there is none.
pub(super) fn object_in<'a>(fields: &'a mut Map<String, Value>, name: &str) -> &'a mut Value {
    let value = fields.entry(name).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value
}

impl Default {
    fn value(self) -> Value {
        match self {
            Text(text) => text.into(),
            Int(number) | Count(number) => number.into(),
            Flag(flag) => flag.into(),
            Empty => Value::Object(Map::new()),
        }
    }
}

/// The items of a list, to be changed.
pub(super) fn items<'a>(
    value: &'a mut Value,
    path: &str,
) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    let items = value.pointer_mut(path).and_then(Value::as_array_mut);
    items.into_iter().flatten()
}

/// Whether a field is there and not null.
pub(super) fn has(value: &Value, name: &str) -> bool {
    value.get(name).is_some_and(|value| !value.is_null())
}

/// The text of a field, or nothing.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Sets a field of an object.
pub(super) fn put(value: &mut Value, name: &str, to: impl Into<Value>) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert(name.to_owned(), to.into());
    }
}

/// Takes a field away.
pub(super) fn take(value: &mut Value, name: &str) {
    if let Some(fields) = value.as_object_mut() {
        fields.remove(name);
    }
}
