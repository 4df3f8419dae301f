//! A rule of a role.

use serde_json::Value;

use crate::auth::attributes::{Attributes, Target, full};

/// Anything, in the lists of a rule.
pub const ALL: &str = "*";

/// What may be done with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Verbs.
    pub verbs: Vec<String>,
    /// API groups.
    pub groups: Vec<String>,
    /// Plurals, some with a subresource.
    pub resources: Vec<String>,
    /// Names; none for all of them.
    pub names: Vec<String>,
    /// Paths that are about no objects.
    pub paths: Vec<String>,
}

impl Rule {
    /// Reads the rules of a role.
    pub fn all_of(role: &Value) -> Vec<Self> {
        let rules = role.get("rules").and_then(Value::as_array);
        rules.into_iter().flatten().map(Self::read).collect()
    }

    fn read(rule: &Value) -> Self {
        let texts = |key: &str| {
            let texts = rule.get(key).and_then(Value::as_array);
            let texts = texts.into_iter().flatten().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        };
        Self {
            verbs: texts("verbs"),
            groups: texts("apiGroups"),
            resources: texts("resources"),
            names: texts("resourceNames"),
            paths: texts("nonResourceURLs"),
        }
    }

    /// Tells whether it allows a deed.
    pub fn allows(&self, attributes: &Attributes<'_>) -> bool {
        if !has(&self.verbs, attributes.verb) {
            return false;
        }
        match attributes.target {
            Target::Path(path) => self.paths.iter().any(|rule| covers_path(rule, path)),
            Target::Resource {
                group,
                resource,
                subresource,
                name,
                ..
            } => {
                let named = self.names.is_empty() || self.names.iter().any(|known| known == name);
                named && has(&self.groups, group) && self.has_resource(resource, subresource)
            }
        }
    }

    fn has_resource(&self, resource: &str, subresource: &str) -> bool {
        if subresource.is_empty() {
            return has(&self.resources, resource);
        }
        let wanted = full(resource, subresource);
        self.resources.iter().any(|rule| {
            rule == ALL || *rule == wanted || rule.strip_prefix("*/") == Some(subresource)
        })
    }
}

/// Tells whether a path of a rule stands for a path.
pub fn covers_path(rule: &str, path: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning),
        None => rule == path,
    }
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|item| item == ALL || item == wanted)
}
