//! What was collected, for people and for programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use anstyle::Style;

use super::summary_text;
use crate::cli::args::Output;
use crate::cli::diagnostics::printable;
use crate::cli::error::CliError;
use crate::cli::steps::{BAD, CHANGE, GOOD, PLAIN};
use crate::cli::table::{Row, Table};
use crate::cli::{DIFFERENCES, OK};
use crate::coverage::{Collected, Mismatch, PodResult};

/// All that is to be told at the end.
pub struct Report<'a> {
    /// What was collected.
    pub collected: &'a Collected,
    /// Where it is.
    pub output: &'a Path,
    /// Where that is which does not fit into it.
    pub unmerged: &'a [PathBuf],
    /// Whether agents were to begin anew.
    pub reset: bool,
    /// What went wrong besides.
    pub problems: &'a [String],
}

impl Report<'_> {
    /// Tells whether all was done that was asked for.
    pub fn is_complete(&self) -> bool {
        self.problems.is_empty() && self.collected.pods.iter().all(|pod| self.is_whole(pod))
    }

    /// Tells whether all was done with this one.
    pub fn is_whole(&self, pod: &PodResult) -> bool {
        let Ok(dump) = &pod.outcome else {
            return false;
        };
        dump.mismatched == 0 && (!self.reset || dump.reset || dump.same_as.is_some())
    }

    /// Prints all of it, and gives the exit code.
    pub fn end(&self, format: Output, follows: bool) -> Result<u8, CliError> {
        match format {
            Output::Text => self.print()?,
            Output::Json => self.print_json(follows)?,
        }
        Ok(match self.is_complete() {
            true => OK,
            false => DIFFERENCES,
        })
    }

    /// Prints a row for each pod, and a line for all of them.
    fn print(&self) -> Result<(), CliError> {
        let mut out = anstream::stdout().lock();
        let rows = self.collected.pods.iter().map(|pod| self.row(pod));
        Table::new(["POD", "CLASSES", "HIT", "ALONE"], rows).print(&mut out)?;
        let summary = summary_text(self.collected.union.summary());
        let line = format!("{}: {summary}", self.output.display());
        writeln!(out, "\n{}", printable(&line))?;
        for path in self.unmerged {
            let line = format!("{}: what does not fit into it", path.display());
            writeln!(out, "{CHANGE}{}{CHANGE:#}", printable(&line))?;
        }
        for problem in self.problems {
            writeln!(out, "{BAD}{}{BAD:#}", printable(problem))?;
        }
        let names: Vec<&str> = self
            .collected
            .pods
            .iter()
            .filter(|pod| !self.is_whole(pod))
            .map(|pod| pod.peer.as_str())
            .collect();
        if !names.is_empty() {
            let (count, all) = (names.len(), self.collected.pods.len());
            let text = format!(
                "partial: {count} of {all} not wholly done: {}",
                names.join(", ")
            );
            writeln!(out, "{CHANGE}{}{CHANGE:#}", printable(&text))?;
        }
        Ok(())
    }

    fn row(&self, pod: &PodResult) -> Row<4> {
        let (dump, failed) = match &pod.outcome {
            Ok(dump) => (dump, None),
            Err(failure) => (&failure.kept, Some(failure.message.as_str())),
        };
        let style = if self.is_whole(pod) { GOOD } else { BAD };
        let came = failed.is_none() || !dump.sessions.is_empty() || dump.classes > 0;
        let count = |count: u64| match came {
            true => (count.to_string(), PLAIN),
            false => ("-".to_owned(), PLAIN),
        };
        let alone: (String, Style) = match &dump.same_as {
            Some(other) => (format!("it is {other}"), PLAIN),
            None => count(dump.alone),
        };
        let mut notes: Vec<String> = failed.map(str::to_owned).into_iter().collect();
        if failed.is_some() && came {
            notes.push("what came before is in the union".into());
        }
        notes.extend(dump.mismatches.iter().map(mismatch_text));
        let untold = dump.mismatched - dump.mismatches.len() as u64;
        if untold > 0 {
            notes.push(format!("and {untold} more classes that do not match"));
        }
        if self.reset && failed.is_none() && dump.mismatched > 0 && !dump.reset {
            notes.push("its agent has not begun anew, so that nothing of that is lost".into());
        }
        Row {
            cells: [
                (pod.peer.clone(), style),
                count(dump.classes),
                count(dump.hit),
                alone,
            ],
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        }
    }
}

/// The union holds what most pods have, whoever came first.
fn mismatch_text(mismatch: &Mismatch) -> String {
    let Mismatch {
        id,
        name,
        probes,
        known_name,
        known_probes,
    } = mismatch;
    if name != known_name {
        return mismatch.to_string();
    }
    format!(
        "class {name} ({id}) has {probes} probes, and {known_probes} in the union: its agent is of another release"
    )
}
