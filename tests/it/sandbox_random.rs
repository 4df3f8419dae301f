//! Random sequences of requests get the same answers from a sandbox as from a real API server.
//!
//! That one has no controllers, which would write to the objects in between.

use crate::support::differential::definition::things;
use crate::support::differential::{Pair, Plan, survey};
use crate::support::lab::OwnLab;

#[test]
fn random_sequences_get_the_same_answers() {
    let lab = OwnLab::new();
    let server = lab.api();
    let pair = Pair::new(&server, "random", false);
    pair.define(&things());
    let plan = Plan {
        seed: 1,
        sequences: 2_400,
        threads: 8,
    };
    match survey(&pair, plan.or_environment()) {
        Ok(text) => println!("{text}"),
        Err(text) => panic!("{text}"),
    }
}
