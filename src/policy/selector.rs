//! Label selectors.

use std::collections::BTreeMap;

use crate::load::Node;

use super::node::{text, texts};

/// Labels by key.
pub type Labels = BTreeMap<String, String>;

/// The label that the API server gives every namespace: its name.
pub const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// What labels must be like; without requirements, anything.
#[derive(Clone, Debug, Default)]
pub struct Selector(Vec<Requirement>);

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Reads one that a schema has checked. A requirement that cannot be read selects nothing.
    pub fn read(node: &Node) -> Self {
        let labels = node.get("matchLabels").map(Node::to_json);
        let labels = labels.as_ref().and_then(|labels| labels.as_object());
        let labels = labels
            .into_iter()
            .flatten()
            .map(|(key, value)| Requirement {
                key: key.clone(),
                operator: Operator::In,
                values: value.as_str().map(str::to_owned).into_iter().collect(),
            });
        let expressions = super::node::items(node.get("matchExpressions"));
        let expressions = expressions.map(|it| Requirement {
            key: text(it, "key").unwrap_or_default(),
            operator: match it.get("operator").and_then(Node::as_str) {
                Some("NotIn") => Operator::NotIn,
                Some("Exists") => Operator::Exists,
                Some("DoesNotExist") => Operator::DoesNotExist,
                _ => Operator::In,
            },
            values: texts(it.get("values")),
        });
        Self(labels.chain(expressions).collect())
    }

    /// Tells whether labels are selected.
    pub fn selects(&self, labels: &Labels) -> bool {
        self.0.iter().all(|it| {
            let value = labels.get(&it.key);
            let listed = value.is_some_and(|value| it.values.contains(value));
            match it.operator {
                Operator::In => listed,
                Operator::NotIn => !listed,
                Operator::Exists => value.is_some(),
                Operator::DoesNotExist => value.is_none(),
            }
        })
    }

    /// Tells whether everything is selected.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether the name of a namespace is enough to tell.
    pub fn needs_name_only(&self) -> bool {
        self.0.iter().all(|it| it.key == NAME_LABEL)
    }
}
