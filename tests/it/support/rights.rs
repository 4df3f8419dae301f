//! What roles grant, compared with what was asked.

use serde_json::Value;

use super::request::Event;

/// One verb on one resource, and on one object of it or on all.
#[derive(Clone, Debug, PartialEq)]
pub struct Right {
    /// Empty for a role that may be bound in any.
    pub namespace: String,
    pub group: String,
    /// With its subresource.
    pub resource: String,
    /// Empty for all.
    pub name: String,
    pub verb: String,
}

impl Right {
    /// Tells whether a request needed it.
    pub fn is_used_by(&self, event: &Event) -> bool {
        // An apply that makes an object is a PATCH that needs `create` as well.
        let makes = self.verb == "create" && event.verb == "patch" && event.code == 201;
        event.code != 403
            && (makes || event.verb == self.verb)
            && event.group == self.group
            && event.full_resource() == self.resource
            && (self.name.is_empty() || event.name == self.name)
            && (self.namespace.is_empty() || event.namespace == self.namespace)
    }
}

/// The rights that roles give; other objects give none.
pub fn rights_of(objects: &[Value]) -> Vec<Right> {
    let rules = objects.iter().flat_map(|role| {
        let namespace = role["metadata"]["namespace"].as_str().unwrap_or_default();
        let rules = role["rules"].as_array().into_iter().flatten();
        rules.flat_map(move |rule| rights_of_rule(namespace, rule))
    });
    rules.collect()
}

fn rights_of_rule(namespace: &str, rule: &Value) -> Vec<Right> {
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        list.map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut names = texts(&rule["resourceNames"]);
    if names.is_empty() {
        names.push(String::new());
    }
    let mut rights = Vec::new();
    for group in texts(&rule["apiGroups"]) {
        for resource in texts(&rule["resources"]) {
            for name in &names {
                for verb in texts(&rule["verbs"]) {
                    rights.push(Right {
                        namespace: namespace.to_owned(),
                        group: group.clone(),
                        resource: resource.clone(),
                        name: name.clone(),
                        verb,
                    });
                }
            }
        }
    }
    rights
}

/// The rights that no request made use of.
pub fn unused(rights: &[Right], events: &[Event]) -> Vec<Right> {
    let is_unused = |right: &&Right| !events.iter().any(|event| right.is_used_by(event));
    rights.iter().filter(is_unused).cloned().collect()
}

/// The requests that were not allowed, but for one that may be refused: before members are watched in each of their
/// namespaces, it is asked whether they may be watched in all at once.
pub fn refused(events: &[Event]) -> Vec<&Event> {
    let refused = events.iter().filter(|event| event.code == 403);
    refused.filter(|event| !asks_for_all(event)).collect()
}

fn asks_for_all(event: &Event) -> bool {
    let members = "labelSelector=applyset.kubernetes.io%2Fpart-of";
    let is_tenants = event.acting_as.is_some() || event.uri.contains(members);
    is_tenants && event.verb == "list" && event.namespace.is_empty()
}
