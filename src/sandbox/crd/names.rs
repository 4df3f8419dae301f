//! What is wrong with the names of a definition, in one sentence.

use crate::words;

/// What is wrong with a DNS-1035 label.
pub(super) fn label(name: &str) -> Option<String> {
    together(&words::label_1035(name))
}

/// What is wrong with a DNS-1123 subdomain.
pub(super) fn subdomain(name: &str) -> Option<String> {
    together(&words::subdomain(name))
}

fn together(wrong: &[String]) -> Option<String> {
    (!wrong.is_empty()).then(|| wrong.join(","))
}
