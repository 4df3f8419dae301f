//! Random sequences of requests.

mod change;
mod dice;
mod kinds;
mod pods;

use serde_json::{Value, json};

use self::change::{holes, operations, thinned};
use self::dice::Dice;
use self::kinds::{KINDS, Kind};
use super::definition::THINGS;
use super::sequence::Story;
use super::step::{Step, Verb};

const MANAGERS: [&str; 3] = ["alice", "bob", "carol"];

/// The sequence of a seed.
pub fn story(seed: u64) -> Story {
    let mut dice = Dice::new(seed);
    let kind = dice.pick(KINDS);
    let mut steps = vec![first(&mut dice, kind)];
    for _ in 0..dice.between(2, 7) {
        steps.push(next(&mut dice, kind));
    }
    steps.push(Step::new(Verb::Get, "", Value::Null));
    Story { of: kind.of, steps }
}

/// What makes the object, mostly.
fn first(dice: &mut Dice, kind: &Kind) -> Step {
    let object = object(dice, kind);
    if dice.chance(45) {
        Step::new(Verb::Create, query(dice, false), object)
    } else {
        Step::new(Verb::Apply, query(dice, true), object)
    }
}

fn next(dice: &mut Dice, kind: &Kind) -> Step {
    let whole = object(dice, kind);
    match dice.between(0, 99) {
        0..40 => {
            let body = if dice.chance(20) {
                whole
            } else {
                thinned(dice, &whole, 40)
            };
            Step::new(Verb::Apply, query(dice, true), body)
        }
        40..52 => {
            let mut whole = whole;
            // Whoever does not say which version they have seen is let through by most kinds, but not by all.
            if dice.chance(85) {
                let version = if dice.chance(90) {
                    "$VERSION"
                } else {
                    "$STALE"
                };
                whole["metadata"]["resourceVersion"] = version.into();
            }
            Step::new(Verb::Put, query(dice, false), whole)
        }
        52..64 => {
            let mut patch = thinned(dice, &whole, 60);
            holes(dice, &mut patch);
            Step::new(Verb::Merge, query(dice, false), patch)
        }
        64..74 => {
            let mut patch = thinned(dice, &whole, 60);
            holes(dice, &mut patch);
            Step::new(Verb::Strategic, query(dice, false), patch)
        }
        74..82 => Step::new(Verb::Json, query(dice, false), operations(dice, &whole)),
        82..88 => status(dice, kind),
        88..92 => scale(dice, kind),
        92..95 => Step::new(Verb::Delete, "", options(dice)),
        95..97 => Step::new(Verb::Get, "", Value::Null),
        _ => first(dice, kind),
    }
}

fn object(dice: &mut Dice, kind: &Kind) -> Value {
    let mut object = json!({ "apiVersion": kind.api_version(), "kind": kind.of.kind, "metadata": dice.metadata() });
    if kind.of == THINGS
        && let Some(metadata) = object["metadata"].as_object_mut()
    {
        // Owned whole since 1.21, which a definition does not say.
        metadata.remove("ownerReferences");
    }
    let fields = (kind.fields)(dice);
    object
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    object
}

fn query(dice: &mut Dice, apply: bool) -> String {
    let mut query = format!("fieldManager={}", dice.pick(&MANAGERS));
    if apply && dice.chance(40) {
        query += "&force=true";
    }
    if dice.chance(6) {
        query += "&dryRun=All";
    }
    query
}

fn status(dice: &mut Dice, kind: &Kind) -> Step {
    let Some(status) = kind.status else {
        return Step::new(Verb::Get, "", Value::Null);
    };
    let mut body = json!({
        "apiVersion": kind.api_version(), "kind": kind.of.kind, "metadata": { "name": "$NAME" }, "status": status(dice),
    });
    let (verb, query) = match dice.between(0, 2) {
        0 => (Verb::Merge, "fieldManager=kubelet"),
        1 => (Verb::Apply, "fieldManager=kubelet&force=true"),
        _ => {
            let whole = object(dice, kind);
            body["metadata"]["resourceVersion"] = "$VERSION".into();
            body["spec"] = whole["spec"].clone();
            (Verb::Put, "fieldManager=kubelet")
        }
    };
    Step::new(verb, query, body).at("status")
}

fn scale(dice: &mut Dice, kind: &Kind) -> Step {
    if !kind.scale {
        return Step::new(Verb::Get, "", Value::Null);
    }
    let replicas = dice.between(0, 4);
    match dice.between(0, 2) {
        0 => Step::new(Verb::Get, "", Value::Null),
        1 => Step::new(Verb::Merge, query(dice, false), json!({ "spec": { "replicas": replicas } })),
        _ => Step::new(
            Verb::Put,
            query(dice, false),
            json!({
                "apiVersion": "autoscaling/v1", "kind": "Scale",
                "metadata": { "name": "$NAME", "namespace": "$NAMESPACE", "resourceVersion": "$VERSION" },
                "spec": { "replicas": replicas },
            }),
        ),
    }
    .at("scale")
}

fn options(dice: &mut Dice) -> Value {
    match dice.between(0, 5) {
        0 => json!({ "preconditions": { "uid": "$UID" } }),
        1 => json!({ "preconditions": { "resourceVersion": "$STALE" } }),
        2 => json!({ "dryRun": ["All"] }),
        3 => json!({ "propagationPolicy": "Background" }),
        _ => Value::Null,
    }
}
