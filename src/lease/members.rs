//! A set of replicas, and whom of them a key belongs to.

use std::collections::BTreeSet;
use std::fmt;

use sha2::{Digest, Sha256};

/// More replicas than anybody runs: the hashing of more would cost too much.
const MOST: usize = 1000;

/// Identities that share the keys among themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Members(BTreeSet<String>);

impl Members {
    /// Reads what their `Display` wrote. Too many are none, to whom no key belongs.
    pub fn parse(text: &str) -> Self {
        if text.split(',').count() > MOST {
            return Self::default();
        }
        text.split(',').filter(|part| !part.is_empty()).collect()
    }

    /// The member that a key belongs to: the one with the highest score (rendezvous hashing, Thaler and Ravishankar 1998).
    /// A member that leaves gives up only its own keys, one that comes takes only those that are now its own.
    pub fn owner(&self, key: &str) -> Option<&str> {
        let scored = self.0.iter().map(|member| (score(member, key), member));
        scored.max().map(|(_, member)| member.as_str())
    }

    /// The members, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// SHA-256, since replicas of different builds must agree for ever, which std's hasher does not promise.
fn score(member: &str, key: &str) -> [u8; 32] {
    let hash = Sha256::new().chain_update(member).chain_update([0]);
    hash.chain_update(key).finalize().into()
}

impl<S: Into<String>> FromIterator<S> for Members {
    fn from_iter<I: IntoIterator<Item = S>>(members: I) -> Self {
        Self(members.into_iter().map(Into::into).collect())
    }
}

/// Sorted, with commas, which no identity has in it: it is part of a Lease's name.
impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, member) in self.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{member}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_spread_evenly() {
        let members: Members = ["a-1", "a-2", "a-3", "a-4", "a-5"].into_iter().collect();
        let mut counts = BTreeMap::new();
        for i in 0..10_000 {
            let owner = members.owner(&format!("target/shop/pet-{i}")).unwrap();
            *counts.entry(owner).or_insert(0) += 1;
        }
        // Five standard deviations (40) around 2,000.
        assert_eq!(counts.len(), 5);
        assert!(
            counts.values().all(|count| (1_800..2_200).contains(count)),
            "{counts:?}"
        );
    }

    /// A replica of another build must come to the same result.
    #[test]
    fn an_owner_is_the_same_in_every_build() {
        let members: Members = ["a", "b", "c"].into_iter().collect();
        let owners: Vec<_> = (0..8)
            .map(|i| members.owner(&format!("sync/ns/{i}")).unwrap())
            .collect();
        assert_eq!(owners.join(""), "cbacabba");
        assert_eq!(Members::default().owner("leader"), None);
    }

    proptest! {
        #[test]
        fn who_leaves_gives_up_only_its_own(
            members in prop::collection::btree_set("[a-z]{1,8}", 2..8),
            leaver in any::<prop::sample::Index>(),
            key in ".{0,20}",
        ) {
            let all: Members = members.iter().cloned().collect();
            let gone = leaver.get(&Vec::from_iter(&members)).to_string();
            let rest: Members = members.iter().filter(|member| **member != gone).cloned().collect();
            if all.owner(&key) == Some(&gone) {
                prop_assert_ne!(rest.owner(&key), Some(gone.as_str()));
            } else {
                prop_assert_eq!(rest.owner(&key), all.owner(&key));
            }
        }

        #[test]
        fn what_is_written_can_be_read(members in prop::collection::btree_set("[a-z0-9.-]{1,9}", 0..5)) {
            let members: Members = members.into_iter().collect();
            prop_assert_eq!(Members::parse(&members.to_string()), members);
        }
    }
}
