//! Makes a sequence that fails as short as it can be.

use serde_json::Value;

use super::pair::Pair;
use super::sequence::{Outcome, Story, class};
use super::step::Verb;

/// How many tries are made of one.
const TRIES: usize = 150;

/// Leaves out requests and fields as long as both still disagree about the same thing.
pub fn shrink(pair: &Pair<'_>, story: &Story) -> Story {
    let Outcome::Differed(at, found) = story.tell(pair) else {
        return story.clone();
    };
    let what = class(story, at, &found);
    let mut best = story.clone();
    best.steps.truncate(at + 1);
    let mut tries = 0;
    let mut fails = |story: &Story| {
        tries += 1;
        tries < TRIES
            && matches!(story.tell(pair), Outcome::Differed(at, found) if class(story, at, &found) == what)
    };
    loop {
        let before = best.clone();
        for at in (0..best.steps.len()).rev() {
            let mut fewer = best.clone();
            fewer.steps.remove(at);
            if fails(&fewer) {
                best = fewer;
            }
        }
        for at in 0..best.steps.len() {
            let mut path = Vec::new();
            let body = best.steps[at].body.clone();
            // Half an operation of a JSON patch is another one.
            let depth = if best.steps[at].verb == Verb::Json {
                1
            } else {
                usize::MAX
            };
            thin(&body, depth, &mut path, &mut |path| {
                let mut less = best.clone();
                remove(&mut less.steps[at].body, path);
                let smaller = fails(&less);
                if smaller {
                    best = less;
                }
                smaller
            });
        }
        if best == before {
            return best;
        }
    }
}

/// Offers all parts of a value for removal, from the outside to the inside, from the end to the start.
fn thin(
    value: &Value,
    depth: usize,
    path: &mut Vec<String>,
    gone: &mut dyn FnMut(&[String]) -> bool,
) {
    if depth == 0 {
        return;
    }
    let names: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, item)| (at.to_string(), item))
            .collect(),
        _ => return,
    };
    for (name, value) in names.into_iter().rev() {
        path.push(name);
        if !gone(path) {
            thin(value, depth - 1, path, gone);
        }
        path.pop();
    }
}

fn remove(value: &mut Value, path: &[String]) {
    let Some((name, rest)) = path.split_first() else {
        return;
    };
    match value {
        Value::Object(fields) if rest.is_empty() => {
            fields.remove(name);
        }
        Value::Object(fields) => {
            if let Some(value) = fields.get_mut(name) {
                remove(value, rest);
            }
        }
        Value::Array(items) => {
            let at: usize = name.parse().unwrap();
            if rest.is_empty() && at < items.len() {
                items.remove(at);
            } else if let Some(item) = items.get_mut(at) {
                remove(item, rest);
            }
        }
        _ => {}
    }
}
