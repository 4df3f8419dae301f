//! The functions that the library computes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use kube_cel::KubeCelExt;
use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr};
use kube_cel::cel::objects::Value;
use kube_cel::cel::{Context, ExecutionError};

use super::budget::Budget;
use super::fault::Fault;
use super::optional;
use super::price::pay;
use super::value::describe;

/// All functions that the library registers.
static LIBRARY: LazyLock<Context<'static>> = LazyLock::new(|| Context::default().with_all());

/// Names that arguments are given to the library by.
const ARGUMENTS: [&str; 3] = ["@0", "@1", "@2"];

/// Has the library compute a function.
///
/// # Errors
/// What the library says, or that it is too much work.
pub fn call(
    budget: &Budget,
    name: &str,
    target: Option<Value>,
    args: Vec<Value>,
) -> Result<Value, Fault> {
    pay(budget, name, target.as_ref(), &args)?;
    let result = match name {
        // The API server's gives an optional, so that a name can be tried.
        "format.named" => match run(name, target, args)? {
            Value::Null => optional::none(),
            format => optional::of(format),
        },
        // Their parts are told in UTC, whatever zone they were written in.
        "timestamp" => match run(name, target, args)? {
            Value::Timestamp(time) => Value::Timestamp(time.to_utc().fixed_offset()),
            other => other,
        },
        _ => run(name, target, args)?,
    };
    budget.charge_value(&result)?;
    Ok(result)
}

fn run(name: &str, target: Option<Value>, args: Vec<Value>) -> Result<Value, Fault> {
    let mut scope = LIBRARY.new_inner_scope();
    let ident = |name: &str| IdedExpr {
        id: 0,
        expr: Expr::Ident(name.to_owned()),
    };
    let prefix = name.split_once('.');
    let call = CallExpr {
        func_name: prefix.map_or(name, |(_, name)| name).to_owned(),
        target: match (&target, prefix) {
            (Some(_), _) => Some(Box::new(ident("@target"))),
            (None, Some((prefix, _))) => Some(Box::new(ident(prefix))),
            (None, None) => None,
        },
        args: ARGUMENTS
            .iter()
            .take(args.len())
            .map(|name| ident(name))
            .collect(),
    };
    if let Some(target) = target {
        scope.add_variable_from_value("@target", target);
    }
    for (name, value) in ARGUMENTS.iter().zip(args) {
        scope.add_variable_from_value(*name, value);
    }
    let expr = IdedExpr {
        id: 0,
        expr: Expr::Call(call),
    };
    // The library unwraps where it takes for granted what it was given (dates, conversions between its two kinds of
    // values). An expression that finds such a place must fail itself, never the process.
    match catch_unwind(AssertUnwindSafe(|| Value::resolve(&expr, &scope))) {
        Ok(result) => result.map_err(|error| Fault::error(told(name, &error))),
        Err(_) => Err(Fault::error(format!(
            "{name}() has no result for these values"
        ))),
    }
}

/// What the library says, without whole values.
fn told(name: &str, error: &ExecutionError) -> String {
    match error {
        ExecutionError::FunctionError { message, .. } => {
            let first = message.lines().next().unwrap_or_default();
            let cut: String = first.chars().take(160).collect();
            format!("{name}(): {cut}")
        }
        ExecutionError::UndeclaredReference(_) => format!("{name}() is not there"),
        _ => format!("{name}() does not take these values"),
    }
}

/// What says that a function does not take a value.
pub fn wrong(name: &str, value: &Value) -> Fault {
    Fault::error(format!("{name}() does not take {}", describe(value)))
}

#[cfg(test)]
mod tests {
    use super::super::functions;
    use super::super::signatures::{FUNCTIONS, Form};
    use super::*;

    /// The table and the library must not drift apart: a name of the one is a function of the other.
    #[test]
    fn every_function_of_the_table_is_there() {
        for (name, form, least, _) in FUNCTIONS {
            let budget = Budget::new(1_000_000);
            let target = (*form == Form::Method).then_some(Value::Null);
            let args = vec![Value::Null; *least];
            if let Ok(Some(_)) | Err(_) = functions::call(&budget, name, target.as_ref(), &args) {
                continue;
            }
            if let Err(fault) = run(name, target, args) {
                assert_ne!(fault.to_string(), format!("{name}() is not there"));
            }
        }
    }
}
