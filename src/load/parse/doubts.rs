//! Scalars that kubectl reads without a word as something other than what they look like.

use super::scalar::Reading;
use crate::load::Position;
use crate::load::fault::Fault;

/// Says of a plain key that it becomes another string.
pub(super) fn key(position: Position, text: &str, reading: &Reading) -> Option<Fault> {
    let key = match reading {
        Reading::Text(_) | Reading::Null => return None,
        // `True:` is the same word to everyone.
        Reading::Bool(value) if text.eq_ignore_ascii_case(&value.to_string()) => return None,
        reading => reading.clone().into_key().ok()?,
    };
    (key != text).then(|| {
        let message = format!("this key is read as `{key}`");
        Fault::warning(position, message).hint("put the key in quotes")
    })
}

/// Says of a plain value that its digits mean something else, as far as the keys it stands under tell what is meant;
/// the innermost comes first.
pub(super) fn value<'k>(
    position: Position,
    text: &str,
    reading: &Reading,
    mut keys: impl Iterator<Item = &'k str>,
) -> Option<Fault> {
    let innermost = keys.next().unwrap_or_default();
    match reading {
        Reading::Int(_) if is_octal(text) => {
            // The port of an Ingress is a `number`, or a name.
            let is_number = innermost == "number" && keys.next().is_some_and(is_port);
            if is_number || is_port(innermost) {
                let message = format!("`{innermost}` is a port written in octal");
                return Some(Fault::error(position, message).hint(
                    "write it without the leading zero: with it, kubectl reads another port",
                ));
            }
            let octal = ["mode", "mask", "perm"];
            (!has_word(innermost, &octal)).then(|| {
                Fault::warning(position, "the leading zero makes this number octal")
                    .hint("write it without the zero, as `0o…` if octal is meant, or in quotes if the digits are")
            })
        }
        Reading::Float(_) if loses_a_zero(text) => {
            let named = ["version", "tag", "revision", "release"];
            has_word(innermost, &named).then(|| {
                Fault::warning(position, "a number loses the zeros at its end")
                    .hint("put it in quotes if it is a version")
            })
        }
        _ => None,
    }
}

/// `0755`, of more than one digit: YAML 1.1 has it octal, YAML 1.2 decimal.
fn is_octal(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let significant = digits.trim_start_matches(['0', '_']);
    digits.starts_with('0')
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        && significant.len() > 1
}

/// `1.10`
fn loses_a_zero(text: &str) -> bool {
    text.split_once('.').is_some_and(|(_, fraction)| {
        fraction.len() > 1
            && fraction.ends_with('0')
            && fraction.bytes().all(|b| b.is_ascii_digit())
    })
}

/// `port`, `hostPort`, `http_port`, and no `transport`.
fn is_port(key: &str) -> bool {
    let key = key.strip_suffix(['s', 'S']).unwrap_or(key);
    let before = key.len().checked_sub("port".len());
    let Some((before, word)) = before.and_then(|at| key.split_at_checked(at)) else {
        return false;
    };
    word.eq_ignore_ascii_case("port")
        && (word.starts_with('P') && !before.ends_with(char::is_uppercase)
            || !before.ends_with(char::is_alphanumeric))
}

fn has_word(key: &str, words: &[&str]) -> bool {
    let key = key.to_ascii_lowercase();
    words.iter().any(|word| key.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_told_from_other_words() {
        for key in [
            "port",
            "ports",
            "Port",
            "PORT",
            "hostPort",
            "targetPorts",
            "http_port",
            "HTTP_PORT",
            "my-port",
        ] {
            assert!(is_port(key), "{key}");
        }
        for key in [
            "transport",
            "support",
            "reports",
            "EXPORT",
            "portal",
            "por",
            "",
            "größport",
        ] {
            assert!(!is_port(key), "{key}");
        }
    }
}
