//! Differences that are meant (`src/sandbox/DIFFERENCES.md`), each with a name. A sequence ends where a rule excuses all
//! that differs, since both sides go different ways from there; how often each does is printed.

use super::normal::Difference;
use super::step::Step;

/// A difference that is meant.
pub struct Rule {
    pub name: &'static str,
    excuses: fn(&Step, &Difference) -> bool,
}

pub const RULES: &[Rule] = &[];

/// The rule that excuses all of these differences.
pub fn excuse(step: &Step, differences: &[Difference]) -> Option<&'static str> {
    let rule = RULES.iter().find(|rule| {
        differences
            .iter()
            .all(|difference| (rule.excuses)(step, difference))
    })?;
    Some(rule.name)
}
