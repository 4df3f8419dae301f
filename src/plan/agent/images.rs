//! Which images a Target may have put into pods.

use crate::render::{AgentImage, Target};

/// The operator's image of the agent, and those that Targets may name instead.
///
/// Who may write Targets need not be allowed to write Deployments, and must not get a container of their choice into
/// other people's pods by us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentImages {
    /// The image where a Target names none.
    pub default: AgentImage,
    /// Patterns of those that Targets may name; `*` stands for anything.
    pub allowed: Vec<String>,
}

impl AgentImages {
    /// Finds the image that a Target names and may not.
    pub(super) fn refused<'a>(&self, target: &'a Target) -> Option<&'a str> {
        let named = target.spec.agents.coverage.image.as_deref()?;
        let mut allowed = self.allowed.iter();
        let is_allowed = named == self.default.image || allowed.any(|it| matches(it, named));
        (!is_allowed).then_some(named)
    }
}

/// Tells whether a text is what a pattern stands for.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    // Each part where it comes first leaves the most for those after it.
    let mut left = text;
    for part in parts {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_and_nothing_else_does() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("r.io/agents/*", "r.io/agents/x:1", true),
            ("r.io/agents/*", "r.io/agents", false),
            ("r.io/agents/*", "x/r.io/agents/y", false),
            ("*:1", "a:1:1", true),
            ("*:1", "a:12", false),
            ("a*b*c", "abc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*b", "ab", false),
            ("a.c", "abc", false),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
