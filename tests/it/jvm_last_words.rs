//! What real JVMs say when they do not start, and whether the agent is blamed for it.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use covergence::render::{Case, Deployment, Diagnosis, Finding, PodFacts, Target};
use serde_json::json;
use tempfile::TempDir;

use crate::support::manifest::{Change, target};

/// Debian's `libjacoco-java`; the agent is in it.
const JACOCO: &str = "/usr/share/java/org.jacoco.agent.jar";

/// Where pods have the agent; nothing is there on this machine.
const MISSING: &str = "/covergence-agent/jacocoagent.jar";

/// Starts a JVM that does not start with these options, and says what a Target's status would say of its log.
fn diagnose(options: &str, port: u16) -> Diagnosis {
    let output = Command::new("java")
        .arg("-version")
        .env("JAVA_TOOL_OPTIONS", options)
        .output()
        .unwrap();
    assert!(!output.status.success(), "it starts with {options}");
    let log = [output.stdout, output.stderr].concat();
    let log = String::from_utf8(log).unwrap();
    assert!(log.contains("hunter2"), "{log}");

    let target = target("pet")
        .within("shop")
        .set("/spec/agents/coverage/port", port);
    let agent = json!({ "name": "covergence-agent" });
    let app = json!({ "name": "app", "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": format!("-javaagent:{MISSING}") }] });
    let pod = json!({ "initContainers": [agent], "containers": [app] });
    let deployment = Deployment::from_json(&json!({ "spec": { "template": { "spec": pod } } }));
    let ended = json!({ "exitCode": 134, "reason": "Error" });
    let crashed = PodFacts::read(&json!({
        "metadata": { "name": "pet-1" },
        "spec": pod,
        "status": { "containerStatuses": [{ "name": "app", "state": { "terminated": ended } }] },
    }));
    let case = Case::new(&Target::from_json(&target).unwrap(), &deployment);
    match case.judge(&[crashed.unwrap()]) {
        Finding::Log(wanted) => case.judge_log(&wanted, Some(&log)),
        Finding::Told(told) => panic!("{told}"),
    }
}

#[test]
fn a_jvm_that_ends_because_of_the_agent_is_understood() {
    let folder = TempDir::new().unwrap();
    let unpacked = Command::new("jar")
        .args(["xf", JACOCO, "jacocoagent.jar"])
        .current_dir(folder.path())
        .status();
    assert!(unpacked.unwrap().success());
    let jar = folder.path().join("jacocoagent.jar");
    let agent = |jar: &Path, options: &str| {
        format!("-javaagent:{}={options} -Dpassword=hunter2", jar.display())
    };
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let on_port = format!("output=tcpserver,address=127.0.0.1,port={port}");
    for (options, words) in [
        (
            agent(&jar, &on_port),
            "\"processing of -javaagent failed\", \"java.net.BindException: Address already in use\"",
        ),
        (
            agent(&jar, "output=tcpserver,portt=1"),
            "\"processing of -javaagent failed\", \"java.lang.IllegalArgumentException: Unknown agent option\"",
        ),
        (
            agent(Path::new(MISSING), "output=tcpserver"),
            "\"Error opening zip file or JAR manifest missing\"",
        ),
    ] {
        let told = diagnose(&options, port);
        assert_eq!(
            told.words,
            format!("container app ends with exit code 134: {words}")
        );
        assert!(told.agent, "{told}");
    }
}

#[test]
fn a_jvm_that_ends_for_another_reason_is_not_blamed_on_the_agent() {
    for (options, words) in [
        (
            "-javaagent:/opt/other.jar -Dpassword=hunter2",
            "\"Error opening zip file or JAR manifest missing\"",
        ),
        ("-Dpassword=hunter2 hunter3", "\"Unrecognized option:\""),
    ] {
        let told = diagnose(options, 6300);
        assert_eq!(
            told.words,
            format!("container app ends with exit code 134: {words}")
        );
        assert!(!told.agent, "{told}");
    }
}
