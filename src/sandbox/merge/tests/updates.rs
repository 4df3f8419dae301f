use serde_json::json;

use super::support::Cluster;

#[test]
fn a_creation_takes_all_and_what_holds_it() {
    let mut cluster = Cluster::new();
    cluster.put(
        "editor",
        json!({"data": {"x": "1"}, "spec": {"ports": [{"port": 80}], "strategy": {}}}),
    );
    assert_eq!(
        cluster.managed(),
        json!([["editor", "Update", 1, {
            "f:data": {".": {}, "f:x": {}},
            "f:spec": {
                ".": {},
                "f:ports": {".": {}, "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}},
                "f:strategy": {},
            },
        }]])
    );
}

#[test]
fn an_update_takes_what_it_changes_from_whoever_had_it() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"data": {"x": "1", "y": "1"}}));
    cluster.put("editor", json!({"data": {"x": "2", "y": "1"}}));
    assert_eq!(
        cluster.managed(),
        json!([
            ["a", "Apply", 1, {"f:data": {"f:y": {}}}],
            ["editor", "Update", 2, {"f:data": {"f:x": {}}}],
        ])
    );
}

#[test]
fn what_an_update_takes_out_is_nobodys() {
    let mut cluster = Cluster::new();
    cluster.put("editor", json!({"data": {"x": "1", "y": "1"}}));
    cluster.apply("a", json!({"data": {"x": "1"}}));
    cluster.put("other", json!({"data": {"y": "1"}}));
    assert_eq!(
        cluster.managed(),
        json!([["editor", "Update", 1, {"f:data": {".": {}, "f:y": {}}}]])
    );
}

#[test]
fn an_update_that_only_takes_out_does_not_change_its_managers_time() {
    let mut cluster = Cluster::new();
    cluster.put("editor", json!({"data": {"x": "1", "y": "1"}}));
    cluster.put("editor", json!({"data": {"y": "1"}}));
    assert_eq!(
        cluster.managed(),
        json!([["editor", "Update", 1, {"f:data": {".": {}, "f:y": {}}}]])
    );
}

#[test]
fn sent_entries_are_taken() {
    let mut cluster = Cluster::new();
    cluster.put("editor", json!({"data": {"x": "1"}}));
    let mut entry = cluster.object.as_ref().unwrap()["metadata"]["managedFields"][0].clone();
    entry["manager"] = "renamed".into();
    cluster.put(
        "editor",
        json!({"metadata": {"managedFields": [entry]}, "data": {"x": "1"}}),
    );
    assert_eq!(
        cluster.managed(),
        json!([["renamed", "Update", 1, {"f:data": {".": {}, "f:x": {}}}]])
    );
}

#[test]
fn the_oldest_of_more_than_ten_updaters_are_put_together() {
    let mut cluster = Cluster::new();
    let mut data = serde_json::Map::new();
    for number in 0..12 {
        data.insert(format!("k{number:02}"), "v".into());
        cluster.put(&format!("m{number:02}"), json!({ "data": data }));
    }
    let managed = cluster.managed();
    assert_eq!(managed.as_array().unwrap().len(), 10);
    assert_eq!(
        managed[0],
        json!(["ancient-changes", "Update", 3, {"f:data": {".": {}, "f:k00": {}, "f:k01": {}, "f:k02": {}}}])
    );
    assert_eq!(managed[1][0], "m03");
}
