//! Evaluates the expressions of a policy for one object and one parameter.

use super::cel::{self, Budget, Env, Expression, Fault};
use super::model::{Formula, Validation};

/// The longest message, as in the API server.
const LONGEST_MESSAGE: usize = 5 << 10;

/// What a demand comes to.
pub enum Finding {
    /// It is not met, for this reason.
    Violated(String),
    /// It could not be evaluated.
    Failed(Fault),
}

/// Evaluates the expressions of a policy for one object and one parameter.
pub struct Evaluator<'a> {
    /// What they can name.
    pub env: &'a Env<'a>,
    /// What is left for them.
    pub budget: &'a Budget,
    /// Whether what comes of values must not be shown.
    pub hides: bool,
}

impl Evaluator<'_> {
    fn evaluate(&self, formula: &Formula) -> Result<cel::Value, Fault> {
        let expression: &Expression = match &formula.parsed {
            Ok(expression) => expression,
            Err(why) => return Err(Fault::Unknown(format!("it is no expression: {why}"))),
        };
        let budget = self.budget.part(cel::EXPRESSION);
        let began_with = budget.left();
        let result = expression.evaluate(self.env, &budget);
        self.budget.settle(&budget, began_with);
        result.map_err(|fault| match self.hides && fault.tells_values() {
            true => {
                Fault::error("it means nothing for the values of this Secret, which are not shown")
            }
            false => fault,
        })
    }

    pub fn truth(&self, formula: &Formula) -> Result<bool, Fault> {
        match self.evaluate(formula)? {
            cel::Value::Bool(truth) => Ok(truth),
            _ => Err(Fault::error("it is neither true nor false")),
        }
    }

    pub fn check(&self, validation: &Validation) -> Option<Finding> {
        match self.truth(&validation.formula) {
            Ok(true) => None,
            Ok(false) => Some(Finding::Violated(self.message(validation))),
            Err(fault) => Some(Finding::Failed(fault)),
        }
    }

    /// What is said of a demand that is not met.
    fn message(&self, validation: &Validation) -> String {
        let expression = validation.message_expression.as_ref();
        let evaluated = expression
            .filter(|_| !self.hides)
            .and_then(|formula| self.evaluate(formula).ok());
        if let Some(cel::Value::String(message)) = evaluated {
            let message = message.trim();
            if !message.is_empty() && !message.contains('\n') && message.len() <= LONGEST_MESSAGE {
                return message.to_owned();
            }
        }
        match &validation.message {
            Some(message) if !message.trim().is_empty() => message.trim().to_owned(),
            _ => format!("failed expression: {}", validation.formula.source.trim()),
        }
    }

    pub fn annotation(&self, formula: &Formula) -> Result<Option<String>, Fault> {
        match self.evaluate(formula)? {
            cel::Value::Null => Ok(None),
            cel::Value::String(_) if self.hides => Ok(Some("***".to_owned())),
            cel::Value::String(text) => Ok(Some(text.trim().to_owned())),
            _ => Err(Fault::error("it is neither a string nor null")),
        }
    }
}
