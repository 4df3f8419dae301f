//! Kinds that make pods.

use super::cron;
use super::finding::Finding;
use super::read::{each, entries, field, integer, is_true, items, text};
use super::rules::{Rule, apply, at_most_all, is_zero};
use super::{claim, pod, selector};
use crate::load::{Document, Entry, Node, Severity};

const RULES: &[(&str, Rule)] = &[
    ("replicas", Rule::Natural),
    ("minReadySeconds", Rule::Natural),
    ("revisionHistoryLimit", Rule::Natural),
    ("progressDeadlineSeconds", Rule::Natural),
    (
        "podManagementPolicy",
        Rule::OneOf(&["OrderedReady", "Parallel"]),
    ),
    ("strategy.type", Rule::OneOf(&["RollingUpdate", "Recreate"])),
    ("strategy.rollingUpdate.maxSurge", Rule::Share),
    ("strategy.rollingUpdate.maxUnavailable", Rule::Share),
    (
        "updateStrategy.type",
        Rule::OneOf(&["RollingUpdate", "OnDelete"]),
    ),
    ("updateStrategy.rollingUpdate.maxSurge", Rule::Share),
    ("updateStrategy.rollingUpdate.maxUnavailable", Rule::Share),
    ("updateStrategy.rollingUpdate.partition", Rule::Natural),
];

const JOB_RULES: &[(&str, Rule)] = &[
    ("parallelism", Rule::Natural),
    ("completions", Rule::Natural),
    ("backoffLimit", Rule::Natural),
    ("activeDeadlineSeconds", Rule::Natural),
    ("ttlSecondsAfterFinished", Rule::Natural),
    ("completionMode", Rule::OneOf(&["NonIndexed", "Indexed"])),
];

const CRON_RULES: &[(&str, Rule)] = &[
    (
        "concurrencyPolicy",
        Rule::OneOf(&["Allow", "Forbid", "Replace"]),
    ),
    ("startingDeadlineSeconds", Rule::Natural),
    ("successfulJobsHistoryLimit", Rule::Natural),
    ("failedJobsHistoryLimit", Rule::Natural),
];

/// The template that an object makes pods of, or for a Pod the object itself, when it is of a kind that has one.
pub(super) fn template(document: &Document) -> Option<&Node> {
    let root = &document.root;
    let id = &document.id.group_kind;
    match (id.group.as_str(), id.kind.as_str()) {
        ("", "Pod") => Some(root),
        ("", "PodTemplate") => field(root, "template"),
        ("", "ReplicationController")
        | ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch", "Job") => field(field(root, "spec")?, "template"),
        ("batch", "CronJob") => field(root.at(&["spec", "jobTemplate", "spec"])?, "template"),
        _ => None,
    }
}

/// Checks an object that has pods.
pub(super) fn check<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let Some(template) = template(document) else {
        return;
    };
    let root = &document.root;
    let kind = document.id.group_kind.kind.as_str();
    if let Some(spec) = field(template, "spec") {
        let severity = match kind {
            "Pod" => Severity::Error,
            _ => Severity::Warning,
        };
        images(spec, severity, out);
    }
    if let Some(spec) = field(root, "spec").filter(|_| kind != "Pod") {
        match kind {
            "Job" => job(spec, template, out),
            "CronJob" => cron_job(spec, template, out),
            _ => workload(kind, spec, template, out),
        }
    }
    let claims = match (kind, field(root, "spec")) {
        ("StatefulSet", Some(spec)) => items(spec, "volumeClaimTemplates"),
        _ => &[],
    };
    if kind != "Pod" {
        pod::metadata(template, out);
    }
    let mut inner = Vec::new();
    if let Some(spec) = field(template, "spec") {
        pod::spec(spec, claims, &mut inner);
    }
    for claim in claims {
        claim::template(claim, &mut inner);
    }
    if kind == "StatefulSet" {
        // The API takes any template of a StatefulSet; it is the pods that are refused, one after the other.
        inner
            .iter_mut()
            .for_each(|finding| finding.severity = Severity::Warning);
    }
    out.append(&mut inner);
}

fn workload<'n>(kind: &str, spec: &'n Node, template: &'n Node, out: &mut Vec<Finding<'n>>) {
    if kind == "PodTemplate" {
        return;
    }
    apply(spec, RULES, out);
    if kind == "ReplicationController" {
        let labels = template
            .get("metadata")
            .and_then(|metadata| metadata.get("labels"));
        selector::labels(spec.get("selector"), out);
        if let Some(wanted) = field(spec, "selector") {
            out.extend(selector::map_mismatch(wanted, labels));
        }
    } else {
        selector::of_workload(spec, template, out);
    }
    let pod = field(template, "spec");
    let restarts = pod.and_then(|pod| field(pod, "restartPolicy"));
    if let Some(policy) =
        restarts.filter(|policy| matches!(policy.as_str(), Some("OnFailure" | "Never")))
    {
        let hint = "a Job runs pods that end";
        out.push(Finding::error(policy, format!("must be `Always` in a {kind}")).hint(hint));
    }
    if let Some(deadline) = pod.and_then(|pod| field(pod, "activeDeadlineSeconds")) {
        out.push(Finding::error(
            deadline,
            format!("cannot be there in a {kind}"),
        ));
    }
    strategy(kind, spec, out);
    let number = |key| field(spec, key).and_then(integer);
    if let Some(deadline) = field(spec, "progressDeadlineSeconds")
        && kind == "Deployment"
        && integer(deadline).is_some_and(|n| n >= 0 && n <= number("minReadySeconds").unwrap_or(0))
    {
        out.push(Finding::error(
            deadline,
            "must be more than `minReadySeconds`",
        ));
    }
}

fn strategy<'n>(kind: &str, spec: &'n Node, out: &mut Vec<Finding<'n>>) {
    let key = if kind == "Deployment" {
        "strategy"
    } else {
        "updateStrategy"
    };
    let Some(strategy) = field(spec, key) else {
        return;
    };
    let Some(rolling) = field(strategy, "rollingUpdate") else {
        return;
    };
    let other = text(strategy, "type").filter(|kind| *kind != "RollingUpdate");
    // A DaemonSet's is passed over.
    if let Some(other) = other.filter(|_| kind != "DaemonSet") {
        let says = format!("cannot stand beside the type `{other}`");
        out.push(Finding::error(rolling, says));
        return;
    }
    at_most_all(rolling.get("maxUnavailable"), out);
    let surge = field(rolling, "maxSurge");
    let unavailable = field(rolling, "maxUnavailable");
    // A DaemonSet has no surge unless it says so.
    let none = match (kind, surge) {
        (_, Some(surge)) => is_zero(surge),
        (kind, None) => kind == "DaemonSet",
    };
    if let Some(unavailable) = unavailable.filter(|unavailable| none && is_zero(unavailable))
        && matches!(kind, "Deployment" | "DaemonSet")
    {
        let says = "cannot be 0 when `maxSurge` is 0: no pod could ever be replaced";
        out.push(Finding::error(unavailable, says));
    }
}

fn job<'n>(spec: &'n Node, template: &'n Node, out: &mut Vec<Finding<'n>>) {
    apply(spec, JOB_RULES, out);
    ends(template, out);
    if let Some(wanted) = field(spec, "selector") {
        let own = |label: &Entry| label.key == "controller-uid";
        if is_true(spec, "manualSelector") {
            selector::of_workload(spec, template, out);
        } else if !entries(wanted.get("matchLabels")).iter().any(own) {
            let says =
                "cannot be there without `manualSelector: true`: each Job gets one of its own";
            out.push(Finding::error(wanted, says));
        }
    }
}

/// White space around images, which only Pods themselves may not have.
fn images<'n>(pod: &'n Node, severity: Severity, out: &mut Vec<Finding<'n>>) {
    for list in ["containers[].image", "initContainers[].image"] {
        each(pod, list, &mut |image| {
            if image.as_str().is_some_and(|text| text.trim() != text) {
                let mut finding = Finding::error(image, "must not have white space around it");
                finding.severity = severity;
                out.push(finding);
            }
        });
    }
}

/// The pods of a Job must come to an end.
fn ends<'n>(template: &'n Node, out: &mut Vec<Finding<'n>>) {
    let Some(pod) = field(template, "spec") else {
        return;
    };
    let hint = "write `OnFailure` or `Never`";
    match field(pod, "restartPolicy") {
        None => {
            out.push(Finding::lacks(pod, "restartPolicy").hint("a Job's is `OnFailure` or `Never`"))
        }
        Some(policy) if matches!(policy.as_str(), Some("" | "Always")) => {
            out.push(Finding::error(policy, "must let the pods of a Job end").hint(hint));
        }
        Some(_) => {}
    }
}

fn cron_job<'n>(spec: &'n Node, template: &'n Node, out: &mut Vec<Finding<'n>>) {
    apply(spec, CRON_RULES, out);
    if let Some(schedule) = field(spec, "schedule")
        && let Some(fault) = schedule.as_str().and_then(cron::fault)
    {
        let example = "minute, hour, day of month, month, day of week: `30 4 * * 1-5`";
        out.push(Finding::error(schedule, fault).hint(example));
    }
    ends(template, out);
    if let Some(job) = spec.at(&["jobTemplate", "spec"]) {
        apply(job, JOB_RULES, out);
        if let Some(selector) = field(job, "selector") {
            out.push(Finding::error(
                selector,
                "cannot be there: each Job gets one of its own",
            ));
        }
        let manual = field(job, "manualSelector").filter(|_| is_true(job, "manualSelector"));
        out.extend(manual.map(|manual| Finding::error(manual, "cannot be `true` in a CronJob")));
    }
}
