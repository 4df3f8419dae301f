//! What status and tree show in the same way.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;

use super::steps::{BAD, CHANGE, DIM, GOOD};
use super::table::{WIDTH, wrap};
use crate::api::GroupKind;
use crate::reconcile::{Readiness, Ready};

/// Digits of a commit or a digest that people need to tell it from others.
const DIGITS: usize = 8;

/// `main@sha1:abcdef12` of a whole revision; what is not a revision stays as it is.
pub fn short(revision: &str) -> String {
    let (name, digest) = revision.rsplit_once(':').unwrap_or(("", revision));
    match digest.get(..DIGITS) {
        Some(begin) if digest.bytes().all(|b| b.is_ascii_hexdigit()) => {
            let colon = if name.is_empty() { "" } else { ":" };
            format!("{name}{colon}{begin}")
        }
        _ => revision.to_owned(),
    }
}

/// How a readiness looks.
pub fn ready_style(ready: Ready) -> Style {
    match ready {
        Ready::True => GOOD,
        Ready::False => BAD,
        Ready::Unknown => CHANGE,
        Ready::Suspended => DIM,
    }
}

/// Why something is not ready, if it is not.
pub fn why_not(readiness: &Readiness) -> Option<&str> {
    (!readiness.is_good()).then_some(&readiness.message)
}

/// `2 Syncs, 1 not ready`: how many there are, and those parts that are not zero.
pub fn counted(total: usize, word: &str, parts: &[(usize, &str)]) -> String {
    let plural = if total == 1 { "" } else { "s" };
    let mut text = format!("{total} {word}{plural}");
    for (count, word) in parts.iter().filter(|(count, _)| *count > 0) {
        text += &format!(", {count} {word}");
    }
    text
}

/// Says which kinds may not be listed.
pub fn print_unseen(out: &mut dyn Write, unseen: &BTreeMap<GroupKind, String>) -> io::Result<()> {
    if unseen.is_empty() {
        return Ok(());
    }
    let kinds: Vec<&str> = unseen.keys().map(|kind| kind.kind.as_str()).collect();
    let text = format!("not seen: {} (not allowed)", kinds.join(", "));
    for line in wrap(&text, WIDTH) {
        writeln!(out, "{CHANGE}{line}{CHANGE:#}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_short() {
        let sha = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(short(&format!("main@sha1:{sha}")), "main@sha1:01234567");
        assert_eq!(short(&format!("sha256:{sha}{sha}")), "sha256:01234567");
        assert_eq!(short(sha), "01234567");
        assert_eq!(short("v1.2.3-with-a-long-name"), "v1.2.3-with-a-long-name");
        assert_eq!(short("a:äöüäöüäöü"), "a:äöüäöüäöü");
    }

    #[test]
    fn parts_without_any_are_left_out() {
        assert_eq!(counted(1, "Sync", &[(0, "not ready")]), "1 Sync");
        let parts = [(1, "not ready"), (2, "suspended")];
        assert_eq!(
            counted(12, "Sync", &parts),
            "12 Syncs, 1 not ready, 2 suspended"
        );
    }
}
