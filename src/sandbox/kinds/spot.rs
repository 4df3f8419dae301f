//! A value and the way to it, which is only spelt out when there is something to say about it.

use std::fmt::{self, Display};

use serde_json::Value;

/// A value somewhere in an object; absent ones are `null`.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    pub(super) value: &'a Value,
    parent: Option<&'a Spot<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Spot<'a> {
    /// A whole object.
    pub(super) fn root(value: &'a Value) -> Self {
        Self {
            value,
            parent: None,
            step: Step::Field(""),
        }
    }

    /// A field.
    pub(super) fn field(&'a self, name: &'a str) -> Spot<'a> {
        self.step(
            self.value.get(name).unwrap_or(&Value::Null),
            Step::Field(name),
        )
    }

    /// A value that is spoken of as a field, though it is another one.
    pub(super) fn named(&'a self, name: &'a str, value: &'a Value) -> Spot<'a> {
        self.step(value, Step::Field(name))
    }

    /// The item at a place, which may not be there.
    pub(super) fn index(&'a self, index: usize) -> Spot<'a> {
        let value = self.value.get(index).unwrap_or(&Value::Null);
        self.step(value, Step::Index(index))
    }

    /// The entry of a map.
    pub(super) fn key(&'a self, key: &'a str) -> Spot<'a> {
        self.step(self.value.get(key).unwrap_or(&Value::Null), Step::Key(key))
    }

    /// The items of a list.
    pub(super) fn items(&'a self) -> impl Iterator<Item = Spot<'a>> {
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        let item = |(index, value)| self.step(value, Step::Index(index));
        items.iter().enumerate().map(item)
    }

    /// The items of a list that are text.
    pub(super) fn texts(&self) -> Vec<&'a str> {
        let items = self.value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).collect()
    }

    /// The entries of a map.
    pub(super) fn entries(&'a self) -> impl Iterator<Item = (&'a str, Spot<'a>)> {
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), self.step(value, Step::Key(key))))
    }

    /// How many items or entries there are.
    pub(super) fn len(&self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            _ => 0,
        }
    }

    /// Whether there is nothing.
    pub(super) fn absent(&self) -> bool {
        self.value.is_null()
    }

    /// Whether there is something.
    pub(super) fn present(&self) -> bool {
        !self.absent()
    }

    /// A text; nothing is an empty one.
    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// A whole number.
    pub(super) fn int(&self) -> Option<i64> {
        self.value.as_i64()
    }

    /// Whether it is `true`.
    pub(super) fn is_true(&self) -> bool {
        self.value == &Value::Bool(true)
    }

    fn step(&'a self, value: &'a Value, step: Step<'a>) -> Spot<'a> {
        Spot {
            value,
            parent: Some(self),
            step,
        }
    }
}

impl Display for Spot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else {
            return Ok(());
        };
        parent.fmt(f)?;
        match self.step {
            Step::Field(name) if parent.parent.is_none() => f.write_str(name),
            Step::Field(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key}]"),
        }
    }
}
