//! Rules as objects: a Role and a binding for each namespace, a ClusterRole and its binding for the rest.

use serde_json::{Value, json};

use super::grants::{Rule, Rules};

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// A ServiceAccount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Makes the objects that give rights to an account. `name` is what they are all called.
pub fn roles(rules: &Rules, account: &Account, name: &str) -> Vec<Value> {
    rules
        .iter()
        .flat_map(|(namespace, rules)| {
            let (role, binding) = match namespace {
                Some(_) => ("Role", "RoleBinding"),
                None => ("ClusterRole", "ClusterRoleBinding"),
            };
            let metadata = match namespace {
                Some(namespace) => json!({ "name": name, "namespace": namespace }),
                None => json!({ "name": name }),
            };
            let rules: Vec<Value> = rules.iter().map(rule).collect();
            [
                json!({ "apiVersion": API_VERSION, "kind": role, "metadata": metadata, "rules": rules }),
                json!({
                    "apiVersion": API_VERSION,
                    "kind": binding,
                    "metadata": metadata,
                    "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name },
                    "subjects": [{ "kind": "ServiceAccount", "namespace": account.namespace, "name": account.name }],
                }),
            ]
        })
        .collect()
}

fn rule(rule: &Rule) -> Value {
    let Rule {
        group,
        resources,
        names,
        verbs,
    } = rule;
    if names.is_empty() {
        json!({ "apiGroups": [group], "resources": resources, "verbs": verbs })
    } else {
        json!({ "apiGroups": [group], "resources": resources, "resourceNames": names, "verbs": verbs })
    }
}
