//! What a source needs, as lines of rules.

use std::collections::BTreeSet;

use super::*;
use crate::api::crds;
use crate::load::{Limits, Snapshot, SourceFile, load};
use crate::plan::rights::grants::Rule;
use crate::render::resolve;

#[derive(Clone, Copy, Default)]
struct Flags {
    prune: bool,
    any_name: bool,
    one_shot: bool,
}

/// `NAMESPACE GROUP/RESOURCES [NAMES] VERBS` for each rule, and the warnings, for a source in the namespace `ops`.
fn told(source: &str, flags: Flags) -> (Vec<String>, Vec<String>) {
    let snapshot = Snapshot {
        revision: String::new(),
        files: vec![SourceFile {
            path: "a.yaml".into(),
            bytes: source.into(),
        }],
        diagnostics: Vec::new(),
    };
    let documents = load(&snapshot, &Limits::default()).documents;
    let schemas = Schemas::of_source(&documents, &crds().unwrap());
    let scope = |version: &str, kind: &str| {
        let (group, _) = crate::api::split_api_version(version);
        schemas
            .scope(&GroupKind::new(group, kind))
            .or(Some(crate::api::Scope::Namespaced))
    };
    let desired = resolve(&documents, scope, "ops", "set").desired;
    let targets = desired
        .iter()
        .filter(|d| d.id.group_kind == Target::group_kind());
    let (rules, findings) = least_rights(&Terms {
        desired: &desired,
        targets: &targets
            .map(|d| Target::from_json(&d.object).unwrap())
            .collect::<Vec<_>>(),
        schemas: &schemas,
        namespace: "ops",
        name: "it",
        prune: flags.prune,
        any_name: flags.any_name,
        one_shot: flags.one_shot,
        secrets: &BTreeSet::new(),
    });
    let lines = rules.iter().flat_map(|(namespace, rules)| {
        let namespace = namespace.as_deref().unwrap_or("*");
        rules
            .iter()
            .map(move |rule| format!("{namespace} {}", line(rule)))
    });
    let warnings = findings.into_iter().map(|finding| finding.message);
    (lines.collect(), warnings.collect())
}

fn line(rule: &Rule) -> String {
    let Rule {
        group,
        resources,
        names,
        verbs,
    } = rule;
    let listed = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(",");
    let verbs: Vec<String> = verbs
        .iter()
        .map(|verb| format!("{verb:?}").to_lowercase())
        .collect();
    format!(
        "{group}/{} [{}] {}",
        listed(resources),
        listed(names),
        verbs.join(",")
    )
}

const MAPS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: kept
  annotations: {helm.sh/resource-policy: keep}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: left
  annotations: {kustomize.toolkit.fluxcd.io/ssa: Ignore}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: other}
";

#[test]
fn members_are_read_by_kind_and_written_by_name() {
    let (rules, warnings) = told(
        MAPS,
        Flags {
            prune: true,
            ..Flags::default()
        },
    );
    assert_eq!(
        rules,
        [
            "ops /namespaces [] get",
            "ops /configmaps [] get,list,watch",
            "ops /secrets [] list,watch",
            "ops /configmaps [a] create,patch,delete",
            "ops /configmaps [kept] create,patch",
            "other /namespaces [] get",
            "other /secrets [] get,list,watch",
            "other /configmaps [] list,watch",
            "other /secrets [s] create,patch,delete",
        ]
        .map(str::to_owned)
    );
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn without_pruning_nothing_is_deleted_and_names_may_be_any() {
    let flags = Flags {
        any_name: true,
        ..Flags::default()
    };
    let (rules, _) = told(MAPS, flags);
    assert!(
        rules.iter().all(|rule| !rule.contains("delete")),
        "{rules:#?}"
    );
    assert!(
        rules.contains(&"other /secrets [] get,list,watch,create,patch".to_owned()),
        "{rules:#?}"
    );
}

#[test]
fn a_sync_by_hand_keeps_its_sync() {
    let one_shot = told(
        MAPS,
        Flags {
            one_shot: true,
            ..Flags::default()
        },
    )
    .0;
    let more: Vec<_> = {
        let without = told(MAPS, Flags::default()).0;
        one_shot
            .into_iter()
            .filter(|rule| !without.contains(rule))
            .collect()
    };
    assert_eq!(
        more,
        [
            "ops closurejvm.io/syncs [it] get,create,patch",
            "ops closurejvm.io/syncs/status [it] patch",
        ]
    );
}

#[test]
fn targets_are_served_by_the_controller_or_by_hand() {
    let source = "\
apiVersion: closurejvm.io/v1alpha1
kind: ClosureJVMTarget
metadata: {name: pet}
spec: {deploymentRef: {name: pet}, coverageService: true, agents: {coverage: {enabled: true, port: 6300}}}
";
    let members = told(source, Flags::default()).0;
    assert_eq!(
        members,
        [
            "ops /namespaces [] get",
            "ops closurejvm.io/closurejvmtargets [] get,list,watch",
            "ops closurejvm.io/closurejvmtargets [pet] create,patch",
        ]
    );
    let one_shot = Flags {
        one_shot: true,
        ..Flags::default()
    };
    let mut more = told(source, one_shot).0;
    more.retain(|rule| !members.contains(rule) && !rule.contains("syncs"));
    assert_eq!(
        more,
        [
            "ops /services [] get,list,watch",
            "ops /services [pet-coverage] create,patch,delete",
            "ops apps/deployments [] get,list,watch",
            "ops closurejvm.io/closurejvmtargets/status [pet] patch",
            "ops discovery.k8s.io/endpointslices [] list",
        ]
    );
}

#[test]
fn a_network_policy_takes_rights_only_where_one_is_asked_for() {
    let target = |policy: &str| {
        format!(
            "apiVersion: closurejvm.io/v1alpha1\nkind: ClosureJVMTarget\nmetadata: {{name: pet}}\nspec:\n  \
            deploymentRef: {{name: pet}}\n{policy}"
        )
    };
    let flags = Flags {
        one_shot: true,
        ..Flags::default()
    };
    let policies = |policy: &str| {
        let (mut rules, _) = told(&target(policy), flags);
        rules.retain(|rule| rule.contains("networkpolicies"));
        rules
    };
    assert_eq!(policies(""), [""; 0]);
    assert_eq!(
        policies("  networkPolicy: {from: [{podSelector: {}}]}\n"),
        [
            "ops networking.k8s.io/networkpolicies [] get,list,watch",
            "ops networking.k8s.io/networkpolicies [pet-coverage] create,patch,delete",
        ]
    );
}

#[test]
fn what_is_not_granted_is_told() {
    let source = "\
apiVersion: example.org/v1
kind: Zone
metadata: {name: a}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: c}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b}
---
apiVersion: v1
kind: Namespace
metadata: {name: ops}
---
apiVersion: v1
kind: Namespace
metadata: {name: empty}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: hills.example.org}
spec: {group: example.org, scope: Cluster, names: {kind: Hill, plural: hills}, versions: []}
---
apiVersion: example.org/v1
kind: Hill
metadata: {name: h}
";
    let flags = Flags {
        prune: true,
        any_name: true,
        ..Flags::default()
    };
    let (rules, warnings) = told(source, flags);
    assert_eq!(
        warnings,
        [
            "no right is given for Zone.example.org: what roles call it is not known here",
            "to write ClusterRole.rbac.authorization.k8s.io c, the account must have every right that it gives, or the verb escalate: neither is granted",
            "to write RoleBinding.rbac.authorization.k8s.io ops/b, the account must have every right that it gives, or the verb bind: neither is granted",
            "a Role in namespace ops can be applied only when it is there",
            "Namespace empty will not be pruned: that takes a look at all that would go with it, which is not granted",
            "CustomResourceDefinition.apiextensions.k8s.io hills.example.org will not be pruned: that takes a look at all that would go with it, which is not granted",
        ]
    );
    // Beyond namespaces, by name all the same.
    assert!(
        rules.contains(&"* example.org/hills [h] create,patch,delete".to_owned()),
        "{rules:#?}"
    );
    assert!(
        rules
            .iter()
            .all(|rule| !rule.contains("zones") && !rule.contains("escalate"))
    );
}
