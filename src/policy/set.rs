//! All policies of a run, with their bindings and parameters.

use std::collections::BTreeSet;

use serde_json::Value;

use super::matching::may_be_meant;
use super::model::{BINDING, Binding, Enforcement, GROUP, POLICY, Policy};
use super::read::{binding, is_policy, is_policy_kind, policy};
use super::schema::definitions;
use super::subject::Subject;
use crate::api::{GroupKind, ObjectId};
use crate::load::{Diagnostic, Document, Origin, Schemas, Severity};

/// All policies of a run.
#[derive(Debug, Default)]
pub struct Set {
    pub(super) policies: Vec<Policy>,
    pub(super) bindings: Vec<Binding>,
    /// Documents that stand among the policies and are none: their parameters.
    pub(super) params: Vec<Param>,
    /// What is wrong with the documents.
    pub diagnostics: Vec<Diagnostic>,
}

/// An object that policies may take as a parameter.
#[derive(Debug)]
pub struct Param {
    /// Which object.
    pub id: ObjectId,
    /// The object.
    pub object: Value,
}

impl Set {
    /// Reads policies. A policy that no binding names is bound with `Deny` to all that it is about.
    pub fn read(documents: &[Document]) -> Self {
        let mut set = Self::default();
        if documents.is_empty() {
            return set;
        }
        let schemas = Schemas::of_source(&[], &definitions());
        for document in documents {
            if !is_policy_kind(document) {
                set.params.push(Param {
                    id: document.id.clone(),
                    object: document.root.to_json(),
                });
                continue;
            }
            let mut found = schemas.check(document);
            if !is_policy(document, POLICY) && !is_policy(document, BINDING) {
                let message = format!("{} is no version of policies", document.api_version);
                found = vec![
                    Diagnostic::error_at(&document.origin, message)
                        .with_hint("write admissionregistration.k8s.io/v1"),
                ];
            }
            let is_wrong = found.iter().any(|d| d.severity == Severity::Error);
            set.diagnostics.extend(found);
            if is_wrong {
                continue;
            }
            if is_policy(document, POLICY) {
                set.policies.push(policy(document));
            } else {
                set.bindings.push(binding(document));
            }
        }
        set.check_names();
        let policies = documents.iter().filter(|it| is_policy(it, POLICY));
        set.check_meaning(&policies.map(|it| it.id.name.as_str()).collect());
        set.bind_the_unbound();
        set
    }

    /// Tells whether a policy could not be read: then nothing can be said to have passed.
    pub fn is_broken(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }

    /// Tells whether there is nothing to evaluate.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Tells whether an object's state in the cluster is looked at.
    pub fn reads_old(&self, subject: &Subject<'_>) -> bool {
        let mut policies = self.policies.iter();
        policies.any(|it| it.mentions("oldObject") && may_be_meant(&it.constraints, subject))
    }

    /// Tells whether namespaces are looked at.
    pub fn reads_namespaces(&self) -> bool {
        let constraints = self.policies.iter().map(|policy| &policy.constraints);
        let resources = self.bindings.iter().filter_map(|it| it.resources.as_ref());
        let mut matches = constraints.chain(resources);
        matches.any(|it| !it.namespaces.is_empty())
            || self
                .policies
                .iter()
                .any(|it| it.mentions("namespaceObject"))
    }

    fn check_names(&mut self) {
        let places = |(name, origin): (&str, &Origin)| (name.to_owned(), origin.clone());
        let policies = self.policies.iter().map(|p| places((&p.name, &p.origin)));
        let bindings = self.bindings.iter();
        let bindings = bindings.map(|b| places((b.name.as_deref().unwrap_or_default(), &b.origin)));
        let kinds: [(&str, Vec<_>); 2] =
            [(POLICY, policies.collect()), (BINDING, bindings.collect())];
        for (kind, named) in kinds {
            let mut seen = BTreeSet::new();
            for (name, origin) in &named {
                if !seen.insert(name) {
                    let message = format!("{kind} {name} is there more than once");
                    let found = Diagnostic::error_at(origin, message).with_hint("keep one of them");
                    self.diagnostics.push(found);
                }
            }
        }
    }

    /// Finds what a schema does not: what would never do anything, or what the API server would refuse. `names` are those of
    /// all policies, also of those that could not be read.
    fn check_meaning(&mut self, names: &BTreeSet<&str>) {
        for policy in &self.policies {
            if policy.validations.is_empty() && policy.annotations.is_empty() {
                let message = format!("policy {} demands nothing", policy.name);
                let found = Diagnostic::error_at(&policy.origin, message)
                    .with_hint("give it validations or auditAnnotations");
                self.diagnostics.push(found);
            }
            if policy.constraints.rules.is_empty() {
                let message = format!("policy {} is about no resources", policy.name);
                let found = Diagnostic::error_at(&policy.origin, message)
                    .with_hint("list them in spec.matchConstraints.resourceRules");
                self.diagnostics.push(found);
            }
        }
        for binding in &self.bindings {
            let name = binding.name.as_deref().unwrap_or_default();
            if !names.contains(binding.policy.as_str()) {
                let policy = &binding.policy;
                let message = format!("binding {name} names policy {policy}, which is not there");
                let found = Diagnostic::error_at(&binding.origin, message)
                    .with_hint("name one of the policies that stand beside it");
                self.diagnostics.push(found);
            }
            let both =
                |one, other| binding.actions.contains(&one) && binding.actions.contains(&other);
            if binding.actions.is_empty() || both(Enforcement::Deny, Enforcement::Warn) {
                let message = format!("binding {name} needs actions that go together");
                let found = Diagnostic::error_at(&binding.origin, message).with_hint(
                    "validationActions: Deny or Warn, or Audit, or one of both with Audit",
                );
                self.diagnostics.push(found);
            }
            if let Some(params) = &binding.params
                && params.name.is_some() == params.selector.is_some()
            {
                let message = format!("binding {name} must name its parameters, or select them");
                let found = Diagnostic::error_at(&binding.origin, message)
                    .with_hint("give paramRef a name or a selector, and not both");
                self.diagnostics.push(found);
            }
        }
    }

    fn bind_the_unbound(&mut self) {
        let bound: BTreeSet<&str> = self.bindings.iter().map(|b| b.policy.as_str()).collect();
        let unbound = self
            .policies
            .iter()
            .filter(|p| !bound.contains(p.name.as_str()));
        let unbound: Vec<Binding> = unbound
            .map(|policy| Binding {
                name: None,
                origin: policy.origin.clone(),
                policy: policy.name.clone(),
                params: None,
                resources: None,
                actions: vec![Enforcement::Deny],
            })
            .collect();
        self.bindings.extend(unbound);
    }
}

/// Admission never judges the configuration of admission itself, so that a policy cannot lock its own repair out.
pub(super) fn is_exempt(kind: &GroupKind) -> bool {
    kind.group == GROUP
        && [
            POLICY,
            BINDING,
            "ValidatingWebhookConfiguration",
            "MutatingWebhookConfiguration",
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
        ]
        .contains(&kind.kind.as_str())
}
