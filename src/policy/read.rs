//! Documents -> policies and bindings.

use super::cel::{Expression, Names};
use super::model::{
    BINDING, Binding, Enforcement, Formula, GROUP, Match, POLICY, ParamRef, Policy, Rule, VERSIONS,
    Validation,
};
use super::node::{items, text, texts};
use super::selector::Selector;
use crate::api::{GroupKind, split_api_version};
use crate::load::{Document, Node, Origin};

/// Variables of one policy; more than people write in all of theirs.
const MOST_VARIABLES: usize = 100;

/// What expressions may name.
const VALUES: [&str; 6] = [
    "object",
    "oldObject",
    "request",
    "namespaceObject",
    "authorizer",
    "params",
];

/// Tells whether a document is a policy or a binding, in a version that is read.
pub(super) fn is_policy(document: &Document, kind: &str) -> bool {
    let (group, version) = split_api_version(&document.api_version);
    group == GROUP && VERSIONS.contains(&version) && document.id.group_kind.kind == kind
}

/// Tells whether a document is one of both, in whatever version.
pub(super) fn is_policy_kind(document: &Document) -> bool {
    let GroupKind { group, kind } = &document.id.group_kind;
    group == GROUP && (kind == POLICY || kind == BINDING)
}

/// Reads a policy that its schema has checked.
pub(super) fn policy(document: &Document) -> Policy {
    let spec = document.root.get("spec");
    let field = |key: &str| spec.and_then(|spec| spec.get(key));
    let param_kind = field("paramKind").map(|it| {
        let api_version = text(it, "apiVersion").unwrap_or_default();
        let (group, _) = split_api_version(&api_version);
        GroupKind::new(group, text(it, "kind").unwrap_or_default())
    });
    let values = match param_kind {
        Some(_) => &VALUES[..],
        None => VALUES.split_last().map_or(&[][..], |(_, others)| others),
    };
    let read = Reader { document, values };

    let all: Vec<&Node> = items(field("variables")).collect();
    let names: Vec<String> = all
        .iter()
        .map(|it| text(it, "name").unwrap_or_default())
        .collect();
    let before: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut variables = Vec::new();
    for (at, (node, name)) in all.iter().zip(&names).enumerate() {
        // A variable may use those that stand before it.
        let known = before.get(..at).unwrap_or_default();
        let parsed = match (known.contains(&name.as_str()), at < MOST_VARIABLES) {
            (false, true) => read.formula(node, "expression", known).parsed,
            (true, _) => Err("the name is there twice".to_owned()),
            (_, false) => Err(format!("there are more than {MOST_VARIABLES} variables")),
        };
        variables.push((name.clone(), parsed));
    }
    let validations = items(field("validations")).map(|it| Validation {
        formula: read.formula(it, "expression", &before),
        message: text(it, "message"),
        message_expression: it
            .get("messageExpression")
            .map(|_| read.formula(it, "messageExpression", &before)),
        reason: text(it, "reason"),
    });
    let annotations = items(field("auditAnnotations")).map(|it| {
        let key = text(it, "key").unwrap_or_default();
        (key, read.formula(it, "valueExpression", &before))
    });
    Policy {
        name: document.id.name.clone(),
        origin: document.origin.clone(),
        constraints: field("matchConstraints").map(matches).unwrap_or_default(),
        conditions: items(field("matchConditions"))
            .map(|it| read.formula(it, "expression", &[]))
            .collect(),
        validations: validations.collect(),
        annotations: annotations.collect(),
        variables,
        fails_closed: field("failurePolicy").and_then(Node::as_str) != Some("Ignore"),
        param_kind,
    }
}

struct Reader<'a> {
    document: &'a Document,
    values: &'a [&'static str],
}

impl Reader<'_> {
    fn formula(&self, node: &Node, key: &str, variables: &[&str]) -> Formula {
        let source = text(node, key).unwrap_or_default();
        let names = Names {
            values: self.values,
            variables,
        };
        let place = node.get(key).unwrap_or(node);
        Formula {
            parsed: Expression::compile(&source, names),
            source,
            origin: Origin {
                file: self.document.origin.file.clone(),
                position: place.position,
            },
        }
    }
}

/// Reads a binding that its schema has checked.
pub(super) fn binding(document: &Document) -> Binding {
    let spec = document.root.get("spec");
    let field = |key: &str| spec.and_then(|spec| spec.get(key));
    let actions = texts(field("validationActions"));
    let actions = actions.iter().filter_map(|action| match action.as_str() {
        "Deny" => Some(Enforcement::Deny),
        "Warn" => Some(Enforcement::Warn),
        "Audit" => Some(Enforcement::Audit),
        _ => None,
    });
    Binding {
        name: Some(document.id.name.clone()),
        origin: document.origin.clone(),
        policy: spec
            .and_then(|spec| text(spec, "policyName"))
            .unwrap_or_default(),
        params: field("paramRef").map(|it| ParamRef {
            name: text(it, "name"),
            namespace: text(it, "namespace"),
            selector: it.get("selector").map(Selector::read),
            wanted: text(it, "parameterNotFoundAction").as_deref() != Some("Allow"),
        }),
        resources: field("matchResources").map(matches),
        actions: actions.collect(),
    }
}

fn matches(node: &Node) -> Match {
    let rules = |key: &str| items(node.get(key)).map(rule).collect();
    let selector = |key: &str| node.get(key).map(Selector::read).unwrap_or_default();
    Match {
        rules: rules("resourceRules"),
        excluded: rules("excludeResourceRules"),
        namespaces: selector("namespaceSelector"),
        objects: selector("objectSelector"),
        exact: text(node, "matchPolicy").as_deref() == Some("Exact"),
    }
}

fn rule(node: &Node) -> Rule {
    Rule {
        groups: texts(node.get("apiGroups")),
        versions: texts(node.get("apiVersions")),
        operations: texts(node.get("operations")),
        resources: texts(node.get("resources")),
        names: texts(node.get("resourceNames")),
        scope: text(node, "scope"),
    }
}
