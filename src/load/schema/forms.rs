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
            let message = self.none_of(any);
            self.find(at, message);
        }
        match fitting(self, one) {
            _ if one.is_empty() => {}
            0 => {
                let message = self.none_of(one);
                self.find(at, message);
            }
            1 => {}
            _ => {
                let message = match alternatives(one) {
                    Some(names) => format!("`{}` may have only one of {names}", self.name()),
                    None => format!(
                        "`{}` fits several forms of which it may have one",
                        self.name()
                    ),
                };
                self.find(at, message);
            }
        }
        if fitting(self, not) > 0 {
            let message = match alternatives(not) {
                Some(names) => format!("`{}` must not have {names}", self.name()),
                None => format!("`{}` has a form that its definition excludes", self.name()),
            };
            self.find(at, message);
        }
    }

    fn none_of(&self, branches: &[Custom]) -> String {
        match alternatives(branches) {
            Some(names) => format!("`{}` must have one of {names}", self.name()),
            None => format!(
                "`{}` has none of the forms that its definition allows",
                self.name()
            ),
        }
    }
}

/// The fields that branches ask for, when they say nothing else.
fn alternatives(branches: &[Custom]) -> Option<String> {
    let names = branches.iter().map(|branch| {
        let names = branch.only_required()?;
        Some(format!("`{}`", names.join("` with `")))
    });
    Some(names.collect::<Option<Vec<_>>>()?.join(", "))
}
