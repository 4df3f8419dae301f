//! Kinds without a schema: misspelt ones, versions that are no more, and those that only the cluster knows.

use super::builtin::{builtin_scope, kinds_of, versions_of};
use super::suggest::nearest;
use crate::api::split_api_version;
use crate::load::metadata::key_position;
use crate::load::{Diagnostic, Document, Origin};

/// API versions that no server has had since 1.16, whose kinds live on in another group or version.
const REMOVED: [(&str, &str, &str); 7] = [
    ("apps/v1beta1", "", "apps/v1"),
    ("apps/v1beta2", "", "apps/v1"),
    ("extensions/v1beta1", "Deployment", "apps/v1"),
    ("extensions/v1beta1", "DaemonSet", "apps/v1"),
    ("extensions/v1beta1", "ReplicaSet", "apps/v1"),
    (
        "extensions/v1beta1",
        "NetworkPolicy",
        "networking.k8s.io/v1",
    ),
    ("extensions/v1beta1", "PodSecurityPolicy", "policy/v1beta1"),
];

/// Says why a document is not checked: an error where no API server can know the kind, else a warning.
pub(super) fn without_schema(document: &Document, defined: Vec<&str>) -> Diagnostic {
    let Document {
        origin,
        id,
        api_version,
        root,
    } = document;
    let at = |key: &str| Origin {
        file: origin.file.clone(),
        position: key_position(root, key),
    };
    let kind = id.group_kind.kind.as_str();
    let (group, _) = split_api_version(api_version);
    let removed = REMOVED
        .iter()
        .find(|(version, of, _)| api_version == version && (of.is_empty() || *of == kind));
    if let Some((_, _, now)) = removed {
        let message = format!("Kubernetes has no {api_version} any more");
        return Diagnostic::error_at(&at("apiVersion"), message)
            .with_hint(format!("{kind} is in `{now}`"));
    }
    if builtin_scope(&id.group_kind).is_none()
        && defined.is_empty()
        && let Some(near) = nearest(kind, kinds_of(group))
    {
        let message = format!("{api_version} has no kind `{kind}`");
        return Diagnostic::error_at(&at("kind"), message)
            .with_hint(format!("did you mean `{near}`?"));
    }
    let message = format!("not checked: no schema for {api_version} {kind}");
    let mut versions: Vec<&str> = versions_of(group, kind).collect();
    versions.extend(defined);
    versions.sort_unstable();
    let hint = if versions.is_empty() {
        "give the file of its CustomResourceDefinition with --schema".to_owned()
    } else {
        format!("it is known in: {}", versions.join(", "))
    };
    Diagnostic::warning_at(origin, message).with_hint(hint)
}
