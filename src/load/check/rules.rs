//! Rules that are no more than a path and what may stand there.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::read::{each, empty_list, field, integer, items};
use super::syntax::{Fault, port_name};
use crate::load::Node;
use crate::load::schema::nearest;

/// What may stand at a place.
pub(super) enum Rule {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// An integer of this range.
    Between(i64, i64),
    /// A number that is not negative.
    Natural,
    /// The number of a port.
    Port,
    /// The number of a port, or its name.
    PortOrName,
    /// The same; left empty or 0, it is another port.
    TargetPort,
    /// A count or a percentage.
    Share,
    /// A text of this kind.
    Text(fn(&str) -> Fault),
    /// Any text but none.
    Filled,
}

/// Checks the values at these paths below a node.
pub(super) fn apply<'n>(node: &'n Node, rules: &[(&str, Rule)], out: &mut Vec<Finding<'n>>) {
    for (path, rule) in rules {
        each(node, path, &mut |value| out.extend(rule.check(value)));
    }
}

impl Rule {
    fn check<'n>(&self, value: &'n Node) -> Option<Finding<'n>> {
        let number = integer(value);
        match (self, value.as_str()) {
            // Left empty, a word has its default.
            (Self::OneOf(words), Some(text)) if !text.is_empty() && !words.contains(&text) => {
                let near = nearest(text, words.iter().copied());
                let hint = near.map(|near| format!("did you mean `{near}`?"));
                Some(Finding::error(value, one_of(words)).perhaps(hint))
            }
            (Self::Between(least, most), _) => {
                let outside = number.is_some_and(|n| n < *least || n > *most);
                outside.then(|| Finding::error(value, format!("must be from {least} to {most}")))
            }
            (Self::Natural, _) => {
                let negative = number.is_some_and(|n| n < 0);
                negative.then(|| Finding::error(value, "must not be negative"))
            }
            (Self::Port | Self::PortOrName, None) => {
                let outside = number.is_some_and(|n| !(1..=65535).contains(&n));
                outside.then(|| Finding::error(value, "must be from 1 to 65535"))
            }
            (Self::TargetPort, Some("")) => None,
            (Self::TargetPort, _) if number == Some(0) => None,
            (Self::TargetPort, _) => Self::PortOrName.check(value),
            (Self::PortOrName, Some(text))
                if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) =>
            {
                let finding =
                    Finding::error(value, "is a number in quotes, so it is taken for a name");
                Some(finding.hint("write the number without quotes"))
            }
            (Self::PortOrName, Some(text)) => Some(Finding::error(value, port_name(text)?)),
            (Self::Share, Some(text)) => {
                let digits = text.strip_suffix('%').unwrap_or_default();
                let sound = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                let must = "must be a number or a percentage such as `25%`";
                (!sound).then(|| Finding::error(value, must))
            }
            (Self::Share, None) => Self::Natural.check(value),
            (Self::Text(check), Some(text)) if !text.is_empty() => {
                Some(Finding::error(value, check(text)?))
            }
            (Self::Filled, Some("")) => Some(Finding::error(value, "must not be empty")),
            _ => None,
        }
    }
}

/// The percentage that a text is.
pub(super) fn percent(node: &Node) -> Option<u64> {
    node.as_str()?.strip_suffix('%')?.parse().ok()
}

/// Whether a count or percentage is nothing.
pub(super) fn is_zero(node: &Node) -> bool {
    integer(node) == Some(0) || percent(node) == Some(0)
}

/// Checks that a percentage is not more than everything.
pub(super) fn at_most_all<'n>(value: Option<&'n Node>, out: &mut Vec<Finding<'n>>) {
    let more = |node: &&Node| percent(node).is_some_and(|percent| percent > 100);
    out.extend(
        value
            .filter(more)
            .map(|node| Finding::error(node, "must be no more than 100%")),
    );
}

/// Checks a list that must be there and have something in it.
pub(super) fn needed<'n>(node: &'n Node, list: &'static str) -> Option<Finding<'n>> {
    if field(node, list).is_none() {
        return Some(Finding::lacks(node, list));
    }
    empty_list(node, list).map(|list| Finding::error(list, "must not be empty"))
}

/// Says what a word must be.
pub(super) fn one_of(words: &[&str]) -> String {
    match words {
        [only] => format!("must be `{only}`"),
        words => format!("must be one of `{}`", words.join("`, `")),
    }
}

/// Checks that no two items of a list agree in these fields. Server-side apply, by which everything is sent, tells such
/// items apart by them.
pub(super) fn distinct<'n>(node: &'n Node, list: &str, keys: &[&str], out: &mut Vec<Finding<'n>>) {
    let mut seen = BTreeSet::new();
    for item in items(node, list) {
        let key: Vec<_> = keys
            .iter()
            .map(|key| item.get(key).and_then(Node::as_str))
            .collect();
        if key.first().is_none_or(Option::is_none) {
            continue;
        }
        let at = keys.first().and_then(|key| item.get(key)).unwrap_or(item);
        if !seen.insert(key) {
            let says = "is listed twice, which server-side apply refuses";
            out.push(Finding::error(at, says));
        }
    }
}
