//! What is wrong with affinities.

use crate::kinds::causes::{Causes, quoted};
use crate::kinds::labels;
use crate::kinds::spot::Spot;
use crate::words;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// What is wrong with a pod's affinities.
pub(super) fn check(causes: &mut Causes, affinity: &Spot<'_>) {
    let nodes = affinity.field("nodeAffinity");
    check_required(causes, &nodes.field(REQUIRED));
    let preferred = nodes.field(PREFERRED);
    for term in preferred.items() {
        check_weight(causes, &term.field("weight"));
        check_node_term(causes, &term.field("preference"));
    }
    for pods in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.field(pods);
        let required = pods.field(REQUIRED);
        for term in required.items() {
            check_pod_term(causes, &term);
        }
        let preferred = pods.field(PREFERRED);
        for term in preferred.items() {
            check_weight(causes, &term.field("weight"));
            check_pod_term(causes, &term.field("podAffinityTerm"));
        }
    }
}

/// What is wrong with a selector of nodes.
pub(in super::super) fn check_required(causes: &mut Causes, selector: &Spot<'_>) {
    if selector.absent() {
        return;
    }
    let terms = selector.field("nodeSelectorTerms");
    if terms.len() == 0 {
        causes.required(&terms, "must have at least one node selector term");
    }
    for term in terms.items() {
        check_node_term(causes, &term);
    }
}

fn check_weight(causes: &mut Causes, weight: &Spot<'_>) {
    if !(1..=100).contains(&weight.int().unwrap_or(0)) {
        let shown = weight.int().unwrap_or(0).to_string();
        causes.invalid_as(weight, &shown, "must be in the range 1-100");
    }
}

fn check_node_term(causes: &mut Causes, term: &Spot<'_>) {
    let expressions = term.field("matchExpressions");
    for expression in expressions.items() {
        let (operator, values) = (expression.field("operator"), expression.field("values"));
        match operator.text() {
            "In" | "NotIn" if values.len() == 0 => {
                causes.required(
                    &values,
                    "must be specified when `operator` is 'In' or 'NotIn'",
                );
            }
            "Exists" | "DoesNotExist" if values.len() > 0 => causes.forbidden(
                &values,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            "Gt" | "Lt" if values.len() != 1 => causes.required(
                &values,
                "must be specified single value when `operator` is 'Lt' or 'Gt'",
            ),
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => causes.invalid_as(&operator, &quoted(other), "not a valid selector operator"),
        }
        let key = expression.field("key");
        causes.text_invalid(&key, key.text(), &words::qualified(key.text()));
    }
}

fn check_pod_term(causes: &mut Causes, term: &Spot<'_>) {
    let selector = term.field("labelSelector");
    // The API server calls the selector so.
    labels::check_selector(causes, &term.named("matchExpressions", selector.value));
    let namespaces = term.field("namespaces");
    for namespace in namespaces.value.as_array().into_iter().flatten() {
        let said = term.named("namespace", namespace);
        causes.all_invalid(&said, &words::label(said.text()));
    }
    let key = term.field("topologyKey");
    if key.text().is_empty() {
        causes.required(&key, "can not be empty");
    }
    causes.text_invalid(&key, key.text(), &words::qualified(key.text()));
}
