//! What was collected, for people and for programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use anstyle::Style;
use serde::Serialize;

use super::summary_text;
use crate::api::names::API_VERSION;
use crate::cli::diagnostics::printable;
use crate::cli::error::CliError;
use crate::cli::json;
use crate::cli::steps::{BAD, CHANGE, GOOD, PLAIN};
use crate::cli::table::{Row, Table};
use crate::coverage::{Collected, Mismatch, PodDump, PodResult, SessionInfo};

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

    fn is_whole(&self, pod: &PodResult) -> bool {
        let Ok(dump) = &pod.outcome else {
            return false;
        };
        dump.mismatched == 0 && (!self.reset || dump.reset || dump.same_as.is_some())
    }

    /// Prints a row for each pod, and a line for all of them.
    pub fn print(&self) -> Result<(), CliError> {
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
        notes.extend(dump.mismatches.iter().map(ToString::to_string));
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
            note: (!notes.is_empty()).then(|| notes.join("\n")),
        }
    }

    /// Prints one JSON object; on one line, where more follow.
    pub fn print_json(&self, follows: bool) -> Result<(), CliError> {
        let summary = self.collected.union.summary();
        let report = ReportJson {
            api_version: API_VERSION,
            kind: "CoverageReport",
            complete: self.is_complete(),
            output: self.output,
            sessions: summary.sessions,
            classes: summary.classes,
            probes: summary.probes,
            hit: summary.hit,
            pods: self
                .collected
                .pods
                .iter()
                .map(|pod| self.pod_json(pod))
                .collect(),
            unmerged: self.unmerged,
            problems: self.problems,
        };
        Ok(json::print_as(&report, follows)?)
    }

    fn pod_json<'a>(&self, pod: &'a PodResult) -> PodJson<'a> {
        let (dump, failure) = match &pod.outcome {
            Ok(dump) => (dump, None),
            Err(failure) => (&failure.kept, Some(failure)),
        };
        let PodDump {
            sessions,
            classes,
            hit,
            alone,
            mismatches,
            mismatched,
            same_as,
            reset,
        } = dump;
        PodJson {
            name: &pod.peer,
            complete: self.is_whole(pod),
            reason: failure.map(|failure| failure.reason),
            message: failure.map(|failure| failure.message.as_str()),
            classes: *classes,
            hit: *hit,
            alone: *alone,
            same_as: same_as.as_deref(),
            reset: *reset,
            sessions: sessions.iter().map(SessionJson::new).collect(),
            mismatched: *mismatched,
            mismatches: mismatches.iter().map(MismatchJson::new).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportJson<'a> {
    api_version: &'static str,
    kind: &'static str,
    complete: bool,
    output: &'a Path,
    sessions: u64,
    classes: u64,
    probes: u64,
    hit: u64,
    pods: Vec<PodJson<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unmerged: &'a [PathBuf],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    problems: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PodJson<'a> {
    name: &'a str,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    classes: u64,
    hit: u64,
    alone: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as: Option<&'a str>,
    reset: bool,
    sessions: Vec<SessionJson>,
    mismatched: u64,
    mismatches: Vec<MismatchJson>,
}

#[derive(Serialize)]
struct SessionJson {
    id: String,
    start: i64,
    dump: i64,
}

impl SessionJson {
    fn new(session: &SessionInfo) -> Self {
        let SessionInfo { id, start, dump } = session;
        Self {
            id: id.to_string(),
            start: *start,
            dump: *dump,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MismatchJson {
    id: String,
    name: String,
    probes: usize,
    known_name: String,
    known_probes: usize,
}

impl MismatchJson {
    fn new(mismatch: &Mismatch) -> Self {
        Self {
            id: mismatch.id.to_string(),
            name: mismatch.name.to_string(),
            probes: mismatch.probes,
            known_name: mismatch.known_name.to_string(),
            known_probes: mismatch.known_probes,
        }
    }
}
