//! The `pattern` of a definition, as far as it can be judged as the API server does.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// The largest program that a pattern is compiled to, in bytes. Whoever writes a definition decides what a pattern says, not
/// what it costs.
const PROGRAM: usize = 1 << 20;

/// A regular expression, compiled when a text first meets it: definitions have far more of them than sources have values.
pub(super) struct Pattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            compiled: OnceLock::new(),
        }
    }

    /// The pattern, when a text certainly does not fit.
    ///
    /// The API server's engine and ours agree on ASCII; what is beyond, and what only one of them can compile, is left to it.
    pub(super) fn refuses(&self, text: &str) -> Option<&str> {
        let regex = self.compiled.get_or_init(|| {
            let mut builder = RegexBuilder::new(&self.text);
            builder.unicode(false).size_limit(PROGRAM).build().ok()
        });
        let fits = regex.as_ref()?.is_match(text.as_bytes());
        (text.is_ascii() && !fits).then_some(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_certainly_does_not_fit_is_refused() {
        let number = Pattern::new(r"^\d+(\.\d+)?$");
        assert_eq!(number.refuses("1.5"), None);
        assert_eq!(number.refuses("1.5x"), Some(r"^\d+(\.\d+)?$"));
        assert_eq!(number.refuses("1.5\n"), Some(r"^\d+(\.\d+)?$"));
        assert_eq!(Pattern::new("b").refuses("abc"), None, "it may be anywhere");
    }

    #[test]
    fn what_the_engines_may_see_differently_is_left_to_the_server() {
        assert_eq!(Pattern::new(r"^\w+$").refuses("é"), None);
        assert_eq!(Pattern::new(r"^(?!x)").refuses("x"), None);
        assert_eq!(
            Pattern::new(r"^((a{1000}){1000}){1000}$").refuses("b"),
            None
        );
    }
}
