//! What somebody wants to do, in the words of RBAC.

use crate::error::{ApiError, Details};
use crate::request::{Request, User};

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

impl<'a> Target<'a> {
    /// Objects, as a path and a selector of fields tell of them. A selector of one name asks for that name alone.
    pub fn objects(
        group: &'a str,
        resource: &'a str,
        subresource: Option<&'a str>,
        namespace: Option<&'a str>,
        name: Option<&'a str>,
        selector: Option<&'a str>,
    ) -> Self {
        let selected = || {
            let name = selector?.strip_prefix("metadata.name=")?;
            Some(name.trim_start_matches('=')).filter(|name| !name.contains(','))
        };
        let namespace = match (group, resource) {
            // A namespace is in itself.
            ("", "namespaces") => namespace.or(name),
            _ => namespace,
        };
        Self::Resource {
            group,
            resource,
            subresource: subresource.unwrap_or_default(),
            namespace: namespace.unwrap_or_default(),
            name: name.or_else(selected).unwrap_or_default(),
        }
    }
}

impl<'a> Attributes<'a> {
    /// Those of a request.
    pub fn of(request: &'a Request) -> Self {
        Self {
            verb: request.verb.word(),
            target: Target::objects(
                &request.kind.group,
                &request.kind.plural,
                request.subresource.as_deref(),
                request.namespace.as_deref(),
                request.name.as_deref(),
                request.parameter("fieldSelector"),
            ),
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
