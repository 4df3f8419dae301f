//! Names that differ by a slip of the fingers, told from names that are meant to be alike.

use crate::load::schema::distance;

/// Whether a name is most likely another one misspelt.
///
/// Names come in families on purpose: `web-1` and `web-2`, `db-ro` and `db-rw`, `app-eu` and `app-us`. So digits must
/// agree, and of the words between dashes and dots only those of four letters and more may differ, by one letter (two of
/// eight and more), or the words are the same and only what stands between them differs.
pub(super) fn slip_of(name: &str, other: &str) -> bool {
    // Most names are far apart, and are compared with many others: what is cheap comes first.
    let apart = |n: usize, m: usize| n.abs_diff(m) > 4;
    let digits = |text| str::bytes(text).filter(u8::is_ascii_digit);
    if name == other || apart(name.len(), other.len()) || !digits(name).eq(digits(other)) {
        return false;
    }
    let separators = ['-', '.', '_'];
    let joined = |text: &str| text.replace(separators, "").to_lowercase();
    if joined(name) == joined(other) {
        return true;
    }
    let (words, others) = (name.split(separators), other.split(separators));
    words.clone().count() == others.clone().count()
        && words.zip(others).all(|(word, other)| {
            let letters = word.chars().count().min(other.chars().count());
            let most = match letters {
                0..=3 => 0,
                4..=7 => 1,
                _ => 2,
            };
            word == other || distance(word, other) <= most
        })
}

#[cfg(test)]
mod tests {
    use super::slip_of;

    #[test]
    fn slips_are_told_from_families() {
        for (name, other) in [
            ("pet-confg", "pet-config"),
            ("petconfig", "pet-config"),
            ("pet.config", "pet-config"),
            ("pet-configs", "pet-config"),
            ("frontned", "frontend"),
            ("Web", "web"),
        ] {
            assert!(slip_of(name, other), "{name} {other}");
        }
        for (name, other) in [
            ("web", "web"),
            ("web-1", "web-2"),
            ("db-ro", "db-rw"),
            ("db", "dc"),
            ("app-eu", "app-us"),
            ("pet-config", "pet-secret"),
            ("staging-db", "staging-web"),
            ("web", "web-config"),
            ("view", "viewer"),
        ] {
            assert!(!slip_of(name, other), "{name} {other}");
        }
    }
}
