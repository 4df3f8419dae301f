//! What names may look like, with the API server's words for those that do not.

const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
    character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
    '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
    must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// What is wrong with a DNS-1035 label.
pub(super) fn label(name: &str) -> Option<String> {
    let mut wrong = Vec::new();
    if name.len() > 63 {
        wrong.push("must be no more than 63 characters");
    }
    if !(name.starts_with(|c: char| c.is_ascii_lowercase()) && is_part(name)) {
        wrong.push(LABEL);
    }
    (!wrong.is_empty()).then(|| wrong.join(","))
}

/// What is wrong with a DNS-1123 subdomain.
pub(super) fn subdomain(name: &str) -> Option<String> {
    let mut wrong = Vec::new();
    if name.len() > 253 {
        wrong.push("must be no more than 253 characters");
    }
    if !name.split('.').all(is_part) {
        wrong.push(SUBDOMAIN);
    }
    (!wrong.is_empty()).then(|| wrong.join(","))
}

fn is_part(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with('-')
        && !part.ends_with('-')
        && part
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}
