//! Names on a node, as the JVMs in its pods resolve them.

use serde_json::{Value, json};

use crate::support::node::{APP, Place};

/// More than fit into a datagram: the rest comes only to those who ask again by TCP.
#[test]
fn c61_a_name_has_all_of_forty_addresses() {
    let place = Place::new("names");
    let labels = json!({ "app": "asks" });
    place.create(
        "deployments",
        &json!({ "metadata": { "name": "asks" }, "spec": {
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": {
                "automountServiceAccountToken": false,
                "containers": [{
                    "name": "asks",
                    "image": APP,
                    "imagePullPolicy": "Never",
                    "readinessProbe": { "httpGet": { "path": "/healthz", "port": 8080 }, "periodSeconds": 1 },
                }],
            } },
        } }),
    );
    let addresses: Vec<String> = (10..50).map(|n| format!("192.0.2.{n}")).collect();
    let endpoint =
        |address: &String| json!({ "addresses": [address], "conditions": { "ready": true } });
    let endpoints: Vec<Value> = addresses.iter().map(endpoint).collect();
    place.create(
        "endpointslices",
        &json!({
            "metadata": { "name": "many", "labels": { "kubernetes.io/service-name": "many" } },
            "addressType": "IPv4",
            "endpoints": endpoints,
            "ports": [],
        }),
    );
    let asks = &place.settled("asks")[0];
    assert_eq!(
        asks.resolve(&format!("many.{}.svc.cluster.local", place.name)),
        addresses
    );
    // By the search path of pods.
    assert_eq!(asks.resolve("many"), addresses);
    assert!(
        asks.ask("/names?host=nobody")
            .starts_with("no such host: nobody")
    );
}
