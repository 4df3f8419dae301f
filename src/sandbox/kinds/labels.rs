//! Labels, annotations and selectors of labels.

use serde_json::Value;

use super::causes::{Causes, labels_shown, quoted};
use super::spot::Spot;
use crate::words;

/// Most bytes of all annotations together.
const ANNOTATIONS: usize = 256 * 1024;

/// What is wrong with labels.
pub(super) fn check(causes: &mut Causes, labels: &Spot<'_>) {
    for (key, value) in labels.entries() {
        causes.text_invalid(labels, key, &words::qualified(key));
        causes.text_invalid(labels, value.text(), &words::label_value(value.text()));
    }
}

/// What is wrong with annotations.
pub(super) fn check_annotations(causes: &mut Causes, annotations: &Spot<'_>) {
    let mut size = 0;
    for (key, value) in annotations.entries() {
        causes.text_invalid(annotations, key, &words::qualified(&key.to_lowercase()));
        size += key.len() + value.text().len();
    }
    if size > ANNOTATIONS {
        causes.too_long(annotations, ANNOTATIONS);
    }
}

/// What is wrong with a selector.
pub(super) fn check_selector(causes: &mut Causes, selector: &Spot<'_>) {
    check(causes, &selector.field("matchLabels"));
    let expressions = selector.field("matchExpressions");
    for expression in expressions.items() {
        check_expression(causes, &expression);
    }
}

fn check_expression(causes: &mut Causes, expression: &Spot<'_>) {
    let operator = expression.field("operator");
    let values = expression.field("values");
    match operator.text() {
        "In" | "NotIn" if values.len() == 0 => causes.required(
            &values,
            "must be specified when `operator` is 'In' or 'NotIn'",
        ),
        "Exists" | "DoesNotExist" if values.len() > 0 => causes.forbidden(
            &values,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => causes.invalid_as(&operator, &quoted(other), "not a valid selector operator"),
    }
    let key = expression.field("key");
    causes.text_invalid(&key, key.text(), &words::qualified(key.text()));
}

/// Whether a selector selects nothing, since it says nothing.
pub(super) fn is_empty(selector: &Spot<'_>) -> bool {
    selector.field("matchLabels").len() == 0 && selector.field("matchExpressions").len() == 0
}

/// Whether a selector can be read, but for the syntax of its keys and values.
pub(super) fn is_readable(selector: &Spot<'_>) -> bool {
    let mut causes = Causes::default();
    check_selector(&mut causes, selector);
    causes.0.is_empty()
}

/// Whether labels are selected.
pub(super) fn matches(selector: &Spot<'_>, labels: &Value) -> bool {
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let pairs = selector.field("matchLabels");
    let expressions = selector.field("matchExpressions");
    pairs
        .entries()
        .all(|(key, value)| label(key) == Some(value.text()))
        && expressions.items().all(|expression| {
            let key = expression.field("key");
            let values = expression.field("values");
            let listed = |value: &str| values.items().any(|item| item.text() == value);
            match expression.field("operator").text() {
                "In" => label(key.text()).is_some_and(listed),
                "NotIn" => !label(key.text()).is_some_and(listed),
                "Exists" => label(key.text()).is_some(),
                "DoesNotExist" => label(key.text()).is_none(),
                _ => false,
            }
        })
}

/// Says that a template's pods are not selected, where they are not.
pub(super) fn check_template(causes: &mut Causes, spec: &Spot<'_>) {
    let (selector, template) = (spec.field("selector"), spec.field("template"));
    let metadata = template.field("metadata");
    let labels = metadata.field("labels");
    if selector.absent() || !matches(&selector, labels.value) {
        causes.invalid_as(
            &labels,
            &labels_shown(labels.value),
            "`selector` does not match template `labels`",
        );
    }
}
