//! What names, labels and keys may be made of (`k8s.io/apimachinery/pkg/util/validation`). Each function says what a text
//! would have to be, or nothing when it is that.

use crate::load::is_label;

/// What is wrong, in words that follow the name of the value: `must …`.
pub(super) type Fault = Option<&'static str>;

/// A DNS label, as RFC 1123 has it.
pub(super) fn label(text: &str) -> Fault {
    let must = "must be lower-case letters, digits and dashes, up to 63, with a letter or digit at both ends";
    (!is_label(text)).then_some(must)
}

/// A DNS label, as RFC 1035 has it: the names of Services.
pub(super) fn label_1035(text: &str) -> Fault {
    let must = "must be lower-case letters, digits and dashes, up to 63, and begin with a letter";
    (!is_label(text) || text.starts_with(|c: char| c.is_ascii_digit())).then_some(must)
}

/// A DNS name: the names of most objects.
pub(super) fn subdomain(text: &str) -> Fault {
    let must = "must be lower-case letters, digits, dashes and dots, up to 253, with a letter or digit at both ends of each part";
    // Its parts may be longer than labels are.
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let part = |part: &str| {
        let ends = part.starts_with('-') || part.ends_with('-');
        !part.is_empty() && part.chars().all(inner) && !ends
    };
    (text.len() > 253 || !text.split('.').all(part)).then_some(must)
}

/// A domain, with or without a first part `*`: the hosts of an Ingress.
pub(super) fn host(text: &str) -> Fault {
    if text.parse::<core::net::IpAddr>().is_ok() {
        return Some("must be a name, not an address");
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let must = "must be a lower-case DNS name, whose first part may be `*`";
    subdomain(name).map(|_| must)
}

/// A label's value.
pub(super) fn label_value(text: &str) -> Fault {
    if text.len() > 63 {
        return Some("must have no more than 63 characters");
    }
    let must = "must be letters, digits, `-`, `_` and `.`, with a letter or digit at both ends";
    (!text.is_empty() && !is_name(text)).then_some(must)
}

/// A label's key, or an annotation's, or that of a taint: a name, perhaps after a domain and `/`.
pub(super) fn qualified(text: &str) -> Fault {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if name.contains('/') {
        return Some("must have no more than one `/`");
    }
    if prefix.is_some_and(|prefix| subdomain(prefix).is_some()) {
        return Some("must have a lower-case DNS name before the `/`");
    }
    if name.is_empty() {
        return Some("must have a name, after the `/` if there is one");
    }
    if name.len() > 63 {
        return Some("must have no more than 63 characters after the `/` if there is one");
    }
    let must = "must be letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, perhaps after a domain and `/`";
    (!is_name(name)).then_some(must)
}

/// Letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
fn is_name(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = |c: char| c.is_ascii_alphanumeric();
    text.chars().all(inner) && text.starts_with(end) && text.ends_with(end)
}

/// The name of a container's port (IANA_SVC_NAME of RFC 6335).
pub(super) fn port_name(text: &str) -> Fault {
    if text.len() > 15 {
        return Some("must have no more than 15 characters");
    }
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let sound = text.chars().all(inner)
        && text.contains(|c: char| c.is_ascii_lowercase())
        && !text.contains("--")
        && !text.starts_with('-')
        && !text.ends_with('-');
    let must = "must be lower-case letters, digits and single dashes within, and have a letter";
    (!sound).then_some(must)
}

/// A key of a ConfigMap or Secret, which becomes the name of a file.
pub(super) fn config_key(text: &str) -> Fault {
    if text.is_empty() {
        return Some("must not be empty");
    }
    if text.len() > 253 {
        return Some("must have no more than 253 characters");
    }
    if text == "." || text.starts_with("..") {
        return Some("must not be `.` nor begin with `..`");
    }
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!text.chars().all(inner)).then_some("must be letters, digits, `-`, `_` and `.`")
}

/// The name of an environment variable. Kubernetes takes almost anything since 1.32; before, no more than this.
pub(super) fn variable(text: &str) -> Fault {
    if text.is_empty()
        || text.contains('=')
        || !text.chars().all(|c| c.is_ascii_graphic() || c == ' ')
    {
        return Some("must be printable ASCII without `=`");
    }
    None
}

/// Whether Kubernetes before 1.32 takes a text for the name of an environment variable as well.
pub(super) fn is_old_variable(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.chars().all(inner)
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text != "."
        && !text.starts_with("..")
}

/// A path below a folder.
pub(super) fn inner_path(text: &str) -> Fault {
    if text.starts_with('/') {
        return Some("must be a relative path");
    }
    text.split('/')
        .any(|part| part == "..")
        .then_some("must not have `..`")
}

/// A path of the node.
pub(super) fn no_steps_back(text: &str) -> Fault {
    text.split('/')
        .any(|part| part == "..")
        .then_some("must not have `..`")
}

/// A segment of a path: the names of roles.
pub(super) fn path_segment(text: &str) -> Fault {
    let bad = matches!(text, "." | "..") || text.contains(['/', '%']);
    bad.then_some("must not have `/` or `%` in it")
}

/// The name of an HTTP header.
pub(super) fn header(text: &str) -> Fault {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (!text.chars().all(inner)).then_some("must be letters, digits and dashes")
}

/// The name of a kernel parameter.
pub(super) fn sysctl(text: &str) -> Fault {
    let inner = |c: char| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | '/')
    };
    (!text.chars().all(inner)).then_some("must be lower-case letters, digits, `-`, `_` and `.`")
}

/// What a variable may have of its pod.
pub(super) fn pod_field(text: &str) -> Fault {
    let fields = [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let keyed = ["metadata.labels['", "metadata.annotations['"];
    let known = fields.contains(&text)
        || keyed
            .iter()
            .any(|keyed| text.starts_with(keyed) && text.ends_with("']"));
    let must = "must be `metadata.name`, `metadata.namespace`, `metadata.uid`, `metadata.labels['…']`, `metadata.annotations['…']`, `spec.nodeName`, `spec.serviceAccountName`, `status.hostIP` or `status.podIP`";
    (!known).then_some(must)
}

/// What a variable may have of its container's resources.
pub(super) fn resource_field(text: &str) -> Fault {
    let name = text
        .strip_prefix("limits.")
        .or(text.strip_prefix("requests."));
    let known = name.is_some_and(|name| {
        matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-")
    });
    (!known)
        .then_some("must be `limits.` or `requests.` with `cpu`, `memory` or `ephemeral-storage`")
}

/// An address.
pub(super) fn address(text: &str) -> Fault {
    let must = "must be an IP address";
    text.parse::<core::net::IpAddr>().is_err().then_some(must)
}

/// A network: an address and how many of its bits count.
pub(super) fn network(text: &str) -> Fault {
    let parsed = text.split_once('/').and_then(|(address, bits)| {
        let address: core::net::IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        bits.parse::<u8>().ok().filter(|bits| *bits <= most)
    });
    parsed
        .is_none()
        .then_some("must be a network such as `10.0.0.0/8`")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check, texts that pass, texts that do not.
    type Case = (
        fn(&str) -> Fault,
        &'static [&'static str],
        &'static [&'static str],
    );

    #[test]
    fn texts_are_judged_as_the_api_does() {
        let cases: [Case; 16] = [
            (
                label,
                &["a", "a-1", "1"],
                &["", "-a", "a-", "A", "a.b", "a_b"],
            ),
            (label_1035, &["a", "a-1"], &["1a", "", "A"]),
            (
                subdomain,
                &["a.b", "1.2", "a"],
                &["a..b", ".a", "a_b", "A", "", "a-.b"],
            ),
            (
                host,
                &["a.b", "*.a.b"],
                &["1.2.3.4", "*.", "a.*.b", "A.b", "*"],
            ),
            (
                label_value,
                &["", "a", "A_1.b-c"],
                &["-a", "a b", "a/b", "ä"],
            ),
            (
                qualified,
                &["a", "x.io/a", "A_b"],
                &["", "/a", "x.io/", "a/b/c", "X.io/a", "a b", "-a"],
            ),
            (
                port_name,
                &["http", "a1", "h-1"],
                &["", "1", "a--b", "-a", "HTTP", "sixteen-letters-"],
            ),
            (
                config_key,
                &["a.b", ".a", "_"],
                &["", ".", "..", "..a", "a/b", "a b"],
            ),
            (variable, &["A", "a.b", "1a"], &["", "A=B", "é"]),
            (inner_path, &["a/b", "a..b"], &["/a", "a/../b", ".."]),
            (
                network,
                &["10.0.0.0/8", "::/0"],
                &["10.0.0.0", "10.0.0.0/33", "a/8"],
            ),
            (path_segment, &["a:b", "A b"], &["a/b", "..", "%"]),
            (header, &["X-A"], &["a b", "a:"]),
            (sysctl, &["net.core/x"], &["a b", "A"]),
            (
                pod_field,
                &["metadata.name", "metadata.labels['a']"],
                &["metadata.nam", "metadata.labels", "spec.x"],
            ),
            (resource_field, &["limits.cpu"], &["cpu", "limits.disk"]),
        ];
        for (check, good, bad) in cases {
            for text in good {
                assert_eq!(check(text), None, "{text:?}");
            }
            for text in bad {
                assert!(check(text).is_some(), "{text:?}");
            }
        }
        assert!(is_old_variable("A.b-1") && !is_old_variable("1A") && !is_old_variable("a b"));
    }
}
