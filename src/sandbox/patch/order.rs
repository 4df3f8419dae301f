//! The order of a list's items after a strategic merge.
//!
//! Items that a patch names keep the order in which it names them; the others stay where they were between them, as far as
//! that can be.

use serde_json::Value;

/// Whether two items are the same: by their key, or by their values where there is none.
pub(super) fn same(one: &Value, other: &Value, key: Option<&str>) -> bool {
    match key {
        Some(key) => one
            .get(key)
            .is_some_and(|value| other.get(key) == Some(value)),
        None => one == other,
    }
}

fn position(items: &[Value], wanted: &Value, key: Option<&str>) -> Option<usize> {
    items.iter().position(|item| same(item, wanted, key))
}

/// Puts merged items in order: those of `named` as they are named, those of `before` as they were.
pub(super) fn arrange(
    merged: Vec<Value>,
    named: &[Value],
    before: &[Value],
    key: Option<&str>,
) -> Vec<Value> {
    let (mut ours, mut others): (Vec<Value>, Vec<Value>) = merged
        .into_iter()
        .partition(|item| position(named, item, key).is_some());
    ours.sort_by_key(|item| position(named, item, key));
    others.sort_by_key(|item| position(before, item, key).unwrap_or(usize::MAX));
    let mut arranged = Vec::with_capacity(ours.len() + others.len());
    let (mut ours, mut others) = (ours.into_iter().peekable(), others.into_iter().peekable());
    while let (Some(our), Some(other)) = (ours.peek(), others.peek()) {
        let places = position(before, other, key).zip(position(before, our, key));
        let first = if places.is_some_and(|(other, our)| other < our) {
            others.next()
        } else {
            ours.next()
        };
        arranged.extend(first);
    }
    arranged.extend(ours);
    arranged.extend(others);
    arranged
}
