//! What names, ports and networks may look like, with the API server's words for those that do not.

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
    must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
    end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
    character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
    '[a-z]([-a-z0-9]*[a-z0-9])?')";
const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must \
    consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', \
    regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const QUALIFIED: &str = "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
    an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
    start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const VARIABLE: &str = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and \
    must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is \
    '[-._a-zA-Z][-._a-zA-Z0-9]*')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
    'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// What is wrong with a name.
pub type Wrong = Vec<String>;

/// A DNS-1123 label, such as a container's name.
pub fn label(name: &str) -> Wrong {
    wrong(name, 63, is_part(name), LABEL)
}

/// A DNS-1035 label, such as a Service's name.
pub fn label_1035(name: &str) -> Wrong {
    let good = name.starts_with(|c: char| c.is_ascii_lowercase()) && is_part(name);
    wrong(name, 63, good, LABEL_1035)
}

/// A DNS-1123 subdomain, such as most names.
pub fn subdomain(name: &str) -> Wrong {
    wrong(name, 253, is_subdomain(name), SUBDOMAIN)
}

/// A host with `*` as its first part.
pub fn wildcard(name: &str) -> Wrong {
    let good = name.strip_prefix("*.").is_some_and(is_subdomain);
    wrong(name, 253, good, WILDCARD)
}

/// A segment of a path, such as the name of a role.
pub fn path_segment(name: &str) -> Wrong {
    match name {
        "." | ".." => vec![format!("may not be '{name}'")],
        name => ['/', '%']
            .iter()
            .filter(|&&c| name.contains(c))
            .map(|c| format!("may not contain '{c}'"))
            .collect(),
    }
}

/// A key of labels and annotations, with an optional domain.
pub fn qualified(name: &str) -> Wrong {
    let mut wrong = Vec::new();
    let (domain, part) = match name.split_once('/') {
        None => (None, name),
        Some((_, rest)) if rest.contains('/') => return vec![QUALIFIED.to_owned()],
        Some((domain, part)) => (Some(domain), part),
    };
    match domain {
        Some("") => wrong.push("prefix part must be non-empty".to_owned()),
        Some(domain) => {
            wrong.extend(subdomain(domain).iter().map(|w| format!("prefix part {w}")));
        }
        None => {}
    }
    if part.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if part.len() > 63 {
        wrong.push("name part must be no more than 63 characters".to_owned());
    }
    if !is_name(part) {
        wrong.push(NAME_PART.to_owned());
    }
    wrong
}

/// The value of a label.
pub fn label_value(value: &str) -> Wrong {
    wrong(value, 63, value.is_empty() || is_name(value), VALUE)
}

/// The name of an environment variable.
pub fn variable(name: &str) -> Wrong {
    let good = !name.starts_with(|c: char| c.is_ascii_digit()) && is_key(name);
    let mut wrong = wrong(name, usize::MAX, good, VARIABLE);
    wrong.extend(dots(name));
    wrong
}

/// A key of a ConfigMap or Secret.
pub fn config_key(name: &str) -> Wrong {
    let mut wrong = wrong(name, 253, is_key(name), CONFIG_KEY);
    wrong.extend(dots(name));
    wrong
}

/// The name of a container's port.
pub fn port_name(name: &str) -> Wrong {
    let mut wrong = Vec::new();
    let mut unless = |good: bool, why: &str| {
        if !good {
            wrong.push(why.to_owned());
        }
    };
    let is_simple = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    unless(name.len() <= 15, "must be no more than 15 characters");
    unless(
        !name.is_empty() && name.chars().all(is_simple),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    unless(
        name.contains(|c: char| c.is_ascii_lowercase()),
        "must contain at least one letter or number (a-z, 0-9)",
    );
    unless(!name.contains("--"), "must not contain consecutive hyphens");
    unless(
        !name.starts_with('-') && !name.ends_with('-'),
        "must not begin or end with a hyphen",
    );
    wrong
}

/// A port's number.
pub fn port(number: i64) -> Wrong {
    range(number, 1, 65535)
}

/// A number between two others.
pub fn range(number: i64, least: i64, most: i64) -> Wrong {
    if (least..=most).contains(&number) {
        return Vec::new();
    }
    vec![format!("must be between {least} and {most}, inclusive")]
}

/// Whether it is a percentage, such as `25%`.
pub fn is_percent(text: &str) -> bool {
    text.strip_suffix('%')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether it is a DNS-1123 subdomain but for its length.
pub fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_part)
}

fn wrong(name: &str, most: usize, good: bool, why: &str) -> Wrong {
    let mut wrong = Vec::new();
    if name.len() > most {
        wrong.push(format!("must be no more than {most} characters"));
    }
    if !good {
        wrong.push(why.to_owned());
    }
    wrong
}

fn dots(name: &str) -> Option<String> {
    match name {
        "." | ".." => Some(format!("must not be '{name}'")),
        name if name.starts_with("..") => Some("must not start with '..'".to_owned()),
        _ => None,
    }
}

fn is_part(part: &str) -> bool {
    let within = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !part.is_empty() && part.chars().all(within) && !part.starts_with('-') && !part.ends_with('-')
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
        && is_key(name)
}

fn is_key(name: &str) -> bool {
    let within = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.chars().all(within)
}

/// A host name of an endpoint, which may end in a dot.
pub fn host(name: &str) -> Wrong {
    subdomain(name.strip_suffix('.').unwrap_or(name))
}

/// Whether it is a network, such as `10.0.0.0/8`.
pub fn is_network(text: &str) -> bool {
    network(text).is_some()
}

/// Whether a network is a part of another one, and not all of it.
pub fn is_within(part: &str, whole: &str) -> bool {
    let (Some((part, most)), Some((whole, least))) = (network(part), network(whole)) else {
        return false;
    };
    part.is_ipv4() == whole.is_ipv4() && most > least && masked(part, least) == masked(whole, least)
}

fn network(text: &str) -> Option<(std::net::IpAddr, u32)> {
    let (address, bits) = text.split_once('/')?;
    let address: std::net::IpAddr = address.parse().ok()?;
    let bits: u32 = bits.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    (bits <= most).then_some((address, bits))
}

/// The bits of an address that name its network.
fn masked(address: std::net::IpAddr, bits: u32) -> u128 {
    let (number, size) = match address {
        std::net::IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
        std::net::IpAddr::V6(address) => (u128::from(address), 128),
    };
    number.checked_shr(size - bits).unwrap_or(0)
}

/// Text in quotes, as Go quotes it.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
