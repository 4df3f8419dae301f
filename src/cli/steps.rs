//! Steps and outcomes for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::diagnostics::printable;
use crate::plan::{Action, Approval, Plan, Step, quoted};
use crate::reconcile::{Done, Outcome, Planned, PruneApproval};

pub const GOOD: Style = AnsiColor::Green.on_default();
pub const CHANGE: Style = AnsiColor::Yellow.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const PLAIN: Style = Style::new();
pub const DIM: Style = Style::new().dimmed();

/// Says what waits for an approval, and how that is given.
pub fn print_waiting(out: &mut dyn Write, planned: &Planned) -> io::Result<()> {
    let waiting = planned.plan.waiting().count();
    if waiting == 0 {
        return Ok(());
    }
    let PruneApproval { command, void, .. } = &planned.approval;
    let prunes = if waiting == 1 {
        "prune waits"
    } else {
        "prunes wait"
    };
    let revision = printable(&planned.revision);
    writeln!(out, "{waiting} {prunes} for approval of {revision}")?;
    if let Some(void) = void {
        let void = printable(void);
        writeln!(out, "    what is approved is {void}, which is another one")?;
    }
    writeln!(out, "    {}", printable(command))?;
    let flag = format!("--approve-prune {}", quoted(&planned.revision));
    writeln!(out, "or, with covergence sync, {}", printable(&flag))
}

/// Prints one step of a plan: what, why, from where, who stands in the way, and the diff.
pub fn print_step(out: &mut dyn Write, step: &Step) -> io::Result<()> {
    let style = match step.action {
        Action::Create => GOOD,
        Action::Configure => CHANGE,
        Action::Keep if waits(step) => CHANGE,
        Action::Delete | Action::Refuse => BAD,
        Action::Unchanged | Action::Keep => PLAIN,
    };
    let word = match step.action {
        Action::Keep if waits(step) => "wait",
        action => action.word(),
    };
    head(out, style, word, step)?;
    writeln!(out, "    {}", printable(&step.reason))?;
    for conflict in &step.conflicts {
        let (manager, field) = (printable(&conflict.manager), printable(&conflict.field));
        writeln!(out, "    {BAD}{manager} owns {field}{BAD:#}")?;
    }
    for line in step.diff.iter().flat_map(|diff| diff.lines()) {
        let style = match line.as_bytes().first() {
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            _ => PLAIN,
        };
        writeln!(out, "    {style}{}{style:#}", printable(line))?;
    }
    Ok(())
}

/// Prints what became of a step.
pub fn print_outcome(out: &mut dyn Write, step: &Step, done: &Done) -> io::Result<()> {
    let style = match done.outcome {
        Outcome::Created => GOOD,
        Outcome::Configured | Outcome::Deleted => CHANGE,
        Outcome::Refused | Outcome::Failed | Outcome::Skipped => BAD,
        Outcome::Unchanged | Outcome::Kept => PLAIN,
    };
    head(out, style, done.outcome.word(), step)?;
    if !matches!(done.outcome, Outcome::Unchanged | Outcome::Created) {
        writeln!(out, "    {}", printable(&done.message))?;
    }
    Ok(())
}

fn head(out: &mut dyn Write, style: Style, word: &str, step: &Step) -> io::Result<()> {
    write!(
        out,
        "{style}{word:<10}{style:#} {}",
        printable(&step.id.to_string())
    )?;
    match &step.origin {
        Some(origin) => writeln!(out, "  {DIM}{}{DIM:#}", printable(&origin.to_string())),
        None => writeln!(out),
    }
}

/// Tells whether a step is a prune that somebody must approve first.
pub fn waits(step: &Step) -> bool {
    step.action == Action::Keep && step.approval == Some(Approval::Needed)
}

/// Counts the actions of a plan, in the order of their weight: `2 to create, 1 to delete, 9 unchanged`.
pub fn summary(plan: &Plan) -> String {
    let waiting = plan.steps.iter().filter(|step| waits(step)).count();
    let words = [
        (Action::Create, "to create"),
        (Action::Configure, "to configure"),
        (Action::Delete, "to delete"),
        (Action::Refuse, "refused"),
        (Action::Keep, "kept"),
        (Action::Unchanged, "unchanged"),
    ];
    let count = |(action, word)| match action {
        Action::Keep => (plan.count(action) - waiting, word),
        _ => (plan.count(action), word),
    };
    let [create, configure, delete, refuse, keep, unchanged] = words.map(count);
    let waiting = (waiting, "to be approved");
    counted([create, configure, delete, waiting, refuse, keep, unchanged])
}

/// Counts outcomes.
pub fn outcomes(done: &[Done]) -> String {
    let words = [
        (Outcome::Created, "created"),
        (Outcome::Configured, "configured"),
        (Outcome::Deleted, "deleted"),
        (Outcome::Failed, "failed"),
        (Outcome::Refused, "refused"),
        (Outcome::Skipped, "skipped"),
        (Outcome::Kept, "kept"),
        (Outcome::Unchanged, "unchanged"),
    ];
    let count = |wanted| done.iter().filter(|done| done.outcome == wanted).count();
    counted(words.map(|(outcome, word)| (count(outcome), word)))
}

fn counted<const N: usize>(counts: [(usize, &str); N]) -> String {
    let parts: Vec<String> = counts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}"))
        .collect();
    if parts.is_empty() {
        "nothing to do: the source holds no object".to_owned()
    } else {
        parts.join(", ")
    }
}
