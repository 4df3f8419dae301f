//! A progress bar on a terminal, and a line for each result.

use std::io::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::steps::print_outcome;
use crate::plan::Step;
use crate::reconcile::{Done, Outcome};

/// Shows results as they come: lines on stdout, the bar on stderr when that is a terminal.
pub struct Progress {
    bar: ProgressBar,
    lines: bool,
    all: bool,
}

impl Progress {
    /// Makes one for so many steps. Without `lines` only the bar is shown; with `all` unchanged objects get a line too.
    pub fn new(steps: usize, lines: bool, all: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Self { bar, lines, all }
    }

    /// Shows what became of a step.
    pub fn step(&self, step: &Step, done: &Done) {
        if self.lines && (self.all || done.outcome != Outcome::Unchanged) {
            let mut line = Vec::new();
            let _ = print_outcome(&mut line, step, done);
            // A reader that has gone away must not stop a sync half way.
            self.bar.suspend(|| {
                let _ = anstream::stdout().lock().write_all(&line);
            });
        }
        self.bar.inc(1);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
