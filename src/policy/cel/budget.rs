//! How much work an evaluation may be.
//!
//! A unit is a step of the evaluator, an element that is looked at, or ten bytes of text: some 100 ns. The numbers are
//! those of the API server (`k8s.io/apiserver/pkg/apis/cel/config.go`), whose units are about as long.

use std::cell::Cell;

use kube_cel::cel::Value;

use super::fault::Fault;

/// What one expression may take: a tenth of a second.
pub const EXPRESSION: u64 = 1_000_000;

/// What all expressions of a policy may take for one object.
pub const POLICY: u64 = 10_000_000;

/// What all policies may take for all objects of a source: a minute or so, where hundred objects need a few milliseconds.
pub const RUN: u64 = 500_000_000;

/// Values nested deeper than this are not looked at: a document has 100 levels at the most, an expression adds a few.
const DEEPEST: u32 = 250;

/// What is left of what an evaluation may take.
#[derive(Debug)]
pub struct Budget(Cell<u64>);

impl Budget {
    /// Makes one of so many units.
    pub fn new(units: u64) -> Self {
        Self(Cell::new(units))
    }

    /// What is left.
    pub fn left(&self) -> u64 {
        self.0.get()
    }

    /// Makes one for a part of the work, which takes no more than is left here.
    pub fn part(&self, most: u64) -> Self {
        Self::new(most.min(self.left()))
    }

    /// Takes what a part has used, of the units it began with.
    pub fn settle(&self, part: &Self, began_with: u64) {
        let used = began_with.saturating_sub(part.left());
        self.0.set(self.left().saturating_sub(used));
    }

    /// Pays for work before it is done.
    ///
    /// # Errors
    /// When there is not enough left.
    pub fn charge(&self, units: u64) -> Result<(), Fault> {
        match self.left().checked_sub(units) {
            Some(left) => {
                self.0.set(left);
                Ok(())
            }
            None => {
                self.0.set(0);
                Err(Fault::TooExpensive)
            }
        }
    }

    /// Pays for so many bytes of text.
    pub fn charge_text(&self, bytes: usize) -> Result<(), Fault> {
        self.charge(units(bytes) / 10 + 1)
    }

    /// Pays for looking at all of a value and returns what that took. Values may share their parts, so that a short
    /// expression can make one that is larger than all memory: it is walked only as far as the budget goes.
    pub fn charge_value(&self, value: &Value) -> Result<u64, Fault> {
        let before = self.left();
        self.walk(value, 0)?;
        Ok(before - self.left())
    }

    fn walk(&self, value: &Value, depth: u32) -> Result<(), Fault> {
        if depth > DEEPEST {
            return Err(Fault::TooExpensive);
        }
        match value {
            Value::List(items) => {
                self.charge(1)?;
                items.iter().try_for_each(|item| self.walk(item, depth + 1))
            }
            Value::Map(map) => {
                self.charge(1)?;
                map.map.iter().try_for_each(|(key, value)| {
                    self.charge_text(key.to_string().len())?;
                    self.walk(value, depth + 1)
                })
            }
            Value::String(text) => self.charge_text(text.len()),
            Value::Bytes(bytes) => self.charge_text(bytes.len()),
            _ => self.charge(1),
        }
    }
}

/// A number of things as units.
pub fn units(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
