//! The `pattern` of a schema.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex::bytes::{Regex, RegexBuilder};

/// The largest program that a pattern is compiled to, in bytes.
const PROGRAM: usize = 1 << 20;

/// How many compiled patterns are kept; definitions that are installed have fewer.
const KEPT: usize = 2_000;

/// A compiled pattern: once for ASCII, where classes such as `\d` mean what they mean in Go, and once for other text.
struct Pattern {
    ascii: Option<Regex>,
    other: Option<Regex>,
}

static COMPILED: LazyLock<Mutex<HashMap<String, Arc<Pattern>>>> = LazyLock::new(Mutex::default);

/// Whether a text fits; a pattern that cannot be compiled fits all.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let pattern = compiled(pattern);
    let regex = match text.is_ascii() {
        true => &pattern.ascii,
        false => &pattern.other,
    };
    regex
        .as_ref()
        .is_none_or(|regex| regex.is_match(text.as_bytes()))
}

/// What is wrong with a pattern, in Go's words for what is usual.
pub(super) fn wrong(pattern: &str) -> Option<String> {
    let error = build(pattern, false).err()?.to_string();
    let told = error.lines().last().unwrap_or_default();
    Some(match told.trim_start_matches("error: ") {
        "unclosed group" => format!("missing closing ): `{pattern}`"),
        "unclosed character class" => format!("missing closing ]: `{pattern}`"),
        other => other.to_owned(),
    })
}

fn compiled(pattern: &str) -> Arc<Pattern> {
    let mut all = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(pattern) {
        return known.clone();
    }
    if all.len() >= KEPT {
        all.clear();
    }
    let new = Arc::new(Pattern {
        ascii: build(pattern, false).ok(),
        other: build(pattern, true).ok(),
    });
    all.insert(pattern.to_owned(), new.clone());
    new
}

fn build(pattern: &str, unicode: bool) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .unicode(unicode)
        .size_limit(PROGRAM)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_may_fit_anywhere_and_count_characters() {
        assert!(fits("b", "abc"));
        assert!(fits(r"^\d+$", "12"));
        assert!(!fits(r"^\d+$", "1x"));
        assert!(fits("^.{2}$", "äö"));
        assert!(!fits("^[a-z]{2}$", "äö"));
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        assert_eq!(wrong("("), Some("missing closing ): `(`".to_owned()));
        assert_eq!(wrong(r"^\w+$"), None);
    }
}
