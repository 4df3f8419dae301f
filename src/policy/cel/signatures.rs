//! The functions that the API server has.

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `f(x)`, or `prefix.f(x)`.
    Global,
    /// `x.f()`.
    Method,
}

use Form::{Global, Method};

/// How many arguments a function takes.
#[derive(Clone, Copy, Debug)]
pub struct Arity(usize, usize);

impl Arity {
    /// Checks a number of arguments.
    ///
    /// # Errors
    /// How many there ought to be.
    pub fn check(self, args: usize) -> Result<(), String> {
        let Self(least, most) = self;
        if (least..=most).contains(&args) {
            return Ok(());
        }
        let wanted = if least == most {
            least.to_string()
        } else {
            format!("{least} to {most}")
        };
        Err(format!(
            "a function gets {args} arguments, and takes {wanted}"
        ))
    }
}

/// Functions by name and form, with the least and the most arguments beside the receiver.
pub(super) const FUNCTIONS: &[(&str, Form, usize, usize)] = &[
    // Standard definitions of the language.
    ("size", Global, 1, 1),
    ("size", Method, 0, 0),
    ("type", Global, 1, 1),
    ("dyn", Global, 1, 1),
    ("bool", Global, 1, 1),
    ("bytes", Global, 1, 1),
    ("double", Global, 1, 1),
    ("int", Global, 1, 1),
    ("string", Global, 1, 1),
    ("uint", Global, 1, 1),
    ("duration", Global, 1, 1),
    ("timestamp", Global, 1, 1),
    ("matches", Global, 2, 2),
    ("matches", Method, 1, 1),
    ("contains", Method, 1, 1),
    ("startsWith", Method, 1, 1),
    ("endsWith", Method, 1, 1),
    ("getDate", Method, 0, 0),
    ("getDayOfMonth", Method, 0, 0),
    ("getDayOfWeek", Method, 0, 0),
    ("getDayOfYear", Method, 0, 0),
    ("getFullYear", Method, 0, 0),
    ("getHours", Method, 0, 0),
    ("getMilliseconds", Method, 0, 0),
    ("getMinutes", Method, 0, 0),
    ("getMonth", Method, 0, 0),
    ("getSeconds", Method, 0, 0),
    // Extended strings.
    ("charAt", Method, 1, 1),
    ("format", Method, 1, 1),
    ("indexOf", Method, 1, 2),
    ("join", Method, 0, 1),
    ("lastIndexOf", Method, 1, 2),
    ("lowerAscii", Method, 0, 0),
    ("replace", Method, 2, 3),
    ("split", Method, 1, 2),
    ("strings.quote", Global, 1, 1),
    ("substring", Method, 1, 2),
    ("trim", Method, 0, 0),
    ("upperAscii", Method, 0, 0),
    // Sets.
    ("sets.contains", Global, 2, 2),
    ("sets.equivalent", Global, 2, 2),
    ("sets.intersects", Global, 2, 2),
    // Optionals.
    ("optional.none", Global, 0, 0),
    ("optional.of", Global, 1, 1),
    ("optional.ofNonZeroValue", Global, 1, 1),
    ("hasValue", Method, 0, 0),
    ("or", Method, 1, 1),
    ("orValue", Method, 1, 1),
    ("value", Method, 0, 0),
    // Kubernetes: lists.
    ("isSorted", Method, 0, 0),
    ("max", Method, 0, 0),
    ("min", Method, 0, 0),
    ("sum", Method, 0, 0),
    // Kubernetes: regular expressions.
    ("find", Method, 1, 1),
    ("findAll", Method, 1, 2),
    // Kubernetes: URLs.
    ("isURL", Global, 1, 1),
    ("url", Global, 1, 1),
    ("getEscapedPath", Method, 0, 0),
    ("getHost", Method, 0, 0),
    ("getHostname", Method, 0, 0),
    ("getPort", Method, 0, 0),
    ("getQuery", Method, 0, 0),
    ("getScheme", Method, 0, 0),
    // Kubernetes: addresses.
    ("ip", Global, 1, 1),
    ("ip.isCanonical", Global, 1, 1),
    ("isIP", Global, 1, 1),
    ("family", Method, 0, 0),
    ("isGlobalUnicast", Method, 0, 0),
    ("isLinkLocalMulticast", Method, 0, 0),
    ("isLinkLocalUnicast", Method, 0, 0),
    ("isLoopback", Method, 0, 0),
    ("isUnspecified", Method, 0, 0),
    ("cidr", Global, 1, 1),
    ("isCIDR", Global, 1, 1),
    ("containsCIDR", Method, 1, 1),
    ("containsIP", Method, 1, 1),
    ("ip", Method, 0, 0),
    ("masked", Method, 0, 0),
    ("prefixLength", Method, 0, 0),
    // Kubernetes: quantities.
    ("isQuantity", Global, 1, 1),
    ("quantity", Global, 1, 1),
    ("add", Method, 1, 1),
    ("asApproximateFloat", Method, 0, 0),
    ("asInteger", Method, 0, 0),
    ("compareTo", Method, 1, 1),
    ("isGreaterThan", Method, 1, 1),
    ("isInteger", Method, 0, 0),
    ("isLessThan", Method, 1, 1),
    ("sign", Method, 0, 0),
    ("sub", Method, 1, 1),
    // Kubernetes: semantic versions.
    ("isSemver", Global, 1, 2),
    ("semver", Global, 1, 2),
    ("major", Method, 0, 0),
    ("minor", Method, 0, 0),
    ("patch", Method, 0, 0),
    // Kubernetes: the authorizer, which only the API server has; nothing is ever computed for these.
    ("allowed", Method, 0, 0),
    ("check", Method, 1, 1),
    ("error", Method, 0, 0),
    ("errored", Method, 0, 0),
    ("fieldSelector", Method, 1, 1),
    ("group", Method, 1, 1),
    ("labelSelector", Method, 1, 1),
    ("name", Method, 1, 1),
    ("namespace", Method, 1, 1),
    ("path", Method, 1, 1),
    ("reason", Method, 0, 0),
    ("resource", Method, 1, 1),
    ("serviceAccount", Method, 2, 2),
    ("subresource", Method, 1, 1),
    // Kubernetes: named formats.
    ("format.byte", Global, 0, 0),
    ("format.date", Global, 0, 0),
    ("format.datetime", Global, 0, 0),
    ("format.dns1035Label", Global, 0, 0),
    ("format.dns1035LabelPrefix", Global, 0, 0),
    ("format.dns1123Label", Global, 0, 0),
    ("format.dns1123LabelPrefix", Global, 0, 0),
    ("format.dns1123Subdomain", Global, 0, 0),
    ("format.dns1123SubdomainPrefix", Global, 0, 0),
    ("format.labelValue", Global, 0, 0),
    ("format.named", Global, 1, 1),
    ("format.qualifiedName", Global, 0, 0),
    ("format.uri", Global, 0, 0),
    ("format.uuid", Global, 0, 0),
    ("validate", Method, 1, 1),
];

/// How many arguments a function takes, if there is one.
pub fn arity(name: &str, form: Form) -> Option<Arity> {
    let is_it =
        |(own, own_form, ..): &&(&str, Form, usize, usize)| *own == name && *own_form == form;
    FUNCTIONS
        .iter()
        .find(is_it)
        .map(|(_, _, least, most)| Arity(*least, *most))
}
