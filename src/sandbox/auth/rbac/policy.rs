//! Who has which rules.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::{GROUP, Rule};
use crate::auth::attributes::{Attributes, Target};
use crate::request::User;
use crate::store::{Key, Store};

/// Whether a deed is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Whether it is.
    pub allowed: bool,
    /// By which binding, as the API server words it; empty where it has no words.
    pub reason: String,
}

impl Decision {
    /// Allowed, and no binding is needed for it.
    pub fn always() -> Self {
        Self {
            allowed: true,
            reason: String::new(),
        }
    }
}

/// All rules by those who have them.
#[derive(Debug, Default)]
pub struct Policy {
    users: HashMap<String, Grants>,
    groups: HashMap<String, Grants>,
}

/// What one subject has.
#[derive(Debug, Default)]
struct Grants {
    everywhere: Vec<Arc<Grant>>,
    /// By namespace.
    within: HashMap<String, Vec<Arc<Grant>>>,
}

/// A binding to one subject.
#[derive(Debug)]
struct Grant {
    rules: Arc<[Rule]>,
    binding: String,
    subject: String,
}

impl Policy {
    /// Reads the roles and bindings of a store.
    pub fn read(store: &Store) -> Self {
        let mut policy = Self::default();
        let mut roles = HashMap::new();
        for plural in ["clusterroles", "roles"] {
            for (key, role) in store.list(&resource(plural), None) {
                let rules: Arc<[Rule]> = Rule::all_of(role).into();
                roles.insert((key.namespace.clone(), key.name.clone()), rules);
            }
        }
        for plural in ["clusterrolebindings", "rolebindings"] {
            for (key, binding) in store.list(&resource(plural), None) {
                policy.bind(key, binding, &roles);
            }
        }
        policy
    }

    fn bind(&mut self, key: &Key, binding: &Value, roles: &HashMap<(String, String), Arc<[Rule]>>) {
        let text = |pointer: &str| {
            let text = binding.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default()
        };
        let (kind, role) = (text("/roleRef/kind"), text("/roleRef/name"));
        let place = match kind {
            "Role" => key.namespace.clone(),
            _ => String::new(),
        };
        let Some(rules) = roles.get(&(place, role.to_owned())) else {
            return;
        };
        let binding_name = match key.namespace.as_str() {
            "" => format!("ClusterRoleBinding {:?}", key.name),
            namespace => format!("RoleBinding {:?}", format!("{}/{namespace}", key.name)),
        };
        let subjects = binding.get("subjects").and_then(Value::as_array);
        for subject in subjects.into_iter().flatten() {
            let part = |key: &str| subject.get(key).and_then(Value::as_str).unwrap_or_default();
            let (subject_kind, name) = (part("kind"), part("name"));
            let (holders, holder, said) = match subject_kind {
                "User" => (&mut self.users, name.to_owned(), name.to_owned()),
                "Group" => (&mut self.groups, name.to_owned(), name.to_owned()),
                "ServiceAccount" => {
                    let namespace = match part("namespace") {
                        "" => key.namespace.as_str(),
                        namespace => namespace,
                    };
                    let holder = format!("system:serviceaccount:{namespace}:{name}");
                    (&mut self.users, holder, format!("{name}/{namespace}"))
                }
                _ => continue,
            };
            let grant = Arc::new(Grant {
                rules: rules.clone(),
                binding: format!("{binding_name} of {kind} {role:?}"),
                subject: format!("{subject_kind} {said:?}"),
            });
            let grants = holders.entry(holder).or_default();
            let list = match key.namespace.as_str() {
                "" => &mut grants.everywhere,
                namespace => grants.within.entry(namespace.to_owned()).or_default(),
            };
            list.push(grant);
        }
    }

    /// Whether somebody may do something.
    pub fn decide(&self, user: &User, attributes: &Attributes<'_>) -> Decision {
        let namespace = match attributes.target {
            Target::Resource { namespace, .. } => namespace,
            Target::Path(_) => "",
        };
        let mut grants = self.grants(user, namespace);
        let allowing = grants.find(|grant| grant.rules.iter().any(|rule| rule.allows(attributes)));
        match allowing {
            None => Decision::default(),
            Some(grant) => Decision {
                allowed: true,
                reason: format!("RBAC: allowed by {} to {}", grant.binding, grant.subject),
            },
        }
    }

    /// All rules that somebody has in a namespace, or everywhere where it is empty.
    pub fn rules<'a>(
        &'a self,
        user: &'a User,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Rule> {
        self.grants(user, namespace)
            .flat_map(|grant| grant.rules.iter())
    }

    fn grants<'a>(
        &'a self,
        user: &'a User,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Grant> + 'a {
        let holders = move || {
            let groups = user
                .groups
                .iter()
                .filter_map(|group| self.groups.get(group));
            self.users.get(&user.name).into_iter().chain(groups)
        };
        let everywhere = holders().flat_map(|grants| &grants.everywhere);
        let within = holders().filter_map(move |grants| grants.within.get(namespace));
        everywhere.chain(within.flatten()).map(Arc::as_ref)
    }
}

fn resource(plural: &str) -> Arc<str> {
    format!("{plural}.{GROUP}").into()
}
