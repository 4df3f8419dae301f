//! What many objects have in common is kept once.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use super::locked;
use crate::plan::{Live, ManagedFields};

/// Labels and annotations longer than this are nobody else's.
const LONGEST_TEXT: usize = 64;

/// Parts of metadata that are kept once for all objects that have them. Objects of one shape with one history have equal
/// `managedFields`, which are most of their metadata.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Shared {
    fields: Pool<Vec<ManagedFields>>,
    texts: Pool<str>,
}

impl Shared {
    /// Shares what can be shared.
    pub fn share(&self, live: &mut Live) {
        self.fields.share(&mut live.managed_fields);
        for map in [&mut live.labels, &mut live.annotations] {
            map.share(|text| {
                if text.len() <= LONGEST_TEXT {
                    self.texts.share(text);
                }
            });
        }
    }
}

/// Equal values, once each.
#[derive(Debug)]
struct Pool<T: ?Sized>(Mutex<Entries<T>>);

#[derive(Debug)]
struct Entries<T: ?Sized> {
    values: HashSet<Arc<T>>,
    /// At so many, those that nobody has any more are dropped.
    tidy_at: usize,
}

impl<T: ?Sized> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::new(Entries {
            values: HashSet::new(),
            tidy_at: 1024,
        }))
    }
}

impl<T: ?Sized + Hash + Eq> Pool<T> {
    fn share(&self, value: &mut Arc<T>) {
        let Entries { values, tidy_at } = &mut *locked(&self.0);
        if let Some(known) = values.get(&**value) {
            *value = Arc::clone(known);
            return;
        }
        if values.len() >= *tidy_at {
            values.retain(|value| Arc::strong_count(value) > 1);
            *tidy_at = values.len() * 2 + 1024;
        }
        values.insert(Arc::clone(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::StringMap;

    fn live(label: &str) -> Live {
        Live {
            labels: StringMap::from_iter([("app", label)]),
            managed_fields: Arc::new(vec![ManagedFields {
                manager: "m".into(),
                ..ManagedFields::default()
            }]),
            ..Live::default()
        }
    }

    #[test]
    fn what_is_equal_is_kept_once_and_what_nobody_has_is_dropped() {
        let shared = Shared::default();
        let [mut a, mut b] = [live("x"), live("x")];
        shared.share(&mut a);
        shared.share(&mut b);
        assert!(Arc::ptr_eq(&a.managed_fields, &b.managed_fields));
        assert!(std::ptr::eq(
            a.labels.get("app").unwrap(),
            b.labels.get("app").unwrap()
        ));
        assert_eq!(a.labels, live("x").labels);

        for i in 0..5_000 {
            shared.share(&mut live(&i.to_string()));
        }
        let kept = locked(&shared.texts.0).values.len();
        assert!(kept < 2_000, "{kept}");
        let mut c = live("x");
        shared.share(&mut c);
        assert!(std::ptr::eq(
            a.labels.get("app").unwrap(),
            c.labels.get("app").unwrap()
        ));
    }
}
