//! CEL as the API server evaluates it: parsed once, and every evaluation within a budget.
//!
//! The parser and the function library are those of the `cel` and `kube-cel` crates; the evaluator is ours. Theirs takes a
//! field of something that is no mapping for `false`, copies a list for each element that is added to it, knows no
//! budget, and ends the process on what it has not implemented yet. A policy must not pass because of any of these.

mod budget;
mod check;
mod compile;
mod comprehension;
mod convert;
mod env;
mod eval;
mod fault;
mod functions;
mod library;
mod macros;
mod operators;
mod optional;
mod price;
mod regex;
mod signatures;
#[cfg(test)]
mod tests;
mod url;
mod value;

pub(super) use budget::{Budget, EXPRESSION, POLICY, RUN};
pub(super) use compile::{Expression, Names};
pub(super) use env::{Env, Variable};
pub(super) use fault::Fault;
pub(super) use value::{from_json, unknown};

/// What an expression evaluates to.
pub(super) use kube_cel::cel::Value;
