//! The name of a Target's coverage Service.

use sha2::{Digest, Sha256};

use crate::api::digest::hex;

const SUFFIX: &str = "-coverage";
/// A Service's name is a DNS-1035 label.
const MAX: usize = 63;
/// 64 bits: no two names of a namespace ever meet by chance, and one made to meet is refused as not ours.
const HASH_DIGITS: usize = 16;

/// Maps a Target's name (a DNS-1123 subdomain of up to 253 characters) to a Service name, injectively.
///
/// A name that can be a Service's name as it is becomes `<name>-coverage`. Any other is cut down and gets a hash of
/// the whole name. Names that already end like a hash are hashed too, so that the two forms never meet.
pub fn service_name(target: &str) -> String {
    let fits = target.len() + SUFFIX.len() <= MAX;
    if fits && is_dns_1035(target) && !ends_like_a_hash(target) {
        return format!("{target}{SUFFIX}");
    }
    let hash = hex(&Sha256::digest(target.as_bytes()));
    let hash = hash.get(..HASH_DIGITS).unwrap_or(&hash);
    let mut stem: String = target
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    if !stem.starts_with(|c: char| c.is_ascii_lowercase()) {
        stem.insert(0, 't');
    }
    stem.truncate(MAX - SUFFIX.len() - HASH_DIGITS - 1);
    format!("{}-{hash}{SUFFIX}", stem.trim_end_matches('-'))
}

fn is_dns_1035(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn ends_like_a_hash(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, end)| {
        end.len() == HASH_DIGITS && end.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn c57_names_a_service_cannot_carry_are_mapped() {
        assert_eq!(service_name("pet"), "pet-coverage");
        assert!(service_name("9lives").starts_with("t9lives-"));
        assert!(service_name("a.b.c").starts_with("a-b-c-"));
        assert_ne!(service_name("a.b.c"), service_name("a-b-c"));
        for length in [54, 55, 63, 64, 253] {
            let name = service_name(&"a".repeat(length));
            assert!(name.len() <= MAX, "{name}");
            assert_eq!(
                name == format!("{}{SUFFIX}", "a".repeat(length)),
                length == 54
            );
        }
        // A cut that would leave a dash before the hash.
        let cut = service_name(&format!("{}-{}", "a".repeat(36), "b".repeat(60)));
        assert!(!cut.contains("--"), "{cut}");
    }

    #[test]
    fn a_name_made_to_look_like_a_mapped_one_does_not_meet_it() {
        let mapped = service_name("a.b.c");
        let forged = mapped.strip_suffix(SUFFIX).unwrap();
        assert_ne!(service_name(forged), mapped);
    }

    proptest! {
        #[test]
        fn every_name_maps_to_a_valid_one_and_no_two_meet(
            names in prop::collection::hash_set("[a-z0-9]([-a-z0-9.]{0,60}[a-z0-9])?", 1..40)
        ) {
            let mut seen = HashMap::new();
            for name in names {
                let mapped = service_name(&name);
                prop_assert!(is_dns_1035(&mapped) && mapped.len() <= MAX, "{} -> {}", name, mapped);
                if let Some(other) = seen.insert(mapped.clone(), name.clone()) {
                    prop_assert!(false, "{} and {} -> {}", other, name, mapped);
                }
            }
        }
    }
}
