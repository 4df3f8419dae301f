//! What others say, made fit to be told in a status.

/// As much of it as is told, in characters.
const MOST: usize = 600;

/// Characters of the hashes and suffixes that Kubernetes gives names (`util/rand`, `SafeEncodeString`).
const OF_SUFFIX: &str = "bcdfghjklmnpqrstvwxz2456789";

/// Makes a message one line of bounded length that stays the same as long as it means the same: the pods of a Deployment get
/// new names with every try.
pub fn fit_to_tell(message: &str, deployment: &str) -> String {
    let message = if deployment.is_empty() {
        message.to_owned()
    } else {
        without_suffixes(message, &format!("{deployment}-"))
    };
    one_line(&message)
}

/// Gives text as one line of bounded length.
pub fn one_line(text: &str) -> String {
    let mut line: String = text
        .chars()
        .map(|c| if is_shown(c) { c } else { ' ' })
        .take(MOST + 1)
        .collect();
    if line.chars().count() > MOST {
        line.pop();
        line.push('…');
    }
    line.trim().to_owned()
}

/// Nothing that could steer a terminal or mislead a reader: the bidirectional and invisible characters are formats.
fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Puts `*` for what Kubernetes puts behind the name of a Deployment.
fn without_suffixes(message: &str, prefix: &str) -> String {
    let mut told = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(prefix) {
        let (before, named) = rest.split_at(at + prefix.len());
        told.push_str(before);
        let end = named.find(|c| !is_of_name(c)).unwrap_or(named.len());
        let (suffix, after) = named.split_at(end);
        let starts_name = !before
            .get(..at)
            .is_some_and(|before| before.ends_with(is_of_name));
        if starts_name && is_given(suffix) {
            told.push('*');
        } else {
            told.push_str(suffix);
        }
        rest = after;
    }
    told.push_str(rest);
    told
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.'
}

/// Tells whether it is a template's hash, and perhaps what a pod has behind that.
fn is_given(suffix: &str) -> bool {
    let given = |part: &str| part.chars().all(|c| OF_SUFFIX.contains(c));
    let (hash, rest) = suffix.split_once('-').unwrap_or((suffix, ""));
    (5..=10).contains(&hash.len()) && given(hash) && rest.len() <= 5 && given(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_change_with_every_try_are_not_told() {
        for (message, told) in [
            ("pods \"pet-5d4f8c7b9-x2x4z\" is", "pods \"pet-*\" is"),
            ("pods \"pet-5d4f8c7b9-\" is", "pods \"pet-*\" is"),
            ("pod pet-5d4f8c7b9-x2x4z: no", "pod pet-*: no"),
            // What people name so stays.
            ("quota pet-compute, pet-2", "quota pet-compute, pet-2"),
            (
                "pods \"carpet-5d4f8c7b9-x2x4z\"",
                "pods \"carpet-5d4f8c7b9-x2x4z\"",
            ),
            ("pet-", "pet-"),
        ] {
            assert_eq!(fit_to_tell(message, "pet"), told);
        }
        assert_eq!(fit_to_tell("a-5d4f8c7b9", ""), "a-5d4f8c7b9");
    }

    #[test]
    fn what_is_told_is_a_line_of_bounded_length() {
        assert_eq!(one_line("a\nb\t\u{1b}[31mc\u{202e}d\r\n"), "a b  [31mc d");
        let long = one_line(&"ä".repeat(5000));
        assert_eq!(long.chars().count(), MOST + 1);
        assert!(long.ends_with('…'));
    }
}
