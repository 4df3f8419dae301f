//! Macros over one name: `all`, `exists`, `exists_one`, `map` and `filter`, as the parser has expanded them.

use std::sync::Arc;

use kube_cel::cel::Value;
use kube_cel::cel::common::ast::{ComprehensionExpr, Expr, IdedExpr, operators};
use kube_cel::cel::objects::Key;

use super::budget::units;
use super::eval::{Bound, Machine, Scope};
use super::fault::Fault;
use super::value::{describe, list, truth};

impl Machine<'_> {
    /// Evaluates a macro.
    pub(super) fn comprehension(
        &self,
        it: &ComprehensionExpr,
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        let items = self.elements(&self.eval(&it.iter_range, scope)?)?;
        if let Some((when, what)) = appends(it) {
            return self.gather(it, &items, when, what, scope);
        }
        let mut accu = self.eval(&it.accu_init, scope);
        for item in items.iter() {
            let with_accu = Scope {
                name: &it.accu_var,
                value: Bound::Outcome(&accu),
                outer: scope,
            };
            if !truth(&self.eval(&it.loop_cond, Some(&with_accu))?)? {
                break;
            }
            let with_item = Scope {
                name: &it.iter_var,
                value: Bound::Value(item),
                outer: Some(&with_accu),
            };
            let next = self.eval(&it.loop_step, Some(&with_item));
            if next == Err(Fault::TooExpensive) {
                return next;
            }
            accu = next;
        }
        let with_accu = Scope {
            name: &it.accu_var,
            value: Bound::Outcome(&accu),
            outer: scope,
        };
        self.eval(&it.result, Some(&with_accu))
    }

    /// `map` and `filter`. As the parser expands them, each element would copy the list that there is so far.
    fn gather(
        &self,
        it: &ComprehensionExpr,
        items: &[Value],
        when: Option<&IdedExpr>,
        what: &IdedExpr,
        scope: Option<&Scope<'_>>,
    ) -> Result<Value, Fault> {
        let mut gathered = Vec::new();
        for item in items {
            let with_item = Scope {
                name: &it.iter_var,
                value: Bound::Value(item),
                outer: scope,
            };
            let wanted = match when {
                Some(when) => truth(&self.eval(when, Some(&with_item))?)?,
                None => true,
            };
            if wanted {
                gathered.push(self.eval(what, Some(&with_item))?);
            }
        }
        Ok(list(gathered))
    }

    /// What a macro goes through: elements of a list, keys of a mapping in their order.
    pub(super) fn elements(&self, range: &Value) -> Result<Arc<Vec<Value>>, Fault> {
        match range {
            Value::List(items) => {
                self.budget.charge(units(items.len()))?;
                Ok(Arc::clone(items))
            }
            Value::Map(map) => {
                self.budget.charge(units(map.map.len()))?;
                let mut keys: Vec<&Key> = map.map.keys().collect();
                keys.sort_unstable();
                Ok(Arc::new(keys.into_iter().map(Value::from).collect()))
            }
            other => Err(Fault::error(format!(
                "a list or a map is wanted here, not {}",
                describe(other)
            ))),
        }
    }
}

/// Tells whether a macro only adds to a list: under which condition, and what.
fn appends(it: &ComprehensionExpr) -> Option<(Option<&IdedExpr>, &IdedExpr)> {
    let accu = |expr: &IdedExpr| matches!(&expr.expr, Expr::Ident(name) if *name == it.accu_var);
    let added = |expr| -> Option<_> {
        let [before, added] = operands(expr, operators::ADD)? else {
            return None;
        };
        match &added.expr {
            Expr::List(list) if accu(before) => match list.elements.as_slice() {
                [one] => Some(one),
                _ => None,
            },
            _ => None,
        }
    };
    if let Some(what) = added(&it.loop_step) {
        return Some((None, what));
    }
    match operands(&it.loop_step, operators::CONDITIONAL)? {
        [when, step, same] if accu(same) => Some((Some(when), added(step)?)),
        _ => None,
    }
}

fn operands<'a>(expr: &'a IdedExpr, operator: &str) -> Option<&'a [IdedExpr]> {
    match &expr.expr {
        Expr::Call(call) if call.func_name == operator => Some(&call.args),
        _ => None,
    }
}
