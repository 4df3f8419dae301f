//! Which pods and which of their containers can carry the agent.

use serde_json::{Value, json};

use super::*;
use crate::api::target::PullPolicy;

#[test]
fn c66_with_a_proxy_first_the_container_is_named_or_nothing_happens() {
    let pod = json!({ "containers": [
        { "name": "istio-proxy", "image": "proxyv2" }, { "name": "app", "image": "pet:1" },
    ] });
    let (why, message) = reason(json!({}), pod.clone());
    assert_eq!(why, "ContainerAmbiguous");
    assert!(message.ends_with("istio-proxy or app"), "{message}");
    let template = composed(&json!({ "container": "app" }), pod.clone());
    let containers = &template["spec"]["containers"];
    assert_eq!(containers[0], pod["containers"][0]);
    assert!(containers[1]["env"].is_array());
    let (why, message) = reason(json!({ "container": "web" }), pod);
    assert_eq!(why, "ContainerNotFound");
    assert!(message.contains("no container web"), "{message}");
    assert!(message.ends_with("istio-proxy or app"), "{message}");
    assert_eq!(
        reason(json!({}), json!({ "containers": [] })).0,
        "NoContainers"
    );
    assert_eq!(
        reason(json!({}), json!({ "containers": "many" })).0,
        "NoContainers"
    );
}

#[test]
fn a_container_that_is_put_beside_the_one_with_the_agent_changes_nothing() {
    let mut object = deployment(app(json!({})));
    let patch = judge(json!({}), app(json!({}))).unwrap();
    patch.compose(&mut object);
    let containers = &mut object["spec"]["template"]["spec"]["containers"];
    containers
        .as_array_mut()
        .unwrap()
        .insert(0, json!({ "name": "proxy" }));
    let shape = PodShape::read(&object);
    let again = agent_patch(&target(json!({})), &shape, &AgentImage::default());
    assert_eq!(again, Ok(patch));
}

#[test]
fn c64_a_port_is_never_used_twice_in_a_pod() {
    let port = |number: u16, name: Value| json!([{ "containerPort": number, "name": name }]);
    let beside = |other: Value| json!({ "containers": [{ "name": "app" }, other] });
    let agent = "-javaagent:/my/jacoco.jar=output=tcpserver,address=*";
    let own = json!({ "container": "app" });
    for (pod, by) in [
        (
            beside(json!({ "name": "web", "ports": port(6300, json!("http")) })),
            "port http of container web",
        ),
        (
            beside(json!({ "name": "web", "ports": port(6300, json!(null)) })),
            "container web",
        ),
        (
            beside(json!({ "name": "web", "ports": port(6300, json!("jacoco")) })),
            "port jacoco of container web",
        ),
        (
            beside(
                json!({ "name": "web", "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": agent }] }),
            ),
            "an agent in container web",
        ),
        (
            app(json!({ "ports": port(6300, json!("http")) })),
            "port http of container app",
        ),
        (
            json!({
                "containers": [{ "name": "app" }],
                "initContainers": [{ "name": "log", "restartPolicy": "Always", "ports": port(6300, json!(null)) }],
            }),
            "container log",
        ),
    ] {
        let (why, message) = reason(own.clone(), pod);
        assert_eq!(why, "PortTaken");
        assert!(message.contains(&format!("by {by};")), "{message}");
    }
    for fine in [
        beside(json!({ "name": "web", "ports": port(6301, json!("http")) })),
        beside(json!({ "name": "web", "ports": [{ "containerPort": 6300, "protocol": "UDP" }] })),
        // One that ends before the JVM starts.
        json!({
            "containers": [{ "name": "app" }],
            "initContainers": [{ "name": "log", "ports": port(6300, json!(null)) }],
        }),
    ] {
        assert!(judge(own.clone(), fine.clone()).is_ok(), "{fine}");
    }
}

#[test]
fn a_port_that_is_declared_for_the_agent_is_used_as_it_is() {
    for name in [json!(null), json!("jacoco")] {
        let ports = json!([{ "containerPort": 6300, "name": name, "protocol": "TCP" }]);
        let template = composed(&json!({}), app(json!({ "ports": ports })));
        assert_eq!(template.pointer("/spec/containers/0/ports"), Some(&ports));
    }
    let ports = json!([{ "containerPort": 8080, "name": "jacoco", "protocol": "TCP" }]);
    let template = composed(&json!({}), app(json!({ "ports": ports })));
    let added = template.pointer("/spec/containers/0/ports/1");
    assert_eq!(
        added,
        Some(&json!({ "containerPort": 6300, "protocol": "TCP" }))
    );
}

#[test]
fn another_port_takes_the_name_of_the_one_before() {
    let mut object = deployment(app(json!({})));
    judge(json!({}), app(json!({})))
        .unwrap()
        .compose(&mut object);
    let shape = PodShape::read(&object);
    let coverage = target(json!({ "port": 7000 }));
    let patch = agent_patch(&coverage, &shape, &AgentImage::default()).unwrap();
    assert_eq!(
        patch.port,
        json!({ "containerPort": 7000, "name": "jacoco", "protocol": "TCP" })
    );
    assert!(!patch.is_in(&shape));
}

#[test]
fn pods_that_are_no_place_for_it_are_refused() {
    let with = |field: &str, value: Value| {
        let mut pod = app(json!({}));
        pod[field] = value;
        pod
    };
    let mount = json!([{ "name": "mine", "mountPath": "/covergence-agent/" }]);
    for (pod, why) in [
        (with("hostNetwork", json!(true)), "HostNetwork"),
        (with("os", json!({ "name": "windows" })), "WindowsPod"),
        (
            with("nodeSelector", json!({ "kubernetes.io/os": "windows" })),
            "WindowsPod",
        ),
        (
            with(
                "volumes",
                json!([{ "name": "covergence-agent", "secret": {} }]),
            ),
            "NameTaken",
        ),
        (
            with(
                "initContainers",
                json!([{ "name": "covergence-agent", "command": ["sh"] }]),
            ),
            "NameTaken",
        ),
        (
            json!({ "containers": [{ "name": "covergence-agent" }] }),
            "NameTaken",
        ),
        (app(json!({ "volumeMounts": mount })), "NameTaken"),
    ] {
        assert_eq!(reason(json!({}), pod).0, why);
    }
    for selector in [
        json!({ "matchLabels": { "closurejvm.io/coverage-port": "1" } }),
        json!({ "matchExpressions": [{ "key": "closurejvm.io/coverage-port", "operator": "Exists" }] }),
    ] {
        let mut object = deployment(app(json!({})));
        object["spec"]["selector"] = selector;
        let no = agent_patch(
            &target(json!({})),
            &PodShape::read(&object),
            &AgentImage::default(),
        );
        assert_eq!(no, Err(NotInjected::LabelSelected));
    }
}

#[test]
fn the_image_is_the_targets_or_the_settings() {
    let settings = AgentImage::new(
        Some("registry.example/covergence:1".into()),
        Some(PullPolicy::Never),
    );
    let image = |coverage: Value| {
        let shape = PodShape::read(&deployment(app(json!({}))));
        let init = agent_patch(&target(coverage), &shape, &settings)
            .unwrap()
            .init_container;
        let policy = init.get("imagePullPolicy").cloned().unwrap_or_default();
        (init["image"].clone(), policy)
    };
    assert_eq!(
        image(json!({})),
        (json!("registry.example/covergence:1"), json!("Never"))
    );
    assert_eq!(
        image(json!({ "image": "mine:2" })),
        (json!("mine:2"), json!(null))
    );
    let both = json!({ "image": "mine:2", "imagePullPolicy": "Always" });
    assert_eq!(image(both), (json!("mine:2"), json!("Always")));
}

/// The rules of the Pod Security Standard `restricted` (kubernetes.io/docs/concepts/security/pod-security-standards), each of
/// those that are about a container and its volumes.
#[test]
fn c65_the_init_container_is_restricted() {
    for root in [false, true] {
        let mut pod = app(json!({}));
        if root {
            pod["securityContext"] = json!({ "runAsUser": 0 });
        }
        let patch = judge(json!({}), pod).unwrap();
        let init = &patch.init_container;
        let context = &init["securityContext"];
        assert_eq!(context["allowPrivilegeEscalation"], false);
        assert_eq!(context["runAsNonRoot"], true);
        assert_eq!(context["capabilities"], json!({ "drop": ["ALL"] }));
        assert_eq!(context["seccompProfile"]["type"], "RuntimeDefault");
        assert_eq!(context["readOnlyRootFilesystem"], true);
        for absent in [
            "privileged",
            "procMount",
            "seLinuxOptions",
            "windowsOptions",
        ] {
            assert!(context.get(absent).is_none(), "{absent}");
        }
        // OpenShift chooses a user; only one that would be root is replaced, since such a container does not start.
        let user = root.then(|| json!(65532));
        assert_eq!(context.get("runAsUser"), user.as_ref());
        assert!(init.get("ports").is_none());
        assert!(patch.port.get("hostPort").is_none());
        let kinds: Vec<_> = patch.volume.as_object().unwrap().keys().collect();
        assert_eq!(kinds, ["emptyDir", "name"]);
        // A quota counts these, and a pod of the class Guaranteed stays one.
        assert_eq!(init["resources"]["requests"], init["resources"]["limits"]);
        assert!(init["resources"]["limits"]["ephemeral-storage"].is_string());
    }
}
