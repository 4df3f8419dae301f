//! Label selectors, and the labels that they are to match.

use super::finding::Finding;
use super::read::{entries, field, items, text};
use super::rules::{needed, one_of};
use super::syntax::{label_value, qualified};
use crate::load::schema::nearest;
use crate::load::{Entry, Node};

const OPERATORS: [&str; 4] = ["In", "NotIn", "Exists", "DoesNotExist"];

/// Checks the keys and values of labels, or of anything that has their syntax.
pub(super) fn labels<'n>(labels: Option<&'n Node>, out: &mut Vec<Finding<'n>>) {
    for entry in entries(labels) {
        out.extend(qualified(&entry.key).map(|must| Finding::key(entry, must)));
        let value = entry.value.as_str().and_then(label_value);
        out.extend(value.map(|must| Finding::error(&entry.value, must)));
    }
}

/// Checks a selector with `matchLabels` and `matchExpressions`.
pub(super) fn syntax<'n>(selector: &'n Node, out: &mut Vec<Finding<'n>>) {
    labels(selector.get("matchLabels"), out);
    for expression in items(selector, "matchExpressions") {
        if let Some(key) = expression.get("key")
            && let Some(must) = key.as_str().and_then(qualified)
        {
            out.push(Finding::error(key, must));
        }
        let values = items(expression, "values");
        match text(expression, "operator") {
            Some("In" | "NotIn") => out.extend(needed(expression, "values")),
            Some("Exists" | "DoesNotExist") if !values.is_empty() => {
                let at = expression.get("values").unwrap_or(expression);
                let says = "must not be there with the operators `Exists` and `DoesNotExist`";
                out.push(Finding::error(at, says));
            }
            Some(operator) if !OPERATORS.contains(&operator) => {
                let at = expression.get("operator").unwrap_or(expression);
                let near = nearest(operator, OPERATORS.into_iter());
                let hint = near.map(|near| format!("did you mean `{near}`?"));
                out.push(Finding::error(at, one_of(&OPERATORS)).perhaps(hint));
            }
            _ => {}
        }
    }
}

/// Whether a selector says nothing at all.
pub(super) fn is_empty(selector: &Node) -> bool {
    entries(selector.get("matchLabels")).is_empty()
        && items(selector, "matchExpressions").is_empty()
}

/// The value of a label.
pub(super) fn value_of<'n>(labels: &'n [Entry], key: &str) -> Option<&'n str> {
    let entry = labels.iter().find(|entry| entry.key == key)?;
    entry.value.as_str()
}

/// Finds what keeps a selector from matching labels, if anything does.
pub(super) fn mismatch<'n>(selector: &'n Node, labels: &[Entry]) -> Option<Finding<'n>> {
    for entry in entries(selector.get("matchLabels")) {
        let Some(wanted) = entry.value.as_str() else {
            continue;
        };
        match value_of(labels, &entry.key) {
            Some(value) if value == wanted => {}
            Some(value) => {
                let says = format!("is not the value that the template's label has: `{value}`");
                return Some(Finding::error(&entry.value, says).hint(SAME));
            }
            None => {
                let says = "is a label that the template does not have";
                let near = nearest(&entry.key, labels.iter().map(|label| label.key.as_str()));
                let hint = near.map_or(SAME.to_owned(), |near| format!("did you mean `{near}`?"));
                return Some(Finding::error(&entry.value, says).hint(hint));
            }
        }
    }
    let failing = |expression: &&Node| !fits(expression, labels);
    let failing = items(selector, "matchExpressions").iter().find(failing)?;
    let says = "does not match the template's labels";
    Some(Finding::error(failing, says).hint(SAME))
}

const SAME: &str =
    "give the pods every label that the selector asks for, below `template.metadata.labels`";

/// Whether labels satisfy an expression; one that makes no sense is told of elsewhere.
fn fits(expression: &Node, labels: &[Entry]) -> bool {
    let Some(key) = text(expression, "key") else {
        return true;
    };
    let value = value_of(labels, key);
    let listed = || {
        let mut values = items(expression, "values").iter();
        values.any(|listed| listed.as_str() == value)
    };
    match text(expression, "operator") {
        Some("In") => value.is_some() && listed(),
        Some("NotIn") => value.is_none() || !listed(),
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        _ => true,
    }
}

/// Checks the selector of a workload against the labels of its pods.
pub(super) fn of_workload<'n>(spec: &'n Node, template: &'n Node, out: &mut Vec<Finding<'n>>) {
    let Some(selector) = field(spec, "selector") else {
        return;
    };
    let before = out.len();
    syntax(selector, out);
    if is_empty(selector) {
        let says = "must not be empty: it would select every pod";
        out.push(Finding::error(selector, says));
    } else if out.len() == before {
        let labels = template
            .get("metadata")
            .and_then(|metadata| metadata.get("labels"));
        out.extend(mismatch(selector, entries(labels)));
    }
}

/// Finds what keeps a plain mapping of labels from matching others.
pub(super) fn map_mismatch<'n>(wanted: &'n Node, labels: Option<&'n Node>) -> Option<Finding<'n>> {
    let labels = entries(labels);
    let differs = |entry: &&Entry| entry.value.as_str() != value_of(labels, &entry.key);
    let entry = entries(Some(wanted)).iter().find(differs)?;
    let says = "is not a label of the template";
    Some(Finding::error(&entry.value, says).hint(SAME))
}
