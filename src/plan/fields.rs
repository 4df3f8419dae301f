//! `fieldsV1`, kept small: there is one for each manager of each live object.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A tree of `f:`, `k:`, `v:` and `i:` steps; a leaf is an empty one.
///
/// A [`serde_json::Value`] would do, but its maps take 600 bytes even for one key: half the memory and a fifth of the
/// time of a run in which nothing has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fields(Box<[(Box<str>, Fields)]>);

impl Fields {
    /// What is below a step, if it is there.
    pub fn get(&self, step: &str) -> Option<&Self> {
        let found = self.0.binary_search_by(|(own, _)| (**own).cmp(step)).ok()?;
        self.0.get(found).map(|(_, under)| under)
    }

    /// Tells whether there is nothing below: a leaf, or a list or map that is owned as a whole.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps and what is below each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.0.iter().map(|(step, under)| (&**step, under))
    }
}

impl<S: Into<Box<str>>> FromIterator<(S, Self)> for Fields {
    fn from_iter<I: IntoIterator<Item = (S, Self)>>(steps: I) -> Self {
        let mut steps: Vec<_> = steps
            .into_iter()
            .map(|(s, under)| (s.into(), under))
            .collect();
        steps.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Self(steps.into())
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tree;

        impl<'de> Visitor<'de> for Tree {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a tree of fields")
            }

            fn visit_unit<E>(self) -> Result<Fields, E> {
                Ok(Fields::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                std::iter::from_fn(|| map.next_entry::<Box<str>, Fields>().transpose()).collect()
            }
        }

        deserializer.deserialize_any(Tree)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_are_found_whatever_their_order() {
        let fields =
            json!({ "f:b": {}, ".": {}, "f:a": { "k:{\"name\":\"x\"}": {} }, "f:c": null });
        for fields in [
            Fields::deserialize(&fields).unwrap(),
            serde_json::from_str(&fields.to_string()).unwrap(),
        ] {
            assert!(fields.get("f:b").unwrap().is_empty());
            let item = fields.get("f:a").and_then(|a| a.get("k:{\"name\":\"x\"}"));
            assert!(item.unwrap().is_empty());
            assert!(fields.get("f:d").is_none());
            assert_eq!(fields.iter().count(), 4);
        }
    }
}
