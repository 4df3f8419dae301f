//! What somebody wants to do, in the words of RBAC.

use crate::sandbox::error::{ApiError, Details};
use crate::sandbox::request::{Request, User};

/// A deed that needs a right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes<'a> {
    /// Such as `get`.
    pub verb: &'a str,
    /// What it is done to.
    pub target: Target<'a>,
}

/// What a deed is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// Objects. Empty text stands for what is not said.
    Resource {
        /// API group.
        group: &'a str,
        /// Plural.
        resource: &'a str,
        /// Such as `status`.
        subresource: &'a str,
        /// Namespace; empty for all of them, and for kinds without.
        namespace: &'a str,
        /// Name; empty for all of them, and for new ones.
        name: &'a str,
    },
    /// A path that is about no objects, such as `/version`.
    Path(&'a str),
}

impl<'a> Attributes<'a> {
    /// Those of a request. A selector of one name asks for that name alone.
    pub fn of(request: &'a Request) -> Self {
        let group = request.kind.group.as_str();
        let resource = request.kind.plural.as_str();
        let selected = || {
            let selector = request.parameter("fieldSelector")?;
            let name = selector.strip_prefix("metadata.name=")?;
            Some(name.trim_start_matches('=')).filter(|name| !name.contains(','))
        };
        let name = request
            .name
            .as_deref()
            .or_else(selected)
            .unwrap_or_default();
        let namespace = match (&request.namespace, group, resource) {
            (Some(namespace), ..) => namespace.as_str(),
            // A namespace is in itself.
            (None, "", "namespaces") => request.name.as_deref().unwrap_or_default(),
            (None, ..) => "",
        };
        Self {
            verb: request.verb.word(),
            target: Target::Resource {
                group,
                resource,
                subresource: request.subresource.as_deref().unwrap_or_default(),
                namespace,
                name,
            },
        }
    }

    /// The refusal of what somebody has no right for.
    pub fn forbidden(&self, user: &User) -> ApiError {
        let (who, verb) = (&user.name, self.verb);
        match self.target {
            Target::Path(path) => {
                let message = format!("forbidden: User {who:?} cannot {verb} path {path:?}");
                let mut error = ApiError::new(403, "Forbidden", message);
                error.details = Some(Box::new(Details::default()));
                error
            }
            Target::Resource {
                group,
                resource,
                subresource,
                namespace,
                name,
            } => {
                let full = full(resource, subresource);
                let place = match namespace {
                    "" => "at the cluster scope".to_owned(),
                    namespace => format!("in the namespace {namespace:?}"),
                };
                let why = format!(
                    "User {who:?} cannot {verb} resource {full:?} in API group {group:?} {place}"
                );
                let mut error = ApiError::forbidden(group, resource, name, &why);
                if name.is_empty() {
                    let kind = match group {
                        "" => resource.to_owned(),
                        group => format!("{resource}.{group}"),
                    };
                    error.message = format!("{kind} is forbidden: {why}");
                }
                error
            }
        }
    }
}

/// A resource with its subresource, as roles have it.
pub(super) fn full(resource: &str, subresource: &str) -> String {
    match subresource {
        "" => resource.to_owned(),
        subresource => format!("{resource}/{subresource}"),
    }
}
