//! What differs between two states of an object.

use std::collections::BTreeMap;

use serde_json::Value;

use super::set::FieldSet;
use super::shape::{Items, Shape, Type, list, object};

/// Fields that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Those that are new.
    pub(super) added: FieldSet,
    /// Those with another value.
    pub(super) modified: FieldSet,
    /// Those that are gone.
    pub(super) removed: FieldSet,
}

/// Compares two states of a value, one of which may be absent.
pub(super) fn compare(of: Type<'_>, before: Option<&Value>, after: Option<&Value>) -> Changes {
    let mut changes = Changes::default();
    if before == after {
        return changes;
    }
    let shapes = [before, after].map(|value| value.map(|value| of.shape(value)));
    let both = [before, after];
    match shapes {
        [Some(Shape::List(items)), _] | [_, Some(Shape::List(items))] => {
            changes.lists(items, before, after);
        }
        [Some(Shape::Object), Some(Shape::Object) | None] | [None, Some(Shape::Object)] => {
            changes.objects(of, before, after);
        }
        // What may be anything was an object and is none now, or the other way around.
        [Some(Shape::Object), _] | [_, Some(Shape::Object)] => {
            let [before, after] = both.map(|value| value.filter(|value| value.is_object()));
            changes.objects(of, before, after);
            changes.added.own = false;
            changes.removed.own = false;
            changes.modified.own = true;
        }
        _ => changes.whole(before, after),
    }
    changes
}

impl Changes {
    /// All fields that have a new value.
    pub(super) fn written(&self) -> FieldSet {
        let mut written = self.added.clone();
        written.add(&self.modified);
        written
    }

    fn whole(&mut self, before: Option<&Value>, after: Option<&Value>) {
        match (before, after) {
            (None, _) => self.added.own = true,
            (_, None) => self.removed.own = true,
            _ => self.modified.own = true,
        }
    }

    /// A whole that has parts was added or removed with them.
    fn appeared(&mut self, before: Option<&Value>, after: Option<&Value>) {
        self.added.own = before.is_none();
        self.removed.own = after.is_none();
    }

    fn objects(&mut self, of: Type<'_>, before: Option<&Value>, after: Option<&Value>) {
        let (left, right) = (object(before), object(after));
        if left.is_none() && right.is_none() {
            // Nothing, null and an empty object are told apart.
            return self.whole(before, after);
        }
        for (name, value) in left.into_iter().flatten() {
            let other = right.and_then(|right| right.get(name));
            let (of, _) = of.field_or_any(name);
            self.field(name, compare(of, Some(value), other));
        }
        for (name, value) in right.into_iter().flatten() {
            if left.is_none_or(|left| !left.contains_key(name)) {
                let (of, _) = of.field_or_any(name);
                self.field(name, compare(of, None, Some(value)));
            }
        }
        self.appeared(before, after);
    }

    fn lists(&mut self, items: Items<'_>, before: Option<&Value>, after: Option<&Value>) {
        let (left, right) = (list(before), list(after));
        if left.is_empty() && right.is_empty() {
            return self.whole(before, after);
        }
        let mut found: BTreeMap<Box<str>, [Vec<&Value>; 2]> = BTreeMap::new();
        for (side, values) in [left, right].into_iter().enumerate() {
            for value in values {
                if let Ok(id) = items.identify(value)
                    && let Some(side) = found.entry(id).or_default().get_mut(side)
                {
                    side.push(value);
                }
            }
        }
        for (id, [left, right]) in found {
            let part = match (left.as_slice(), right.as_slice()) {
                ([left], [right]) => compare(items.of, Some(left), Some(right)),
                ([left], []) => compare(items.of, Some(left), None),
                ([], [right]) => compare(items.of, None, Some(right)),
                (left, right) if left == right => Changes::default(),
                // Items that share a key are compared together.
                (left, right) => {
                    let mut part = Self::default();
                    part.whole(left.first().copied(), right.first().copied());
                    part
                }
            };
            self.item(&id, part);
        }
        self.appeared(before, after);
    }

    fn field(&mut self, name: &str, part: Self) {
        self.added.put_field(name, part.added);
        self.modified.put_field(name, part.modified);
        self.removed.put_field(name, part.removed);
    }

    fn item(&mut self, id: &str, part: Self) {
        self.added.put_item(id, part.added);
        self.modified.put_item(id, part.modified);
        self.removed.put_item(id, part.removed);
    }
}
