//! "Did you mean": the known name that a misspelt one is nearest to.

/// So many names are compared. Built-in kinds have at most some 40 fields; a definition that others write may have any number.
const COMPARED: usize = 1000;

/// Finds the name that differs least, when it differs little enough for a slip of the fingers.
pub(in crate::load) fn nearest<'a>(
    wrong: &str,
    known: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    let most = match wrong.chars().count() {
        0..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    known
        .take(COMPARED)
        // A character has up to four bytes. The distance of long names takes long.
        .filter(|name| name.len().abs_diff(wrong.len()) <= 4 * most)
        .map(|name| (distance(&lower, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, name)| name)
}

/// Levenshtein's distance, where two neighbours that changed places count as one slip.
pub(in crate::load) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut last = None;
    for (i, x) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let change = cell(&above, j) + usize::from(x != *y);
            let mut least = change.min(cell(&above, j + 1) + 1).min(cell(&row, j) + 1);
            let swapped = j > 0 && b.get(j - 1) == Some(&x) && last == Some(*y);
            if swapped {
                least = least.min(cell(&before, j - 1) + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
        last = Some(x);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn near_misses_are_found_and_strangers_are_not() {
        let known = [
            "labels",
            "annotations",
            "name",
            "namespace",
            "clusterIP",
            "ports",
        ];
        let cases = [
            ("lables", Some("labels")),
            ("label", Some("labels")),
            ("anotations", Some("annotations")),
            ("clusterIp", Some("clusterIP")),
            ("port", Some("ports")),
            ("nmae", Some("name")),
            ("foo", None),
            ("", None),
            ("completelyOther", None),
        ];
        for (wrong, expected) in cases {
            assert_eq!(nearest(wrong, known.into_iter()), expected, "{wrong}");
        }
        assert_eq!(distance("lables", "labels"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
