//! What an expression can name.

use std::cell::RefCell;
use std::collections::BTreeMap;

use kube_cel::cel::Value;

use super::budget::Budget;
use super::compile::Expression;
use super::fault::Fault;

/// A variable of a policy: its name, and its expression or why that is none.
pub type Variable = (String, Result<Expression, String>);

/// What an expression can name: values by name, and a policy's variables, each evaluated once and only when it is used.
pub struct Env<'a> {
    values: BTreeMap<&'static str, Value>,
    variables: &'a [Variable],
    evaluated: RefCell<BTreeMap<usize, Result<Value, Fault>>>,
}

impl<'a> Env<'a> {
    /// Makes one.
    pub fn new(values: BTreeMap<&'static str, Value>, variables: &'a [Variable]) -> Self {
        Self {
            values,
            variables,
            evaluated: RefCell::default(),
        }
    }

    /// The value of a name, if it has one.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The value of a variable. `depth` is how deep the evaluation is already.
    ///
    /// # Errors
    /// Why it has none.
    pub fn variable(&self, name: &str, budget: &Budget, depth: u32) -> Result<Value, Fault> {
        let found = self.variables.iter().position(|(own, _)| own == name);
        let Some((at, (_, expression))) = found.and_then(|at| Some((at, self.variables.get(at)?)))
        else {
            return Err(Fault::error(format!("there is no variable {name}")));
        };
        if let Some(known) = self.evaluated.borrow().get(&at) {
            return known.clone();
        }
        let result = match expression {
            Ok(expression) => expression.evaluate_at(self, budget, depth),
            Err(why) => Err(Fault::error(why.clone())),
        };
        let result = result.map_err(|fault| match fault {
            Fault::Error(why) => Fault::Error(format!("variable {name}: {why}")),
            other => other,
        });
        // What was too expensive for one expression may not be for the next one.
        if result != Err(Fault::TooExpensive) {
            self.evaluated.borrow_mut().insert(at, result.clone());
        }
        result
    }
}
