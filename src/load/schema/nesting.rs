//! Fields that are there, but on another level: what people write when an indentation slips.

use super::builtin::{self, Fields};
use super::custom::Custom;
use super::shape::Shape;
use crate::load::path::{Step, name_of};

/// How far below a mapping a field is looked for: a Deployment's `spec.containers` belongs to `spec.template.spec`.
const DEPTH: usize = 2;

/// The named fields of a mapping.
#[derive(Clone, Copy)]
pub(super) enum Level<'s> {
    Builtin(&'static Fields),
    Custom(&'s Custom),
}

impl<'s> Level<'s> {
    fn has(self, name: &str) -> bool {
        match self {
            Self::Builtin(fields) => fields.contains_key(name),
            Self::Custom(schema) => schema.fields.contains_key(name),
        }
    }

    /// The fields that are mappings with named fields themselves, or lists of such.
    fn inner(self) -> Vec<(&'s str, bool, Level<'s>)> {
        let shapes: Vec<(&str, Shape<'_>)> = match self {
            Self::Builtin(fields) => fields
                .iter()
                .map(|(name, code)| (*name, builtin::field(code)))
                .collect(),
            Self::Custom(schema) => schema
                .fields
                .iter()
                .map(|(name, schema)| (name.as_str(), schema.shape()))
                .collect(),
        };
        let inner = shapes.into_iter().filter_map(|(name, shape)| match shape {
            Shape::List(items) => Some((name, true, level(items.shape())?)),
            shape => Some((name, false, level(shape)?)),
        });
        // Nobody writes a status.
        inner.filter(|(name, ..)| *name != "status").collect()
    }
}

fn level(shape: Shape<'_>) -> Option<Level<'_>> {
    match shape {
        Shape::Builtin(fields) => Some(Level::Builtin(fields)),
        Shape::Custom(schema) => {
            matches!(schema.shape(), Shape::Custom(_)).then_some(Level::Custom(schema))
        }
        _ => None,
    }
}

/// Says where a field belongs that is unknown where it stands: further up, else what `near` finds on the same level, else
/// further down or beside.
pub(super) fn belongs(
    levels: &[(usize, Level<'_>)],
    around: &[Step<'_>],
    field: &str,
    near: impl FnOnce() -> Option<String>,
) -> Option<String> {
    let (_, here) = *levels.last()?;
    let place = |length: usize| around.get(..length).map(name_of).unwrap_or_default();
    let above = || levels.iter().rev().enumerate().skip(1);
    let up = above().find(|(_, (_, level))| level.has(field));
    if let Some((distance, (length, _))) = up {
        let levels = match distance {
            1 => "one level up".to_owned(),
            2 => "two levels up".to_owned(),
            more => format!("{more} levels up"),
        };
        return Some(match place(*length).as_str() {
            "" => format!("`{field}` belongs {levels}, at the top"),
            place => format!("`{field}` belongs {levels}, below `{place}`"),
        });
    }
    if let Some(near) = near() {
        return Some(near);
    }
    let found = below(here, field, &place(around.len()));
    let found = found.or_else(|| {
        // Beside: `labels` in `spec` belongs to `metadata`.
        above().find_map(|(_, (length, level))| below(*level, field, &place(*length)))
    });
    Some(format!("`{field}` belongs below `{}`", found?))
}

/// The nearest mapping below a level that has a field; mappings before lists, and of equals the one with the shortest name.
fn below(level: Level<'_>, field: &str, place: &str) -> Option<String> {
    let mut reached = vec![(place.to_owned(), level)];
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        let mut lists = Vec::new();
        for (place, level) in &reached {
            for (name, list, level) in level.inner() {
                let dot = if place.is_empty() { "" } else { "." };
                let brackets = if list { "[]" } else { "" };
                let into = if list { &mut lists } else { &mut next };
                into.push((format!("{place}{dot}{name}{brackets}"), level));
            }
        }
        let candidates = [&next, &lists];
        let mut found = candidates.into_iter().filter_map(|level| {
            let having = level.iter().filter(|(_, level)| level.has(field));
            having.min_by_key(|(place, _)| (place.len(), place.clone()))
        });
        if let Some((place, _)) = found.next() {
            return Some(place.clone());
        }
        drop(found);
        reached = next;
    }
    None
}
