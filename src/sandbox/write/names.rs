//! What names, labels and annotations may look like.

/// Longest name of a subdomain.
const SUBDOMAIN: usize = 253;

/// Longest name of a label in the sense of DNS.
const LABEL: usize = 63;

const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const LABEL_1035_RULE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const PART_RULE: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const QUALIFIED_RULE: &str = "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";

const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

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
            Self::Subdomain => sized(name, SUBDOMAIN, subdomain(name), SUBDOMAIN_RULE),
            Self::Label => sized(name, LABEL, label(name), LABEL_RULE),
            Self::Label1035 => {
                let good = label(name) && name.starts_with(|c: char| c.is_ascii_lowercase());
                sized(name, LABEL, good, LABEL_1035_RULE)
            }
            Self::Segment => segment(name, prefix),
        }
    }
}

fn sized(name: &str, most: usize, good: bool, rule: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > most {
        problems.push(format!("must be no more than {most} characters"));
    }
    if !good {
        problems.push(rule.to_owned());
    }
    problems
}

fn segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ['/', '%']
        .into_iter()
        .filter(|&bad| name.contains(bad))
        .map(|bad| format!("may not contain '{bad}'"))
        .collect()
}

fn subdomain(name: &str) -> bool {
    name.split('.').all(label)
}

fn label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && !name.starts_with('-') && !name.ends_with('-') && name.chars().all(inner)
}

fn part(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = |c: char| c.is_ascii_alphanumeric();
    name.starts_with(end) && name.ends_with(end) && name.chars().all(inner)
}

/// What is wrong with a qualified name, such as a label's key.
pub(super) fn qualified(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let (prefix, part_of_it) = match name.split_once('/') {
        None => (None, name),
        Some((_, rest)) if rest.contains('/') => return vec![QUALIFIED_RULE.to_owned()],
        Some((prefix, rest)) => (Some(prefix), rest),
    };
    match prefix {
        None => {}
        Some("") => problems.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            let found = sized(prefix, SUBDOMAIN, subdomain(prefix), SUBDOMAIN_RULE);
            problems.extend(
                found
                    .into_iter()
                    .map(|problem| format!("prefix part {problem}")),
            );
        }
    }
    if part_of_it.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if part_of_it.len() > LABEL {
        problems.push(format!("name part must be no more than {LABEL} characters"));
    }
    if !part(part_of_it) {
        problems.push(PART_RULE.to_owned());
    }
    problems
}

/// What is wrong with a label's value.
pub(super) fn value(value: &str) -> Vec<String> {
    sized(value, LABEL, value.is_empty() || part(value), VALUE_RULE)
}
