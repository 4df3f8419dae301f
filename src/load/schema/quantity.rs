//! The grammar of quantities: `500m`, `1Gi`, `0.5`, `1e3`.

/// Suffixes of decimal and binary multiples.
const SUFFIXES: &[&str] = &[
    "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
];

/// Whether a text is a quantity.
pub(super) fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(unsigned.len());
    let Some((number, suffix)) = unsigned.split_at_checked(end) else {
        return false;
    };
    let digits = number.bytes().any(|b| b.is_ascii_digit()) && number.matches('.').count() <= 1;
    digits && (SUFFIXES.contains(&suffix) || is_exponent(suffix))
}

fn is_exponent(suffix: &str) -> bool {
    suffix.strip_prefix(['e', 'E']).is_some_and(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::is_quantity;

    #[test]
    fn quantities_are_told_from_other_text() {
        for text in [
            "0", "1", "500m", "1Gi", "0.5", ".5", "5.", "-1", "+1k", "1e3", "1E-3", "1E", "12Ei",
            "100u",
        ] {
            assert!(is_quantity(text), "{text}");
        }
        for text in [
            "", "m", "1 Gi", "1gb", "1GB", "1KI", "1ki", "1.2.3", "e3", "1e", "--1", "0x10", "1,5",
            "1Gi ", "½",
        ] {
            assert!(!is_quantity(text), "{text}");
        }
    }
}
