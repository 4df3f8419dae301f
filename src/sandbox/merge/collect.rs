//! Which fields an object has.

use serde_json::Value;

use super::set::FieldSet;
use super::shape::{Shape, Type, list, object};

/// The fields that an applied object takes: all that has no parts, and what nobody but it makes be there, items of lists and
/// keys of maps. An empty object or list is none.
pub(super) fn collect(of: Type<'_>, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    match of.shape(value) {
        Shape::Leaf => set.own = true,
        Shape::Object => {
            for (name, value) in object(Some(value)).into_iter().flatten() {
                let (of, named) = of.field_or_any(name);
                let mut part = collect(of, value);
                part.own |= !named;
                set.put_field(name, part);
            }
        }
        Shape::List(items) => {
            for item in list(Some(value)) {
                if let Ok(id) = items.identify(item) {
                    let mut part = collect(items.of, item);
                    part.own = true;
                    set.put_item(&id, part);
                }
            }
        }
    }
    set
}
