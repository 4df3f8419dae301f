//! What is below an object.

use http::Method;

use super::target::not_allowed;
use crate::error::ApiError;
use crate::types::Kind;

/// Subresources of single kinds that are written to.
const SERVED: &[(&str, &str, &str)] = &[
    ("namespaces", "finalize", "PUT"),
    ("pods", "binding", "POST"),
    ("pods", "eviction", "POST"),
    ("serviceaccounts", "token", "POST"),
];

/// What takes a kubelet, or something else that is not here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("pods", "attach"),
    ("pods", "ephemeralcontainers"),
    ("pods", "exec"),
    ("pods", "log"),
    ("pods", "portforward"),
    ("pods", "proxy"),
    ("pods", "resize"),
    ("services", "proxy"),
    ("nodes", "proxy"),
    ("certificatesigningrequests.certificates.k8s.io", "approval"),
];

/// Whether a kind has a subresource that takes a method.
///
/// # Errors
/// 404, 405, or 501 for what only a real cluster has.
pub fn check(kind: &Kind, name: &str, method: &Method) -> Result<(), ApiError> {
    let is_there = match name {
        "status" => kind.status,
        "scale" => kind.scale.is_some(),
        _ => false,
    };
    if is_there {
        let is_good = matches!(method.as_str(), "GET" | "PUT" | "PATCH");
        return is_good.then_some(()).ok_or_else(not_allowed);
    }
    let resource = kind.resource();
    let served = SERVED
        .iter()
        .find(|(of, served, _)| *of == resource && *served == name);
    if let Some((_, _, with)) = served {
        return (method.as_str() == *with)
            .then_some(())
            .ok_or_else(not_allowed);
    }
    let first = name.split('/').next().unwrap_or_default();
    if ELSEWHERE.contains(&(resource.as_str(), first)) {
        return Err(ApiError::not_implemented(&format!("{resource}/{first}")));
    }
    Err(ApiError::no_such_path())
}

/// Whether objects of a kind are questions, which are answered and not kept.
pub fn is_only_created(kind: &Kind) -> bool {
    matches!(
        kind.group.as_str(),
        "authorization.k8s.io" | "authentication.k8s.io"
    ) || kind.resource() == "bindings"
}
