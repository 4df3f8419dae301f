//! Results for programs. The shapes are stable: fields are added, never changed (see `OUTPUT.md`).

use std::collections::BTreeMap;
use std::io::{self, BufWriter, StdoutLock, Write};

use serde::Serialize;
use serde_json::{Value, json};

use crate::api::GroupKind;
use crate::api::names::API_VERSION;
use crate::load::{Diagnostic, Origin, is_invisible};
use crate::plan::{Action, Approval, Conflict, Step};
use crate::policy;
use crate::reconcile::{
    CampaignView, Done, Outcome, Overview, Planned, Report, Settings, SyncTree, SyncView,
    TargetReport, TargetView, Tree, Unhealthy,
};

/// A plan, as `diff` and `sync --dry-run` print it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanJson<'a> {
    api_version: &'static str,
    kind: &'static str,
    sync: SyncJson<'a>,
    revision: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    diagnostics: &'a [Diagnostic],
    #[serde(skip_serializing_if = "policy::Report::is_empty")]
    policies: &'a policy::Report,
    steps: Vec<StepJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prune_refused: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prune_approval: Option<PruneApprovalJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable_targets: Vec<Value>,
    summary: BTreeMap<&'static str, usize>,
}

/// What waits for an approval, and how it is given.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PruneApprovalJson<'a> {
    needed: usize,
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_revision: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SyncJson<'a> {
    namespace: &'a str,
    name: &'a str,
    apply_set: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StepJson<'a> {
    action: Action,
    api_version: &'a str,
    group: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    name: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'a Origin>,
    batch: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Approval>,
    #[serde(skip_serializing_if = "<[Conflict]>::is_empty")]
    conflicts: &'a [Conflict],
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// A sync, as `sync` prints it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportJson<'a> {
    #[serde(flatten)]
    plan: PlanJson<'a>,
    installed: &'a [String],
    targets: &'a [TargetReport],
    unhealthy: &'a [Unhealthy],
    trouble: &'a [String],
}

/// How Syncs and Targets are, as `status` prints it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OverviewJson<'a> {
    api_version: &'static str,
    kind: &'static str,
    all_ready: bool,
    syncs: &'a [SyncView],
    targets: &'a [TargetView],
    campaigns: &'a [CampaignView],
    unseen: Vec<UnseenJson<'a>>,
}

/// What Syncs have brought about, as `tree` prints it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TreeJson<'a> {
    api_version: &'static str,
    kind: &'static str,
    all_healthy: bool,
    syncs: &'a [SyncTree],
    unseen: Vec<UnseenJson<'a>>,
}

#[derive(Serialize)]
struct UnseenJson<'a> {
    #[serde(flatten)]
    kind: &'a GroupKind,
    reason: &'a str,
}

/// Prints a plan; `from` is the revision that it was made for, where that is what it compares.
pub fn plan(planned: &Planned, settings: &Settings, from: Option<&str>) -> io::Result<()> {
    let summary = count(planned.plan.steps.iter().map(|step| step.action.word()));
    print(&PlanJson {
        from,
        ..plan_json("Plan", planned, settings, &[], summary)
    })
}

/// Prints a report.
pub fn report(
    planned: &Planned,
    report: &Report,
    settings: &Settings,
    installed: &[String],
) -> io::Result<()> {
    let summary = count(report.done.iter().map(|done| done.outcome.word()));
    print(&ReportJson {
        plan: plan_json("SyncReport", planned, settings, &report.done, summary),
        installed,
        targets: &report.targets,
        unhealthy: &report.unhealthy,
        trouble: &report.trouble,
    })
}

/// Prints what is wrong with a source.
pub fn validation(
    revision: &str,
    objects: usize,
    diagnostics: &[Diagnostic],
    policies: &policy::Report,
) -> io::Result<()> {
    let mut validation = json!({
        "apiVersion": API_VERSION,
        "kind": "Validation",
        "revision": revision,
        "objects": objects,
        "diagnostics": diagnostics,
    });
    if !policies.is_empty() {
        let map = validation.as_object_mut();
        map.and_then(|map| map.insert("policies".into(), json!(policies)));
    }
    print(&validation)
}

/// Prints how Syncs and Targets are; as one line when more will follow.
pub fn overview(overview: &Overview, one_line: bool) -> io::Result<()> {
    let Overview {
        syncs,
        targets,
        campaigns,
        unseen,
    } = overview;
    let value = OverviewJson {
        api_version: API_VERSION,
        kind: "StatusReport",
        all_ready: overview.is_good(),
        syncs,
        targets,
        campaigns,
        unseen: unseen_json(unseen),
    };
    print_as(&value, one_line)
}

/// Prints what Syncs have brought about; as one line when more will follow.
pub fn tree(tree: &Tree, one_line: bool) -> io::Result<()> {
    let Tree { syncs, unseen } = tree;
    let value = TreeJson {
        api_version: API_VERSION,
        kind: "Tree",
        all_healthy: tree.is_good(),
        syncs,
        unseen: unseen_json(unseen),
    };
    print_as(&value, one_line)
}

/// Prints why there is no result.
pub fn error(message: &str, hint: Option<&str>) -> io::Result<()> {
    print(&json!({ "apiVersion": API_VERSION, "kind": "Error", "message": message, "hint": hint }))
}

/// Prints objects as a `v1/List`.
pub fn list(objects: &[Value]) -> io::Result<()> {
    print(&json!({ "apiVersion": "v1", "kind": "List", "items": objects }))
}

fn plan_json<'a>(
    kind: &'static str,
    planned: &'a Planned,
    settings: &'a Settings,
    done: &'a [Done],
    summary: BTreeMap<&'static str, usize>,
) -> PlanJson<'a> {
    let Planned {
        plan,
        policies,
        diagnostics,
        revision,
        approval,
        ..
    } = planned;
    let needed = plan.waiting().count();
    let steps = plan
        .steps
        .iter()
        .enumerate()
        .map(|(i, step)| step_json(step, done.get(i)))
        .collect();
    let unreadable = plan
        .unreadable
        .iter()
        .map(|(id, why)| json!({ "namespace": id.namespace, "name": id.name, "reason": why }));
    PlanJson {
        api_version: API_VERSION,
        kind,
        sync: SyncJson {
            namespace: &settings.namespace,
            name: &settings.name,
            apply_set: settings.applyset(),
        },
        revision,
        from: None,
        diagnostics,
        policies,
        steps,
        prune_refused: plan.prune_refused.as_deref(),
        prune_approval: (needed > 0).then_some(PruneApprovalJson {
            needed,
            command: &approval.command,
            other_revision: approval.void.as_deref(),
        }),
        unreadable_targets: unreadable.collect(),
        summary,
    }
}

fn step_json<'a>(step: &'a Step, done: Option<&'a Done>) -> StepJson<'a> {
    StepJson {
        action: step.action,
        api_version: &step.api_version,
        group: &step.id.group_kind.group,
        kind: &step.id.group_kind.kind,
        namespace: step.id.namespace.as_deref(),
        name: &step.id.name,
        reason: &step.reason,
        origin: step.origin.as_ref(),
        batch: step.batch,
        approval: step.approval,
        conflicts: &step.conflicts,
        diff: step.diff.as_deref(),
        outcome: done.map(|done| done.outcome),
        message: done.map(|done| done.message.as_str()),
    }
}

fn count(words: impl Iterator<Item = &'static str>) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

fn unseen_json(unseen: &BTreeMap<GroupKind, String>) -> Vec<UnseenJson<'_>> {
    unseen
        .iter()
        .map(|(kind, reason)| UnseenJson { kind, reason })
        .collect()
}

/// Prints a value; on one line, where others follow.
pub fn print_as(value: &impl Serialize, one_line: bool) -> io::Result<()> {
    if !one_line {
        return print(value);
    }
    let mut out = Escaped::stdout();
    serde_json::to_writer(&mut out, value)?;
    out.end()
}

/// Prints a value.
pub fn print(value: &impl Serialize) -> io::Result<()> {
    let mut out = Escaped::stdout();
    serde_json::to_writer_pretty(&mut out, value)?;
    out.end()
}

/// Writes JSON, and those characters as escapes that could steer or deceive a terminal: JSON forbids some of them only. Whole
/// strings come in one piece.
struct Escaped<W: Write>(BufWriter<W>);

impl Escaped<StdoutLock<'static>> {
    fn stdout() -> Self {
        Self(BufWriter::new(io::stdout().lock()))
    }
}

impl<W: Write> Escaped<W> {
    fn end(mut self) -> io::Result<()> {
        writeln!(self.0)?;
        self.0.flush()
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let steers = |c: char| c != '\n' && (c.is_control() || is_invisible(c));
        match str::from_utf8(bytes) {
            Ok(text) if text.contains(steers) => {
                let mut units = [0; 2];
                for c in text.chars() {
                    match steers(c) {
                        true => {
                            for unit in c.encode_utf16(&mut units) {
                                write!(self.0, "\\u{unit:04x}")?;
                            }
                        }
                        false => write!(self.0, "{c}")?,
                    }
                }
            }
            _ => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_escaped_and_reads_back_the_same() {
        let value = json!({ "a": "\u{9b}2J\u{202e}\u{7f}\u{e0041}é\n\u{1b}", "b": ["\u{1f600}"] });
        let mut out = Vec::new();
        let mut escaped = Escaped(BufWriter::new(&mut out));
        serde_json::to_writer_pretty(&mut escaped, &value).unwrap();
        escaped.end().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains(r#""\u009b2J\u202e\u007f\udb40\udc41é\n\u001b""#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
