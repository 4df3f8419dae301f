//! Takes out what a manager applied before and does not apply any more.

use serde_json::Value;

use super::set::FieldSet;
use super::shape::{Shape, Type};

/// Takes out of a value what is in the manager's former set, and in nobody's set now.
///
/// A field of a struct counts as managed with any of its parts: when the last of them goes, it goes whole, with what nobody
/// manages in it. Maps and items of lists are managed by themselves; one of which all parts go becomes null.
pub(super) fn prune(of: Type<'_>, value: &mut Value, former: &FieldSet, sets: &[&FieldSet]) {
    if !former.has_parts() {
        return;
    }
    let shape = of.shape(value);
    match (shape, value) {
        (Shape::Object, Value::Object(fields)) => {
            for (name, former) in former.fields.iter() {
                let Some(field) = fields.get_mut(name) else {
                    continue;
                };
                let (of, named) = of.field_or_any(name);
                let sets = below(sets, |set| set.fields.get(name));
                let managed = |set: &FieldSet| set.own || named && set.has_parts();
                let gone = managed(former)
                    && !sets.iter().any(|set| managed(set))
                    && (former.own || !hollow(field));
                if gone {
                    fields.remove(name);
                } else if !hollow(field) {
                    prune(of, field, former, &sets);
                    if hollow(field) {
                        *field = Value::Null;
                    }
                }
            }
        }
        (Shape::List(items), Value::Array(list)) => list.retain_mut(|item| {
            let Ok(id) = items.identify(item) else {
                return true;
            };
            let Some(former) = former.items.get(&id) else {
                return true;
            };
            let sets = below(sets, |set| set.items.get(&id));
            if former.own && !sets.iter().any(|set| set.own) {
                return false;
            }
            prune(items.of, item, former, &sets);
            true
        }),
        _ => {}
    }
}

fn below<'a>(
    sets: &[&'a FieldSet],
    part: impl Fn(&'a FieldSet) -> Option<&'a FieldSet>,
) -> Vec<&'a FieldSet> {
    sets.iter().filter_map(|set| part(set)).collect()
}

fn hollow(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
