//! Paths of the API.

use percent_encoding::percent_decode_str;

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `/healthz`, `/livez`, `/readyz` and what is below.
    Health,
    /// `/version`.
    Version,
    /// `/openapi/v2`.
    OpenApiV2,
    /// `/openapi/v3`, or a group version below it.
    OpenApiV3(Option<(String, String)>),
    /// `/api`.
    Legacy,
    /// `/apis`.
    Groups,
    /// `/apis/GROUP`.
    Group(String),
    /// `/api/v1` and `/apis/GROUP/VERSION`.
    Resources(String, String),
    /// Objects, or one of them.
    Objects(Place),
    /// Nothing.
    Nowhere,
}

/// Where objects are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// API group; empty for the core.
    pub group: String,
    /// Version.
    pub version: String,
    /// Namespace, if the path has one.
    pub namespace: Option<String>,
    /// Kind, as paths name it.
    pub plural: String,
    /// Name.
    pub name: Option<String>,
    /// What comes after the name.
    pub subresource: Option<String>,
}

/// Reads a path; segments are decoded one by one.
pub fn parse(path: &str) -> Route {
    let trimmed = path.trim_matches('/');
    let decoded: Vec<_> = trimmed
        .split('/')
        .map(|segment| percent_decode_str(segment).decode_utf8_lossy())
        .collect();
    let segments: Vec<&str> = decoded.iter().map(AsRef::as_ref).collect();
    if segments.iter().any(|segment| segment.is_empty()) {
        return Route::Nowhere;
    }
    match *segments.as_slice() {
        ["healthz" | "livez" | "readyz", ..] => Route::Health,
        ["version"] => Route::Version,
        ["openapi", "v2"] => Route::OpenApiV2,
        ["openapi", "v3"] => Route::OpenApiV3(None),
        ["openapi", "v3", "api", version] => Route::OpenApiV3(Some(pair("", version))),
        ["openapi", "v3", "apis", group, version] => Route::OpenApiV3(Some(pair(group, version))),
        ["api"] => Route::Legacy,
        ["apis"] => Route::Groups,
        ["apis", group] => Route::Group(group.to_owned()),
        ["api", version] => Route::Resources(String::new(), version.to_owned()),
        ["apis", group, version] => Route::Resources(group.to_owned(), version.to_owned()),
        ["api", version, ref rest @ ..] => objects("", version, rest),
        ["apis", group, version, ref rest @ ..] => objects(group, version, rest),
        _ => Route::Nowhere,
    }
}

fn pair(group: &str, version: &str) -> (String, String) {
    (group.to_owned(), version.to_owned())
}

fn objects(group: &str, version: &str, rest: &[&str]) -> Route {
    let (namespace, rest) = match rest {
        // These are of the namespace itself; everything else is in it.
        ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => (None, rest),
        ["namespaces", namespace, rest @ ..] => (Some((*namespace).to_owned()), rest),
        _ => (None, rest),
    };
    let (plural, name, below) = match rest {
        [] => ("namespaces", None, [].as_slice()),
        [plural] => (*plural, None, [].as_slice()),
        [plural, name, below @ ..] => (*plural, Some((*name).to_owned()), below),
    };
    Route::Objects(Place {
        group: group.to_owned(),
        version: version.to_owned(),
        namespace,
        plural: plural.to_owned(),
        name,
        subresource: (!below.is_empty()).then(|| below.join("/")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> String {
        match parse(path) {
            Route::Objects(place) => format!(
                "{}|{}|{}|{}|{}|{}",
                place.group,
                place.version,
                place.namespace.unwrap_or_default(),
                place.plural,
                place.name.unwrap_or_default(),
                place.subresource.unwrap_or_default()
            ),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn objects_are_found_in_and_out_of_namespaces() {
        for (path, expected) in [
            ("/api/v1/namespaces", "|v1||namespaces||"),
            ("/api/v1/namespaces/", "|v1||namespaces||"),
            ("/api/v1/namespaces/a", "|v1||namespaces|a|"),
            ("/api/v1/namespaces/a/status", "|v1||namespaces|a|status"),
            (
                "/api/v1/namespaces/a/finalize",
                "|v1||namespaces|a|finalize",
            ),
            ("/api/v1/namespaces/a/pods", "|v1|a|pods||"),
            ("/api/v1/namespaces/a/pods/b", "|v1|a|pods|b|"),
            ("/api/v1/namespaces/a/pods/b/log", "|v1|a|pods|b|log"),
            (
                "/api/v1/namespaces/a/pods/b/proxy/x/y",
                "|v1|a|pods|b|proxy/x/y",
            ),
            ("/api/v1/pods", "|v1||pods||"),
            ("/apis/apps/v1/deployments", "apps|v1||deployments||"),
            (
                "/apis/apps/v1/namespaces/a/deployments/b/scale",
                "apps|v1|a|deployments|b|scale",
            ),
            (
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa",
                "rbac.authorization.k8s.io|v1||clusterroles|system:a|",
            ),
            (
                "/apis/apps/v1/namespaces/a%2Fb/deployments",
                "apps|v1|a/b|deployments||",
            ),
        ] {
            assert_eq!(place(path), expected, "{path}");
        }
    }

    #[test]
    fn what_is_no_object_is_found_too() {
        for (path, expected) in [
            ("/readyz/ping", Route::Health),
            ("/version/", Route::Version),
            ("/api", Route::Legacy),
            ("/apis/", Route::Groups),
            ("/apis/apps", Route::Group("apps".into())),
            ("/api/v1", Route::Resources(String::new(), "v1".into())),
            (
                "/apis/apps/v1",
                Route::Resources("apps".into(), "v1".into()),
            ),
            ("/openapi/v3", Route::OpenApiV3(None)),
            (
                "/openapi/v3/apis/apps/v1",
                Route::OpenApiV3(Some(("apps".into(), "v1".into()))),
            ),
            (
                "/openapi/v3/api/v1",
                Route::OpenApiV3(Some((String::new(), "v1".into()))),
            ),
            ("/", Route::Nowhere),
            ("/api//v1/pods", Route::Nowhere),
            ("/metrics", Route::Nowhere),
        ] {
            assert_eq!(parse(path), expected, "{path}");
        }
    }
}
