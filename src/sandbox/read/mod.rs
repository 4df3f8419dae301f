//! Reading: one object, lists of them, and what happens to them.

mod fields;
mod follow;
mod labels;
mod list;
mod options;
mod page;
pub mod scale;

use std::sync::Arc;

use serde_json::Value;

use super::error::ApiError;
use super::request::Request;
use super::state::State;
use super::store::Key;
use super::types::{Kind, Origin};

pub use self::follow::{Event, Follow, Step};
pub use self::labels::Labels;
pub use self::list::{List, list};
pub use self::options::number;

/// What is selected by `labelSelector` and `fieldSelector`.
#[derive(Clone, Debug)]
pub struct Selection {
    labels: labels::Labels,
    fields: fields::Fields,
}

impl Selection {
    /// Reads the selectors of a request.
    ///
    /// # Errors
    /// 400 for what is no selector, and for fields that objects of the kind are not selected by.
    pub fn of(request: &Request) -> Result<Self, ApiError> {
        let text = |name| request.parameter(name).unwrap_or_default();
        let labels = labels::Labels::parse(text("labelSelector")).map_err(ApiError::bad_request)?;
        let fields = fields::Fields::parse(text("fieldSelector"), &request.kind)
            .map_err(ApiError::bad_request)?;
        Ok(Self { labels, fields })
    }

    /// Whether an object is one of them.
    pub fn matches(&self, object: &Value) -> bool {
        self.labels.matches(object) && self.fields.matches(object)
    }

    /// Whether all objects are.
    pub fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }
}

/// Reads one object, or one of its subresources.
///
/// # Errors
/// 404 when it is not there, 504 when a later version is asked for than there is.
pub fn get(state: &State, request: &Request) -> Result<Arc<Value>, ApiError> {
    options::wanted_version(state, request)?;
    let name = request.name.as_deref().unwrap_or_default();
    let object = state
        .store
        .get(&key(&request.kind, request.namespace.as_deref(), name));
    let scale = match request.subresource.as_deref() {
        Some("scale") => request.kind.scale.as_ref(),
        _ => None,
    };
    let object = object.ok_or_else(|| {
        let Kind { group, plural, .. } = &*request.kind;
        match scale {
            // Only these say so.
            Some(_) if matches!(&**plural, "deployments" | "replicasets") => {
                ApiError::not_found(group, &format!("{plural}/scale"), name)
            }
            _ => ApiError::not_found(group, plural, name),
        }
    })?;
    match scale {
        None => Ok(object.clone()),
        Some(scale) if request.kind.origin == Origin::BuiltIn => {
            Ok(Arc::new(scale::of(object, scale)))
        }
        Some(scale) => scale::of_custom(object, scale).map(Arc::new),
    }
}

fn key(kind: &Kind, namespace: Option<&str>, name: &str) -> Key {
    Key {
        resource: kind.resource().into(),
        namespace: namespace.unwrap_or_default().to_owned(),
        name: name.to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use crate::merge::{Node, Schema};
    use crate::types::{Kind, Origin};

    /// A kind with nothing but its names.
    pub fn kind(group: &str, plural: &str, kind: &str) -> Kind {
        let mut schema = Schema::default();
        let root = schema.add(Node::Any);
        Kind {
            group: group.to_owned(),
            version: "v1".to_owned(),
            kind: kind.to_owned(),
            list_kind: format!("{kind}List"),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            status: true,
            scale: None,
            generation: true,
            origin: Origin::BuiltIn,
            schema: Arc::new(schema),
            root,
            validation: None,
            columns: Vec::new(),
        }
    }
}
