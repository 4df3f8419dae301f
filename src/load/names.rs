//! What the API server takes as a name. Refused here, a bad name fails its own document; sent, it would become part of a
//! URL.

/// Says why a name cannot be an object's name (`ValidatePathSegmentName` of apimachinery, and no more than 253 bytes).
/// Most kinds are stricter; the API server tells.
pub(super) fn name_fault(name: &str) -> Option<&'static str> {
    if name == "." || name == ".." {
        return Some("is a step in a path");
    }
    if name.contains(['/', '%']) {
        return Some("holds `/` or `%`");
    }
    if name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Some("holds white space or control characters");
    }
    (name.len() > 253).then_some("has more than 253 bytes")
}

/// Tells whether a text is a DNS label: lower-case letters, digits and dashes within, up to 63.
pub fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=63).contains(&text.len())
        && text.chars().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Tells whether a text may be the name of an image; what runs it has more to say.
pub fn is_image(text: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control();
    (1..=512).contains(&text.len()) && !text.contains(odd)
}

/// Tells whether a text is a DNS subdomain: labels with dots between, up to 253.
pub fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

/// A kind: letters and digits, the first a letter.
pub(super) fn is_kind(text: &str) -> bool {
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_lead_elsewhere_are_refused() {
        for name in [
            "../x",
            "a/b",
            "x y",
            "a%2fb",
            "..",
            ".",
            "x\ny",
            "\u{1b}[2J",
        ] {
            assert!(name_fault(name).is_some(), "{name:?}");
        }
        for name in ["a", "system:node", "9lives", "a.b-c", "größe"] {
            assert!(name_fault(name).is_none(), "{name:?}");
        }
        assert!(name_fault(&"a".repeat(254)).is_some());
        assert!(is_subdomain("a.b-c.d") && !is_subdomain("a..b") && !is_subdomain("A.b"));
        assert!(is_kind("ClosureJVMTarget") && !is_kind("a/b") && !is_kind("9A") && !is_kind(""));
    }
}
