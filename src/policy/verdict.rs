//! What policies say of objects.

use std::collections::BTreeMap;

use serde::Serialize;

use super::model::Enforcement;
use crate::api::ObjectId;
use crate::load::{Diagnostic, Origin, Severity};

/// What all policies say of all objects.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Demands that are not met, or could not be evaluated.
    pub verdicts: Vec<Verdict>,
    /// What policies note of objects: `auditAnnotations`.
    pub notes: Vec<Note>,
}

/// A demand that an object does not meet, or that could not be evaluated for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The policy.
    pub policy: String,
    /// The binding; absent for the one that stands for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// The object.
    pub object: ObjectId,
    /// Where the source has the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// What comes of it. Nothing, when it could not be evaluated and the policy says to ignore that.
    pub actions: Vec<Enforcement>,
    /// Whether it could be evaluated.
    pub evaluated: bool,
    /// Why the object does not meet it, or why it could not be evaluated.
    pub message: String,
    /// The policy's word for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was evaluated, if it came to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Where the expression stands, or else the policy.
    pub place: Origin,
}

/// What a policy notes of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The policy.
    pub policy: String,
    /// The object.
    pub object: ObjectId,
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

impl Verdict {
    /// Tells whether it holds the object back.
    pub fn denies(&self) -> bool {
        self.actions.contains(&Enforcement::Deny)
    }

    /// The verdict in a sentence.
    pub fn sentence(&self) -> String {
        let Self {
            policy,
            object,
            message,
            evaluated,
            ..
        } = self;
        let warns = self.actions.contains(&Enforcement::Warn);
        match (evaluated, self.denies()) {
            (true, true) => format!("policy {policy} denies {object}: {message}"),
            (true, false) if warns => format!("policy {policy} warns of {object}: {message}"),
            (true, false) => format!("policy {policy} notes of {object}: {message}"),
            (false, true) => {
                format!(
                    "policy {policy} could not be evaluated, so {object} is held back: {message}"
                )
            }
            (false, false) => {
                format!("policy {policy} could not be evaluated for {object}: {message}")
            }
        }
    }

    /// The verdict as people see it: at the object, with the expression to look at. Nothing for what is only noted.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let warns = self.actions.contains(&Enforcement::Warn) || self.actions.is_empty();
        let severity = match (self.denies(), warns) {
            (true, _) => Severity::Error,
            (false, true) => Severity::Warning,
            (false, false) => return None,
        };
        let at = self.origin.as_ref().unwrap_or(&self.place);
        let place = &self.place;
        let shown = self.expression.as_deref().map(one_line);
        let hint = match shown {
            Some(expression) => format!("{place} demands: {expression}"),
            None => format!("the policy is at {place}"),
        };
        Some(Diagnostic {
            severity,
            ..Diagnostic::error_at(at, self.sentence()).with_hint(hint)
        })
    }
}

impl Report {
    /// The objects that are held back, and why: the first reason of each.
    pub fn denied(&self) -> BTreeMap<ObjectId, String> {
        let mut denied = BTreeMap::new();
        for verdict in self.verdicts.iter().filter(|verdict| verdict.denies()) {
            denied
                .entry(verdict.object.clone())
                .or_insert_with(|| verdict.sentence());
        }
        denied
    }

    /// What people see of it.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.verdicts
            .iter()
            .filter_map(Verdict::diagnostic)
            .collect()
    }

    /// Tells whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty() && self.notes.is_empty()
    }

    /// Adds another report.
    pub fn extend(&mut self, other: Self) {
        let Self { verdicts, notes } = other;
        self.verdicts.extend(verdicts);
        self.notes.extend(notes);
    }
}

/// An expression in one line of no more than 120 characters.
fn one_line(expression: &str) -> String {
    let words: Vec<&str> = expression.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(120) {
        Some((end, _)) => line.get(..end).unwrap_or_default().to_owned() + "…",
        None => line,
    }
}
