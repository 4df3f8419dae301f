//! Sets of fields.

use super::parts::Parts;

/// Fields of an object, such as those that somebody manages: a tree in which each place may be in the set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Whether this place itself is in the set.
    pub(super) own: bool,
    /// Fields of an object.
    pub(super) fields: Parts,
    /// Items of a list, by what identifies them (see [`super::item`]).
    pub(super) items: Parts,
}

impl FieldSet {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        !self.own && !self.has_parts()
    }

    /// Whether something below the place itself is in it.
    pub(super) fn has_parts(&self) -> bool {
        !self.fields.is_empty() || !self.items.is_empty()
    }

    /// What is in it below a field.
    pub fn field(&self, name: &str) -> Option<&Self> {
        self.fields.get(name)
    }

    /// What is in it below an item of a list, given as in `fieldsV1`: `k:{"name":"c"}`, `v:"x"` or `i:0`.
    pub fn item(&self, item: &str) -> Option<&Self> {
        self.items.get(item)
    }

    /// Puts in what is below a field.
    pub(super) fn put_field(&mut self, name: &str, part: Self) {
        if !part.is_empty() {
            self.fields.insert(name.into(), part);
        }
    }

    /// Puts in what is below an item.
    pub(super) fn put_item(&mut self, item: &str, part: Self) {
        if !part.is_empty() {
            self.items.insert(item.into(), part);
        }
    }

    /// Adds all of another set.
    pub(super) fn add(&mut self, other: &Self) {
        let Self { own, fields, items } = other;
        self.own |= own;
        self.fields.add(fields);
        self.items.add(items);
    }

    /// Takes out all that is in another set.
    pub(super) fn subtract(&mut self, other: &Self) {
        let Self { own, fields, items } = other;
        self.own &= !own;
        self.fields.subtract(fields);
        self.items.subtract(items);
    }

    /// What is in both.
    pub(super) fn common(&self, other: &Self) -> Self {
        Self {
            own: self.own && other.own,
            fields: self.fields.common(&other.fields),
            items: self.items.common(&other.items),
        }
    }
}
