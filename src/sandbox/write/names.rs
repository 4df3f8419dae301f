//! What the names of objects may look like, by their kinds.

use crate::words;

/// A rule for the names of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// DNS-1123 subdomain, as most kinds.
    Subdomain,
    /// DNS-1123 label.
    Label,
    /// DNS-1035 label.
    Label1035,
    /// Anything that a path can hold.
    Segment,
}

impl Rule {
    /// The rule of a kind of Kubernetes.
    pub(super) fn of(resource: &str) -> Self {
        match resource {
            "namespaces" => Self::Label,
            "services" => Self::Label1035,
            "certificatesigningrequests.certificates.k8s.io"
            | "apiservices.apiregistration.k8s.io"
            | "clusterrolebindings.rbac.authorization.k8s.io"
            | "clusterroles.rbac.authorization.k8s.io"
            | "poddisruptionbudgets.policy"
            | "rolebindings.rbac.authorization.k8s.io"
            | "roles.rbac.authorization.k8s.io" => Self::Segment,
            _ => Self::Subdomain,
        }
    }

    /// What is wrong with a name, or with the beginning of one that is generated (`prefix`).
    pub(super) fn problems(self, name: &str, prefix: bool) -> Vec<String> {
        // The end of a beginning need not be an end: characters follow.
        let masked = match name.strip_suffix('-') {
            Some(start) if prefix => format!("{start}a"),
            _ => name.to_owned(),
        };
        let name = masked.as_str();
        match self {
            Self::Subdomain => words::subdomain(name),
            Self::Label => words::label(name),
            Self::Label1035 => words::label_1035(name),
            Self::Segment if prefix && matches!(name, "." | "..") => Vec::new(),
            Self::Segment => words::path_segment(name),
        }
    }
}
