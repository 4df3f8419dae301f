//! Macros that the parser does not expand: those over two names, and those of optionals.

use std::collections::HashMap;

use kube_cel::cel::Value;
use kube_cel::cel::common::ast::{Expr, IdedExpr};
use kube_cel::cel::objects::Key;

use super::eval::{Bound, Machine, Scope, key};
use super::fault::Fault;
use super::optional;
use super::value::{list, map, truth};

/// A call that binds names.
pub struct Macro<'a> {
    /// What it does.
    does: Does,
    /// The names that it binds: one, or two.
    pub names: Vec<&'a str>,
    /// What is evaluated with them.
    pub bodies: &'a [IdedExpr],
}

#[derive(Clone, Copy, PartialEq)]
enum Does {
    All,
    Exists,
    ExistsOne,
    TransformList,
    TransformMap,
    OptMap,
    OptFlatMap,
}

/// Reads a call as a macro, if it is one.
pub fn macro_of<'a>(name: &str, args: &'a [IdedExpr]) -> Option<Macro<'a>> {
    let (does, names) = match (name, args.len()) {
        ("all", 3) => (Does::All, 2),
        ("exists", 3) => (Does::Exists, 2),
        ("existsOne" | "exists_one", 3) => (Does::ExistsOne, 2),
        ("transformList", 3 | 4) => (Does::TransformList, 2),
        ("transformMap", 3 | 4) => (Does::TransformMap, 2),
        ("optMap", 2) => (Does::OptMap, 1),
        ("optFlatMap", 2) => (Does::OptFlatMap, 1),
        _ => return None,
    };
    let (bound, bodies) = args.split_at_checked(names)?;
    let name = |expr: &'a IdedExpr| match &expr.expr {
        Expr::Ident(name) => Some(name.as_str()),
        _ => None,
    };
    Some(Macro {
        does,
        names: bound.iter().map(name).collect::<Option<_>>()?,
        bodies,
    })
}

impl Machine<'_> {
    pub(super) fn macro_call(
        &self,
        it: &Macro<'_>,
        target: Value,
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        match (it.does, it.names.as_slice(), it.bodies) {
            (does @ (Does::OptMap | Does::OptFlatMap), [name], [body]) => {
                let Some(value) = optional::wanted(&target)? else {
                    return Ok(optional::none());
                };
                let scope = Scope {
                    name,
                    value: Bound::Value(value),
                    outer: scope,
                };
                let value = self.eval(body, Some(&scope))?;
                if does == Does::OptMap {
                    return Ok(optional::of(value));
                }
                optional::wanted(&value)?;
                Ok(value)
            }
            (Does::TransformList | Does::TransformMap, [first, second], bodies) => {
                self.transform(it.does, (first, second), bodies, &target, scope)
            }
            (_, [first, second], [body]) => {
                self.quantify(it.does, (first, second), body, &target, scope)
            }
            _ => Err(Fault::error("it is incomplete")),
        }
    }

    fn quantify(
        &self,
        does: Does,
        names: (&str, &str),
        body: &IdedExpr,
        target: &Value,
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        let (mut met, mut fault) = (0, None);
        let decides = does == Does::Exists;
        for (first, second) in self.pairs(target)? {
            let result = self.with_pair(names, (&first, &second), body, scope);
            match result.and_then(|value| truth(&value)) {
                Err(Fault::TooExpensive) => return Err(Fault::TooExpensive),
                Err(why) if does == Does::ExistsOne => return Err(why),
                Err(why) => fault = fault.or(Some(why)),
                Ok(value) if does == Does::ExistsOne => met += u64::from(value),
                Ok(value) if value == decides => return Ok(Value::Bool(decides)),
                Ok(_) => {}
            }
        }
        match fault {
            Some(fault) => Err(fault),
            None if does == Does::ExistsOne => Ok(Value::Bool(met == 1)),
            None => Ok(Value::Bool(!decides)),
        }
    }

    fn transform(
        &self,
        does: Does,
        names: (&str, &str),
        bodies: &[IdedExpr],
        target: &Value,
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        let (filter, body) = match bodies {
            [body] => (None, body),
            [filter, body] => (Some(filter), body),
            _ => return Err(Fault::error("it is incomplete")),
        };
        let (mut items, mut entries) = (Vec::new(), HashMap::new());
        for (first, second) in self.pairs(target)? {
            let pair = (&first, &second);
            if let Some(filter) = filter
                && !truth(&self.with_pair(names, pair, filter, scope)?)?
            {
                continue;
            }
            let value = self.with_pair(names, pair, body, scope)?;
            match does {
                Does::TransformMap => drop(entries.insert(key(&first)?, value)),
                _ => items.push(value),
            }
        }
        Ok(match does {
            Does::TransformMap => map(entries),
            _ => list(items),
        })
    }

    fn with_pair(
        &self,
        (first_name, second_name): (&str, &str),
        (first, second): (&Value, &Value),
        body: &IdedExpr,
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        let first = Scope {
            name: first_name,
            value: Bound::Value(first),
            outer: scope,
        };
        let second = Scope {
            name: second_name,
            value: Bound::Value(second),
            outer: Some(&first),
        };
        self.eval(body, Some(&second))
    }

    /// Index and element of a list, key and value of a mapping.
    fn pairs(&self, target: &Value) -> Result<Vec<(Value, Value)>, Fault> {
        let elements = self.elements(target)?;
        let pair = |(at, element): (usize, &Value)| match target {
            Value::Map(map) => {
                let found = key(element)
                    .ok()
                    .and_then(|key: Key| map.get(&key).cloned());
                (element.clone(), found.unwrap_or(Value::Null))
            }
            _ => (Value::Int(at as i64), element.clone()),
        };
        Ok(elements.iter().enumerate().map(pair).collect())
    }
}
