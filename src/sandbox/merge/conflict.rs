//! Why an apply is refused.

use std::fmt;

use super::item;
use super::managers::{Entry, Operation};
use super::set::FieldSet;
use crate::error::{ApiError, Cause};

/// Why an apply is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// Others manage fields that it would change.
    Conflicts(Vec<Conflict>),
    /// What was sent does not have its type.
    Invalid(String),
}

/// A field that somebody else manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Who does, as messages name them: `"kubectl" using apps/v1`.
    pub manager: String,
    /// Such as `.spec.replicas`.
    pub field: String,
}

/// The conflicts about the fields of a set, which an entry has.
pub(super) fn conflicts<'a>(
    entry: &'a Entry,
    fields: &FieldSet,
) -> impl Iterator<Item = Conflict> + use<'a> {
    let mut paths = Vec::new();
    list(fields, String::new(), &mut paths);
    let manager = named(entry);
    paths.into_iter().map(move |field| Conflict {
        manager: manager.clone(),
        field,
    })
}

fn named(entry: &Entry) -> String {
    let mut named = format!("{:?}", entry.manager);
    if !entry.subresource.is_empty() {
        named += &format!(" with subresource {:?}", entry.subresource);
    }
    if entry.operation == Operation::Update {
        named += &format!(" using {}", entry.api_version);
    }
    named
}

fn list(set: &FieldSet, path: String, paths: &mut Vec<String>) {
    let here = set.fields.iter().filter(|(_, part)| part.own);
    paths.extend(here.map(|(name, _)| format!("{path}.{name}")));
    let mut items: Vec<_> = set.items.iter().collect();
    items.sort_by(|(left, _), (right, _)| item::order(left, right));
    let here = items.iter().filter(|(_, part)| part.own);
    paths.extend(here.map(|(id, _)| format!("{path}{}", item::shown(id))));
    for (name, part) in set.fields.iter() {
        list(part, format!("{path}.{name}"), paths);
    }
    for (id, part) in items {
        list(part, format!("{path}{}", item::shown(id)), paths);
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conflicts = match self {
            Self::Invalid(why) => return to.write_str(why),
            Self::Conflicts(conflicts) => conflicts,
        };
        if let [Conflict { manager, field }] = conflicts.as_slice() {
            return write!(
                to,
                "Apply failed with 1 conflict: conflict with {manager}: {field}"
            );
        }
        write!(to, "Apply failed with {} conflicts: ", conflicts.len())?;
        let mut last = None;
        for Conflict { manager, field } in conflicts {
            if last != Some(manager) {
                let line = if last.is_some() { "\n" } else { "" };
                write!(to, "{line}conflicts with {manager}:")?;
                last = Some(manager);
            }
            write!(to, "\n- {field}")?;
        }
        Ok(())
    }
}

impl From<MergeError> for ApiError {
    fn from(error: MergeError) -> Self {
        let message = error.to_string();
        let conflicts = match error {
            MergeError::Invalid(_) => return Self::bad_request(message),
            MergeError::Conflicts(conflicts) => conflicts,
        };
        let mut refusal = Self::new(409, "Conflict", message);
        refusal.details_mut().causes = conflicts
            .into_iter()
            .map(|Conflict { manager, field }| Cause {
                reason: "FieldManagerConflict",
                message: format!("conflict with {manager}"),
                field,
            })
            .collect();
        refusal
    }
}
