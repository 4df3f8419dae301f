//! Specs as objects in a cluster have them, which may be older than their schema.

use serde::Deserialize;
use serde_json::Value;

/// The most characters of an error that are told: it quotes the value that it refuses, be it a megabyte long.
const LONGEST: usize = 300;

/// Reads a spec.
///
/// # Errors
/// Why it cannot be read, for people.
pub fn read_spec<'a, T: Deserialize<'a>>(spec: &'a Value) -> Result<T, String> {
    T::deserialize(spec).map_err(|error| {
        let why: String = error.to_string().chars().take(LONGEST).collect();
        format!("its spec cannot be read: {why}")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::target::TargetSpec;

    #[test]
    fn what_is_refused_is_not_quoted_without_end() {
        let why = read_spec::<TargetSpec>(&json!("é".repeat(1_000_000))).unwrap_err();
        assert!(why.starts_with("its spec cannot be read: invalid type: string \"éé"));
        assert!(
            why.chars().count() < 350,
            "{} characters",
            why.chars().count()
        );
    }
}
