//! The directives of strategic merge patches.

use serde_json::{Map, Value};

use super::PatchError;
use super::go::print;
use super::order::same;

/// Says what becomes of an object or of a list.
pub(super) const DIRECTIVE: &str = "$patch";

/// Names the only keys that are kept of an object.
pub(super) const RETAIN: &str = "$retainKeys";

/// Before the name of a list of plain values: those that go.
pub(super) const DELETE: &str = "$deleteFromPrimitiveList/";

/// Before the name of a list: the order of its items.
pub(super) const ORDER: &str = "$setElementOrder/";

/// Takes the keys out of an object that a patch does not retain; the patch itself may have no others.
pub(super) fn retain(
    object: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    kept: &Value,
) -> Result<(), PatchError> {
    let bad = || PatchError::Malformed("invalid patch format of retainKeys".to_owned());
    let kept = kept.as_array().ok_or_else(bad)?;
    let is_kept = |name: &String| kept.iter().any(|kept| kept == name);
    let excepted = |name: &str| name.starts_with(DELETE) || name.starts_with(ORDER);
    if patch
        .iter()
        .any(|(name, value)| !value.is_null() && !excepted(name) && !is_kept(name))
    {
        return Err(bad());
    }
    object.retain(|name, _| is_kept(name));
    Ok(())
}

/// Takes values out of a list of plain ones.
pub(super) fn delete_plain(
    object: &mut Map<String, Value>,
    name: &str,
    deleted: &Value,
) -> Result<(), PatchError> {
    let Some(deleted) = deleted.as_array() else {
        return Err(PatchError::Malformed(
            "invalid patch format of primitive list".to_owned(),
        ));
    };
    if let Some(Value::Array(list)) = object.get_mut(name) {
        list.retain(|item| !deleted.contains(item));
    }
    Ok(())
}

/// Checks that the items of a patch come in the order that it sets.
pub(super) fn in_order(
    patch: &[Value],
    order: &[Value],
    key: Option<&str>,
) -> Result<(), PatchError> {
    let mut places = order.iter();
    let named = |item: &&Value| item.get(DIRECTIVE).and_then(Value::as_str) != Some("delete");
    for item in patch.iter().filter(named) {
        if !places.any(|place| same(place, item, key)) {
            return Err(PatchError::Failed(format!(
                "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                print(&patch.into()),
                print(&order.into())
            )));
        }
    }
    Ok(())
}

/// Checks that an item of a keyed list has the key.
pub(super) fn keyed(item: &Value, key: &str) -> Result<(), PatchError> {
    match item.get(key) {
        Some(_) => Ok(()),
        None => Err(PatchError::Failed(format!(
            "map: {} does not contain declared merge key: {key}",
            print(item)
        ))),
    }
}

/// What is said of a directive that there is not.
pub(super) fn unknown(directive: &Value, mut patch: Map<String, Value>) -> PatchError {
    patch.insert(DIRECTIVE.to_owned(), directive.clone());
    PatchError::Failed(format!(
        "unknown patch type: {} in map: {}",
        print(directive),
        print(&patch.into())
    ))
}

fn is_directive(name: &str) -> bool {
    name == DIRECTIVE || name == RETAIN || name.starts_with(DELETE) || name.starts_with(ORDER)
}

/// A value of a patch that meets nothing to merge with: without nulls and directives.
pub(super) fn plain(value: Value) -> Value {
    match value {
        Value::Object(mut fields) => {
            fields.retain(|name, value| !value.is_null() && !is_directive(name));
            let fields = fields.into_iter();
            fields.map(|(name, value)| (name, plain(value))).collect()
        }
        Value::Array(items) => {
            let kept = |item: &Value| item.get(DIRECTIVE).is_none();
            items.into_iter().filter(kept).map(plain).collect()
        }
        value => value,
    }
}
