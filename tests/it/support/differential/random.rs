//! Random sequences, many at once.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::generate::story;
use super::pair::Pair;
use super::sequence::{Outcome, Story, class};
use super::shrink::shrink;

/// How many disagreements are made small and shown.
const SHOWN: usize = 6;

/// Which sequences are told.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The first one; the others follow it.
    pub seed: u64,
    pub sequences: u64,
    pub threads: usize,
}

impl Plan {
    /// The plan, but for what the environment says (`COVERGENCE_SANDBOX_SEED`, `COVERGENCE_SANDBOX_SEQUENCES`).
    pub fn or_environment(self) -> Self {
        let number = |name: &str| {
            let text = env::var(name).ok()?;
            Some(
                text.parse()
                    .unwrap_or_else(|_| panic!("{name} is no number: {text}")),
            )
        };
        Self {
            seed: number("COVERGENCE_SANDBOX_SEED").unwrap_or(self.seed),
            sequences: number("COVERGENCE_SANDBOX_SEQUENCES").unwrap_or(self.sequences),
            ..self
        }
    }
}

/// What came of them.
#[derive(Debug, Default)]
struct Tally {
    agreed: usize,
    requests: usize,
    good: usize,
    kinds: BTreeMap<&'static str, usize>,
    excused: BTreeMap<&'static str, usize>,
    differed: BTreeMap<String, (usize, u64, Story)>,
}

/// Tells the sequences of a plan to both; gives what to print, or what went wrong.
pub fn survey(pair: &Pair<'_>, plan: Plan) -> Result<String, String> {
    let next = AtomicU64::new(plan.seed);
    let tally = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for _ in 0..plan.threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= plan.seed + plan.sequences {
                        return;
                    }
                    let story = story(seed);
                    let outcome = story.tell(pair);
                    tally.lock().unwrap().count(seed, story, outcome);
                }
            });
        }
    });
    tally.into_inner().unwrap().result(pair, plan)
}

impl Tally {
    fn count(&mut self, seed: u64, story: Story, outcome: Outcome) {
        *self.kinds.entry(story.of.kind).or_default() += 1;
        match outcome {
            Outcome::Agreed { good } => {
                self.agreed += 1;
                self.requests += story.steps.len();
                self.good += good;
            }
            Outcome::Excused(rule) => *self.excused.entry(rule).or_default() += 1,
            Outcome::Differed(at, found) => {
                let class = class(&story, at, &found);
                self.differed.entry(class).or_insert((0, seed, story)).0 += 1;
            }
        }
    }

    fn result(self, pair: &Pair<'_>, plan: Plan) -> Result<String, String> {
        let mut text = format!(
            "{} random sequences from seed {}: {} agreed in all of {} requests ({} of them good)\n",
            plan.sequences, plan.seed, self.agreed, self.requests, self.good
        );
        for (kind, times) in &self.kinds {
            let _ = writeln!(text, "  {times:5} {kind}");
        }
        for (rule, times) in &self.excused {
            let _ = writeln!(text, "  {times:5} ended by rule: {rule}");
        }
        if self.differed.is_empty() {
            return Ok(text);
        }
        let mut differed: Vec<_> = self.differed.into_iter().collect();
        differed.sort_by_key(|(_, (times, ..))| std::cmp::Reverse(*times));
        for (class, (times, seed, _)) in &differed {
            let _ = writeln!(text, "  {times:5} differed, such as seed {seed}: {class}");
        }
        for (class, (_, seed, story)) in differed.iter().take(SHOWN) {
            let small = shrink(pair, story);
            let _ = writeln!(text, "\nseed {seed}: {class}");
            match small.tell(pair) {
                Outcome::Differed(at, found) => text += &small.report(at, &found),
                _ => text += "  (not again)\n",
            }
        }
        Err(text)
    }
}
