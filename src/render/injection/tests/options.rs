//! What becomes of the JVM's options.

use serde_json::json;

use super::*;

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
