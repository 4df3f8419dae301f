//! Labels and annotations, kept small: there are two of them for each live object.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// Texts by key. A [`std::collections::BTreeMap`] would do, but takes 550 bytes even for one entry; and equal texts can be
/// shared by many objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StringMap(Box<[(Arc<str>, Arc<str>)]>);

impl StringMap {
    /// Finds the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.binary_search_by(|(own, _)| (**own).cmp(key)).ok()?;
        self.0.get(found).map(|(_, value)| &**value)
    }

    /// Tells whether there is a value.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Keys and values, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// The same, with only those keys.
    #[must_use]
    pub fn only(&self, keeps: impl Fn(&str) -> bool) -> Self {
        let kept = self.0.iter().filter(|(key, _)| keeps(key));
        Self(kept.cloned().collect())
    }

    /// Replaces each text by an equal one that is shared.
    pub fn share(&mut self, mut shared: impl FnMut(&mut Arc<str>)) {
        for (key, value) in &mut self.0 {
            shared(key);
            shared(value);
        }
    }
}

impl<K: Into<Arc<str>>, V: Into<Arc<str>>> FromIterator<(K, V)> for StringMap {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let mut entries: Vec<_> = entries.map(|(k, v)| (k.into(), v.into())).collect();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self(entries.into())
    }
}

impl<'de> Deserialize<'de> for StringMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = StringMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StringMap, A::Error> {
                std::iter::from_fn(|| map.next_entry::<String, String>().transpose()).collect()
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_whatever_their_order() {
        let map = StringMap::deserialize(&json!({ "b": "2", "a": "1", "c": "" })).unwrap();
        assert_eq!(
            [map.get("a"), map.get("b"), map.get("c")],
            [Some("1"), Some("2"), Some("")]
        );
        assert!(map.get("d").is_none() && !map.contains_key(""));
        assert_eq!(map.iter().map(|(key, _)| key).collect::<String>(), "abc");
        assert_eq!(
            map.only(|key| key == "b"),
            StringMap::from_iter([("b", "2")])
        );
        assert!(StringMap::deserialize(&json!({ "a": 1 })).is_err());
    }
}
