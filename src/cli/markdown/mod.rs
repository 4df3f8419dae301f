//! A plan as a comment on a pull request. Pure.

mod step;
#[cfg(test)]
mod tests;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use self::step::{Part, heading, shown};
use self::text::{block, code};
use super::diff::Against;
use super::steps::summary;
use crate::load::{Diagnostic, Severity};
use crate::plan::{Plan, Step};

/// GitHub takes comments of up to 65,536 characters. Bytes are counted, which are never fewer, and some are left for those
/// who put something around it.
const LONGEST: usize = 65_000;

/// A table of more kinds than these tells nobody anything at a glance.
const ROWS: usize = 20;

/// So many faults are named; who has more begins with these.
const FAULTS: usize = 20;

/// What the comment is about.
pub struct Page<'a> {
    /// What would be done.
    pub plan: &'a Plan,
    /// What is wrong with the source.
    pub diagnostics: &'a [Diagnostic],
    /// `NAMESPACE/NAME` of the Sync.
    pub set: &'a str,
    /// The revision that was read.
    pub revision: &'a str,
    /// What it is compared with.
    pub against: &'a Against,
    /// The command that approves prunes.
    pub approve: &'a str,
}

/// Writes the page.
pub fn page(page: &Page<'_>) -> String {
    page_of(page, LONGEST)
}

fn page_of(page: &Page<'_>, longest: usize) -> String {
    let mut out = head(page);
    let mut parts: BTreeMap<Part, Vec<&Step>> = BTreeMap::new();
    for step in &page.plan.steps {
        if let Some(part) = Part::of(step) {
            parts.entry(part).or_default().push(step);
        }
    }
    let all: usize = parts.values().map(Vec::len).sum();
    let mut told = 0;
    'all: for (part, steps) in parts {
        let mut title = format!("\n#### {}\n", heading(part));
        for step in steps {
            let text = format!("{title}\n{}", shown(step));
            if out.len() + text.len() + more(all).len() > longest {
                break 'all;
            }
            out += &text;
            title.clear();
            told += 1;
        }
    }
    if told < all {
        out += &more(all - told);
    }
    out
}

/// Says that not all is told.
fn more(objects: usize) -> String {
    let objects = match objects {
        1 => "1 more object is".to_owned(),
        more => format!("{more} more objects are"),
    };
    format!(
        "\n**{objects} not shown**, since a comment must end somewhere: the same command with `-o text` shows all.\n"
    )
}

fn head(page: &Page<'_>) -> String {
    let Page {
        plan,
        diagnostics,
        set,
        revision,
        against,
        approve,
    } = page;
    let mut out = format!("### Covergence: {}\n\n", summary(plan));
    let (set, revision) = (code(set), code(revision));
    let against = match against {
        Against::Cluster => "the cluster".to_owned(),
        Against::Snapshot => "the cluster as it was saved".to_owned(),
        Against::Revision(revision) => code(revision),
    };
    // Writing to a String does not fail.
    let _ = writeln!(out, "Sync {set} at {revision}, compared with {against}.");
    out += &table(plan);
    out += &faults(diagnostics);
    if let Some(why) = &plan.prune_refused {
        let _ = writeln!(out, "\n**Nothing is deleted**: {}", code(why));
    }
    let waiting = plan.waiting().count();
    if waiting > 0 {
        let prunes = if waiting == 1 {
            "prune waits"
        } else {
            "prunes wait"
        };
        let _ = writeln!(
            out,
            "\n**{waiting} {prunes} for approval**:\n\n{}",
            block("sh", approve)
        );
    }
    for (id, why) in plan.unreadable.iter().take(FAULTS) {
        let (id, why) = (code(&id.to_string()), code(why));
        let _ = writeln!(out, "\n{id} gets no Service: {why}");
    }
    out
}

/// How many objects of which kind and namespace change, when that is short.
fn table(plan: &Plan) -> String {
    let mut rows: BTreeMap<(&str, &str), BTreeMap<Part, usize>> = BTreeMap::new();
    for step in &plan.steps {
        if let Some(part) = Part::of(step) {
            let namespace = step.id.namespace.as_deref().unwrap_or_default();
            let row = rows.entry((namespace, step.id.group_kind.kind.as_str()));
            *row.or_default().entry(part).or_default() += 1;
        }
    }
    if rows.len() < 2 || rows.len() > ROWS {
        return String::new();
    }
    let columns: BTreeSet<Part> = rows.values().flat_map(BTreeMap::keys).copied().collect();
    let mut out = "\n| Namespace | Kind |".to_owned();
    for part in &columns {
        let _ = write!(out, " {} |", heading(*part));
    }
    let _ = writeln!(out, "\n| --- | --- |{}", " ---: |".repeat(columns.len()));
    for ((namespace, kind), counts) in &rows {
        let namespace = match *namespace {
            "" => String::new(),
            namespace => code(namespace),
        };
        let _ = write!(out, "| {namespace} | {} |", code(kind));
        for part in &columns {
            let count = counts.get(part).map(usize::to_string);
            let _ = write!(out, " {} |", count.unwrap_or_default());
        }
        out.push('\n');
    }
    out
}

/// What is wrong with the source, errors first.
fn faults(diagnostics: &[Diagnostic]) -> String {
    let of = |severity| diagnostics.iter().filter(move |d| d.severity == severity);
    let mut out = String::new();
    let all = of(Severity::Error).chain(of(Severity::Warning));
    for fault in all.take(FAULTS) {
        let word = match fault.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = match fault.position {
            Some(at) => format!("{}:{}:{}", fault.file, at.line, at.column),
            None => fault.file.to_string(),
        };
        let _ = write!(
            out,
            "\n- **{word}** in {}: {}",
            code(&place),
            code(&fault.message)
        );
        if let Some(hint) = &fault.hint {
            let _ = write!(out, " ({})", code(hint));
        }
    }
    if out.is_empty() {
        return out;
    }
    if let Some(more) = diagnostics.len().checked_sub(FAULTS + 1) {
        let _ = write!(out, "\n- and {} more", more + 1);
    }
    out + "\n"
}
