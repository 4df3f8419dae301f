//! Services of a sandbox are treated as those of a real API server.

use serde_json::{Value, json};

use crate::support::differential::{Pair, SERVICES, Story};
use crate::support::lab::api;
use crate::support::namespace::unique;

fn pair() -> Pair<'static> {
    Pair::new(api(), &unique("services"), false)
}

fn headless() -> Value {
    json!({ "spec": {
        "clusterIP": "None",
        "selector": { "app": "pet" },
        "ports": [{ "name": "jacoco", "port": 6300, "protocol": "TCP" }],
        "publishNotReadyAddresses": true,
    } })
}

fn ports(ports: Value) -> Value {
    json!({ "spec": { "ports": ports } })
}

#[test]
fn a_headless_service_is_filled_in_and_applied_again_without_a_change() {
    let pair = pair();
    Story::of(SERVICES)
        .apply("covergence", headless())
        .apply("covergence", headless())
        .get()
        .agree(&pair);
}

#[test]
fn ports_of_others_stay() {
    let pair = pair();
    Story::of(SERVICES)
        .apply("a", headless())
        .apply(
            "b",
            ports(json!([{ "name": "http", "port": 80, "protocol": "TCP" }])),
        )
        .apply("a", headless())
        .json(
            "editor",
            json!([{ "op": "add", "path": "/spec/ports/-", "value": { "name": "x", "port": 81 } }]),
        )
        .apply("a", headless())
        .get()
        .agree(&pair);
}

#[test]
fn the_same_number_may_be_used_by_two_protocols_with_two_names() {
    let pair = pair();
    let both = |tcp: Value, udp: Value| ports(json!([tcp, udp]));
    Story::of(SERVICES)
        .create(
            "a",
            both(
                json!({ "name": "t", "port": 53, "protocol": "TCP" }),
                json!({ "name": "u", "port": 53, "protocol": "UDP" }),
            ),
        )
        .agree(&pair);
    Story::of(SERVICES)
        .create(
            "a",
            both(
                json!({ "port": 53, "protocol": "TCP" }),
                json!({ "port": 53, "protocol": "UDP" }),
            ),
        )
        .create(
            "a",
            both(
                json!({ "name": "t", "port": 53 }),
                json!({ "name": "t", "port": 54 }),
            ),
        )
        .create(
            "a",
            both(
                json!({ "name": "t", "port": 53 }),
                json!({ "name": "u", "port": 53 }),
            ),
        )
        .create(
            "a",
            both(
                json!({ "name": "T_", "port": 0 }),
                json!({ "name": "u", "port": 70000 }),
            ),
        )
        .agree(&pair);
}

#[test]
fn an_address_cannot_become_none() {
    let pair = pair();
    Story::of(SERVICES)
        .create("a", ports(json!([{ "port": 80 }])))
        .merge("a", json!({ "spec": { "clusterIP": "None" } }))
        .agree(&pair);
}

#[test]
fn selectors_and_ports_get_their_defaults() {
    let pair = pair();
    Story::of(SERVICES)
        .create("a", ports(json!([{ "port": 80 }])))
        .merge(
            "a",
            json!({ "spec": { "selector": { "a": "b" }, "sessionAffinity": "ClientIP" } }),
        )
        .merge("a", json!({ "spec": { "selector": null } }))
        .get()
        .agree(&pair);
    Story::of(SERVICES)
        .create(
            "a",
            json!({ "spec": { "type": "ExternalName", "externalName": "example.com" } }),
        )
        .agree(&pair);
    Story::of(SERVICES)
        .create("a", json!({ "spec": {} }))
        .agree(&pair);
}
