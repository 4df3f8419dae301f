//! Numbers of pods that may be percentages, and what has them: PodDisruptionBudgets.

use serde_json::Value;

use super::causes::Causes;
use super::labels;
use super::spot::Spot;
use crate::words;

const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex \
    used for validation is '[0-9]+%')";

/// What is wrong with a number or percentage of pods.
pub(super) fn check_number_or_percent(causes: &mut Causes, spot: &Spot<'_>) {
    match spot.value {
        Value::String(text) if !words::is_percent(text) => causes.invalid(spot, PERCENT),
        Value::Number(_) => causes.not_negative(spot),
        _ => {}
    }
}

/// Says that a percentage is more than there can be.
pub(super) fn check_percent(causes: &mut Causes, spot: &Spot<'_>) {
    if percent(spot.value).is_some_and(|percent| percent > 100) {
        causes.invalid(spot, "must not be greater than 100%");
    }
}

/// Whether it is no pod at all.
pub(super) fn is_zero(value: &Value) -> bool {
    match value {
        Value::String(text) => percent(value).or(text.parse().ok()).unwrap_or(0) == 0,
        other => other.as_i64().unwrap_or(0) == 0,
    }
}

fn percent(value: &Value) -> Option<i64> {
    value.as_str()?.strip_suffix('%')?.parse().ok()
}

/// What is wrong with a PodDisruptionBudget.
pub(super) fn check_budget(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let (least, most) = (spec.field("minAvailable"), spec.field("maxUnavailable"));
    if least.present() && most.present() {
        causes.invalid(&spec, "minAvailable and maxUnavailable cannot be both set");
    }
    for number in [least, most] {
        check_number_or_percent(causes, &number);
        check_percent(causes, &number);
    }
    labels::check_selector(causes, &spec.field("selector"));
}
