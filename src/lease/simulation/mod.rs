//! Several replicas on a network that loses, delays and reorders, with pauses, crashes and administrators: never may two
//! of them be given a permit for one key, and when all is quiet each key has one owner.

mod store;
mod world;

use proptest::prelude::*;

use self::world::{Disturbance, World};

/// What happens to a replica (one of those that run, by number), with times in milliseconds.
fn disturbance() -> impl Strategy<Value = Disturbance> {
    let which = any::<usize>();
    prop_oneof![
        4 => Just(Disturbance::Join),
        2 => which.prop_map(Disturbance::Crash),
        2 => which.prop_map(Disturbance::Release),
        3 => (which, duration()).prop_map(|(i, time)| Disturbance::Pause(i, time)),
        3 => (which, duration()).prop_map(|(i, time)| Disturbance::Cut(i, time)),
        1 => which.prop_map(Disturbance::DeleteLease),
    ]
}

/// Mostly about as long as a Lease lasts, or a deadline: there it is most delicate.
fn duration() -> impl Strategy<Value = u64> {
    prop_oneof![100..40_000_u64, 8_000..18_000_u64]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_key_ever_has_two_owners_and_in_the_end_it_has_one(
        seed in any::<u64>(),
        script in prop::collection::vec((prop_oneof![0..500_u64, 0..10_000_u64], disturbance()), 1..25),
    ) {
        let mut world = World::new(seed, false);
        for first in [Disturbance::Join, Disturbance::Join, Disturbance::Join] {
            world.disturb(first);
        }
        for (pause, disturbance) in script {
            world.run_for(pause);
            world.disturb(disturbance);
        }
        world.run_for(10_000);
        world.calm_down();
        world.each_key_has_one_owner();
        world.only_leases_of_the_living_are_left();
    }
}

/// The usual ways of replicas, without anything going wrong.
#[test]
fn replicas_share_the_keys_and_one_takes_over_from_another() {
    let mut world = World::new(1, true);
    world.disturb(Disturbance::Join);
    world.run_for(1_000);
    assert_eq!(world.owners(), 1);
    world.disturb(Disturbance::Join);
    world.disturb(Disturbance::Join);
    world.run_for(20_000);
    world.each_key_has_one_owner();
    assert_eq!(world.owners(), 3);
    world.disturb(Disturbance::Release(0));
    // A look and a little haste each way, with permits of up to two seconds in hand.
    world.run_for(10_000);
    world.each_key_has_one_owner();
    world.disturb(Disturbance::Crash(0));
    // The Lease runs out, and is looked at at that moment.
    world.run_for(15_000 + 3_000 + 1_000);
    world.each_key_has_one_owner();
    assert_eq!(world.owners(), 1);
}
