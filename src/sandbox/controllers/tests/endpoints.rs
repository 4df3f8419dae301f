//! The pods behind Services.

use serde_json::{Value, json};

use super::{Pods, World, workload};

const SLICES: &str = "endpointslices.discovery.k8s.io";

fn service(name: &str, more: Value) -> Value {
    let mut service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "labels": { "l": "1" } },
        "spec": { "selector": { "app": "web" }, "ports": [{ "name": "http", "port": 80, "targetPort": "http" }] },
    });
    for (field, value) in more.as_object().unwrap() {
        service["spec"][field] = value.clone();
    }
    service
}

#[test]
fn ready_pods_are_behind_the_services_that_select_them() {
    let mut world = World::new(Pods::Ready);
    world.add("services", service("web", json!({})));
    assert_eq!(world.find("endpoints", "web").get("subsets"), None);
    let slice = &world.list(SLICES)[0];
    assert_eq!(slice["addressType"], "IPv4");
    let mut deployment = workload("Deployment", "web", "i:1");
    deployment["spec"]["replicas"] = 2.into();
    world.add("deployments.apps", deployment);
    let endpoints = world.find("endpoints", "web");
    assert_eq!(endpoints["metadata"]["labels"], json!({ "l": "1" }));
    let subset = &endpoints["subsets"][0];
    assert_eq!(
        subset["ports"],
        json!([{ "name": "http", "port": 8080, "protocol": "TCP" }])
    );
    let pod = &world.list("pods")[0];
    let address = subset["addresses"]
        .as_array()
        .unwrap()
        .iter()
        .find(|address| address["ip"] == pod["status"]["podIP"])
        .unwrap();
    assert_eq!(address["nodeName"], "sandbox");
    assert_eq!(
        address["targetRef"],
        json!({
            "kind": "Pod", "namespace": "shop", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"],
        })
    );
    let slices = world.list(SLICES);
    assert_eq!(slices.len(), 1, "the empty one is used");
    assert_eq!(
        slices[0]["metadata"]["labels"],
        json!({
            "l": "1", "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        })
    );
    let found = slices[0]["endpoints"].as_array().unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[0]["conditions"],
        json!({ "ready": true, "serving": true, "terminating": false })
    );
    world.delete("services", "web", "Background");
    assert_eq!(world.get("endpoints", "web"), None);
    assert!(world.list(SLICES).is_empty());
}

#[test]
fn pods_that_are_not_ready_are_published_where_they_are_wanted() {
    let mut world = World::new(Pods::Pending);
    world.add("services", service("web", json!({})));
    world.add(
        "services",
        service(
            "early",
            json!({ "clusterIP": "None", "publishNotReadyAddresses": true }),
        ),
    );
    world.add("deployments.apps", workload("Deployment", "web", "i:1"));
    let pod = world.names("pods").remove(0);
    assert_eq!(
        world.find("endpoints", "web").get("subsets"),
        None,
        "no address, no endpoint"
    );
    world.tell(
        "pods",
        &pod,
        json!({ "phase": "Running", "podIP": "10.0.0.9", "podIPs": [{ "ip": "10.0.0.9" }] }),
    );
    let web = world.find("endpoints", "web");
    assert_eq!(web["subsets"][0]["notReadyAddresses"][0]["ip"], "10.0.0.9");
    assert_eq!(web["subsets"][0].get("addresses"), None);
    let early = world.find("endpoints", "early");
    assert_eq!(early["subsets"][0]["addresses"][0]["ip"], "10.0.0.9");
    assert_eq!(
        early["metadata"]["labels"],
        json!({ "l": "1", "service.kubernetes.io/headless": "" })
    );
    let ready = |name: &str| -> Value {
        let slices = world.list(SLICES);
        let own = slices
            .iter()
            .find(|s| s["metadata"]["labels"]["kubernetes.io/service-name"] == name);
        own.unwrap()["endpoints"][0]["conditions"]["ready"].clone()
    };
    assert_eq!((ready("web"), ready("early")), (json!(false), json!(true)));
}

#[test]
fn services_without_a_selector_are_left_to_others() {
    let mut world = World::new(Pods::Ready);
    world.add("services", service("web", json!({ "selector": {} })));
    assert!(world.list("endpoints").is_empty());
    let own = json!({
        "apiVersion": "v1", "kind": "Endpoints", "metadata": { "name": "web" },
        "subsets": [{ "addresses": [{ "ip": "192.0.2.1" }], "ports": [{ "port": 80 }] }],
    });
    world.add("endpoints", own);
    assert_eq!(
        world.find("endpoints", "web")["subsets"][0]["addresses"][0]["ip"],
        "192.0.2.1"
    );
    assert!(world.list(SLICES).is_empty());
}

#[test]
fn a_slice_has_a_hundred_endpoints_at_most() {
    let mut world = World::new(Pods::Ready);
    world.add("services", service("web", json!({})));
    let mut deployment = workload("Deployment", "web", "i:1");
    deployment["spec"]["replicas"] = 101.into();
    world.add("deployments.apps", deployment);
    let mut counts: Vec<usize> = world
        .list(SLICES)
        .iter()
        .map(|slice| slice["endpoints"].as_array().unwrap().len())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 100]);
    world.change("deployments.apps", "web", |deployment| {
        deployment["spec"]["replicas"] = 1.into()
    });
    assert_eq!(world.list(SLICES).len(), 1);
}

#[test]
fn changed_ports_are_followed() {
    let mut world = World::new(Pods::Ready);
    world.add("services", service("web", json!({})));
    world.add("deployments.apps", workload("Deployment", "web", "i:1"));
    world.change("services", "web", |service| {
        service["spec"]["ports"] = json!([{ "name": "admin", "port": 90 }]);
    });
    let ports = json!([{ "name": "admin", "port": 90, "protocol": "TCP" }]);
    assert_eq!(world.find("endpoints", "web")["subsets"][0]["ports"], ports);
    let slices = world.list(SLICES);
    assert_eq!(slices.len(), 1);
    assert_eq!(slices[0]["ports"], ports);
}
