//! Jobs and CronJobs.

use serde_json::{Map, Value, json};

use super::causes::{Causes, labels_shown, quoted};
use super::cron;
use super::defaults::{
    Default::{Flag, Int, Text},
    Table, add, has, object_in, put,
};
use super::labels;
use super::pod;
use super::spot::Spot;
use super::workloads;
use crate::words;

const JOB: &Table = &[("spec+.backoffLimit", Int(6))];

const CRON_JOB: &Table = &[
    ("spec+.concurrencyPolicy", Text("Allow")),
    ("spec.suspend", Flag(false)),
    ("spec.successfulJobsHistoryLimit", Int(3)),
    ("spec.failedJobsHistoryLimit", Int(1)),
];

/// Longest name of a CronJob: its Jobs have a time behind it.
const LONGEST: usize = 52;

/// Adds defaults to a Job.
pub(super) fn default_job(object: &mut Value) {
    workloads::default_template(object);
    add(object, JOB);
    if let Some(spec) = object.get_mut("spec")
        && !has(spec, "parallelism")
    {
        if !has(spec, "completions") {
            put(spec, "completions", 1);
        }
        put(spec, "parallelism", 1);
    }
}

/// A Job without labels has those of its pods; one whose name is no label is refused for its template's.
fn label(job: &mut Value) {
    let name = job.pointer("/metadata/name").and_then(Value::as_str);
    if !name.is_some_and(|name| words::label_value(name).is_empty()) {
        return;
    }
    let said = job.pointer("/metadata/labels").and_then(Value::as_object);
    let template = job.pointer("/spec/template/metadata/labels").cloned();
    if said.is_none_or(Map::is_empty)
        && let Some(template) = template.filter(Value::is_object)
        && let Some(metadata) = job.get_mut("metadata")
    {
        put(metadata, "labels", template);
    }
}

/// Adds defaults to a CronJob.
pub(super) fn default_cron_job(object: &mut Value) {
    add(object, CRON_JOB);
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        workloads::default_template(object_in(spec, "jobTemplate"));
    }
}

/// Makes a Job select its own pods, unless it does that by hand.
pub(super) fn create(job: &mut Value) {
    select(job);
    label(job);
}

fn select(job: &mut Value) {
    let text = |path| {
        job.pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let (name, uid) = (text("/metadata/name"), text("/metadata/uid"));
    let Some(spec) = job.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if spec.get("manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let template = spec.get_mut("template").and_then(Value::as_object_mut);
    let metadata = template.map(|template| object_in(template, "metadata"));
    if let Some(metadata) = metadata.and_then(Value::as_object_mut)
        && let Some(labels) = object_in(metadata, "labels").as_object_mut()
    {
        labels.entry("job-name").or_insert_with(|| name.into());
        labels
            .entry("controller-uid")
            .or_insert_with(|| uid.as_str().into());
    }
    if let Some(selector) = object_in(spec, "selector").as_object_mut()
        && let Some(labels) = object_in(selector, "matchLabels").as_object_mut()
    {
        labels.entry("controller-uid").or_insert_with(|| uid.into());
    }
}

/// What is wrong with a Job.
pub(super) fn check_job(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    check_generated(causes, object, &spec);
    check_spec(causes, &spec);
}

fn check_spec(causes: &mut Causes, spec: &Spot<'_>) {
    check_numbers(causes, spec);
    let selector = spec.field("selector");
    if selector.absent() {
        causes.required(&selector, "");
    } else {
        labels::check_selector(causes, &selector);
    }
    let template = spec.field("template");
    let metadata = template.field("metadata");
    let said = metadata.field("labels");
    if selector.absent() || !labels::matches(&selector, said.value) {
        causes.invalid_as(
            &said,
            &labels_shown(said.value),
            "`selector` does not match template `labels`",
        );
    }
    check_pods(causes, &template);
}

/// Says where a Job does not select by its uid.
fn check_generated(causes: &mut Causes, object: &Spot<'_>, spec: &Spot<'_>) {
    if spec.field("manualSelector").is_true() {
        return;
    }
    let selector = spec.field("selector");
    if selector.absent() {
        return;
    }
    let metadata = object.field("metadata");
    let uid = metadata.field("uid");
    let expected = json!({ "matchLabels": { "controller-uid": uid.text() } });
    let said = selector.value.get("matchLabels");
    if said != expected.get("matchLabels") || selector.field("matchExpressions").len() > 0 {
        causes.invalid(&selector, "`selector` not auto-generated");
    }
}

fn check_numbers(causes: &mut Causes, spec: &Spot<'_>) {
    for number in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
    ] {
        causes.not_negative(&spec.field(number));
    }
}

fn check_pods(causes: &mut Causes, template: &Spot<'_>) {
    pod::check_template(causes, template);
    let spec = template.field("spec");
    let policy = spec.field("restartPolicy");
    match policy.text() {
        "OnFailure" | "Never" => {}
        "Always" | "" => causes.required(&policy, "valid values: \"OnFailure\", \"Never\""),
        other => causes.unsupported_as(&policy, &quoted(other), &["OnFailure", "Never"]),
    }
}

/// What may not change of a Job.
pub(super) fn check_job_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    // The API server looks at all of it a second time, and says all of it twice.
    check_spec(causes, &spec);
    let before = |field: &str| {
        old.pointer(&format!("/spec/{field}"))
            .unwrap_or(&Value::Null)
    };
    for field in ["completions", "selector", "template"] {
        causes.unchanged(&spec.field(field), before(field));
    }
}

/// What is wrong with a CronJob.
pub(super) fn check_cron_job(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let schedule = spec.field("schedule");
    if schedule.text().is_empty() {
        causes.required(&schedule, "");
    } else if let Err(why) = cron::check(schedule.text()) {
        causes.invalid(&schedule, &why);
    }
    causes.not_negative(&spec.field("startingDeadlineSeconds"));
    causes.one_of(
        &spec.field("concurrencyPolicy"),
        &["Allow", "Forbid", "Replace"],
    );
    let template = spec.field("jobTemplate");
    let job = template.field("spec");
    check_numbers(causes, &job);
    check_pods(causes, &job.field("template"));
    if job.field("manualSelector").is_true() {
        causes.unsupported(&job.field("manualSelector"), &["nil", "false"]);
    }
    if job.field("selector").present() {
        causes.invalid(&job.field("selector"), "`selector` will be auto-generated");
    }
    for limit in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        causes.not_negative(&spec.field(limit));
    }
    let metadata = object.field("metadata");
    let name = metadata.field("name");
    if name.text().len() > LONGEST {
        causes.invalid(&name, "must be no more than 52 characters");
    }
}
