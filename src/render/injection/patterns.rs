//! Patterns of class names.

/// Says why no class can match a pattern, and what to do.
///
/// JaCoCo takes `.` and `/` for the same, knows the wildcards `*` and `?` only, and complains about nothing: a pattern that
/// it reads as another one matches nothing, silently.
pub(super) fn flaw(pattern: &str) -> Option<&'static str> {
    let taken = |c: char| c.is_ascii_alphanumeric() || "_$.-/*?".contains(c);
    if pattern.is_empty() {
        return Some("is empty");
    }
    if pattern.contains([',', ':', ';']) || pattern.contains(char::is_whitespace) {
        return Some("holds a separator: write each pattern as an item of its own");
    }
    if pattern.contains(['"', '\'']) {
        return Some("holds a quote: write it without");
    }
    if !pattern.is_ascii() {
        return Some(
            "holds a letter that a JVM reads in different ways, by its locale: write ? for it",
        );
    }
    if !pattern.chars().all(taken) {
        return Some("is no name of a class: its wildcards are * and ? only");
    }
    if pattern.starts_with(['.', '/']) || pattern.ends_with(['.', '/']) {
        return Some(
            "begins or ends with a separator, as no class does: end it with .* for a package",
        );
    }
    if pattern.replace('/', ".").contains("..") {
        return Some("has an empty part, as no class has");
    }
    if pattern.ends_with(".class") || pattern.ends_with(".java") {
        return Some("names a file: leave its ending out");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_classes_can_match_are_taken() {
        for pattern in [
            "*",
            "com.shop.*",
            "com/shop/*",
            "com.shop.Pet$Builder",
            "com.shop.Pet$$Lambda*",
            "com.?hop.*.internal.*",
            "com.shop.package-info",
            "Main",
            "_root_.a1",
        ] {
            assert_eq!(flaw(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn patterns_that_would_silently_match_nothing_are_not() {
        for (pattern, why) in [
            ("", "empty"),
            ("a.*,b.*", "separator"),
            ("a.*:b.*", "separator"),
            ("a.* b.*", "separator"),
            ("a.*\u{a0}", "separator"),
            ("\"a.*\"", "quote"),
            ("'a.*'", "quote"),
            ("com.ä.*", "locale"),
            ("com\\.shop\\..*", "wildcards"),
            ("com.(shop|pet).*", "wildcards"),
            ("$(HOME).*", "wildcards"),
            ("!com.shop.*", "wildcards"),
            ("com.shop.", "package"),
            (".com.shop", "package"),
            ("/com/shop/*", "package"),
            ("com..shop.*", "empty part"),
            ("com./shop", "empty part"),
            ("com/shop/Pet.class", "file"),
            ("com/shop/Pet.java", "file"),
        ] {
            let told = flaw(pattern);
            assert!(
                told.is_some_and(|it| it.contains(why)),
                "{pattern:?}: {told:?}"
            );
        }
    }
}
