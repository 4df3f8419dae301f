//! What is added to a pod template, and what is not.

use serde_json::{Value, json};

use super::*;
use crate::api::target::PullPolicy;
use crate::render::Target;

fn target(coverage: Value) -> Target {
    let mut coverage = coverage;
    coverage["enabled"] = json!(true);
    Target::from_json(&json!({
        "metadata": { "name": "pet", "namespace": "shop" },
        "spec": { "deploymentRef": { "name": "pet" }, "agents": { "coverage": coverage } },
    }))
    .unwrap()
}

fn deployment(pod: Value) -> Value {
    json!({
        "metadata": { "name": "pet", "namespace": "shop" },
        "spec": {
            "selector": { "matchLabels": { "app": "pet" } },
            "template": { "metadata": { "labels": { "app": "pet" } }, "spec": pod },
        },
    })
}

fn judge(coverage: Value, pod: Value) -> Result<AgentPatch, NotInjected> {
    let shape = PodShape::read(&deployment(pod));
    agent_patch(&target(coverage), &shape, &AgentImage::default())
}

#[test]
fn a_plain_deployment_gets_all_of_it_and_no_more() {
    let mut object = deployment(json!({ "containers": [{ "name": "app", "image": "pet:1" }] }));
    let patch = judge(json!({}), object["spec"]["template"]["spec"].clone()).unwrap();
    assert!(!patch.is_in(&PodShape::read(&object)));
    patch.compose(&mut object);
    let same = json!({ "cpu": "100m", "memory": "64Mi", "ephemeral-storage": "32Mi" });
    let option = "-javaagent:/covergence-agent/jacocoagent.jar=output=tcpserver,address=*,port=6300,dumponexit=true";
    assert_eq!(
        object["spec"],
        json!({
            "selector": { "matchLabels": { "app": "pet" } },
            "template": {
                "metadata": { "labels": { "app": "pet", "closurejvm.io/coverage-port": "6300" } },
                "spec": {
                    "initContainers": [{
                        "name": "covergence-agent",
                        "image": concat!("covergence:", env!("CARGO_PKG_VERSION")),
                        "command": ["/usr/bin/covergence", "agent", "install", "/covergence-agent"],
                        "resources": { "requests": same, "limits": same },
                        "securityContext": {
                            "allowPrivilegeEscalation": false,
                            "capabilities": { "drop": ["ALL"] },
                            "readOnlyRootFilesystem": true,
                            "runAsNonRoot": true,
                            "seccompProfile": { "type": "RuntimeDefault" },
                        },
                        "terminationMessagePolicy": "FallbackToLogsOnError",
                        "volumeMounts": [{ "name": "covergence-agent", "mountPath": "/covergence-agent" }],
                    }],
                    "containers": [{
                        "name": "app",
                        "image": "pet:1",
                        "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": option }],
                        "ports": [{ "containerPort": 6300, "name": "jacoco", "protocol": "TCP" }],
                        "volumeMounts": [{
                            "name": "covergence-agent",
                            "mountPath": "/covergence-agent",
                            "readOnly": true,
                        }],
                    }],
                    "volumes": [{ "name": "covergence-agent", "emptyDir": { "sizeLimit": "16Mi" } }],
                },
            },
        })
    );
    let shape = PodShape::read(&object);
    assert!(patch.is_in(&shape));
    assert_eq!(
        agent_patch(&target(json!({})), &shape, &AgentImage::default()),
        Ok(patch)
    );
}

/// A pod of one container, with these fields beside its name.
fn app(fields: Value) -> Value {
    let mut container = json!({ "name": "app", "image": "pet:1" });
    let fields = fields.as_object().unwrap().clone();
    container.as_object_mut().unwrap().extend(fields);
    json!({ "containers": [container] })
}

fn env(value: &str) -> Value {
    app(json!({ "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": value }] }))
}

/// The options of the JVM after a patch of a container that has these, without ours.
fn rest(patch: &AgentPatch) -> &str {
    let rest = patch.java_tool_options.strip_prefix(&patch.option).unwrap();
    rest.strip_prefix(' ').unwrap_or(rest)
}

/// Composes again and again, and insists that nothing changes any more.
fn composed(coverage: &Value, pod: Value) -> Value {
    let mut object = deployment(pod);
    let mut first = None;
    for _ in 0..5 {
        let (target, shape) = (target(coverage.clone()), PodShape::read(&object));
        let patch = agent_patch(&target, &shape, &AgentImage::default()).unwrap();
        patch.compose(&mut object);
        assert!(patch.is_in(&PodShape::read(&object)));
        assert_eq!(first.get_or_insert_with(|| object.clone()), &object);
    }
    object["spec"]["template"].take()
}

fn reason(coverage: Value, pod: Value) -> (&'static str, String) {
    let no = judge(coverage, pod.clone()).expect_err(&pod.to_string());
    (no.reason(), no.to_string())
}

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
fn c21_options_from_elsewhere_are_never_mixed_with_a_value() {
    let from = json!({ "configMapKeyRef": { "name": "jvm", "key": "options" } });
    let pod = app(json!({ "env": [{ "name": "JAVA_TOOL_OPTIONS", "valueFrom": from }] }));
    let (why, message) = reason(json!({}), pod);
    assert_eq!(why, "OptionsFromElsewhere");
    assert!(
        message.contains("valueFrom") && message.contains("container app"),
        "{message}"
    );
}

#[test]
fn c22_an_empty_value_is_none() {
    for value in ["", "  "] {
        let template = composed(&json!({}), env(value));
        let env = template.pointer("/spec/containers/0/env").unwrap();
        assert_eq!(env.as_array().unwrap().len(), 1, "{env}");
        let options = env[0]["value"].as_str().unwrap();
        assert_eq!(options.matches("-javaagent").count(), 1);
        assert!(!options.ends_with(' '), "{options:?}");
    }
    // Without a value it is empty to Kubernetes.
    let pod = app(json!({ "env": [{ "name": "JAVA_TOOL_OPTIONS" }] }));
    assert_eq!(rest(&judge(json!({}), pod).unwrap()), "");
}

#[test]
fn what_envs_from_elsewhere_hold_is_not_lost_silently() {
    let from = |prefix: Value| json!({ "envFrom": [{ "prefix": prefix, "configMapRef": { "name": "jvm" } }] });
    for prefix in [json!(null), json!(""), json!("JAVA_")] {
        let (why, message) = reason(json!({}), app(from(prefix)));
        assert_eq!(why, "OptionsMayComeFromElsewhere");
        assert!(message.contains("may be empty"), "{message}");
    }
    // Names with this prefix cannot be the JVM's.
    assert!(judge(json!({}), app(from(json!("APP_")))).is_ok());
    // A value in env wins over envFrom, so that whoever writes one, even an empty one, has decided.
    for value in ["", "-Xmx1g"] {
        let mut pod = env(value);
        pod["containers"][0]["envFrom"] = from(json!(null))["envFrom"].clone();
        assert_eq!(rest(&judge(json!({}), pod).unwrap()), value);
    }
}

#[test]
fn options_that_stand_twice_or_are_broken_are_refused() {
    let twice = json!({ "env": [
        { "name": "JAVA_TOOL_OPTIONS", "value": "-ea" }, { "name": "JAVA_TOOL_OPTIONS", "value": "" },
    ] });
    assert_eq!(reason(json!({}), app(twice)).0, "OptionsTwice");
    assert_eq!(reason(json!({}), env("-Da='b")).0, "OptionsUnreadable");
    let long = "x".repeat(64 * 1024);
    let (why, message) = reason(json!({}), env(&long));
    assert_eq!(why, "OptionsTooLong");
    assert!(message.contains("more than the 65536"), "{message}");
}

#[test]
fn c63_ours_comes_first_and_once_and_the_rest_is_kept() {
    let ours = "-javaagent:/covergence-agent/jacocoagent.jar=output=tcpserver,port=7000";
    for (value, kept) in [
        ("-Xmx1g".to_owned(), "-Xmx1g"),
        (" -Da='b c'  -ea ".to_owned(), " -Da='b c'  -ea "),
        (
            "-javaagent:/otel.jar=a=b -ea".to_owned(),
            "-javaagent:/otel.jar=a=b -ea",
        ),
        ("$(BASE) -ea".to_owned(), "$(BASE) -ea"),
        (ours.to_owned(), ""),
        (format!("{ours} -ea"), "-ea"),
        (
            format!("-javaagent:/otel.jar {ours} -ea {ours}"),
            "-javaagent:/otel.jar -ea",
        ),
    ] {
        assert_eq!(
            rest(&judge(json!({}), env(&value)).unwrap()),
            kept,
            "{value}"
        );
        let template = composed(&json!({}), env(&value));
        let options = template.pointer("/spec/containers/0/env/0/value").unwrap();
        let options = options.as_str().unwrap();
        assert_eq!(
            options.matches("/covergence-agent/jacocoagent.jar").count(),
            1
        );
        assert!(
            options.starts_with("-javaagent:/covergence-agent/"),
            "{options}"
        );
    }
}

#[test]
fn references_to_other_variables_keep_standing_after_them() {
    let pod = app(json!({ "env": [
        { "name": "BASE", "value": "-Xmx1g" },
        { "name": "JAVA_TOOL_OPTIONS", "value": "$(BASE) -ea" },
        { "name": "LATER", "value": "$(JAVA_TOOL_OPTIONS)" },
    ] }));
    let template = composed(&json!({}), pod.clone());
    let env = template.pointer("/spec/containers/0/env").unwrap();
    assert_eq!(env.as_array().unwrap().len(), 3);
    for at in [0, 2] {
        assert_eq!(env[at], pod["containers"][0]["env"][at]);
    }
    assert_eq!(env[1]["name"], "JAVA_TOOL_OPTIONS");
}

#[test]
fn c63_another_jacoco_agent_is_refused_wherever_it_is_asked_for() {
    let jacoco = "-javaagent:/opt/jacoco/jacocoagent.jar=output=none";
    for (pod, place) in [
        (env(&format!("-ea {jacoco}")), "JAVA_TOOL_OPTIONS"),
        (app(json!({ "args": [jacoco, "-jar", "a.jar"] })), "args"),
        (
            app(json!({ "command": ["sh", "-c", format!("exec java '{jacoco}' -jar a.jar")] })),
            "command",
        ),
        (
            app(json!({ "env": [{ "name": "CATALINA_OPTS", "value": jacoco }] })),
            "variable CATALINA_OPTS",
        ),
    ] {
        let (why, message) = reason(json!({}), pod);
        assert_eq!(why, "AnotherJaCoCoAgent");
        assert!(message.contains(&format!("({place})")), "{message}");
    }
}

#[test]
fn lists_are_joined_as_jacoco_reads_them_and_dollars_reach_it() {
    let coverage =
        json!({ "port": 7000, "includes": ["com.shop.*", "a.B$$C"], "excludes": ["*Test"] });
    let patch = judge(coverage, app(json!({}))).unwrap();
    let expected = "=output=tcpserver,address=*,port=7000,dumponexit=true,includes=com.shop.*:a.B$$$$C,excludes=*Test";
    assert!(patch.option.ends_with(expected), "{}", patch.option);
    for (field, patterns) in [
        ("includes", json!(["a", "b,c"])),
        ("excludes", json!(["b:c"])),
    ] {
        let mut coverage = json!({});
        coverage[field] = patterns;
        let (why, message) = reason(coverage, app(json!({})));
        assert_eq!(why, "InvalidPattern");
        assert!(
            message.starts_with(&format!("agents.coverage.{field}: the pattern")),
            "{message}"
        );
    }
}

#[test]
fn what_may_go_wrong_in_some_jvms_is_said() {
    let remark = |coverage, value: &str| judge(coverage, env(value)).unwrap().remark;
    assert_eq!(remark(json!({}), "-ea"), None);
    let long = "-Dx=".to_owned() + &"y".repeat(1023);
    assert!(remark(json!({}), &long).unwrap().contains("before 9"));
    assert!(
        remark(json!({ "port": 80 }), "")
            .unwrap()
            .contains("port 80")
    );
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
