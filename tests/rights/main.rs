//! What all controllers of the integration suite have asked, compared with what `deploy/rbac.yaml` grants: nothing was
//! refused, and no right is idle. `tests/run --rights` runs this when the suite is through.
//!
//! The suite's controllers run with the shipped roles, on the shared control plane and on those that tests have for
//! themselves; the audit logs of all of them are in the folder `COVERGENCE_AUDIT_LOGS`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[path = "../it/support/deploy.rs"]
#[allow(dead_code)]
mod deploy;
#[path = "../it/support/request.rs"]
#[allow(dead_code)]
mod request;
#[path = "../it/support/rights.rs"]
mod rights;

use std::fs;

use self::request::Event;
use self::rights::{refused, rights_of, unused};

/// Where the shipped account is, and all those that stand in for it.
const ACCOUNTS: &str = "system:serviceaccount:covergence-system:";

/// Accounts that are called so lose rights in a test, by its hand or with a namespace, to see that they are refused then.
const LESS: &str = "system:serviceaccount:covergence-system:less";

/// All requests of the suite's controllers, also those in the place of tenants.
fn asked() -> Vec<Event> {
    let folder = std::env::var_os("COVERGENCE_AUDIT_LOGS").expect("set by `tests/run --rights`");
    let mut asked = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let log = fs::read_to_string(entry.unwrap().path()).unwrap();
        let lines = log.lines().filter(|line| line.contains(ACCOUNTS));
        let events = lines.filter_map(Event::read);
        asked.extend(events.filter(|event| event.user.starts_with(ACCOUNTS)));
    }
    asked
}

/// Tells whether a request was made as the tenants' default account, which has every right in the suite. What other
/// accounts may do is what their tests are about.
fn is_default(event: &Event) -> bool {
    let acting_as = event.acting_as.as_deref();
    acting_as.is_none_or(|account| account.ends_with(":default"))
}

#[test]
fn nothing_was_refused() {
    let asked = asked();
    let (meant, mut refused): (Vec<_>, Vec<_>) = refused(&asked)
        .into_iter()
        .partition(|event| event.user.starts_with(LESS));
    assert!(
        !meant.is_empty(),
        "the tests that take rights from {LESS} are gone"
    );
    refused.retain(|event| is_default(event));
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn no_right_is_idle() {
    let granted = rights_of(&deploy::manifests("rbac.yaml"));
    assert!(granted.len() > 20, "{granted:#?}");
    let mut asked: Vec<Event> = asked().into_iter().map(Event::for_sender).collect();
    // Each controller keeps its Leases in a namespace of its own here.
    for event in asked.iter_mut().filter(|event| event.resource == "leases") {
        event.namespace = "covergence-system".into();
    }
    let idle = unused(&granted, &asked);
    assert!(idle.is_empty(), "{idle:#?}");
}
