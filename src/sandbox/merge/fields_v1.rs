//! Sets of fields as `managedFields` hold them (`fieldsV1`).
//!
//! Objects are kept with them as text, which takes a tenth of the room of a JSON value; whoever shows an object writes the
//! text out, or has it expanded.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::item;
use super::set::FieldSet;

impl FieldSet {
    /// Reads `fieldsV1`, or its text; `None` when it is none.
    pub fn decode(fields: &Value) -> Option<Self> {
        match fields {
            Value::String(text) => serde_json::from_str(text).ok(),
            fields => Self::deserialize(fields).ok(),
        }
    }

    /// Writes the text of `fieldsV1`.
    pub fn encode(&self) -> Value {
        // There is nothing in it that cannot be written.
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// The text of `fieldsV1`, to be written out as it is; `None` for what is no such text.
pub fn written(fields: &Value) -> Option<&RawValue> {
    serde_json::from_str(fields.as_str()?).ok()
}

/// Puts values in the place of the texts in `managedFields`.
pub fn expand(object: &mut Value) {
    let entries = object.pointer_mut("/metadata/managedFields");
    let entries = entries.and_then(Value::as_array_mut).into_iter().flatten();
    for fields in entries.filter_map(|entry| entry.get_mut("fieldsV1")) {
        let value = fields
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        if let Some(value) = value {
            *fields = value;
        }
    }
}

impl Serialize for FieldSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { own, fields, items } = self;
        let mut map = serializer.serialize_map(None)?;
        if *own && self.has_parts() {
            map.serialize_entry(".", &Self::default())?;
        }
        for (name, part) in fields.iter() {
            map.serialize_entry(&FieldName(name), part)?;
        }
        for (item, part) in items.iter() {
            map.serialize_entry(item, part)?;
        }
        map.end()
    }
}

struct FieldName<'a>(&'a str);

impl Serialize for FieldName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("f:{}", self.0))
    }
}

impl<'de> Deserialize<'de> for FieldSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SetVisitor)
    }
}

struct SetVisitor;

impl<'de> Visitor<'de> for SetVisitor {
    type Value = FieldSet;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("fieldsV1")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FieldSet, A::Error> {
        let mut set = FieldSet::default();
        while let Some(place) = map.next_key_seed(PlaceVisitor)? {
            if let Place::Own = place {
                map.next_value::<IgnoredAny>()?;
                set.own = true;
                continue;
            }
            let mut part: FieldSet = map.next_value()?;
            // A place without parts is in the set; one with parts says so with a dot.
            part.own |= !part.has_parts();
            match place {
                Place::Own => {}
                Place::Field(name) => set.fields.insert(name, part),
                Place::Item(item) => set.items.insert(item, part),
            }
        }
        Ok(set)
    }
}

/// What a key of `fieldsV1` stands for.
enum Place {
    /// What has the parts that the other keys stand for.
    Own,
    Field(Box<str>),
    Item(Box<str>),
}

struct PlaceVisitor;

impl<'de> DeserializeSeed<'de> for PlaceVisitor {
    type Value = Place;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Place, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for PlaceVisitor {
    type Value = Place;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a place in an object")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Place, E> {
        let place = match key.split_once(':') {
            None if key == "." => Some(Place::Own),
            Some(("f", name)) => Some(Place::Field(name.into())),
            Some((kind, text)) => item::canonical(kind, text).map(Place::Item),
            None => None,
        };
        place.ok_or_else(|| E::custom("no place in an object"))
    }
}
