//! What can be found wrong with an expression before it is evaluated: the API server refuses such a policy as well.

use std::collections::BTreeSet;

use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr};

use super::compile::Names;
use super::macros::{Macro, macro_of};
use super::operators::is_operator;
use super::signatures::{Form, arity};
use super::value::TYPES;

/// Deeper than this nothing is evaluated: an evaluation has a stack of 2 MiB, too.
pub const DEEPEST: usize = 80;

/// Checks an expression and returns the values that it names.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(ast: &IdedExpr, names: Names<'_>) -> Result<BTreeSet<String>, String> {
    let mut check = Check {
        names,
        bound: Vec::new(),
        mentions: BTreeSet::new(),
        depth: 0,
    };
    check.expr(ast)?;
    Ok(check.mentions)
}

struct Check<'a> {
    names: Names<'a>,
    /// Names that macros around this place have bound.
    bound: Vec<String>,
    mentions: BTreeSet<String>,
    depth: usize,
}

impl Check<'_> {
    fn expr(&mut self, expr: &IdedExpr) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("it is nested deeper than {DEEPEST} levels"));
        }
        match &expr.expr {
            Expr::Literal(_) => {}
            Expr::Ident(name) => self.ident(name)?,
            Expr::Select(select) => match &select.operand.expr {
                Expr::Ident(name) if self.is_variables(name) => self.variable(&select.field)?,
                _ => self.expr(&select.operand)?,
            },
            Expr::List(list) => self.all(&list.elements)?,
            Expr::Map(map) => {
                for entry in &map.entries {
                    match &entry.expr {
                        EntryExpr::MapEntry(entry) => {
                            self.expr(&entry.key)?;
                            self.expr(&entry.value)?;
                        }
                        EntryExpr::StructField(field) => self.expr(&field.value)?,
                    }
                }
            }
            Expr::Call(call) => self.call(call)?,
            Expr::Comprehension(comprehension) => self.comprehension(comprehension)?,
            Expr::Struct(it) => {
                let name = &it.type_name;
                return Err(format!(
                    "{name}{{…}} makes a message, which there are none of"
                ));
            }
            Expr::Unspecified => return Err("it is incomplete".to_owned()),
        }
        self.depth -= 1;
        Ok(())
    }

    fn all(&mut self, exprs: &[IdedExpr]) -> Result<(), String> {
        exprs.iter().try_for_each(|expr| self.expr(expr))
    }

    fn is_bound(&self, name: &str) -> bool {
        self.bound.iter().any(|bound| bound == name)
    }

    fn is_variables(&self, name: &str) -> bool {
        name == "variables" && !self.is_bound(name)
    }

    fn ident(&mut self, name: &str) -> Result<(), String> {
        if self.is_bound(name) {
            return Ok(());
        }
        if self.names.values.contains(&name) {
            self.mentions.insert(name.to_owned());
            return Ok(());
        }
        if TYPES.contains(&name) {
            return Ok(());
        }
        if self.is_variables(name) && !self.names.variables.is_empty() {
            return Err("a variable is used as variables.NAME".to_owned());
        }
        Err(format!("there is nothing named {name} here"))
    }

    fn variable(&self, name: &str) -> Result<(), String> {
        if self.names.variables.contains(&name) {
            return Ok(());
        }
        Err(format!("there is no variable {name} at this place"))
    }

    fn call(&mut self, call: &CallExpr) -> Result<(), String> {
        let CallExpr {
            func_name,
            target,
            args,
        } = call;
        if target.is_none() && is_operator(func_name, args.len()) {
            return self.all(args);
        }
        if let Some(target) = target {
            if let Expr::Ident(prefix) = &target.expr
                && !self.is_bound(prefix)
                && let Some(arity) = arity(&format!("{prefix}.{func_name}"), Form::Global)
            {
                arity.check(args.len())?;
                return self.all(args);
            }
            if let Some(it) = macro_of(func_name, args) {
                self.expr(target)?;
                return self.macro_call(&it);
            }
            self.expr(target)?;
        }
        let form = match target {
            Some(_) => Form::Method,
            None => Form::Global,
        };
        let Some(arity) = arity(func_name, form) else {
            let dot = if target.is_some() { "." } else { "" };
            return Err(format!("there is no function {dot}{func_name}()"));
        };
        arity.check(args.len())?;
        self.all(args)
    }

    fn macro_call(&mut self, it: &Macro<'_>) -> Result<(), String> {
        let before = self.bound.len();
        self.bound
            .extend(it.names.iter().map(|name| (*name).to_owned()));
        let result = it.bodies.iter().try_for_each(|body| self.expr(body));
        self.bound.truncate(before);
        result
    }

    fn comprehension(&mut self, it: &ComprehensionExpr) -> Result<(), String> {
        let ComprehensionExpr {
            iter_range,
            iter_var,
            iter_var2,
            accu_var,
            accu_init,
            loop_cond,
            loop_step,
            result,
        } = it;
        self.expr(iter_range)?;
        self.expr(accu_init)?;
        let before = self.bound.len();
        self.bound.push(accu_var.clone());
        self.expr(loop_cond)?;
        self.expr(result)?;
        self.bound.push(iter_var.clone());
        self.bound.extend(iter_var2.clone());
        self.expr(loop_step)?;
        self.bound.truncate(before);
        Ok(())
    }
}
