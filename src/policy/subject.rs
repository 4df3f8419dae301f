//! What is judged, and what is known around it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::selector::Labels;
use crate::api::ObjectId;
use crate::load::Origin;
use crate::plan::is_secret;

/// An object that is judged.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Which object; the namespace is filled in.
    pub id: &'a ObjectId,
    /// Its `apiVersion`.
    pub api_version: &'a str,
    /// Its resource, as rules name it: `pods`.
    pub resource: String,
    /// Where the source has it, if it does.
    pub origin: Option<Origin>,
    /// The object as it is to be.
    pub object: &'a Value,
    /// The object as it is.
    pub old: Old,
}

/// An object as it is in the cluster.
#[derive(Clone, Debug)]
pub enum Old {
    /// It is not there, or there is no cluster to ask.
    Absent,
    /// It is there.
    Present {
        /// Its labels.
        labels: Labels,
        /// The whole of it; absent when it may not be read or nobody needs it.
        object: Option<Arc<Value>>,
    },
}

impl Subject<'_> {
    /// The operation that a write of it would be.
    pub fn operation(&self) -> &'static str {
        match self.old {
            Old::Absent => "CREATE",
            Old::Present { .. } => "UPDATE",
        }
    }

    /// Tells whether its values must not be shown.
    pub fn is_secret(&self) -> bool {
        is_secret(self.object)
    }
}

/// What is known around the objects.
#[derive(Clone, Debug, Default)]
pub struct Surroundings<'a> {
    /// Namespaces as objects, by name.
    pub namespaces: BTreeMap<String, Value>,
    /// Objects that may be parameters, beside those that stand among the policies.
    pub params: Vec<(&'a ObjectId, &'a Value)>,
    /// Who would make the requests, when that is known.
    pub user: Option<User>,
}

/// Who makes a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Name.
    pub name: String,
    /// Groups.
    pub groups: Vec<String>,
}

impl User {
    /// A ServiceAccount, with the groups that the API server gives it.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".to_owned(),
            ],
        }
    }
}

/// The labels of an object.
pub fn labels_of(object: &Value) -> Labels {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    labels
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// The resource of a kind: as it is known, or else as the API server's own tools guess it from the kind.
pub fn resource_of(kind: &str, known: Option<&str>) -> String {
    if let Some(known) = known {
        return known.to_owned();
    }
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    }
}
