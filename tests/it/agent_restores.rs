//! The agent goes into a Deployment that no Sync has, and out again: what was there before is there again, in one roll-out
//! each way.

use serde_json::{Value, json};

use crate::support::agent::{
    agent, carries, is_bare, owners, pod, replica_sets, served, switch_off, switch_on, template,
};
use crate::support::controller::Setup;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, deployment, target, target_of};
use crate::support::namespace::Namespace;

const ENV: &str = "/spec/template/spec/containers/0";

fn with_options(value: Value) -> Value {
    let env = json!([
        { "name": "FIRST", "value": "1" },
        value,
        { "name": "LAST", "value": "$(FIRST)" },
    ]);
    deployment("pet").set(&format!("{ENV}/env"), env)
}

/// Deployments as people write them: what the agent must fit into.
fn kinds_of_deployments() -> Vec<(&'static str, Value)> {
    let bare = deployment("pet");
    let full =
        with_options(json!({ "name": "JAVA_TOOL_OPTIONS", "value": " -Xmx1g  -Dname='a b' " }))
            .set(
                &format!("{ENV}/ports"),
                json!([{ "containerPort": 8080, "name": "web", "protocol": "TCP" }]),
            )
            .set(
                &format!("{ENV}/volumeMounts"),
                json!([{ "name": "data", "mountPath": "/data" }]),
            )
            .set(
                "/spec/template/spec/volumes",
                json!([{ "name": "data", "emptyDir": {} }]),
            )
            .set(
                "/spec/template/spec/initContainers",
                json!([{ "name": "migrate", "image": "shop/migrate:1" }]),
            )
            .set("/metadata/annotations", json!({ "team": "pets" }));
    let empty = with_options(json!({ "name": "JAVA_TOOL_OPTIONS", "value": "" }));
    let absent = with_options(json!({ "name": "OTHER", "value": "2" }));
    let declared = bare.clone().set(
        &format!("{ENV}/ports"),
        json!([{ "containerPort": 6300, "protocol": "TCP" }]),
    );
    vec![
        ("nothing", bare),
        ("everything", full),
        ("empty", empty),
        ("others", absent),
        ("declared", declared),
    ]
}

#[test]
fn what_was_there_is_there_again() {
    for (what, manifest) in kinds_of_deployments() {
        let ns = Namespace::new(what);
        let before = ns.create("deployments", &manifest);
        let first = replica_sets(&ns, 1);
        let _controller = Setup::new(&[&ns.name]).start();
        ns.create("closurejvmtargets", &target("pet"));
        let carrying = carries(&ns, "pet");
        assert_eq!(carrying["metadata"]["generation"], 2, "{what}");
        replica_sets(&ns, 2);
        let condition = ns.condition("pet", "AgentInjected");
        assert_eq!(
            (&condition["status"], &condition["reason"]),
            (&json!("True"), &json!("Injected")),
            "{what}"
        );

        switch_off(&ns, "pet");
        let after = is_bare(&ns, "pet");
        let text = |object: &Value| object["spec"].to_string();
        assert_eq!(text(&after), text(&before), "{what}");
        assert_eq!(after["metadata"]["generation"], 3, "{what}");
        assert_eq!(
            after["metadata"]["labels"], before["metadata"]["labels"],
            "{what}"
        );
        assert_eq!(owners(&after), owners(&before), "{what}");
        let marks = |object: &Value| {
            let revision = "deployment.kubernetes.io/revision";
            let annotations = object["metadata"]["annotations"].as_object().cloned();
            let mut annotations = annotations.unwrap_or_default();
            annotations.remove(revision);
            annotations
        };
        assert_eq!(marks(&after), marks(&before), "{what}");
        // No third one: the first is used again.
        let sets = replica_sets(&ns, 2);
        let revision = |set: &Value| {
            set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].clone()
        };
        let name = &first[0]["metadata"]["name"];
        eventually("the first ReplicaSet is the current one", || {
            let sets = replica_sets(&ns, sets.len());
            let again = sets.iter().find(|set| set["metadata"]["name"] == *name)?;
            (revision(again) == "3").then_some(())
        });
    }
}

#[test]
fn c63_our_option_comes_first_and_once() {
    let ns = Namespace::new("first");
    ns.create(
        "deployments",
        &with_options(
            json!({ "name": "JAVA_TOOL_OPTIONS", "value": "-javaagent:/otel.jar -Xmx1g" }),
        ),
    );
    let _controller = served(&ns);
    let options = |object: &Value| {
        let env = pod(object)["containers"][0]["env"]
            .as_array()
            .unwrap()
            .clone();
        let names: Vec<_> = env
            .iter()
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["FIRST", "JAVA_TOOL_OPTIONS", "LAST"]);
        env[1]["value"].as_str().unwrap().to_owned()
    };
    let value = options(&ns.get("deployments", "pet"));
    assert!(value.starts_with(agent()), "{value}");
    assert!(value.ends_with(" -javaagent:/otel.jar -Xmx1g"), "{value}");
    assert_eq!(value.matches("jacocoagent.jar").count(), 1);
    // Another port, and other classes: the option is another one, and still the only one.
    ns.edit(
        "closurejvmtargets",
        "pet",
        &json!({ "spec": { "agents": { "coverage": { "port": 6400, "includes": ["shop.*"] } } } }),
    );
    let changed = eventually("the option is another one", || {
        let live = ns.get("deployments", "pet");
        options(&live).contains("port=6400").then_some(live)
    });
    let value = options(&changed);
    assert!(value.contains("includes=shop.*"), "{value}");
    assert_eq!(value.matches("jacocoagent.jar").count(), 1);
    let ports = json!([{ "containerPort": 6400, "name": "jacoco", "protocol": "TCP" }]);
    assert_eq!(pod(&changed)["containers"][0]["ports"], ports);
    assert_eq!(changed["metadata"]["generation"], 3);
    switch_off(&ns, "pet");
    assert_eq!(options(&is_bare(&ns, "pet")), "-javaagent:/otel.jar -Xmx1g");
}

#[test]
fn switched_on_and_off_again_and_again_it_is_the_same_two_templates() {
    let ns = Namespace::new("again");
    ns.create(
        "deployments",
        &with_options(json!({ "name": "JAVA_TOOL_OPTIONS", "value": "-Xmx1g" })),
    );
    let _controller = served(&ns);
    let with = template(&carries(&ns, "pet"));
    let without = |ns: &Namespace| template(&is_bare(ns, "pet"));
    switch_off(&ns, "pet");
    let bare = without(&ns);
    for _ in 0..3 {
        switch_on(&ns, "pet");
        assert_eq!(template(&carries(&ns, "pet")), with);
        switch_off(&ns, "pet");
        assert_eq!(without(&ns), bare);
    }
    replica_sets(&ns, 2);
}

#[test]
fn another_deployment_gets_it_and_the_first_is_as_it_was() {
    let ns = Namespace::new("moved");
    let before = ns.create("deployments", &deployment("pet"));
    ns.create("deployments", &deployment("dog"));
    let _controller = served(&ns);
    ns.edit(
        "closurejvmtargets",
        "pet",
        &json!({ "spec": { "deploymentRef": { "name": "dog" } } }),
    );
    carries(&ns, "dog");
    assert_eq!(is_bare(&ns, "pet")["spec"], before["spec"]);
    // Back, while the image brings the agent along: then neither has it.
    let none = json!({ "deploymentRef": { "name": "pet" }, "agents": { "coverage": { "injection": "None" } } });
    ns.edit("closurejvmtargets", "pet", &json!({ "spec": none }));
    is_bare(&ns, "dog");
    is_bare(&ns, "pet");
}

#[test]
fn a_deployment_made_anew_gets_it_again() {
    let ns = Namespace::new("anew");
    ns.create("deployments", &deployment("pet"));
    let _controller = served(&ns);
    ns.delete("deployments", "pet");
    ns.create("deployments", &deployment("pet"));
    carries(&ns, "pet");
    let path = ns.path("deployments", "pet");
    assert!(api().delete(&path));
}

#[test]
fn one_deployment_carries_the_agent_of_one_target() {
    let ns = Namespace::new("two");
    ns.create("deployments", &deployment("pet"));
    let _controller = served(&ns);
    ns.create("closurejvmtargets", &target_of("second", "pet"));
    eventually("the second Target is refused", || {
        let condition = ns.condition("second", "AgentInjected");
        (condition["reason"] == "DeploymentTaken").then_some(())
    });
    assert_eq!(ns.get("deployments", "pet")["metadata"]["generation"], 2);
    // When the first goes, the second has its turn.
    ns.delete("closurejvmtargets", "pet");
    eventually("it carries the agent of the second", || {
        let live = ns.get("deployments", "pet");
        let record = live["metadata"]["annotations"]["closurejvm.io/agent"].as_str()?;
        record.contains("\"second\"").then_some(())
    });
}

#[test]
fn the_agent_moves_to_another_container() {
    let ns = Namespace::new("container");
    let two = deployment("pet").set(
        "/spec/template/spec/containers",
        json!([
            { "name": "app", "image": "shop/pet:1", "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": "-Xmx1g" }] },
            { "name": "proxy", "image": "shop/proxy:1" },
        ]),
    );
    let before = ns.create("deployments", &two);
    let _controller = Setup::new(&[&ns.name]).start();
    ns.create("closurejvmtargets", &target("pet"));
    eventually("it must be said which", || {
        (ns.condition("pet", "AgentInjected")["reason"] == "ContainerAmbiguous").then_some(())
    });
    assert_eq!(ns.get("deployments", "pet")["metadata"]["generation"], 1);
    let choose = |name: &str| {
        let spec = json!({ "agents": { "coverage": { "container": name } } });
        ns.edit("closurejvmtargets", "pet", &json!({ "spec": spec }));
    };
    let mounts = |live: &Value, i: usize| pod(live)["containers"][i]["volumeMounts"].is_array();
    choose("app");
    assert!(mounts(&carries(&ns, "pet"), 0));
    choose("proxy");
    let moved = eventually("it has moved", || {
        let live = ns.get("deployments", "pet");
        mounts(&live, 1).then_some(live)
    });
    assert_eq!(pod(&moved)["containers"][0], pod(&before)["containers"][0]);
    switch_off(&ns, "pet");
    assert_eq!(is_bare(&ns, "pet")["spec"], before["spec"]);
}
