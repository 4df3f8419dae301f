//! HorizontalPodAutoscalers.

use serde_json::{Value, json};

use super::causes::{Causes, quoted};
use super::defaults::{
    Default::{Int, Text},
    add, has, object_in, put,
};
use super::quantity;
use super::spot::Spot;
use crate::words;

const SOURCES: [&str; 5] = [
    "ContainerResource",
    "External",
    "Object",
    "Pods",
    "Resource",
];

/// Adds defaults to an autoscaler.
pub(super) fn default(object: &mut Value) {
    add(object, &[("spec+.minReplicas", Int(1))]);
    let Some(spec) = object.get_mut("spec") else {
        return;
    };
    let said = spec.get("metrics").and_then(Value::as_array);
    if said.is_none_or(Vec::is_empty) {
        let target = json!({ "type": "Utilization", "averageUtilization": 80 });
        put(
            spec,
            "metrics",
            json!([{ "type": "Resource", "resource": { "name": "cpu", "target": target } }]),
        );
    }
    if let Some(behavior) = spec.get_mut("behavior").and_then(Value::as_object_mut) {
        default_direction(object_in(behavior, "scaleUp"), UP);
        default_direction(object_in(behavior, "scaleDown"), DOWN);
    }
}

/// How fast replicas are added: pods and percent in 15 seconds.
const UP: (Option<i64>, &[(&str, i64)]) = (Some(0), &[("Pods", 4), ("Percent", 100)]);

/// How fast replicas are taken away.
const DOWN: (Option<i64>, &[(&str, i64)]) = (None, &[("Percent", 100)]);

fn default_direction(rules: &mut Value, (window, policies): (Option<i64>, &[(&str, i64)])) {
    if let Some(window) = window {
        add(rules, &[("stabilizationWindowSeconds", Int(window))]);
    }
    add(rules, &[("selectPolicy", Text("Max"))]);
    if !has(rules, "policies") {
        let policy = |(kind, value): &(&str, i64)| json!({ "type": kind, "value": value, "periodSeconds": 15 });
        put(
            rules,
            "policies",
            policies.iter().map(policy).collect::<Vec<_>>(),
        );
    }
}

/// What is wrong with an autoscaler.
pub(super) fn check(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let (least, most) = (spec.field("minReplicas"), spec.field("maxReplicas"));
    let fewest = least.int().unwrap_or(1);
    if fewest < 1 {
        causes.invalid(&least, "must be greater than or equal to 1");
    }
    let highest = most.int().unwrap_or(0);
    if highest < 1 {
        causes.invalid_as(&most, &highest.to_string(), "must be greater than 0");
    }
    if highest < fewest {
        causes.invalid_as(
            &most,
            &highest.to_string(),
            "must be greater than or equal to `minReplicas`",
        );
    }
    let target = spec.field("scaleTargetRef");
    for part in ["kind", "name"] {
        let part = target.field(part);
        if part.text().is_empty() {
            causes.required(&part, "");
        } else {
            causes.all_invalid(&part, &words::path_segment(part.text()));
        }
    }
    let metrics = spec.field("metrics");
    for metric in metrics.items() {
        check_metric(causes, &metric);
    }
    let scalable = metrics
        .items()
        .any(|metric| matches!(metric.field("type").text(), "Object" | "External"));
    if fewest == 0 && !scalable {
        causes.forbidden(
            &metrics,
            "must specify at least one Object or External metric to support scaling to zero replicas",
        );
    }
    let behavior = spec.field("behavior");
    check_rules(causes, &behavior.field("scaleUp"));
    check_rules(causes, &behavior.field("scaleDown"));
}

fn check_metric(causes: &mut Causes, metric: &Spot<'_>) {
    let kind = metric.field("type");
    if kind.text().is_empty() {
        causes.required(&kind, "must specify a metric source type");
    }
    let field = match kind.text() {
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        "Pods" => "pods",
        "Object" => "object",
        "External" => "external",
        _ => {
            // The API server says so twice.
            causes.one_of(&kind, &SOURCES);
            causes.one_of(&kind, &SOURCES);
            return;
        }
    };
    let source = metric.field(field);
    if source.absent() {
        causes.required(
            &source,
            "must populate information for the given metric source",
        );
        return;
    }
    let target = source.field("target");
    match field {
        "resource" | "containerResource" => {
            let name = source.field("name");
            if name.text().is_empty() {
                causes.required(&name, "must specify a resource name");
            }
            check_target(causes, &target);
            check_resource_target(causes, &target);
        }
        _ => {
            let described = source.field("metric");
            let name = described.field("name");
            if name.text().is_empty() {
                causes.required(&name, "must specify a metric name");
            } else {
                causes.all_invalid(&name, &words::path_segment(name.text()));
            }
            check_target(causes, &target);
            let average = target.field("averageValue");
            if field == "pods" && !is_positive(average.value) {
                causes.required(&average, "must specify a positive target averageValue");
            }
            let value = target.field("value");
            if field != "pods" && value.absent() && average.absent() {
                causes.required(
                    &average,
                    "must set either a target value for metric or a per-pod target",
                );
            }
        }
    }
}

fn check_target(causes: &mut Causes, target: &Spot<'_>) {
    let kind = target.field("type");
    if kind.text().is_empty() {
        causes.required(&kind, "must specify a metric target type");
    }
    if !matches!(kind.text(), "Utilization" | "Value" | "AverageValue") {
        causes.invalid_as(
            &kind,
            &quoted(kind.text()),
            "must be either Utilization, Value, or AverageValue",
        );
    }
    let percent = target.field("averageUtilization");
    if percent.int().is_some_and(|percent| percent < 1) {
        causes.invalid(&percent, "must be greater than 0");
    }
    for value in ["value", "averageValue"] {
        let value = target.field(value);
        if value.present() && !is_positive(value.value) {
            causes.invalid(&value, "must be positive");
        }
    }
}

fn check_resource_target(causes: &mut Causes, target: &Spot<'_>) {
    let (percent, value) = (
        target.field("averageUtilization"),
        target.field("averageValue"),
    );
    if percent.absent() && value.absent() {
        causes.required(
            &percent,
            "must set either a target raw value or a target utilization",
        );
    } else if percent.present() && value.present() {
        causes.forbidden(
            &value,
            "may not set both a target raw value and a target utilization",
        );
    }
}

fn is_positive(value: &Value) -> bool {
    quantity::billionths(value).is_some_and(|size| size > 0)
}

fn check_rules(causes: &mut Causes, rules: &Spot<'_>) {
    if rules.absent() {
        return;
    }
    let window = rules.field("stabilizationWindowSeconds");
    causes.not_negative(&window);
    if window.int().is_some_and(|seconds| seconds > 3600) {
        causes.invalid(&window, "must be less than or equal to 3600");
    }
    let choice = rules.field("selectPolicy");
    if choice.present() {
        causes.one_of(&choice, &["Disabled", "Max", "Min"]);
    }
    let policies = rules.field("policies");
    if policies.len() == 0 {
        causes.required(&policies, "must specify at least one Policy");
    }
    for policy in policies.items() {
        causes.one_of(&policy.field("type"), &["Percent", "Pods"]);
        for number in ["value", "periodSeconds"] {
            let number = policy.field(number);
            let said = number.int().unwrap_or(0);
            if said <= 0 {
                causes.invalid_as(&number, &said.to_string(), "must be greater than zero");
            }
        }
        let period = policy.field("periodSeconds");
        if period.int().is_some_and(|seconds| seconds > 1800) {
            causes.invalid(&period, "must be less than or equal to 1800");
        }
    }
}
