//! JSON patches (RFC 6902).

use serde_json::Value;

use super::PatchError;

/// Changes a document by a list of operations.
///
/// # Errors
/// When the patch is no list, or when an operation does not fit the document.
pub fn json(document: &mut Value, patch: &Value) -> Result<(), PatchError> {
    let Some(operations) = patch.as_array() else {
        let kind = match patch {
            Value::Object(_) => "object",
            Value::String(_) => "string",
            Value::Number(_) => "number",
            Value::Bool(_) => "bool",
            Value::Null | Value::Array(_) => "null",
        };
        return Err(PatchError::Malformed(format!(
            "json: cannot unmarshal {kind} into Go value of type jsonpatch.Patch"
        )));
    };
    operations
        .iter()
        .try_for_each(|operation| operate(document, operation))
        .ok_or(PatchError::Unfit)
}

/// Does one operation; `None` when it does not fit.
fn operate(document: &mut Value, operation: &Value) -> Option<()> {
    let text = |field| operation.get(field).and_then(Value::as_str);
    let path = text("path")?;
    let value = operation.get("value").unwrap_or(&Value::Null);
    match text("op")? {
        "add" => add(document, path, value.clone()),
        "remove" => remove(document, path).map(drop),
        "replace" => {
            *find(document, path)? = value.clone();
            Some(())
        }
        "move" => {
            let moved = remove(document, text("from")?)?;
            add(document, path, moved)
        }
        "copy" => {
            let copied = document.pointer(text("from")?)?.clone();
            add(document, path, copied)
        }
        "test" => {
            // What is absent equals null.
            let found = document.pointer(path).unwrap_or(&Value::Null);
            (found == value).then_some(())
        }
        _ => None,
    }
}

/// Splits a path in that of the container and the key in it, unescaped.
fn split(path: &str) -> Option<(&str, String)> {
    let (container, key) = path.rsplit_once('/')?;
    Some((container, key.replace("~1", "/").replace("~0", "~")))
}

fn find<'a>(document: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let (container, key) = split(path)?;
    match document.pointer_mut(container)? {
        Value::Object(fields) => fields.get_mut(&key),
        Value::Array(items) => {
            let index = index(&key, items.len())?;
            items.get_mut(index)
        }
        _ => None,
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Option<()> {
    let (container, key) = split(path)?;
    match document.pointer_mut(container)? {
        Value::Object(fields) => {
            fields.insert(key, value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let index = index(&key, items.len() + 1)?;
            items.insert(index, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &str) -> Option<Value> {
    let (container, key) = split(path)?;
    match document.pointer_mut(container)? {
        Value::Object(fields) => fields.remove(&key),
        Value::Array(items) => {
            let index = index(&key, items.len())?;
            Some(items.remove(index))
        }
        _ => None,
    }
}

/// A place in a list of `length` items; negative ones count from its end.
fn index(key: &str, length: usize) -> Option<usize> {
    let index: isize = key.parse().ok()?;
    let index = match usize::try_from(index) {
        Ok(index) => index,
        Err(_) => length.checked_sub(index.unsigned_abs())?,
    };
    (index < length).then_some(index)
}
