//! Others' words in Markdown: shown as they are, and never understood.

use std::fmt::Write;

use super::super::diagnostics::printable;

/// What is longer tells people nothing more, and would leave no room for the rest.
const LONGEST: usize = 600;

/// A text as code within a line. GitHub looks for mentions, references and emoji everywhere but in code, also where their
/// signs are written as entities; Markdown looks for its own signs in code, but not in entities. So it is both.
pub fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// A text in which Markdown and HTML find nothing. It stays on one line.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let clipped = text.chars().nth(LONGEST).map(|_| '…');
    let text: String = text.chars().take(LONGEST).chain(clipped).collect();
    for c in printable(&text).chars() {
        let plain = c.is_alphanumeric() || matches!(c, ' ' | '-' | '/' | ',' | '(' | ')');
        // `www.` alone makes a link.
        if plain || c == '.' && !out.ends_with(['w', 'W']) || !c.is_ascii() {
            out.push(c);
        } else {
            // Writing to a String does not fail.
            let _ = write!(out, "&#{};", u32::from(c));
        }
    }
    out
}

/// Lines as a block of code that nothing in them can end.
pub fn block(language: &str, text: &str) -> String {
    let lines: Vec<String> = text.lines().map(printable).collect();
    let longest = lines.iter().map(|line| longest_run(line)).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", lines.join("\n"))
}

/// How many backticks stand side by side.
fn longest_run(line: &str) -> usize {
    let runs = line.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_line_is_understood() {
        let hostile = "@team </code><img src=x onerror=alert(1)> **b** [a](http://x) www.x.io :tada: #1 `c` ~~d~~ a|b &amp; \\ a@b.c";
        let shown = code(hostile);
        let inner = shown
            .strip_prefix("<code>")
            .and_then(|it| it.strip_suffix("</code>"))
            .unwrap();
        let signs = "@<>*[]:#`~|\\_!\"'$";
        // An entity's own signs are all that is left of them.
        let without = inner.replace("&#", "").replace(';', "");
        assert!(!without.contains(|c| signs.contains(c)), "{inner}");
        assert!(!inner.contains("www."), "{inner}");
        assert!(inner.starts_with("&#64;team &#60;/code&#62;"), "{inner}");
        assert_eq!(code("a\nb"), "<code>a\u{fffd}b</code>");
        assert_eq!(code("shop/pet-é (v1.2)"), "<code>shop/pet-é (v1.2)</code>");
        let long = code(&"ä".repeat(LONGEST + 1));
        assert_eq!(long, format!("<code>{}…</code>", "ä".repeat(LONGEST)));
    }

    #[test]
    fn nothing_in_a_block_ends_it() {
        assert_eq!(block("diff", "+a\n-b\n"), "```diff\n+a\n-b\n```\n");
        assert_eq!(
            block("diff", "+```\n+````x\n"),
            "`````diff\n+```\n+````x\n`````\n"
        );
        assert_eq!(
            block("", "a\rb\u{202e}c\n"),
            "```\na\u{fffd}b\u{fffd}c\n```\n"
        );
    }
}
