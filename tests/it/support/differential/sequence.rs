//! Requests about one object, one after the other.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use super::answer::Memory;
use super::normal::{Difference, differences, normal};
use super::pair::Pair;
use super::rules::{Case, SCALE, excuse, scaled};
use super::step::{Resource, Step, fill};

/// Requests about one object, which is not there at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    pub of: Resource,
    pub steps: Vec<Step>,
}

/// How it went.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Both answered alike, so often well.
    Agreed { good: usize },
    /// A rule excuses how they differed; the rest was left out.
    Excused(&'static str),
    /// They differed at a step.
    Differed(usize, Vec<Difference>),
}

impl Story {
    /// Sends all requests to both, about an object of its own.
    pub fn tell(&self, pair: &Pair<'_>) -> Outcome {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("n{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut memories = [Memory::default(), Memory::default()];
        let mut good = 0;
        let mut before = Value::Null;
        for (at, step) in self.steps.iter().enumerate() {
            let sides = [&pair.sandbox, pair.server];
            let mut answers = sides.into_iter().zip(&mut memories).map(|(api, memory)| {
                let mut call = step.call(&self.of, &pair.namespace, &name);
                call.body = fill(&call.body, &|text| match text {
                    "$NAME" => Some(name.clone()),
                    "$NAMESPACE" => Some(pair.namespace.clone()),
                    other => memory.value(other),
                });
                let answer = Pair::ask(api, &call);
                (answer.code, normal(&answer, memory, pair.minor))
            });
            let ((code, sandbox), (_, server)) = (answers.next().unwrap(), answers.next().unwrap());
            let found = differences(&sandbox, &server);
            if found.is_empty() {
                good += usize::from(code < 300);
                if code < 300
                    && sandbox["body"]["kind"] == self.of.kind
                    && !step.query.contains("dryRun")
                {
                    before = sandbox;
                }
                if code < 300 && scaled(step, pair.minor) {
                    return Outcome::Excused(SCALE);
                }
                continue;
            }
            let case = Case {
                step,
                earlier: &self.steps[..at],
                sandbox: &sandbox,
                server: &server,
                differences: &found,
                before: &before,
            };
            return match excuse(&case, pair.minor) {
                Some(rule) => Outcome::Excused(rule),
                None => Outcome::Differed(at, found),
            };
        }
        Outcome::Agreed { good }
    }

    /// Fails, with all there is to say, when the two do not agree to the end.
    pub fn agree(&self, pair: &Pair<'_>) {
        match self.tell(pair) {
            Outcome::Agreed { .. } => {}
            Outcome::Excused(rule) => panic!(
                "excused by {rule:?}, and so not told to the end:\n{}",
                self.text()
            ),
            Outcome::Differed(at, found) => panic!("{}", self.report(at, &found)),
        }
    }

    /// The requests as a list.
    pub fn text(&self) -> String {
        let mut text = format!("{} ({})\n", self.of.kind, self.of.api);
        for (at, step) in self.steps.iter().enumerate() {
            let _ = writeln!(text, "  {at}. {step}");
        }
        text
    }

    pub fn report(&self, at: usize, found: &[Difference]) -> String {
        let mut text = self.text();
        let _ = writeln!(text, "  differ at {at}:");
        for difference in found {
            let _ = writeln!(text, "    {difference}");
        }
        text
    }
}

/// What a disagreement is about, so that many of one kind count as one: where it is, without numbers.
pub fn class(story: &Story, at: usize, found: &[Difference]) -> String {
    let step = &story.steps[at];
    let first = found.first().unwrap();
    let path: String = first.path.chars().filter(|c| !c.is_ascii_digit()).collect();
    let value = |value: &Option<Value>| match value {
        Some(Value::Object(_)) => "{}".to_owned(),
        Some(value) if path == ".code" => value.to_string(),
        Some(_) => "value".to_owned(),
        None => "nothing".to_owned(),
    };
    let codes = found.iter().find(|difference| difference.path == ".code");
    let code = |value: &Option<Value>| value.as_ref().map_or(String::new(), Value::to_string);
    let codes = codes.map(|codes| format!(" {} {}", code(&codes.sandbox), code(&codes.server)));
    format!(
        "{} {:?} {} {path} {} {}{}",
        story.of.kind,
        step.verb,
        step.subresource,
        value(&first.sandbox),
        value(&first.server),
        codes.unwrap_or_default()
    )
}
