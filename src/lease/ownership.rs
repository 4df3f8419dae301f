//! What a replica may write for, as a value.

use std::time::Instant;

use super::members::Members;

/// The keys that a replica owns: those that every one of these views gives to it, for a while.
#[derive(Clone, Debug)]
pub(super) struct Ownership {
    identity: String,
    views: Vec<Members>,
    /// When it ends; without one, never.
    until: Option<Instant>,
}

impl Ownership {
    /// Every key, for ever: nobody else is asked.
    pub fn everything() -> Self {
        Self {
            identity: String::new(),
            views: Vec::new(),
            until: None,
        }
    }

    /// No key: a set without members gives it to nobody.
    pub fn nothing() -> Self {
        Self {
            views: vec![Members::default()],
            ..Self::everything()
        }
    }

    /// The keys that all these views give to a replica, before a time. Replicas mostly agree, so that one view is left.
    pub fn shared<'a>(
        identity: &str,
        views: impl IntoIterator<Item = &'a Members>,
        until: Instant,
    ) -> Self {
        let mut distinct: Vec<Members> = Vec::new();
        for view in views {
            if !distinct.contains(view) {
                distinct.push(view.clone());
            }
        }
        Self {
            identity: identity.to_owned(),
            views: distinct,
            until: Some(until),
        }
    }

    /// Tells whether a key may be written for now.
    pub fn owns(&self, key: &str, now: Instant) -> bool {
        !self.is_over(now) && self.allots(key)
    }

    /// Tells whether its time is over.
    pub fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now >= until)
    }

    /// Tells whether a key is the replica's own, whatever the time.
    pub fn allots(&self, key: &str) -> bool {
        let own = Some(self.identity.as_str());
        self.views.iter().all(|view| view.owner(key) == own)
    }

    /// Tells whether the same keys are owned, whatever the time.
    pub fn allots_as(&self, other: &Self) -> bool {
        self.views == other.views
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_key_is_owned_when_all_views_say_so_and_in_time() {
        let alone: Members = ["a"].into_iter().collect();
        let both: Members = ["a", "b"].into_iter().collect();
        let now = Instant::now();
        let until = now + Duration::from_secs(10);
        let keys: Vec<String> = (0..20).map(|i| i.to_string()).collect();
        let shared = Ownership::shared("a", [&alone, &both, &alone], until);
        for key in &keys {
            assert_eq!(shared.owns(key, now), both.owner(key) == Some("a"));
            assert!(!shared.owns(key, until));
            assert!(Ownership::everything().owns(key, until));
            assert!(!Ownership::nothing().owns(key, now));
        }
        assert!(keys.iter().any(|key| shared.owns(key, now)));
    }
}
