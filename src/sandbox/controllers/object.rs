//! Reading objects.

use serde_json::{Map, Value, json};

use crate::store::Key;
pub(super) use crate::write::now;

/// A field of an object's metadata; empty when there is none.
pub(super) fn meta<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get("metadata")
        .and_then(|metadata| metadata.get(field)?.as_str())
        .unwrap_or_default()
}

/// The text at a JSON pointer; empty when there is none.
pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The whole number at a JSON pointer.
pub(super) fn number(object: &Value, pointer: &str, default: i64) -> i64 {
    let number = object.pointer(pointer).and_then(Value::as_i64);
    number.unwrap_or(default)
}

/// The items at a JSON pointer.
pub(super) fn items<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    let items = object.pointer(pointer).and_then(Value::as_array);
    items.into_iter().flatten()
}

/// Whether an object is on its way out.
pub(super) fn is_leaving(object: &Value) -> bool {
    !meta(object, "deletionTimestamp").is_empty()
}

/// Whether an object has a finalizer.
pub(super) fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    items(object, "/metadata/finalizers").any(|known| known == finalizer)
}

/// Where an object of a kind is that shares the namespace of another one.
pub(super) fn beside(key: &Key, resource: &str, name: &str) -> Key {
    Key {
        resource: resource.into(),
        namespace: key.namespace.clone(),
        name: name.to_owned(),
    }
}

/// The owner that controls an object.
pub(super) fn controller(object: &Value) -> Option<&Value> {
    items(object, "/metadata/ownerReferences")
        .find(|owner| owner.get("controller") == Some(&Value::Bool(true)))
}

/// Whether an object is controlled by the one with a uid.
pub(super) fn is_controlled_by(object: &Value, uid: &str) -> bool {
    controller(object).is_some_and(|owner| text(owner, "/uid") == uid)
}

/// A reference to an object that controls others.
pub(super) fn reference(owner: &Value) -> Value {
    json!({
        "apiVersion": owner.get("apiVersion"), "kind": owner.get("kind"),
        "name": meta(owner, "name"), "uid": meta(owner, "uid"),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// An object with one more owner, which controls it from then on.
pub(super) fn adopted(object: &Value, owner: &Value) -> Value {
    let owners = items(object, "/metadata/ownerReferences").cloned();
    let owners = owners.chain([reference(owner)]).collect();
    let mut adopted = object.clone();
    set_list(&mut adopted, "metadata", "ownerReferences", owners);
    adopted
}

/// The labels of an object.
pub(super) fn labels(object: &Value) -> Option<&Map<String, Value>> {
    object
        .pointer("/metadata/labels")
        .and_then(Value::as_object)
}

/// Whether labels hold all that a Service selects; nothing is selected by an empty selector.
pub(super) fn holds(labels: Option<&Map<String, Value>>, selector: Option<&Value>) -> bool {
    let selector = selector.and_then(Value::as_object);
    selector.is_some_and(|selector| {
        !selector.is_empty()
            && selector
                .iter()
                .all(|(name, value)| labels.and_then(|labels| labels.get(name)) == Some(value))
    })
}

/// Whether labels match a LabelSelector; an empty one matches nothing, as it does for controllers.
pub(super) fn matches(labels: Option<&Map<String, Value>>, selector: Option<&Value>) -> bool {
    let Some(selector) = selector else {
        return false;
    };
    let equal = selector.get("matchLabels").and_then(Value::as_object);
    let mut rules = items(selector, "/matchExpressions").peekable();
    if equal.is_none_or(Map::is_empty) && rules.peek().is_none() {
        return false;
    }
    let label = |name: &str| labels.and_then(|labels| labels.get(name));
    let equal = equal.into_iter().flatten();
    let mut equal = equal.map(|(name, value)| label(name) == Some(value));
    let mut rules = rules.map(|rule| {
        let found = label(text(rule, "/key"));
        let within = items(rule, "/values").any(|value| Some(value) == found);
        match text(rule, "/operator") {
            "In" => within,
            "NotIn" => !within,
            "Exists" => found.is_some(),
            _ => found.is_none(),
        }
    });
    equal.all(|good| good) && rules.all(|good| good)
}

/// The condition of a type.
pub(super) fn condition<'a>(object: &'a Value, r#type: &str) -> Option<&'a Value> {
    items(object, "/status/conditions").find(|condition| text(condition, "/type") == r#type)
}

/// Whether the condition of a type is `True`.
pub(super) fn is_true(object: &Value, r#type: &str) -> bool {
    condition(object, r#type).is_some_and(|condition| text(condition, "/status") == "True")
}

/// Sets a field of an object within an object, which is made when it is not there.
pub(super) fn set(object: &mut Value, path: &[&str], value: Value) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let mut place = object;
    for parent in parents {
        let Some(fields) = place.as_object_mut() else {
            return;
        };
        let next = fields.entry(*parent).or_insert(Value::Null);
        if next.is_null() {
            *next = json!({});
        }
        place = next;
    }
    if let Some(fields) = place.as_object_mut() {
        fields.insert((*last).to_owned(), value);
    }
}

/// Sets a list in an object's metadata or spec, or takes it away when nothing is in it.
pub(super) fn set_list(object: &mut Value, part: &str, field: &str, list: Vec<Value>) {
    if !list.is_empty() {
        set(object, &[part, field], list.into());
    } else if let Some(fields) = object.get_mut(part).and_then(Value::as_object_mut) {
        fields.remove(field);
    }
}

/// An object of numbers without those that are 0, as statuses leave them out; `kept` stays.
pub(super) fn counts<const N: usize>(kept: &str, counts: [(&str, i64); N]) -> Map<String, Value> {
    counts
        .into_iter()
        .filter(|(name, count)| *count != 0 || *name == kept)
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect()
}
