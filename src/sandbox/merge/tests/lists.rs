use serde_json::{Value, json};

use super::support::Cluster;

fn order(live: &[u16], applied: &[u16]) -> Vec<u64> {
    let ports = |ports: &[u16]| -> Value {
        let ports = ports.iter().map(|port| json!({ "port": port }));
        json!({"spec": {"ports": ports.collect::<Value>()}})
    };
    let mut cluster = Cluster::new();
    cluster.apply("a", ports(live));
    cluster.apply("b", ports(applied));
    let fields = cluster.fields();
    let ports = fields["spec"]["ports"].as_array().unwrap();
    ports
        .iter()
        .map(|port| port["port"].as_u64().unwrap())
        .collect()
}

#[test]
fn shared_items_get_the_applied_order_and_others_keep_their_place() {
    assert_eq!(order(&[1, 2, 3], &[]), [1, 2, 3]);
    assert_eq!(order(&[1, 2], &[3]), [1, 2, 3]);
    assert_eq!(order(&[1, 2], &[2, 1]), [2, 1]);
    assert_eq!(order(&[1, 2, 3], &[3, 1]), [2, 3, 1]);
    assert_eq!(order(&[3, 1, 2], &[1, 3]), [1, 2, 3]);
    assert_eq!(order(&[1, 2, 3], &[4, 2]), [1, 4, 2, 3]);
}

#[test]
fn a_key_that_is_left_out_has_its_default() {
    let mut cluster = Cluster::new();
    cluster.apply(
        "a",
        json!({"spec": {"ports": [{"port": 80, "targetPort": 1}]}}),
    );
    cluster.apply(
        "a",
        json!({"spec": {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 2}]}}),
    );
    assert_eq!(
        cluster.fields(),
        json!({"spec": {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 2}]}})
    );
    assert_eq!(
        cluster.managed(),
        json!([["a", "Apply", 2, {"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {
            ".": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {},
        }}}}]])
    );
}

#[test]
fn items_that_share_a_key_stay_until_one_of_that_key_is_applied() {
    let twice = json!([{"name": "e", "value": "1"}, {"name": "e", "value": "2"}, {"name": "f", "value": "3"}]);
    let with = |env: Value| json!({"spec": {"containers": [{"name": "c", "env": env}]}});
    let mut cluster = Cluster::new();
    cluster.put("editor", with(twice.clone()));
    cluster.apply("a", with(json!([{"name": "f", "value": "3"}])));
    assert_eq!(cluster.fields(), with(twice));
    cluster.force("a", with(json!([{"name": "e", "value": "4"}])));
    assert_eq!(
        cluster.fields(),
        with(json!([{"name": "e", "value": "4"}, {"name": "f", "value": "3"}]))
    );
}
