//! What was collected, for programs (see `OUTPUT.md`).

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::info::{Content, Session};
use super::report::Report;
use crate::api::names::API_VERSION;
use crate::cli::error::CliError;
use crate::cli::json;
use crate::coverage::{Mismatch, PodDump, PodResult};

impl Report<'_> {
    /// Prints one JSON object; on one line, where more follow.
    pub fn print_json(&self, follows: bool) -> Result<(), CliError> {
        let report = ReportJson {
            api_version: API_VERSION,
            kind: "CoverageReport",
            complete: self.is_complete(),
            output: self.output,
            union: Content::of(&self.collected.union, false),
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
            sessions: sessions.iter().map(Session::of).collect(),
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
    #[serde(flatten)]
    union: Content,
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
    sessions: Vec<Session>,
    mismatched: u64,
    mismatches: Vec<MismatchJson>,
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
