//! The evaluator: a walk over the parsed expression that pays for each step.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::Value;
use kube_cel::cel::common::ast::{
    CallExpr, EntryExpr, Expr, IdedExpr, ListExpr, MapExpr, SelectExpr,
};
use kube_cel::cel::objects::{Key, KeyRef};

use super::budget::Budget;
use super::check::DEEPEST;
use super::env::Env;
use super::fault::Fault;
use super::macros::macro_of;
use super::operators::is_operator;
use super::signatures::{Form, arity};
use super::value::{describe, known, list, map, type_named};
use super::{functions, library, optional};

/// Names that macros have bound, innermost first.
#[derive(Clone, Copy)]
pub struct Scope<'s> {
    /// The name.
    pub name: &'s str,
    /// Its value; a fault is one as well, since `exists` and `all` may yet find what makes up for it.
    pub value: Bound<'s>,
    /// What was bound before.
    pub outer: Option<&'s Scope<'s>>,
}

/// What a name is bound to.
#[derive(Clone, Copy)]
pub enum Bound<'s> {
    /// A value.
    Value(&'s Value),
    /// A value, or why there is none.
    Outcome(&'s Result<Value, Fault>),
}

/// Evaluates one expression.
pub struct Machine<'e> {
    env: &'e Env<'e>,
    pub(super) budget: &'e Budget,
    depth: std::cell::Cell<u32>,
}

impl<'e> Machine<'e> {
    /// Makes one; `depth` is how deep the evaluation is already.
    pub fn new(env: &'e Env<'e>, budget: &'e Budget, depth: u32) -> Self {
        Self {
            env,
            budget,
            depth: depth.into(),
        }
    }

    /// Evaluates an expression, or a part of it.
    ///
    /// # Errors
    /// Why it has no value.
    pub fn eval(&self, expr: &IdedExpr, scope: Option<&Scope<'_>>) -> Result<Value, Fault> {
        self.budget.charge(1)?;
        let depth = self.depth.get();
        // Variables use variables, so that the whole may be deeper than each expression.
        if depth as usize > DEEPEST * 2 {
            return Err(Fault::TooExpensive);
        }
        self.depth.set(depth + 1);
        let result = match &expr.expr {
            Expr::Literal(literal) => self.literal(literal.to_val().as_ref()),
            Expr::Ident(name) => self.ident(name, scope),
            Expr::Select(select) => self.select(select, scope),
            Expr::List(list) => self.list(list, scope),
            Expr::Map(map) => self.map(map, scope),
            Expr::Call(call) => self.call(call, scope),
            Expr::Comprehension(it) => self.comprehension(it, scope),
            Expr::Struct(_) | Expr::Unspecified => Err(Fault::error("it is incomplete")),
        };
        self.depth.set(depth);
        result
    }

    fn literal(&self, value: &dyn kube_cel::cel::common::value::Val) -> Result<Value, Fault> {
        let value = Value::try_from(value).map_err(|_| Fault::error("it is no value"))?;
        self.budget.charge_value(&value)?;
        Ok(value)
    }

    fn ident(&self, name: &str, scope: Option<&Scope<'_>>) -> Result<Value, Fault> {
        match bound(name, scope) {
            Some(Bound::Value(value)) => known(value),
            Some(Bound::Outcome(outcome)) => outcome.clone(),
            None => match self.env.value(name) {
                Some(value) => known(value),
                None => type_named(name)
                    .ok_or_else(|| Fault::error(format!("there is nothing named {name} here"))),
            },
        }
    }

    fn select(&self, select: &SelectExpr, scope: Option<&Scope<'_>>) -> Result<Value, Fault> {
        let SelectExpr {
            operand,
            field,
            test,
        } = select;
        // The parser keeps the quotes of `a.`b/c``.
        let quoted = field.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
        let field = quoted.unwrap_or(field);
        if let Expr::Ident(name) = &operand.expr
            && name == "variables"
            && bound(name, scope).is_none()
        {
            let value = self.env.variable(field, self.budget, self.depth.get())?;
            return Ok(if *test { Value::Bool(true) } else { value });
        }
        let value = self.eval(operand, scope)?;
        let (value, is_optional) = match optional::read(&value) {
            None => (value, false),
            Some(Some(inner)) => (inner.clone(), true),
            Some(None) if *test => return Ok(Value::Bool(false)),
            Some(None) => return Ok(optional::none()),
        };
        let found = field_of(&value, field)?;
        match (found, *test) {
            (found, true) => Ok(Value::Bool(found.is_some())),
            (Some(found), false) if is_optional => Ok(optional::of(found)),
            (None, false) if is_optional => Ok(optional::none()),
            (Some(found), false) => Ok(found),
            (None, false) => Err(no_such_key(field)),
        }
    }

    fn list(&self, literal: &ListExpr, scope: Option<&Scope<'_>>) -> Result<Value, Fault> {
        let mut items = Vec::with_capacity(literal.elements.len());
        for (at, element) in literal.elements.iter().enumerate() {
            let value = self.eval(element, scope)?;
            if literal.optional_indices.contains(&at) {
                items.extend(optional::wanted(&value)?.cloned());
            } else {
                items.push(value);
            }
        }
        Ok(list(items))
    }

    fn map(&self, literal: &MapExpr, scope: Option<&Scope<'_>>) -> Result<Value, Fault> {
        let mut entries = HashMap::new();
        for entry in &literal.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else {
                return Err(Fault::error("it is incomplete"));
            };
            let key = key(&self.eval(&entry.key, scope)?)?;
            let value = self.eval(&entry.value, scope)?;
            let value = match entry.optional {
                false => Some(value),
                true => optional::wanted(&value)?.cloned(),
            };
            if let Some(value) = value
                && entries.insert(key, value).is_some()
            {
                return Err(Fault::error("a key is there twice"));
            }
        }
        Ok(map(entries))
    }

    fn call(&self, call: &CallExpr, scope: Option<&Scope<'_>>) -> Result<Value, Fault> {
        let CallExpr {
            func_name: name,
            target,
            args,
        } = call;
        let Some(target) = target else {
            if is_operator(name, args.len()) {
                return self.operator(name, args, scope);
            }
            return self.function(name, None, args, scope);
        };
        if let Expr::Ident(prefix) = &target.expr
            && bound(prefix, scope).is_none()
        {
            let qualified = format!("{prefix}.{name}");
            if arity(&qualified, Form::Global).is_some() {
                return self.function(&qualified, None, args, scope);
            }
        }
        let target = self.eval(target, scope)?;
        match macro_of(name, args) {
            Some(it) => self.macro_call(&it, target, scope),
            None => self.function(name, Some(target), args, scope),
        }
    }

    fn function(
        &self,
        name: &str,
        target: Option<Value>,
        args: &[IdedExpr],
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.eval(arg, scope)?);
        }
        let done = functions::call(self.budget, name, target.as_ref(), &values)?;
        match done {
            Some(value) => Ok(value),
            None => library::call(self.budget, name, target, values),
        }
    }
}

/// What a name is bound to by the macros around it.
fn bound<'s>(name: &str, scope: Option<&Scope<'s>>) -> Option<Bound<'s>> {
    let mut scope = scope.copied();
    while let Some(it) = scope {
        if it.name == name {
            return Some(it.value);
        }
        scope = it.outer.copied();
    }
    None
}

/// The value of a field, if it is there.
///
/// # Errors
/// When the value has no fields.
pub fn field_of(value: &Value, field: &str) -> Result<Option<Value>, Fault> {
    match value {
        Value::Map(map) => map.get(&KeyRef::String(field)).map(known).transpose(),
        other => Err(Fault::error(format!(
            "{} has no field `{field}`",
            describe(other)
        ))),
    }
}

/// What says that a key is not there.
pub fn no_such_key(key: &str) -> Fault {
    Fault::error(format!("no such key: {key}"))
}

/// Makes a key of a value.
///
/// # Errors
/// When it cannot be one.
pub fn key(value: &Value) -> Result<Key, Fault> {
    match value {
        Value::Int(it) => Ok(Key::Int(*it)),
        Value::UInt(it) => Ok(Key::Uint(*it)),
        Value::Bool(it) => Ok(Key::Bool(*it)),
        Value::String(it) => Ok(Key::String(Arc::clone(it))),
        // 1.0 and 1 are the same key.
        Value::Float(it) if it.fract() == 0.0 && it.abs() < 9e15 => Ok(Key::Int(*it as i64)),
        other => Err(Fault::error(format!("{} is no key", describe(other)))),
    }
}
