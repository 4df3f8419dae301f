//! What a run asks of the API server, object by object.

use std::collections::BTreeSet;

use super::grants::Verb::{Create, Delete, Get, List, Patch, Watch};
use super::grants::{Grants, Resource, Rules, Verb};
use crate::api::names::GROUP;
use crate::api::{GroupKind, ObjectId};
use crate::load::{Diagnostic, Schemas};
use crate::plan::annotations::leaves_alone;
use crate::plan::prune::{may_ever_go, takes_others_along};
use crate::plan::{child_id, network_policy_id};
use crate::render::{Desired, Target};

/// What rights are asked for.
pub struct Terms<'a> {
    /// What the source asks for.
    pub desired: &'a [Desired],
    /// The Targets among it.
    pub targets: &'a [Target],
    /// What is known of kinds.
    pub schemas: &'a Schemas,
    /// Namespace of the Sync.
    pub namespace: &'a str,
    /// Name of the Sync.
    pub name: &'a str,
    /// Whether what leaves the source is deleted.
    pub prune: bool,
    /// Whether the account may write objects of any name, where they live in namespaces.
    pub any_name: bool,
    /// Whether the account keeps the Sync itself and serves Targets, as `covergence sync` does. The controller does both
    /// as itself.
    pub one_shot: bool,
    /// Secrets beside the Sync with what it needs to read its source.
    pub secrets: &'a BTreeSet<String>,
}

/// Gives the least rights, and tells of those that are not given although the source needs them.
pub fn least_rights(terms: &Terms<'_>) -> (Rules, Vec<Diagnostic>) {
    let mut needs = Needs {
        terms,
        grants: Grants::default(),
        diagnostics: Vec::new(),
    };
    needs.members();
    needs.secrets();
    if terms.one_shot {
        needs.targets();
        needs.sync();
    }
    (needs.grants.rules(), needs.diagnostics)
}

struct Needs<'a> {
    terms: &'a Terms<'a>,
    grants: Grants,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Needs<'a> {
    fn members(&mut self) {
        let terms = self.terms;
        let mut kinds: BTreeSet<(&GroupKind, Resource)> = BTreeSet::new();
        let mut unknown: BTreeSet<&GroupKind> = BTreeSet::new();
        for desired in terms.desired {
            let ObjectId {
                group_kind,
                namespace,
                ..
            } = &desired.id;
            let Some(plural) = terms.schemas.plural(group_kind) else {
                if unknown.insert(group_kind) {
                    self.warn_unknown(desired);
                }
                continue;
            };
            let resource = Resource::new(&group_kind.group, plural);
            self.member(desired, &resource);
            if let Some(namespace) = namespace {
                kinds.insert((group_kind, resource));
                // A namespace that is gone is told from one that is empty. A Role in it is enough for that.
                let namespaces = Resource::new("", "namespaces");
                self.grants
                    .allow(Some(namespace), &namespaces, None, &[Get]);
            }
            if states_replicas(desired) {
                let autoscalers = Resource::new("autoscaling", "horizontalpodautoscalers");
                self.grants
                    .allow(namespace.as_deref(), &autoscalers, None, &[List]);
            }
            if group_kind.is_namespace() {
                self.warn_coming(desired);
            }
        }
        // The parent of a set names kinds and namespaces, not pairs of them: members of each kind are looked for in each.
        for namespace in self.reach() {
            for (_, resource) in &kinds {
                self.grants
                    .allow(Some(namespace), resource, None, &[List, Watch]);
            }
        }
    }

    fn member(&mut self, desired: &Desired, resource: &Resource) {
        let terms = self.terms;
        let id = &desired.id;
        let namespace = id.namespace.as_deref();
        // Who may list a kind may read all of it: a limit to names would protect nothing.
        self.grants
            .allow(namespace, resource, None, &[Get, List, Watch]);
        if leaves_alone(&desired.object, None).is_none() {
            self.write(id, resource, &[Create, Patch]);
            self.warn_escalation(desired);
        }
        if terms.prune && may_ever_go(id, &desired.object, terms.namespace) {
            if takes_others_along(&id.group_kind) {
                self.warn_contents(desired);
            } else {
                self.write(id, resource, &[Delete]);
            }
        }
    }

    /// Allows to write one object. Beyond namespaces always by name: all objects of a kind are the whole cluster's.
    fn write(&mut self, id: &ObjectId, resource: &Resource, verbs: &[Verb]) {
        let namespace = id.namespace.as_deref();
        let all = self.terms.any_name && namespace.is_some();
        let name = (!all).then_some(id.name.as_str());
        self.grants.allow(namespace, resource, name, verbs);
    }

    /// Targets need their Deployments read, their Services and NetworkPolicies kept and their status written.
    fn targets(&mut self) {
        let terms = self.terms;
        let services = Resource::new("", "services");
        for target in terms.targets {
            let id = child_id(target);
            // Deleted also without pruning: when the Target's switch is turned off.
            self.write(&id, &services, &[Create, Patch, Delete]);
            let status = Resource::new(GROUP, "closurejvmtargets/status");
            self.write(&target.id(), &status, &[Patch]);
            let slices = Resource::new("discovery.k8s.io", "endpointslices");
            let namespace = Some(target.namespace.as_str());
            self.grants.allow(namespace, &slices, None, &[List]);
        }
        let policies = Resource::new("networking.k8s.io", "networkpolicies");
        for target in terms.targets {
            if target.spec.network_policy.is_some() {
                let id = network_policy_id(target);
                self.write(&id, &policies, &[Create, Patch, Delete]);
                let namespace = Some(target.namespace.as_str());
                self.grants
                    .allow(namespace, &policies, None, &[Get, List, Watch]);
            }
        }
        if !terms.targets.is_empty() {
            // Wherever Targets may be: one whose Deployment may not be read keeps all from being served.
            for namespace in self.reach() {
                for resource in [&services, &Resource::new("apps", "deployments")] {
                    self.grants
                        .allow(Some(namespace), resource, None, &[Get, List, Watch]);
                }
            }
        }
    }

    fn sync(&mut self) {
        let terms = self.terms;
        let (namespace, name) = (Some(terms.namespace), Some(terms.name));
        let syncs = Resource::new(GROUP, "syncs");
        self.grants
            .allow(namespace, &syncs, name, &[Get, Create, Patch]);
        let status = Resource::new(GROUP, "syncs/status");
        self.grants.allow(namespace, &status, name, &[Patch]);
    }

    fn secrets(&mut self) {
        let secrets = Resource::new("", "secrets");
        for name in self.terms.secrets {
            let namespace = Some(self.terms.namespace);
            self.grants.allow(namespace, &secrets, Some(name), &[Get]);
        }
    }

    /// The namespaces that members may be in.
    fn reach(&self) -> BTreeSet<&'a str> {
        let used = self.terms.desired.iter();
        let mut reach: BTreeSet<&str> = used.filter_map(|d| d.id.namespace.as_deref()).collect();
        reach.insert(self.terms.namespace);
        reach
    }

    fn warn(&mut self, desired: &Desired, message: String, hint: &str) {
        let warning = Diagnostic::warning_at(&desired.origin, message).with_hint(hint);
        self.diagnostics.push(warning);
    }

    fn warn_unknown(&mut self, desired: &Desired) {
        let message = format!(
            "no right is given for {}: what roles call it is not known here",
            desired.id.group_kind
        );
        let hint = "add its CustomResourceDefinition to the source";
        self.warn(desired, message, hint);
    }

    fn warn_coming(&mut self, desired: &Desired) {
        let name = &desired.id.name;
        if self.reach().contains(name.as_str()) {
            let message =
                format!("a Role in namespace {name} can be applied only when it is there");
            let hint = "create the namespace before these rights";
            self.warn(desired, message, hint);
        }
    }

    /// The API server lets nobody give what he has not, unless he may do even that (RBAC, "privilege escalation
    /// prevention").
    fn warn_escalation(&mut self, desired: &Desired) {
        let GroupKind { group, kind } = &desired.id.group_kind;
        let verb = match (group.as_str(), kind.as_str()) {
            ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => "escalate",
            ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => "bind",
            _ => return,
        };
        let message = format!(
            "to write {}, the account must have every right that it gives, or the verb {verb}: neither is granted",
            desired.id
        );
        let hint =
            "grant the account what it is to pass on, or leave this object to the cluster's admin";
        self.warn(desired, message, hint);
    }

    fn warn_contents(&mut self, desired: &Desired) {
        let message = format!(
            "{} will not be pruned: that takes a look at all that would go with it, which is not granted",
            desired.id
        );
        let hint = "leave its end to the cluster's admin";
        self.warn(desired, message, hint);
    }
}

/// Where replicas are stated and differ, an autoscaler is looked for.
fn states_replicas(desired: &Desired) -> bool {
    desired.id.group_kind.group == "apps" && desired.object.pointer("/spec/replicas").is_some()
}

#[cfg(test)]
#[path = "needs_tests.rs"]
mod tests;
