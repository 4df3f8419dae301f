//! A program's last words, fit to be shown.

/// Lines that are kept, the last ones.
const LINES: usize = 8;

/// Characters of a line that are kept.
const LONGEST: usize = 400;

/// What stands for what is not shown.
const MASK: &str = "***";

/// Makes one line of what a program has said: without secrets, control characters, and the place of its copy of the files.
pub(super) fn last_words(words: &[u8], secrets: &[String], copy: &str) -> String {
    let mut text = String::from_utf8_lossy(words)
        .replace(&format!("{copy}/"), "")
        .replace(copy, ".");
    // The longest first, so that no part of one is left.
    for secret in secrets {
        text = text.replace(secret.as_str(), MASK);
    }
    let lines: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with("# Warning"))
        .map(cleaned)
        .filter(|line| !line.is_empty())
        .collect();
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| without_header(line))
        .filter(|line| !matches!(*line, "" | ">"))
        .collect();
    let last = lines
        .get(lines.len().saturating_sub(LINES)..)
        .unwrap_or_default();
    let joined = last.join(" ");
    let words = ["Error: ", "error: "]
        .iter()
        .find_map(|word| joined.strip_prefix(word));
    words.unwrap_or(&joined).to_owned()
}

/// Takes away what kubectl's log puts around an error: `E1130 11:59:55.209444 14547 run.go:72] "command failed" err="…"`.
fn without_header(line: &str) -> &str {
    let is_header = |head: &str| {
        head.strip_prefix(['E', 'F', 'W'])
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    match line.split_once("] \"command failed\" err=") {
        Some((head, error)) if is_header(head) => {
            let quoted = error
                .strip_prefix('"')
                .and_then(|error| error.strip_suffix('"'));
            quoted.unwrap_or_else(|| error.trim_start_matches('<'))
        }
        _ => line,
    }
}

fn cleaned(line: &str) -> String {
    let shown = line
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = shown.collect();
    if let Some((end, _)) = shown.char_indices().nth(LONGEST) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

/// Tells whether a program wrote that it got no more memory, as Go's runtime and its libraries put it.
pub(super) fn tells_of_memory(words: &[u8]) -> bool {
    let text = String::from_utf8_lossy(words);
    [
        "out of memory",
        "cannot allocate memory",
        "failed to reserve",
    ]
    .iter()
    .any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_controls_and_places_are_not_shown() {
        let words = b"# Warning: old\nError: in /tmp/x/tree/a.yaml: \x1b[2Jhunter2 and aHVudGVyMg==\n\n  at /tmp/x/tree\n";
        let secrets = ["aHVudGVyMg==".to_owned(), "hunter2".to_owned()];
        assert_eq!(
            last_words(words, &secrets, "/tmp/x/tree"),
            "in a.yaml:  [2J*** and *** at ."
        );
    }

    #[test]
    fn the_head_of_a_line_of_kubectls_log_is_left_out() {
        let head = "E1130 11:59:55.209444   14547 run.go:72] \"command failed\" err=";
        for error in ["\"it is off\"\n", "<\n\tit is off\n >\n"] {
            let words = format!("{head}{error}");
            assert_eq!(last_words(words.as_bytes(), &[], "/nowhere"), "it is off");
        }
    }

    #[test]
    fn only_the_end_of_long_speeches_is_kept() {
        let long = "x".repeat(1000);
        let words: String = (0..20).map(|n| format!("{n}{long}\n")).collect();
        let shown = last_words(words.as_bytes(), &[], "/nowhere");
        assert_eq!(shown.matches('…').count(), LINES);
        assert!(shown.starts_with("12x"), "{shown}");
    }
}
