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
            let within = keys.next().unwrap_or_default();
            if [innermost, within].into_iter().any(is_port) {
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

fn is_port(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.ends_with("port") || key.ends_with("ports")
}

fn has_word(key: &str, words: &[&str]) -> bool {
    let key = key.to_ascii_lowercase();
    words.iter().any(|word| key.contains(word))
}
