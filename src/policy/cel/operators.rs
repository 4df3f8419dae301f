//! Operators: what they mean, and what they cost.

use std::cmp::Ordering;

use kube_cel::cel::Value;
use kube_cel::cel::common::ast::{IdedExpr, operators as op};
use kube_cel::cel::objects::Key;

use super::budget::units;
use super::eval::{Machine, Scope, field_of, key, no_such_key};
use super::fault::Fault;
use super::optional;
use super::value::{describe, known, truth};

/// Tells whether a call is an operator.
pub fn is_operator(name: &str, operands: usize) -> bool {
    match operands {
        1 => matches!(name, op::LOGICAL_NOT | op::NEGATE | op::NOT_STRICTLY_FALSE),
        2 => matches!(
            name,
            op::LOGICAL_AND
                | op::LOGICAL_OR
                | op::EQUALS
                | op::NOT_EQUALS
                | op::LESS
                | op::LESS_EQUALS
                | op::GREATER
                | op::GREATER_EQUALS
                | op::ADD
                | op::SUBSTRACT
                | op::MULTIPLY
                | op::DIVIDE
                | op::MODULO
                | op::IN
                | op::INDEX
                | op::OPT_INDEX
                | op::OPT_SELECT
        ),
        3 => name == op::CONDITIONAL,
        _ => false,
    }
}

impl Machine<'_> {
    pub(super) fn operator(
        &self,
        name: &str,
        operands: &[IdedExpr],
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        match operands {
            [one] => self.unary(name, one, scope),
            [left, right] if matches!(name, op::LOGICAL_AND | op::LOGICAL_OR) => {
                self.logical(name == op::LOGICAL_OR, left, right, scope)
            }
            [left, right] => {
                let left = self.eval(left, scope)?;
                let right = self.eval(right, scope)?;
                self.binary(name, left, right)
            }
            [condition, yes, no] => match truth(&self.eval(condition, scope)?)? {
                true => self.eval(yes, scope),
                false => self.eval(no, scope),
            },
            _ => Err(Fault::error("it is incomplete")),
        }
    }

    fn unary(
        &self,
        name: &str,
        operand: &IdedExpr,
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        let value = self.eval(operand, scope);
        if name == op::NOT_STRICTLY_FALSE {
            return match value {
                Ok(value) => Ok(Value::Bool(truth(&value).unwrap_or(true))),
                Err(Fault::TooExpensive) => Err(Fault::TooExpensive),
                Err(_) => Ok(Value::Bool(true)),
            };
        }
        match (name, value?) {
            (op::LOGICAL_NOT, value) => Ok(Value::Bool(!truth(&value)?)),
            (_, Value::Int(it)) => it
                .checked_neg()
                .map(Value::Int)
                .ok_or_else(|| Fault::error("the integer overflows")),
            (_, Value::Float(it)) => Ok(Value::Float(-it)),
            (_, other) => Err(Fault::error(format!("{} has no sign", describe(&other)))),
        }
    }

    /// `||` and `&&`: one side decides, whatever becomes of the other one.
    fn logical(
        &self,
        decides: bool,
        left: &IdedExpr,
        right: &IdedExpr,
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        let left = self.eval(left, scope).and_then(|value| truth(&value));
        match left {
            Ok(value) if value == decides => return Ok(Value::Bool(decides)),
            Err(Fault::TooExpensive) => return Err(Fault::TooExpensive),
            _ => {}
        }
        let right = truth(&self.eval(right, scope)?)?;
        match left {
            _ if right == decides => Ok(Value::Bool(decides)),
            Ok(_) => Ok(Value::Bool(!decides)),
            Err(fault) => Err(fault),
        }
    }

    fn binary(&self, name: &str, left: Value, right: Value) -> Result<Value, Fault> {
        match name {
            op::EQUALS => Ok(Value::Bool(self.equal(&left, &right)?)),
            op::NOT_EQUALS => Ok(Value::Bool(!self.equal(&left, &right)?)),
            op::LESS => self.compare(&left, &right, Ordering::is_lt),
            op::LESS_EQUALS => self.compare(&left, &right, Ordering::is_le),
            op::GREATER => self.compare(&left, &right, Ordering::is_gt),
            op::GREATER_EQUALS => self.compare(&left, &right, Ordering::is_ge),
            op::IN => self.contains(&right, &left),
            op::INDEX => self.index(&left, &right),
            op::OPT_INDEX | op::OPT_SELECT => {
                let value = match optional::read(&left) {
                    None => left,
                    Some(Some(inner)) => inner.clone(),
                    Some(None) => return Ok(optional::none()),
                };
                Ok(match found(&value, &right)? {
                    Some(found) => optional::of(found),
                    None => optional::none(),
                })
            }
            _ => self.arithmetic(name, left, right),
        }
    }

    /// Tells whether two values are the same.
    pub(super) fn equal(&self, left: &Value, right: &Value) -> Result<bool, Fault> {
        self.budget.charge_value(left)?;
        self.budget.charge_value(right)?;
        Ok(optional::same(left, right).unwrap_or_else(|| left == right))
    }

    fn compare(
        &self,
        left: &Value,
        right: &Value,
        holds: fn(Ordering) -> bool,
    ) -> Result<Value, Fault> {
        self.budget.charge_value(left)?;
        self.budget.charge_value(right)?;
        if let (Value::Bytes(left), Value::Bytes(right)) = (left, right) {
            return Ok(Value::Bool(holds(left.cmp(right))));
        }
        match left.partial_cmp(right) {
            Some(ordering) if !matches!(left, Value::Null) => Ok(Value::Bool(holds(ordering))),
            // Only what is not a number has no order among numbers.
            None if is_number(left) && is_number(right) => Ok(Value::Bool(false)),
            _ => Err(Fault::error(format!(
                "{} and {} have no order",
                describe(left),
                describe(right)
            ))),
        }
    }

    fn contains(&self, container: &Value, value: &Value) -> Result<Value, Fault> {
        match container {
            Value::List(items) => {
                for item in items.iter() {
                    if self.equal(item, value)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Ok(Value::Bool(false))
            }
            Value::Map(map) => Ok(Value::Bool(
                key(value).is_ok_and(|key| map.get(&key).is_some()),
            )),
            other => Err(Fault::error(format!(
                "`in` wants a list or a map, not {}",
                describe(other)
            ))),
        }
    }

    fn index(&self, value: &Value, index: &Value) -> Result<Value, Fault> {
        match optional::read(value) {
            Some(Some(inner)) => Ok(match found(inner, index)? {
                Some(found) => optional::of(found),
                None => optional::none(),
            }),
            Some(None) => Ok(optional::none()),
            None => found(value, index)?.ok_or_else(|| match value {
                Value::List(_) => Fault::error("the index is out of bounds"),
                _ => match key(index) {
                    Ok(key) => no_such_key(&key.to_string()),
                    Err(fault) => fault,
                },
            }),
        }
    }

    fn arithmetic(&self, name: &str, left: Value, right: Value) -> Result<Value, Fault> {
        match (&left, &right) {
            (Value::String(l), Value::String(r)) => self.budget.charge_text(l.len() + r.len())?,
            (Value::Bytes(l), Value::Bytes(r)) => self.budget.charge_text(l.len() + r.len())?,
            (Value::List(l), Value::List(r)) => {
                self.budget.charge(units(l.len() + r.len()))?;
            }
            _ => {}
        }
        let what = format!("{} and {}", describe(&left), describe(&right));
        let result = match name {
            op::ADD => left + right,
            op::SUBSTRACT => left - right,
            op::MULTIPLY => left * right,
            op::DIVIDE => left / right,
            op::MODULO => left % right,
            _ => return Err(Fault::error(format!("there is no operator {name}"))),
        };
        let sign = name.trim_matches('_');
        result.map_err(|_| Fault::error(format!("`{sign}` has no result for these values: {what}")))
    }
}

/// What a list has at an index, or a map at a key.
fn found(value: &Value, index: &Value) -> Result<Option<Value>, Fault> {
    match (value, index) {
        (Value::List(items), index) => match key(index)? {
            Key::Int(at) => {
                let at = usize::try_from(at).ok();
                at.and_then(|at| items.get(at)).map(known).transpose()
            }
            Key::Uint(at) => {
                let at = usize::try_from(at).ok();
                at.and_then(|at| items.get(at)).map(known).transpose()
            }
            _ => Err(Fault::error(format!(
                "{} is no index of a list",
                describe(index)
            ))),
        },
        (Value::Map(map), index) => map.get(&key(index)?).map(known).transpose(),
        (other, Value::String(field)) => field_of(other, field),
        (other, _) => Err(Fault::error(format!("{} has no index", describe(other)))),
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::UInt(_) | Value::Float(_))
}
