//! Objects that somebody changes again each time we repair them. They are reported, not fought over.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::api::ObjectId;

/// What comes back changed from our own request so often is rewritten by a webhook: the first time may be chance.
const REWRITTEN: u32 = 2;

/// So many repairs within [`PEACE`] are a fight.
const REPAIRS: u32 = 4;

/// After so long without a repair, an object counts as left in peace.
const PEACE: Duration = Duration::from_secs(60);

/// Between two repairs of an object that is fought over; the other side may have been corrected meanwhile.
const TRUCE: Duration = Duration::from_secs(600);

/// What is known of one object.
struct Fight {
    /// The digest that was applied. A new manifest starts anew.
    digest: String,
    repairs: u32,
    rewritten: u32,
    last: Instant,
}

/// The memory of repairs.
#[derive(Default)]
pub struct Fights(HashMap<ObjectId, Fight>);

impl Fights {
    /// Says why the drift of an object is not repaired now, if so.
    pub fn holds(&self, id: &ObjectId, digest: &str, now: Instant) -> Option<&'static str> {
        let fight = self.0.get(id).filter(|fight| fight.digest == digest)?;
        if fight.rewritten >= REWRITTEN {
            return Some(
                "what is applied comes back changed, so a webhook rewrites it: it is left as it is",
            );
        }
        let fought = fight.repairs >= REPAIRS && now < fight.last + TRUCE;
        fought.then_some("it was changed again after each repair: it is left so for a while")
    }

    /// Notes that an object was applied because of drift, or came back `rewritten` from an apply.
    pub fn note(
        &mut self,
        id: &ObjectId,
        digest: &str,
        repaired: bool,
        rewritten: bool,
        now: Instant,
    ) {
        if !repaired && !rewritten {
            return;
        }
        let fresh = || Fight {
            digest: digest.to_owned(),
            repairs: 0,
            rewritten: 0,
            last: now,
        };
        let fight = self.0.entry(id.clone()).or_insert_with(fresh);
        if fight.digest != digest {
            *fight = fresh();
        }
        if now > fight.last + PEACE && fight.repairs < REPAIRS {
            fight.repairs = 0;
        }
        fight.repairs += u32::from(repaired);
        fight.rewritten += u32::from(rewritten);
        fight.last = now;
    }

    /// Says how long until the first truce over some objects is over, if one holds.
    pub fn next_repair(&self, of: impl Fn(&ObjectId) -> bool, now: Instant) -> Option<Duration> {
        let fought = |(id, fight): &(&ObjectId, &Fight)| {
            of(id) && fight.repairs >= REPAIRS && fight.rewritten < REWRITTEN
        };
        let ends = self
            .0
            .iter()
            .filter(fought)
            .map(|(_, fight)| fight.last + TRUCE);
        ends.filter(|end| *end > now).min().map(|end| end - now)
    }

    /// Forgets objects that are asked for no more.
    pub fn retain(&mut self, wanted: impl Fn(&ObjectId) -> bool) {
        self.0.retain(|id, _| wanted(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::GroupKind;

    fn id() -> ObjectId {
        ObjectId {
            group_kind: GroupKind::new("", "ConfigMap"),
            namespace: Some("n".into()),
            name: "a".into(),
        }
    }

    #[test]
    fn what_a_webhook_rewrites_is_applied_twice_and_then_left() {
        let (mut fights, now) = (Fights::default(), Instant::now());
        for _ in 0..2 {
            assert_eq!(fights.holds(&id(), "d", now), None);
            fights.note(&id(), "d", false, true, now);
        }
        assert!(
            fights
                .holds(&id(), "d", now)
                .is_some_and(|why| why.contains("webhook"))
        );
        assert_eq!(fights.holds(&id(), "new", now), None);
        assert_eq!(fights.next_repair(|_| true, now), None);
    }

    #[test]
    fn what_is_changed_again_and_again_is_left_for_a_while() {
        let (mut fights, start) = (Fights::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        for i in 0..4 {
            assert_eq!(fights.holds(&id(), "d", after(i)), None);
            fights.note(&id(), "d", true, false, after(i));
        }
        assert!(fights.holds(&id(), "d", after(4)).is_some());
        assert_eq!(fights.next_repair(|_| true, after(3)), Some(TRUCE));
        // Then it gets one chance each time.
        assert_eq!(fights.holds(&id(), "d", after(603)), None);
        fights.note(&id(), "d", true, false, after(603));
        assert!(fights.holds(&id(), "d", after(604)).is_some());
    }

    #[test]
    fn now_and_then_is_no_fight() {
        let (mut fights, start) = (Fights::default(), Instant::now());
        for i in 0..20 {
            let now = start + Duration::from_secs(61 * i);
            assert_eq!(fights.holds(&id(), "d", now), None);
            fights.note(&id(), "d", true, false, now);
        }
    }
}
