//! Policies as a whole, on what <https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/> says
//! of them, and on what the API server's own code does where that page is silent.

use std::sync::Arc;

use serde_json::Value;

use super::matching::namespace_labels;
use super::*;
use crate::api::{ObjectId, Scope};
use crate::load::{Limits, Severity, Snapshot, SourceFile, builtin_scope, load};
use crate::render::{Desired, resolve};

fn snapshot(text: &str) -> Snapshot {
    Snapshot {
        revision: "r".into(),
        files: vec![SourceFile {
            path: "file.yaml".into(),
            bytes: text.as_bytes().to_vec(),
        }],
        diagnostics: Vec::new(),
    }
}

fn set(text: &str) -> Set {
    let loaded = load(&snapshot(text), &Limits::default());
    assert_eq!(loaded.diagnostics, []);
    Set::read(&loaded.documents)
}

fn desired(text: &str) -> Vec<Desired> {
    let loaded = load(&snapshot(text), &Limits::default());
    assert_eq!(loaded.diagnostics, []);
    let scope = |api_version: &str, kind: &str| {
        let (group, _) = crate::api::split_api_version(api_version);
        builtin_scope(&crate::api::GroupKind::new(group, kind)).or(Some(Scope::Namespaced))
    };
    resolve(&loaded.documents, scope, "default", "set").desired
}

fn resource(kind: &str) -> String {
    resource_of(kind, (kind == "Ingress").then_some("ingresses"))
}

/// What policies say of objects, with the Namespaces among these as what is known of namespaces.
fn report_of(set: &Set, objects: &[Desired], old: impl Fn(&ObjectId) -> Old) -> Report {
    report_as(set, objects, old, None)
}

/// The same, of requests that somebody makes.
fn report_as(
    set: &Set,
    objects: &[Desired],
    old: impl Fn(&ObjectId) -> Old,
    user: Option<User>,
) -> Report {
    assert_eq!(set.diagnostics, []);
    let subjects: Vec<Subject<'_>> = objects
        .iter()
        .map(|it| Subject {
            id: &it.id,
            api_version: &it.api_version,
            resource: resource(&it.id.group_kind.kind),
            origin: Some(it.origin.clone()),
            object: &it.object,
            old: old(&it.id),
        })
        .collect();
    let namespaces = objects.iter().filter(|it| it.id.group_kind.is_namespace());
    let around = Surroundings {
        namespaces: namespaces
            .map(|it| (it.id.name.clone(), Value::clone(&it.object)))
            .collect(),
        params: objects.iter().map(|it| (&it.id, &*it.object)).collect(),
        user,
    };
    evaluate(set, &subjects, &around)
}

fn judged(policies: &str, objects: &str) -> Report {
    report_of(&set(policies), &desired(objects), |_| Old::Absent)
}

/// Each verdict as `severity: sentence`.
fn told(report: &Report) -> Vec<String> {
    let word = |verdict: &Verdict| match verdict.diagnostic().map(|d| d.severity) {
        Some(Severity::Error) => "error",
        Some(Severity::Warning) => "warning",
        None => "note",
    };
    let verdicts = report.verdicts.iter();
    verdicts
        .map(|verdict| format!("{}: {}", word(verdict), verdict.sentence()))
        .collect()
}

/// A policy on ConfigMaps with more of its spec, as YAML with two blanks before each line.
fn policy(spec: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{ name: p }}
spec:
  matchConstraints:
    resourceRules: [{{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }}]
{spec}"
    )
}

fn binding(name: &str, spec: &str) -> String {
    format!(
        "---
apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingAdmissionPolicyBinding
metadata: {{ name: {name} }}
spec:
  policyName: p
{spec}"
    )
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, labels: { tier: web } }\ndata: { num: '3' }\n";

#[test]
fn without_a_binding_a_policy_denies_and_with_one_it_does_what_that_says() {
    let demand = policy(
        "  validations: [{ expression: \"object.data.num == '4'\", message: four it is }]\n",
    );
    assert_eq!(
        told(&judged(&demand, MAP)),
        ["error: policy p denies ConfigMap default/a: four it is"]
    );
    for (actions, wanted) in [
        (
            "[Deny]",
            "error: policy p denies ConfigMap default/a: four it is",
        ),
        (
            "[Deny, Audit]",
            "error: policy p denies ConfigMap default/a: four it is",
        ),
        (
            "[Warn]",
            "warning: policy p warns of ConfigMap default/a: four it is",
        ),
        (
            "[Audit]",
            "note: policy p notes of ConfigMap default/a: four it is",
        ),
    ] {
        let bound = demand.clone() + &binding("b", &format!("  validationActions: {actions}\n"));
        assert_eq!(told(&judged(&bound, MAP)), [wanted]);
    }
    // Each binding by itself, and none but those.
    let elsewhere = "  validationActions: [Deny]
  matchResources: { objectSelector: { matchLabels: { tier: db } } }\n";
    let bound = demand.clone() + &binding("b", elsewhere);
    assert_eq!(told(&judged(&bound, MAP)), [""; 0]);
    let bound = bound + &binding("c", "  validationActions: [Warn]\n");
    assert_eq!(told(&judged(&bound, MAP)).len(), 1);
}

#[test]
fn what_cannot_be_evaluated_has_not_passed() {
    let cases = [
        ("object.data.none == '1'", "no such key: none"),
        ("!object.data.num.x", "a string has no field `x`"),
        ("object.data.num ==", "it is no expression: line 1, column"),
        (
            "objekt.data.num == '3'",
            "it is no expression: there is nothing named objekt here",
        ),
        ("object.data.num", "it is neither true nor false"),
        (
            "request.userInfo.username == 'x'",
            "request.userInfo is not known before the request is made",
        ),
        (
            "!has(request.userInfo)",
            "request.userInfo is not known before the request is made",
        ),
        (
            "authorizer.group('').resource('x').check('get').allowed()",
            "authorizer needs the API server",
        ),
        (
            "namespaceObject.metadata.name == 'default'",
            "nothing is known of namespace default",
        ),
        (
            "params == null",
            "it is no expression: there is nothing named params here",
        ),
    ];
    for (expression, why) in cases {
        let demand = |failure: &str| {
            let text = expression.replace('\'', "''");
            policy(&format!(
                "  failurePolicy: {failure}\n  validations: [{{ expression: '{text}' }}]\n"
            ))
        };
        let closed = told(&judged(&demand("Fail"), MAP));
        let wanted = format!(
            "error: policy p could not be evaluated, so ConfigMap default/a is held back: {why}"
        );
        assert!(
            closed.len() == 1 && closed[0].starts_with(&wanted),
            "{closed:?}"
        );
        let open = told(&judged(&demand("Ignore"), MAP));
        let wanted =
            format!("warning: policy p could not be evaluated for ConfigMap default/a: {why}");
        assert!(open.len() == 1 && open[0].starts_with(&wanted), "{open:?}");
    }
}

#[test]
fn expensive_policies_are_refused_within_their_budget() {
    let data: String = (0..3_000).map(|i| format!("  k{i}: v\n")).collect();
    let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: a }}\ndata:\n{data}");
    let costly = policy(
        "  validations: [{ expression: 'object.data.all(a, object.data.all(b, a != b || a == b))' }]\n",
    );
    assert_eq!(
        told(&judged(&costly, &map)),
        [
            "error: policy p could not be evaluated, so ConfigMap default/a is held back: it takes more work than a policy may"
        ]
    );
}

#[test]
fn conditions_decide_whether_a_policy_is_about_an_object() {
    let with = |conditions: &str| {
        let conditions: String = conditions
            .split('|')
            .enumerate()
            .map(|(i, it)| format!("    - {{ name: c{i}, expression: \"{it}\" }}\n"))
            .collect();
        policy(&format!(
            "  matchConditions:\n{conditions}  validations: [{{ expression: 'false', message: never }}]\n"
        ))
    };
    let denied = "error: policy p denies ConfigMap default/a: never";
    assert_eq!(
        told(&judged(&with("true|object.data.num == '3'"), MAP)),
        [denied]
    );
    assert_eq!(told(&judged(&with("true|false"), MAP)), [""; 0]);
    // One that is false decides, even when another has no value.
    assert_eq!(told(&judged(&with("object.none|false"), MAP)), [""; 0]);
    assert_eq!(
        told(&judged(&with("object.none|true"), MAP)),
        [
            "error: policy p could not be evaluated, so ConfigMap default/a is held back: no such key: none"
        ]
    );
    // Variables are not there yet.
    let early = with("variables.x");
    assert!(told(&judged(&early, MAP))[0].contains("there is no variable x"));
}

#[test]
fn variables_are_lazy_and_use_those_before_them() {
    let demand = policy(
        "  variables:
    - { name: num, expression: 'int(object.data.num)' }
    - { name: m, expression: 'variables.num + 1' }
    - { name: broken, expression: 'object.none' }
  validations:
    - { expression: 'variables.m == 5', messageExpression: \"'it is ' + string(variables.m)\" }
    - { expression: 'variables.m == 4 || variables.broken' }
",
    );
    assert_eq!(
        told(&judged(&demand, MAP)),
        ["error: policy p denies ConfigMap default/a: it is 4"]
    );
    let backwards = policy(
        "  variables:
    - { name: a, expression: 'variables.b' }
    - { name: b, expression: 'true' }
  validations: [{ expression: 'variables.a' }]
",
    );
    assert!(told(&judged(&backwards, MAP))[0].contains("there is no variable b at this place"));
}

#[test]
fn a_message_that_has_no_value_gives_way_to_the_next_one() {
    for (message, wanted) in [
        (
            "messageExpression: \"'a' + object.none\", message: fixed",
            "fixed",
        ),
        ("messageExpression: \"'a\\\\nb'\", message: fixed", "fixed"),
        ("messageExpression: \"'  '\", message: fixed", "fixed"),
        ("messageExpression: '1', message: fixed", "fixed"),
        ("messageExpression: object.none", "failed expression: 1 > 2"),
        (
            "messageExpression: object.metadata.name, message: fixed",
            "a",
        ),
    ] {
        let demand = policy(&format!(
            "  validations: [{{ expression: '1 > 2', {message} }}]\n"
        ));
        let wanted = format!("error: policy p denies ConfigMap default/a: {wanted}");
        assert_eq!(told(&judged(&demand, MAP)), [wanted], "{message}");
    }
}

#[test]
fn audit_annotations_are_noted() {
    let demand = policy(
        "  auditAnnotations:
    - { key: num, valueExpression: object.data.num }
    - { key: nothing, valueExpression: 'null' }
    - { key: wrong, valueExpression: object.data.none }
",
    );
    let report = judged(&demand, MAP);
    let notes: Vec<_> = report
        .notes
        .iter()
        .map(|it| (&*it.key, &*it.value))
        .collect();
    assert_eq!(notes, [("num", "3")]);
    assert_eq!(
        told(&report),
        [
            "error: policy p could not be evaluated, so ConfigMap default/a is held back: no such key: none"
        ]
    );
}

/// The example of the documentation's page: replicas are limited by a parameter.
#[test]
fn parameters_come_from_beside_the_policies_or_from_the_source() {
    let demand = policy(
        "  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConditions: [{ name: x, expression: \"object.kind == 'Secret'\" }]
  validations: [{ expression: \"params.data.least == 'low'\", message: too much }]
",
    );
    let param = |name: &str, namespace: &str, least: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: {namespace}, labels: {{ is: {name} }} }}\ndata: {{ least: {least} }}\n"
        )
    };
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: s, namespace: shop }\n";
    let bound = |param_ref: &str| {
        demand.clone()
            + &binding(
                "b",
                &format!("  validationActions: [Deny]\n  paramRef: {param_ref}\n"),
            )
    };
    let denied = "error: policy p denies Secret shop/s: too much";
    let wanted = "Deny";
    let fixed = format!("{{ name: one, namespace: ops, parameterNotFoundAction: {wanted} }}");

    // By name in a namespace, beside the policy and in the source.
    let beside = bound(&fixed) + &param("one", "ops", "high");
    assert_eq!(told(&judged(&beside, secret)), [denied]);
    let in_source = secret.to_owned() + &param("one", "ops", "low");
    assert_eq!(told(&judged(&bound(&fixed), &in_source)), [""; 0]);
    // In the namespace of the object.
    let own = bound("{ name: one, parameterNotFoundAction: Allow }");
    let text = own.clone() + &param("one", "shop", "high") + &param("one", "ops", "low");
    assert_eq!(told(&judged(&text, secret)), [denied]);
    // All that are selected, each by itself.
    let all = bound(
        "{ selector: { matchExpressions: [{ key: is, operator: Exists }] }, parameterNotFoundAction: Allow }",
    );
    let text = all
        + &param("one", "shop", "high")
        + &param("two", "shop", "high")
        + &param("three", "shop", "low");
    assert_eq!(told(&judged(&text, secret)), [denied, denied]);
    // None: as the binding says.
    assert_eq!(told(&judged(&own, secret)), [""; 0]);
    assert_eq!(
        told(&judged(&bound(&fixed), secret)),
        [
            "error: policy p could not be evaluated, so Secret shop/s is held back: there is no ConfigMap one to take parameters from"
        ]
    );
    // A binding without parameters.
    let unset = demand.clone() + &binding("b", "  validationActions: [Deny]\n");
    assert!(told(&judged(&unset, secret))[0].contains("which are not shown"));
}

#[test]
fn what_is_there_already_is_the_old_object() {
    let demand = policy(
        "  validations:
    - { expression: \"oldObject == null || oldObject.data.num == object.data.num\", message: num is fixed }
    - { expression: \"request.operation == (oldObject == null ? 'CREATE' : 'UPDATE')\" }
",
    );
    let (set, objects) = (set(&demand), desired(MAP));
    let live = |n: &str| Old::Present {
        labels: Labels::new(),
        object: Some(Arc::new(serde_json::json!({ "data": { "num": n } }))),
    };
    assert_eq!(told(&report_of(&set, &objects, |_| Old::Absent)), [""; 0]);
    assert_eq!(told(&report_of(&set, &objects, |_| live("3"))), [""; 0]);
    assert_eq!(
        told(&report_of(&set, &objects, |_| live("2"))),
        ["error: policy p denies ConfigMap default/a: num is fixed"]
    );
    let unread = |_: &ObjectId| Old::Present {
        labels: Labels::new(),
        object: None,
    };
    let told = told(&report_of(&set, &objects, unread));
    assert!(
        told.len() == 2 && told[0].contains("oldObject is not known"),
        "{told:?}"
    );
}

/// <https://kubernetes.io/docs/reference/config-api/apiserver-admission.v1/#admission-k8s-io-v1-AdmissionRequest>
#[test]
fn the_request_is_the_one_that_would_be_made() {
    let demand = policy(
        "  validations:
    - { expression: \"request.kind == {'group': '', 'version': 'v1', 'kind': 'ConfigMap'} && request.requestKind == request.kind\" }
    - { expression: \"request.resource.resource == 'configmaps' && request.subResource == ''\" }
    - { expression: \"request.name == 'a' && request.namespace == 'default' && !request.dryRun\" }
    - { expression: \"request.userInfo.username == 'system:serviceaccount:shop:deployer'\" }
    - { expression: \"'system:serviceaccounts:shop' in request.userInfo.groups\" }
",
    );
    let user = User::service_account("shop", "deployer");
    let report = report_as(&set(&demand), &desired(MAP), |_| Old::Absent, Some(user));
    assert_eq!(told(&report), [""; 0]);
}

#[test]
fn rules_are_about_resources_as_in_the_api_server() {
    const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: a }\n";
    const INGRESS: &str = "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: { name: a }\n";
    const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: { name: a }\n";
    const NAMESPACE: &str =
        "apiVersion: v1\nkind: Namespace\nmetadata: { name: a, labels: { is: this } }\n";
    const OWN: &str = "apiVersion: example.com/v1\nkind: Policy\nmetadata: { name: a }\n";
    let cases: &[(&str, &str, bool)] = &[
        (DEPLOYMENT, "apps v1 CREATE deployments", true),
        (DEPLOYMENT, "apps v1 * *", true),
        (DEPLOYMENT, "* * * */*", true),
        (DEPLOYMENT, "apps v1 CREATE deployments/*", true),
        (DEPLOYMENT, "apps v1 CREATE deployments/scale", false),
        (DEPLOYMENT, "apps v1 UPDATE deployments", false),
        (DEPLOYMENT, "batch v1 CREATE deployments", false),
        (DEPLOYMENT, "apps v1 CREATE pods", false),
        // Equivalent is the default.
        (DEPLOYMENT, "apps v1beta1 CREATE deployments", true),
        (
            DEPLOYMENT,
            "apps v1beta1 CREATE deployments; matchPolicy: Exact",
            false,
        ),
        (DEPLOYMENT, "extensions v1beta1 CREATE deployments", true),
        (INGRESS, "networking.k8s.io v1 CREATE ingresses", true),
        (
            INGRESS,
            "networking.k8s.io v1 CREATE ingresses; matchPolicy: Exact",
            false,
        ),
        // Scopes: a Namespace lives in none, whatever its requests say.
        (DEPLOYMENT, "* * * * Namespaced", true),
        (DEPLOYMENT, "* * * * Cluster", false),
        (NODE, "* * * * Cluster", true),
        (NODE, "* * * * Namespaced", false),
        (NAMESPACE, "* * * namespaces Cluster", true),
        (NAMESPACE, "* * * namespaces Namespaced", false),
        (OWN, "example.com v1 CREATE policies", true),
        // Names, exclusions, selectors.
        (
            DEPLOYMENT,
            "* * * *; excludeResourceRules: [{ apiGroups: [apps], apiVersions: ['*'], operations: ['*'], resources: [deployments] }]",
            false,
        ),
        (
            NAMESPACE,
            "* * * *; objectSelector: { matchLabels: { is: this } }",
            true,
        ),
        (
            NAMESPACE,
            "* * * *; objectSelector: { matchLabels: { is: that } }",
            false,
        ),
        (
            NAMESPACE,
            "* * * *; namespaceSelector: { matchLabels: { is: this } }",
            true,
        ),
        (
            NAMESPACE,
            "* * * *; namespaceSelector: { matchLabels: { is: that } }",
            false,
        ),
        (
            NODE,
            "* * * *; namespaceSelector: { matchLabels: { is: that } }",
            true,
        ),
        (
            DEPLOYMENT,
            "* * * *; namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: default } }",
            true,
        ),
        (
            DEPLOYMENT,
            "* * * *; namespaceSelector: { matchExpressions: [{ key: kubernetes.io/metadata.name, operator: NotIn, values: [default] }] }",
            false,
        ),
    ];
    for (object, rule, wanted) in cases {
        let (rule, more) = rule
            .split_once("; ")
            .unwrap_or((rule, "matchPolicy: Equivalent"));
        let mut words = rule.split(' ');
        let mut word = || words.next().unwrap_or("*");
        let (groups, versions, operations, resources, scope) =
            (word(), word(), word(), word(), word());
        let policy = format!(
            "apiVersion: admissionregistration.k8s.io/v1alpha1
kind: ValidatingAdmissionPolicy
metadata: {{ name: p }}
spec:
  matchConstraints:
    resourceRules:
      - apiGroups: ['{groups}']
        apiVersions: ['{versions}']
        operations: ['{operations}']
        resources: ['{resources}']
        scope: '{scope}'
    {more}
  validations: [{{ expression: 'false' }}]
"
        );
        let denied = !judged(&policy, object).verdicts.is_empty();
        assert_eq!(denied, *wanted, "{rule}; {more}\n{object}");
    }
}

#[test]
fn namespaces_are_known_from_the_source_or_not_at_all() {
    let selected = policy(
        "    namespaceSelector: { matchLabels: { tier: web } }\n  validations: [{ expression: 'false', message: never }]\n",
    );
    let with = |labels: &str| {
        format!(
            "{MAP}---\napiVersion: v1\nkind: Namespace\nmetadata: {{ name: default, labels: {labels} }}\n"
        )
    };
    let denied = "error: policy p denies ConfigMap default/a: never";
    assert_eq!(told(&judged(&selected, &with("{ tier: web }")))[0], denied);
    assert_eq!(told(&judged(&selected, &with("{ tier: db }"))), [""; 0]);
    let unknown = told(&judged(&selected, MAP));
    assert!(
        unknown.len() == 1 && unknown[0].contains("nothing is known of namespace default"),
        "{unknown:?}"
    );
    let labels = namespace_labels("default", &serde_json::json!({}));
    assert_eq!(
        labels
            .get("kubernetes.io/metadata.name")
            .map(String::as_str),
        Some("default")
    );
}

/// Invariant 6: neither a message nor an error nor an annotation tells what is in a Secret.
#[test]
fn a_secrets_values_are_in_no_verdict() {
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata: { name: s }\ndata: { num: aHVudGVyMg== }\n";
    let demand = policy(
        "  validations:
    - { expression: 'false', messageExpression: object.data.num }
    - { expression: 'quantity(object.data.num).isInteger()' }
    - { expression: 'url(object.data.num) == null' }
    - { expression: 'duration(object.data.num) == null' }
    - { expression: 'ip(object.data.num) == null' }
    - { expression: 'timestamp(object.data.num) == null' }
    - { expression: 'int(object.data.num) == 1' }
    - { expression: '{object.data.num: 1}.x == 1' }
    - { expression: 'object.data[object.data.num] == object.data.num' }
  auditAnnotations: [{ key: num, valueExpression: object.data.num }]
",
    );
    let report = judged(&demand, secret);
    assert_eq!(report.verdicts.len(), 9);
    assert_eq!(report.notes.len(), 1);
    let text = serde_json::to_string(&report).unwrap() + &told(&report).concat();
    assert!(!text.contains("aHVudGVyMg"), "{text}");

    // The same where the Secret is a parameter.
    let demand = policy(
        "  paramKind: { apiVersion: v1, kind: Secret }
  validations: [{ expression: 'false', messageExpression: params.data.num }]
",
    ) + &binding(
        "b",
        "  validationActions: [Deny]\n  paramRef: { name: s, parameterNotFoundAction: Deny }\n",
    );
    let report = judged(&demand, &format!("{secret}---\n{MAP}"));
    let text = told(&report).concat();
    assert!(
        report.verdicts.len() == 2 && !text.contains("aHVudGVyMg"),
        "{text}"
    );
}

#[test]
fn admission_does_not_judge_its_own_configuration() {
    let nothing = policy("  validations: [{ expression: 'false' }]\n");
    let objects = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: a }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: a }
";
    assert_eq!(told(&judged(&nothing, objects)), [""; 0]);
}

/// Each fault of a policy's documents, at its place.
#[test]
fn what_is_wrong_with_policies_is_an_error_at_its_place() {
    let good = policy("  validations: [{ expression: 'true' }]\n");
    let cases = [
        (
            policy("  validation: [{ expression: 'true' }]\n"),
            "7:3 unknown field `spec.validation`",
        ),
        (
            policy("  validations: [{ expresion: 'true' }]\n"),
            "7:19 unknown field `spec.validations[0].expresion`",
        ),
        (
            policy("  failurePolicy: Ingore\n"),
            "7:3 `spec.failurePolicy` must be one of `Fail`, `Ignore`",
        ),
        (policy(""), "1:1 policy p demands nothing"),
        (
            good.replace("resourceRules", "resourceRulez"),
            "6:5 unknown field `spec.matchConstraints.resourceRulez`",
        ),
        (
            format!("{good}---\n{good}"),
            "9:1 ValidatingAdmissionPolicy p is there more than once",
        ),
        (
            good.clone() + &binding("b", "  validationActions: [Deny, Warn]\n"),
            "9:1 binding b needs actions that go together",
        ),
        (
            good.clone()
                + &binding("b", "  validationActions: [Deny]\n")
                    .replace("policyName: p", "policyName: q"),
            "9:1 binding b names policy q, which is not there",
        ),
        (
            good.clone()
                + &binding(
                    "b",
                    "  validationActions: [Deny]\n  paramRef: { parameterNotFoundAction: Deny }\n",
                ),
            "9:1 binding b must name its parameters, or select them",
        ),
        (
            good.replace("/v1", "/v2"),
            "1:1 admissionregistration.k8s.io/v2 is no version of policies",
        ),
    ];
    for (text, wanted) in cases {
        let set = set(&text);
        let shown: Vec<String> = set
            .diagnostics
            .iter()
            .map(|d| {
                let at = d.position.unwrap();
                format!("{}:{} {}", at.line, at.column, d.message)
            })
            .collect();
        assert!(set.is_broken(), "{text}");
        assert!(
            shown.iter().any(|it| it.starts_with(wanted)),
            "{wanted}: {shown:?}"
        );
    }
}

#[test]
fn policies_are_taken_out_of_the_source_only_where_they_were_asked_for() {
    let text = policy("  validations: [{ expression: 'true' }]\n");
    let file = |path: &str, text: &str| SourceFile {
        path: path.into(),
        bytes: text.as_bytes().to_vec(),
    };
    let source = Snapshot {
        files: vec![
            file("a.yaml", MAP),
            file("policies/p.yaml", &text),
            file("policies-not/p.yaml", &text),
        ],
        ..snapshot("")
    };
    let limits = Limits::default();
    let gathered = |inside: &[&str], others: Vec<(String, Snapshot)>| {
        let inside = inside.iter().map(|it| (*it).to_owned()).collect();
        let asked = Asked { inside, others };
        let gathered = gather(load(&source, &limits), &source, &asked, &limits, "default");
        let found = gathered.policies.diagnostics.iter();
        let found: Vec<String> = found
            .map(|d| format!("{}: {}", d.file, d.message))
            .collect();
        (
            gathered.documents.len(),
            gathered.policies.policies.len(),
            found,
        )
    };
    assert_eq!(gathered(&[], Vec::new()), (3, 0, vec![]));
    assert_eq!(gathered(&["./policies/"], Vec::new()), (2, 1, vec![]));
    assert_eq!(gathered(&["policies/p.yaml"], Vec::new()), (2, 1, vec![]));
    let missing = |name: &str| vec![format!("{name}: there is no policy in it")];
    assert_eq!(
        gathered(&["polices"], Vec::new()),
        (3, 0, missing("polices"))
    );
    assert_eq!(gathered(&["a.yaml"], Vec::new()), (2, 0, missing("a.yaml")));
    assert_eq!(
        gathered(&[], vec![("x".into(), snapshot(&text))]),
        (3, 1, vec![])
    );
    assert_eq!(
        gathered(&[], vec![("x".into(), snapshot(MAP))]),
        (3, 0, missing("x"))
    );
    let (.., broken) = gathered(&[], vec![("x".into(), snapshot("a: b: c"))]);
    assert_eq!(broken.len(), 1, "{broken:?}");
}
