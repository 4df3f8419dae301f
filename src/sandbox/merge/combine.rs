//! Puts an applied object into a live one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::shape::{Items, Shape, Type, list, object};

/// The live value with what is applied; what is not applied stays.
pub(super) fn combine(of: Type<'_>, live: Option<&Value>, applied: &Value) -> Value {
    let Some(live) = live else {
        return applied.clone();
    };
    let mut combined = live.clone();
    put(of, &mut combined, applied);
    combined
}

/// Puts what is applied into a live value.
fn put(of: Type<'_>, live: &mut Value, applied: &Value) {
    match (of.shape(live), of.shape(applied)) {
        (Shape::Object, Shape::Object) => {
            if object(Some(live)).is_none() {
                *live = applied.clone();
            } else if let (Some(fields), Some(changed)) =
                (live.as_object_mut(), object(Some(applied)))
            {
                objects(of, fields, changed);
            }
        }
        (Shape::List(items), Shape::List(_)) => {
            let (left, right) = (list(Some(live)), list(Some(applied)));
            if left.is_empty() {
                *live = applied.clone();
            } else if same_items(items, left, right) {
                let live = live.as_array_mut().into_iter().flatten();
                live.zip(right)
                    .for_each(|(live, applied)| put(items.of, live, applied));
            } else if !right.is_empty() {
                *live = lists(items, left, right);
            }
        }
        _ => *live = applied.clone(),
    }
}

fn objects(of: Type<'_>, fields: &mut Map<String, Value>, changed: &Map<String, Value>) {
    for (name, value) in changed {
        match fields.get_mut(name) {
            Some(field) => put(of.field_or_any(name).0, field, value),
            None => {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Whether two lists have the same items, each once and in the same order.
fn same_items(items: Items<'_>, left: &[Value], right: &[Value]) -> bool {
    let identify = |list: &[Value]| -> Option<Vec<Box<str>>> {
        list.iter().map(|item| items.identify(item).ok()).collect()
    };
    left.len() == right.len()
        && identify(left).is_some_and(|ids| {
            identify(right).as_ref() == Some(&ids)
                && ids.iter().collect::<BTreeSet<_>>().len() == ids.len()
        })
}

fn lists(items: Items<'_>, left: &[Value], right: &[Value]) -> Value {
    let left = Index::new(items, left);
    let right = Index::new(items, right);
    merge(items, &left, &right).into()
}

/// The items of a list by what identifies them.
struct Index<'a> {
    order: Vec<Box<str>>,
    items: BTreeMap<Box<str>, Vec<&'a Value>>,
}

impl<'a> Index<'a> {
    fn new(items: Items<'_>, list: &'a [Value]) -> Self {
        let mut index = Self {
            order: Vec::new(),
            items: BTreeMap::new(),
        };
        for item in list {
            if let Ok(id) = items.identify(item) {
                let same = index.items.entry(id.clone()).or_default();
                if same.is_empty() {
                    index.order.push(id);
                }
                same.push(item);
            }
        }
        index
    }

    fn get(&self, id: &str) -> &[&'a Value] {
        self.items.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    fn has(&self, id: &str) -> bool {
        self.items.contains_key(id)
    }
}

/// Items that are in both lists get the order of the applied one; those that are in one of them stay beside their
/// neighbours.
fn merge(items: Items<'_>, live: &Index<'_>, applied: &Index<'_>) -> Vec<Value> {
    let mut merged = Vec::with_capacity(live.order.len() + applied.order.len());
    let mut shared: VecDeque<&str> = applied.order.iter().map(AsRef::as_ref).collect();
    shared.retain(|id| live.has(id));
    let take = |id: &str, merged: &mut Vec<Value>| {
        // Live items that share a key give way to the one that is applied.
        let live = match live.get(id) {
            [live] => Some(*live),
            _ => None,
        };
        let applied = applied.get(id).iter().copied();
        merged.extend(applied.map(|applied| combine(items.of, live, applied)));
    };
    let mut left = live.order.iter().map(AsRef::as_ref).peekable();
    let mut right = applied.order.iter().map(AsRef::as_ref).peekable();
    loop {
        match (left.peek().copied(), right.peek().copied()) {
            (None, None) => return merged,
            (Some(mine), Some(id)) if mine == id => {
                take(id, &mut merged);
                left.next();
                right.next();
                shared.pop_front();
            }
            (Some(mine), _) if !applied.has(mine) => {
                merged.extend(live.get(mine).iter().map(|&item| item.clone()));
                left.next();
            }
            // Its turn comes, or came, with the applied list.
            (Some(mine), id)
                if id.is_none() || shared.front().is_some_and(|next| *next != mine) =>
            {
                left.next();
            }
            (_, id) => {
                if let Some(id) = id {
                    take(id, &mut merged);
                    if shared.front().is_some_and(|next| *next == id) {
                        shared.pop_front();
                    }
                }
                right.next();
            }
        }
    }
}
