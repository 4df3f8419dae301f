//! What is wrong with tolerations and spreading.

use std::collections::BTreeSet;

use crate::kinds::causes::{Causes, quoted};
use crate::kinds::spot::Spot;
use crate::words;

/// What a taint does to pods.
pub(in super::super) const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// What is wrong with tolerations.
pub(in super::super) fn check_tolerations(causes: &mut Causes, tolerations: &Spot<'_>) {
    for toleration in tolerations.items() {
        let key = toleration.field("key");
        if !key.text().is_empty() {
            causes.all_invalid(&key, &words::qualified(key.text()));
        }
        let (operator, value) = (toleration.field("operator"), toleration.field("value"));
        if key.text().is_empty() && operator.text() != "Exists" {
            causes.invalid_as(
                &operator,
                &quoted(operator.text()),
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
            );
        }
        let effect = toleration.field("effect");
        let seconds = toleration.field("tolerationSeconds");
        if seconds.present() && effect.text() != "NoExecute" {
            causes.invalid_as(
                &effect,
                &quoted(effect.text()),
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            );
        }
        match operator.text() {
            "Equal" | "" => {
                causes.text_invalid(&operator, value.text(), &words::label_value(value.text()));
            }
            "Exists" if !value.text().is_empty() => {
                let said = toleration.named("operator", toleration.value);
                causes.invalid(&said, "value must be empty when `operator` is 'Exists'");
            }
            "Exists" => {}
            _ => causes.one_of(&operator, &["Equal", "Exists"]),
        }
        if !effect.text().is_empty() {
            causes.one_of(&effect, &EFFECTS);
        }
    }
}

/// What is wrong with constraints on how pods are spread.
pub(super) fn check_spreading(causes: &mut Causes, constraints: &Spot<'_>) {
    let mut said = BTreeSet::new();
    let mut twice = Vec::new();
    for constraint in constraints.items() {
        let skew = constraint.field("maxSkew");
        if skew.int().unwrap_or(0) <= 0 {
            let shown = skew.int().unwrap_or(0).to_string();
            causes.invalid_as(&skew, &shown, "must be greater than zero");
        }
        let key = constraint.field("topologyKey");
        if key.text().is_empty() {
            causes.required(&key, "can not be empty");
        }
        let action = constraint.field("whenUnsatisfiable");
        causes.one_of(&action, &["DoNotSchedule", "ScheduleAnyway"]);
        let pair = format!("{{{}, {}}}", key.text(), action.text());
        if !said.insert(pair.clone()) {
            twice.push(pair);
        }
    }
    // The API server names the first constraint, whichever is the second of its kind.
    if let Some(first) = constraints.items().next() {
        let both = first.field("{topologyKey, whenUnsatisfiable}");
        for pair in twice {
            causes.duplicate_as(&both, &quoted(pair));
        }
    }
}
