//! One object of the page.

use super::super::steps::waits;
use super::text::{block, code};
use crate::plan::{Action, Step};

/// A longer diff would leave no room for other objects.
const LONGEST_DIFF: usize = 16_000;

/// The parts of the page, in their order: what is lost comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// It goes.
    Delete,
    /// It would go, if somebody approved that.
    Wait,
    /// It cannot be done.
    Refuse,
    /// It changes.
    Configure,
    /// It is new.
    Create,
    /// It has left the source and stays.
    Keep,
}

impl Part {
    /// Where a step belongs; what stays as it is belongs nowhere.
    pub fn of(step: &Step) -> Option<Self> {
        Some(match step.action {
            Action::Delete => Self::Delete,
            Action::Keep if waits(step) => Self::Wait,
            Action::Refuse => Self::Refuse,
            Action::Configure => Self::Configure,
            Action::Create => Self::Create,
            Action::Keep => Self::Keep,
            Action::Unchanged => return None,
        })
    }
}

/// What a part is called.
pub fn heading(part: Part) -> &'static str {
    match part {
        Part::Delete => "To delete",
        Part::Wait => "To be approved",
        Part::Refuse => "Refused",
        Part::Configure => "To configure",
        Part::Create => "To create",
        Part::Keep => "Kept",
    }
}

/// A step: its object and where that comes from, and folded below why and what changes.
pub fn shown(step: &Step) -> String {
    let mut head = code(&step.id.to_string());
    if let Some(origin) = &step.origin {
        head += &format!(" from {}", code(&origin.to_string()));
    }
    let mut body = code(&step.reason);
    for conflict in &step.conflicts {
        body += &format!(
            "<br>{} owns {}",
            code(&conflict.manager),
            code(&conflict.field)
        );
    }
    match step.diff.as_deref() {
        None => {}
        Some(diff) if diff.len() > LONGEST_DIFF => {
            let lines = diff.lines().count();
            body +=
                &format!("<br>Its diff has {lines} lines, which are too many to be shown here.");
        }
        Some(diff) => body += &format!("\n\n{}", block("diff", diff)),
    }
    format!(
        "<details><summary>{head}</summary>\n\n{}\n\n</details>\n",
        body.trim_end()
    )
}
