//! A real JVM with the real agent takes the options that Deployments get.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use covergence::api::names::AGENT_JAR;
use covergence::render::{AgentImage, PodShape, Target, agent_patch};
use serde_json::json;

use crate::support::manifest::{Change, deployment, target};
use crate::support::server::free_port;

/// The agent's jar is in Debian's: it is a resource of that.
fn agent_jar(folder: &Path) -> PathBuf {
    let mut unpack = Command::new("jar");
    unpack.args([
        "xf",
        "/usr/share/java/org.jacoco.agent.jar",
        "jacocoagent.jar",
    ]);
    assert!(unpack.current_dir(folder).status().unwrap().success());
    folder.join("jacocoagent.jar")
}

/// The options of a container that had these.
fn composed(options: &str, port: u16) -> String {
    let env = json!([{ "name": "JAVA_TOOL_OPTIONS", "value": options }]);
    let object = deployment("pet").set("/spec/template/spec/containers/0/env", env);
    let target = target("pet")
        .set("/spec/agents/coverage/port", port)
        .set(
            "/spec/agents/coverage/includes",
            json!(["com.shop.*", "org.?pet.*"]),
        )
        .set("/spec/agents/coverage/excludes", json!(["*Test"]))
        .within("shop");
    let target = Target::from_json(&target).unwrap();
    let patch = agent_patch(&target, &PodShape::read(&object), &AgentImage::default());
    patch.unwrap().java_tool_options
}

/// Starts a JVM that prints its properties and ends.
fn jvm(options: &str) -> Output {
    let mut java = Command::new("java");
    java.args(["-XshowSettings:properties", "-version"]);
    java.env("JAVA_TOOL_OPTIONS", options).output().unwrap()
}

/// The properties that these tests set.
fn properties(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.lines().map(str::trim);
    let own = lines.filter(|line| line.starts_with("it."));
    own.map(str::to_owned).collect()
}

#[test]
fn c63_a_jvm_starts_with_the_agent_and_with_all_that_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let jar = agent_jar(folder.path());
    for (options, set) in [
        ("", 0),
        ("-Dit.a=1", 1),
        (" -Dit.a='b c'\t-Dit.b=\"d 'e\"  -Dit.c= ", 3),
        ("-Dit.a=x'y z'\"w\"", 1),
    ] {
        let whole = composed(options, free_port()).replace(AGENT_JAR, jar.to_str().unwrap());
        let (with, without) = (jvm(&whole), jvm(options));
        assert!(with.status.success(), "{whole}: {with:?}");
        assert_eq!(properties(&with), properties(&without), "{options}");
        assert_eq!(properties(&with).len(), set, "{without:?}");
    }
}

/// What is refused is what ends a JVM.
#[test]
fn c63_a_jvm_with_two_such_agents_or_half_a_quote_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let jar = agent_jar(folder.path());
    let once = composed("", free_port()).replace(AGENT_JAR, jar.to_str().unwrap());
    assert!(jvm(&once).status.success());
    let twice = format!("{once} -javaagent:{}=output=none", jar.display());
    assert!(!jvm(&twice).status.success());
    assert!(!jvm("-Dit.a='b").status.success());
}
