//! HorizontalPodAutoscalers and PodDisruptionBudgets.

use super::finding::Finding;
use super::read::{each, field, integer, items, text};
use super::rules::{Rule, apply, at_most_all};
use super::selector;
use crate::load::{Document, Node};

/// Checks a HorizontalPodAutoscaler.
pub(super) fn autoscaler<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let Some(spec) = field(&document.root, "spec") else {
        return;
    };
    let rules = [
        ("scaleTargetRef.kind", Rule::Filled),
        ("scaleTargetRef.name", Rule::Filled),
        ("minReplicas", Rule::Natural),
        (
            "targetCPUUtilizationPercentage",
            Rule::Between(1, i32::MAX.into()),
        ),
        (
            "metrics[].type",
            Rule::OneOf(&[
                "Resource",
                "Pods",
                "Object",
                "External",
                "ContainerResource",
            ]),
        ),
        (
            "behavior.scaleUp.stabilizationWindowSeconds",
            Rule::Between(0, 3600),
        ),
        (
            "behavior.scaleDown.stabilizationWindowSeconds",
            Rule::Between(0, 3600),
        ),
        (
            "behavior.scaleUp.selectPolicy",
            Rule::OneOf(&["Max", "Min", "Disabled"]),
        ),
        (
            "behavior.scaleDown.selectPolicy",
            Rule::OneOf(&["Max", "Min", "Disabled"]),
        ),
    ];
    apply(spec, &rules, out);
    let counts = |metric: &Node| matches!(text(metric, "type"), Some("Object" | "External"));
    if let Some(least) = field(spec, "minReplicas")
        && integer(least) == Some(0)
        && !items(spec, "metrics").iter().any(counts)
    {
        let says = "must be at least 1: only a metric from elsewhere could bring the pods back";
        out.push(Finding::error(least, says));
    }
    for metric in items(spec, "metrics") {
        let source = match text(metric, "type") {
            Some("Resource") => "resource",
            Some("Pods") => "pods",
            Some("Object") => "object",
            Some("External") => "external",
            _ => continue,
        };
        if field(metric, source).is_none() {
            out.push(Finding::lacks(metric, source));
        }
    }
    let Some(most) = field(spec, "maxReplicas") else {
        return;
    };
    let least = field(spec, "minReplicas").and_then(integer).unwrap_or(1);
    match integer(most) {
        Some(n) if n < 1 => out.push(Finding::error(most, "must be at least 1")),
        Some(n) if n < least => {
            out.push(Finding::error(most, "must not be less than `minReplicas`"))
        }
        _ => {}
    }
    let metrics = [
        "resource",
        "pods",
        "object",
        "external",
        "containerResource",
    ];
    for metric in metrics {
        each(spec, &format!("metrics[].{metric}.target"), &mut |target| {
            let kinds = Rule::OneOf(&["Utilization", "Value", "AverageValue"]);
            apply(
                target,
                &[
                    ("type", kinds),
                    ("averageUtilization", Rule::Between(1, i32::MAX.into())),
                ],
                out,
            );
        });
    }
}

/// Checks a PodDisruptionBudget.
pub(super) fn budget<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let Some(spec) = field(&document.root, "spec") else {
        return;
    };
    apply(
        spec,
        &[
            ("minAvailable", Rule::Share),
            ("maxUnavailable", Rule::Share),
        ],
        out,
    );
    let (least, most) = (field(spec, "minAvailable"), field(spec, "maxUnavailable"));
    if let (Some(_), Some(most)) = (least, most) {
        out.push(Finding::error(most, "cannot stand beside `minAvailable`"));
    }
    at_most_all(least, out);
    at_most_all(most, out);
    if let Some(found) = field(spec, "selector") {
        selector::syntax(found, out);
    }
}
