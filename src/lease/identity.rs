//! What a replica is called.

use std::hash::{BuildHasher, RandomState};

/// The most characters of a host's name that are kept; the whole must fit into a name and be read by people.
const LONGEST: usize = 63;

/// Makes an identity that nobody had before: the host's name (in a cluster, the pod's), and something random, so that a
/// pod that starts again is not taken for the one that it was.
pub fn identity(host: &str) -> String {
    let clean = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9') => c,
        _ => '-',
    };
    let host: String = host.chars().take(LONGEST).map(clean).collect();
    // Every RandomState has keys of its own, which come from the operating system.
    let random = RandomState::new().hash_one(&host);
    format!("{host}-{random:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_fit_for_a_name_and_new() {
        let one = identity("Covergence_7d9f.local");
        assert!(one.starts_with("covergence-7d9f-local-"), "{one}");
        assert_ne!(one, identity("Covergence_7d9f.local"));
        assert!(identity(&"ä,".repeat(200)).len() < 100);
    }
}
