//! Further schemas for the same value: `allOf`, `anyOf`, `oneOf` and `not`.

use super::check::Walk;
use super::custom::{Custom, Forms};
use crate::load::{Node, NodeKind, Position};

impl<'d> Walk<'d> {
    /// Checks them.
    pub(super) fn forms(&mut self, node: &'d Node, at: Position, schema: &'d Custom) {
        let Forms { all, any, one, not } = &schema.forms;
        if node.kind == NodeKind::Null {
            return;
        }
        for branch in all {
            self.custom(node, at, branch);
        }
        let fitting = |walk: &Self, branches: &'d [Custom]| {
            let fits = |branch: &&Custom| walk.fits(node, at, branch);
            branches.iter().filter(fits).count()
        };
        if !any.is_empty() && fitting(self, any) == 0 {
            let message = self.not_so(any, "at least");
            self.find(at, message);
        }
        if !one.is_empty() && fitting(self, one) != 1 {
            let message = self.not_so(one, "exactly");
            self.find(at, message);
        }
        if fitting(self, not) > 0 {
            let message = match alternatives(not) {
                Some(names) => format!("`{}` must not have {names}", self.name()),
                None => format!("`{}` has a form that its definition excludes", self.name()),
            };
            self.find(at, message);
        }
    }

    fn not_so(&self, branches: &[Custom], how: &str) -> String {
        let name = self.name();
        match alternatives(branches) {
            Some(names) => format!("`{name}` must have {how} one of {names}"),
            None => format!("`{name}` must have {how} one of the forms that its definition allows"),
        }
    }
}

/// The fields that branches ask for, when they say nothing else.
fn alternatives(branches: &[Custom]) -> Option<String> {
    let names = branches.iter().map(|branch| {
        let names = branch.only_required()?;
        Some(format!("`{}`", names.join("` with `")))
    });
    let names = names.collect::<Option<Vec<_>>>()?;
    let (last, others) = names.split_last()?;
    Some(match others {
        [] => last.clone(),
        others => format!("{} and {last}", others.join(", ")),
    })
}
