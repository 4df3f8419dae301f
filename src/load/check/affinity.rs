//! Where pods want to be: the affinity of their spec.

use super::finding::Finding;
use super::read::{each, field, items, text};
use super::rules::{Rule, apply, one_of};
use crate::load::Node;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const OPERATORS: &[&str] = &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];

/// Checks the affinity of a pod.
pub(super) fn check<'n>(pod: &'n Node, out: &mut Vec<Finding<'n>>) {
    let Some(affinity) = field(pod, "affinity") else {
        return;
    };
    for kind in ["nodeAffinity", "podAffinity", "podAntiAffinity"] {
        let Some(affinity) = field(affinity, kind) else {
            continue;
        };
        for preferred in items(affinity, PREFERRED) {
            let rules = [
                ("weight", Rule::Between(1, 100)),
                ("podAffinityTerm.topologyKey", Rule::Filled),
            ];
            apply(preferred, &rules, out);
            each(preferred, "preference.matchExpressions[]", &mut |found| {
                expression(found, out)
            });
        }
        for term in items(affinity, REQUIRED) {
            apply(term, &[("topologyKey", Rule::Filled)], out);
        }
        if let Some(required) = field(affinity, REQUIRED).filter(|_| kind == "nodeAffinity") {
            let none = super::read::empty_list(required, "nodeSelectorTerms");
            out.extend(none.map(|list| Finding::error(list, "must have at least one term")));
            each(
                required,
                "nodeSelectorTerms[].matchExpressions[]",
                &mut |found| expression(found, out),
            );
        }
    }
}

fn expression<'n>(expression: &'n Node, out: &mut Vec<Finding<'n>>) {
    let values = items(expression, "values");
    match text(expression, "operator") {
        Some("In" | "NotIn") => out.extend(super::rules::needed(expression, "values")),
        Some("Gt" | "Lt") if values.len() != 1 => {
            out.push(Finding::error(
                expression,
                "must have one value with the operators `Gt` and `Lt`",
            ));
        }
        Some("Exists" | "DoesNotExist") if !values.is_empty() => {
            let says = "must have no values with the operators `Exists` and `DoesNotExist`";
            out.push(Finding::error(expression, says));
        }
        Some(operator) if !OPERATORS.contains(&operator) => {
            let at = expression.get("operator").unwrap_or(expression);
            out.push(Finding::error(at, one_of(OPERATORS)));
        }
        _ => {}
    }
}
