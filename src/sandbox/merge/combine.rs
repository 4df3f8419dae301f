//! Puts an applied object into a live one.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use super::shape::{Items, Shape, Type, list, object};

/// The live value with what is applied; what is not applied stays.
pub(super) fn combine(of: Type<'_>, live: Option<&Value>, applied: &Value) -> Value {
    let Some(live) = live else {
        return applied.clone();
    };
    match (of.shape(live), of.shape(applied)) {
        (Shape::Object, Shape::Object) => objects(of, live, applied),
        (Shape::List(items), Shape::List(_)) => lists(items, live, applied),
        _ => applied.clone(),
    }
}

fn objects(of: Type<'_>, live: &Value, applied: &Value) -> Value {
    let (fields, changed) = match (object(Some(live)), object(Some(applied))) {
        (None, _) => return applied.clone(),
        (Some(_), None) => return live.clone(),
        (Some(fields), Some(changed)) => (fields, changed),
    };
    let mut combined = Map::new();
    for (name, value) in fields {
        let value = match changed.get(name) {
            Some(changed) => combine(of.field_or_any(name).0, Some(value), changed),
            None => value.clone(),
        };
        combined.insert(name.clone(), value);
    }
    for (name, value) in changed {
        if !fields.contains_key(name) {
            combined.insert(name.clone(), value.clone());
        }
    }
    combined.into()
}

fn lists(items: Items<'_>, live: &Value, applied: &Value) -> Value {
    let (left, right) = (list(Some(live)), list(Some(applied)));
    if left.is_empty() {
        return applied.clone();
    }
    if right.is_empty() {
        return live.clone();
    }
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
