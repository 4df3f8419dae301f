//! A Deployment that comes into one source with its Target, and leaves it; and what a command does without a controller.

use serde_json::{Value, json};

use crate::support::agent::{MARK, carries, has_agent, is_bare, pod, served, template};
use crate::support::controller::{Setup, directory_sync};
use crate::support::lab::eventually;
use crate::support::manifest::{Change, deployment, target};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// Has nothing else to say of its JVM.
fn quiet() -> Value {
    deployment("pet")
}

fn with_options(value: &str) -> Value {
    let env = json!([{ "name": "JAVA_TOOL_OPTIONS", "value": value }]);
    deployment("pet").set("/spec/template/spec/containers/0/env", env)
}

fn is_composed(ns: &Namespace) -> Value {
    let live = eventually("the manifest has the agent, and nothing else does", || {
        let live = ns.get("deployments", "pet");
        let metadata = &live["metadata"];
        let managers = metadata["managedFields"].to_string();
        let marked = metadata["annotations"]
            .get(MARK)
            .or(metadata["labels"].get(MARK));
        (marked.is_none() && !managers.contains("\"covergence-agent\",\"op") && has_agent(&live))
            .then_some(live)
    });
    let entries = live["metadata"]["managedFields"].as_array().unwrap();
    assert!(
        !entries.iter().any(|it| it["manager"] == "covergence-agent"),
        "{live}"
    );
    eventually("the Target says so", || {
        (ns.condition("pet", "AgentInjected")["reason"] == "Composed").then_some(())
    });
    live
}

#[test]
fn a_deployment_that_comes_to_its_target_rolls_out_no_second_time() {
    for options in [None, Some("-Xmx1g")] {
        let manifest = options.map_or_else(quiet, with_options);
        let ns = Namespace::new("comes");
        let untouched = ns.create("deployments", &manifest);
        let controller = served(&ns);
        let before = ns.get("deployments", "pet");
        drop(controller);
        let source = Source::new().with("all.yaml", &[manifest.clone(), target("pet")]);
        let _controller = Setup {
            config: json!({ "agentImages": [] }),
            syncs: &[directory_sync(&ns.name, "it", &source, json!({}))],
            ..Setup::new(&[&ns.name])
        }
        .start();
        let after = is_composed(&ns);
        // What runs is the same. (The generation counts changes of annotations too.)
        assert_eq!(template(&after), template(&before));

        // The next commit takes it out, as if it had never been there.
        let off = target("pet").set("/spec/agents/coverage/enabled", false);
        source.write("all.yaml", &[manifest.clone(), off]);
        let bare = is_bare(&ns, "pet");
        let env =
            options.map(|_| manifest["spec"]["template"]["spec"]["containers"][0]["env"].clone());
        assert_eq!(pod(&bare)["containers"][0].get("env"), env.as_ref());
        assert_eq!(template(&bare), template(&untouched));
    }
}

#[test]
fn a_manifest_with_other_options_has_the_last_word() {
    let ns = Namespace::new("word");
    ns.create("deployments", &with_options("-Xmx1g"));
    let controller = served(&ns);
    drop(controller);
    let source = Source::new().with("all.yaml", &[with_options("-Xmx2g"), target("pet")]);
    let _controller = Setup {
        syncs: &[directory_sync(
            &ns.name,
            "it",
            &source,
            json!({ "prune": true }),
        )],
        ..Setup::new(&[&ns.name])
    }
    .start();
    let live = is_composed(&ns);
    let value = pod(&live)["containers"][0]["env"][0]["value"]
        .as_str()
        .unwrap();
    assert!(
        value.ends_with(
            "jacocoagent.jar=output=tcpserver,address=*,port=6300,dumponexit=true -Xmx2g"
        ),
        "{value}"
    );
}

#[test]
fn without_a_controller_nothing_is_put_in() {
    let ns = Namespace::new("command");
    let before = ns.create("deployments", &quiet());
    let source = Source::new().with("target.yaml", &[target("pet")]);
    ns.sync(&source).run();
    let condition = ns.condition("pet", "AgentInjected");
    assert_eq!(
        (&condition["status"], &condition["reason"]),
        (&json!("False"), &json!("LeftToController"))
    );
    assert_eq!(
        ns.get("deployments", "pet")["metadata"]["generation"],
        before["metadata"]["generation"]
    );
    // What a controller has put there is left there, and told as it is.
    let controller = Setup::new(&[&ns.name]).start();
    let carrying = carries(&ns, "pet");
    drop(controller);
    ns.sync(&source).run();
    assert_eq!(ns.condition("pet", "AgentInjected")["reason"], "Injected");
    assert_eq!(ns.get("deployments", "pet")["spec"], carrying["spec"]);
}
