//! Whose agents go into which Deployments.

use std::sync::Arc;

use super::{Action, Inputs, Known, Live, PruneRules, build, compose_agents, index};
use crate::api::Scope;
use crate::load::{Limits, Snapshot, SourceFile, load};
use crate::render::{AgentImage, Composed, Desired, resolve};

const SET: &str = "applyset-x-v1";

fn deployment(rest: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: pet, namespace: ns{rest}}}\nspec:\n  \
         selector: {{matchLabels: {{app: pet}}}}\n  template:\n    metadata: {{labels: {{app: pet}}}}\n    \
         spec: {{containers: [{{name: app, image: pet}}]}}\n"
    )
}

fn target(name: &str, coverage: &str, rest: &str) -> String {
    format!(
        "apiVersion: closurejvm.io/v1alpha1\nkind: ClosureJVMTarget\nmetadata: {{name: {name}, namespace: ns{rest}}}\n\
         spec: {{deploymentRef: {{name: pet}}, agents: {{coverage: {{enabled: true{coverage}}}}}}}\n"
    )
}

/// What a source asks for, as it is without agents.
fn plain(documents: &[String]) -> Vec<Desired> {
    let snapshot = Snapshot {
        revision: "r".into(),
        files: vec![SourceFile {
            path: "a.yaml".into(),
            bytes: documents.join("---\n").into_bytes(),
        }],
        diagnostics: Vec::new(),
    };
    let documents = load(&snapshot, &Limits::default()).documents;
    let scope = |_: &str, _: &str| Some(Scope::Namespaced);
    resolve(&documents, scope, "ns", SET).desired
}

fn composed(documents: &[String], known: &Known) -> (Vec<Desired>, Composed) {
    let mut desired = plain(documents);
    let composed = compose_agents(&mut desired, known, SET, &AgentImage::default());
    (desired, composed)
}

fn carries(desired: &[Desired]) -> bool {
    desired
        .iter()
        .any(|it| it.object.to_string().contains("-javaagent"))
}

/// A reason for each Target that was refused.
fn refusals(composed: &Composed) -> Vec<(&str, &str)> {
    let refused = composed
        .iter()
        .filter_map(|(target, patch)| Some((&*target.name, patch.as_ref().err()?.reason())));
    refused.collect()
}

#[test]
fn the_agent_is_part_of_the_digest_and_comes_out_again() {
    let source = [deployment(""), target("pet", "", "")];
    let known = Known::default();
    let (mut desired, first) = composed(&source, &known);
    assert!(carries(&desired) && refusals(&first).is_empty());
    let (again, _) = composed(&source, &known);
    assert_eq!(
        (&desired[0].object, &desired[0].digest),
        (&again[0].object, &again[0].digest)
    );
    let without = plain(&source);
    assert_ne!(desired[0].digest, without[0].digest);
    let stated = &desired[0].object["metadata"]["annotations"]["closurejvm.io/applied-digest"];
    assert_eq!(*stated, desired[0].digest.as_str());
    desired.iter_mut().for_each(Desired::without_agent);
    assert_eq!(
        (&desired[0].object, &desired[0].digest),
        (&without[0].object, &without[0].digest)
    );
}

#[test]
fn a_target_that_will_not_be_as_the_source_says_has_no_say() {
    let source = [deployment(""), target("pet", "", "")];
    let id = plain(&source)[1].id.clone();
    let mut denied = Known::default();
    denied.denied.insert(id.clone(), "a policy".into());
    let mut theirs = Known::default();
    let labels = serde_json::json!({ "applyset.kubernetes.io/part-of": "another" });
    let live = serde_json::json!({
        "apiVersion": "closurejvm.io/v1alpha1", "kind": "ClosureJVMTarget",
        "metadata": { "name": "pet", "namespace": "ns", "uid": "u", "resourceVersion": "1", "labels": labels },
    });
    theirs
        .others
        .insert(id, Arc::new(Live::from_object(&live).unwrap()));
    for known in [denied, theirs] {
        let (desired, composed) = composed(&source, &known);
        assert!(!carries(&desired) && composed.is_empty());
    }
}

#[test]
fn what_is_left_alone_is_not_composed() {
    let mark = ", annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}";
    for source in [
        [deployment(mark), target("pet", "", "")],
        // One that is not there will not be there.
        [deployment(""), target("pet", "", mark)],
        [deployment(""), target("pet", ", injection: None", "")],
        [
            deployment("").replace("namespace: ns", "namespace: other"),
            target("pet", "", ""),
        ],
    ] {
        let (desired, composed) = composed(&source, &Known::default());
        assert!(!carries(&desired) && composed.is_empty(), "{source:?}");
    }
}

#[test]
fn c64_one_deployment_carries_one_agent() {
    let known = Known::default();
    let two = [
        target("b", ", port: 7000", ""),
        deployment(""),
        target("a", "", ""),
    ];
    let (desired, of_two) = composed(&two, &known);
    assert_eq!(refusals(&of_two), [("b", "DeploymentTaken")]);
    assert!(
        carries(&desired)
            && !desired
                .iter()
                .any(|it| it.object.to_string().contains("port=7000"))
    );
    // One whose image brings the agent has its port too.
    let own = [
        target("b", "", ""),
        deployment(""),
        target("a", ", injection: None", ""),
    ];
    let (desired, of_own) = composed(&own, &known);
    assert_eq!(refusals(&of_own), [("b", "PortTaken")]);
    assert!(!carries(&desired));
    let apart = [
        target("b", ", port: 7000", ""),
        deployment(""),
        target("a", ", injection: None", ""),
    ];
    assert!(carries(&composed(&apart, &known).0));
}

#[test]
fn a_step_says_what_coverage_has_to_do_with_it() {
    let (desired, _) = composed(&[deployment(""), target("pet", "", "")], &Known::default());
    let plan = build(&Inputs {
        desired: &desired,
        index: &index(&desired),
        known: &Known::default(),
        applyset: SET,
        force_conflicts: false,
        serve_targets: true,
        agents: None,
        prune: PruneRules::nothing(),
    });
    let (action, reason) = (plan.steps[0].action, plan.steps[0].reason.as_str());
    assert_eq!(action, Action::Create);
    assert_eq!(
        reason,
        "it is not in the cluster; coverage of Target ns/pet begins"
    );
}
