//! Which number stands for which field.

use std::collections::HashMap;
use std::sync::LazyLock;

const NUMBERS: &str = include_str!("numbers.txt");

/// What is under a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A field by its name in JSON.
    Field(&'static str),
    /// A message of the type of this short name, whose fields are the owner's.
    Inline(&'static str),
}

type Fields = Vec<(u32, Place)>;

/// The fields of a type; none for one that is not known.
pub fn fields_of(name: &str) -> &'static [(u32, Place)] {
    static TYPES: LazyLock<HashMap<&'static str, Fields>> =
        LazyLock::new(|| NUMBERS.lines().filter_map(parse).collect());
    let short = short(name);
    let find = |name: &str| TYPES.get(name).map(Vec::as_slice);
    find(short)
        .or_else(|| find(&beta_of(short)?))
        .unwrap_or_default()
}

fn parse(line: &'static str) -> Option<(&'static str, Fields)> {
    let (name, fields) = line.split_once(": ").filter(|_| !line.starts_with('#'))?;
    let mut number = 0;
    let mut known = Vec::new();
    for word in fields.split(' ') {
        let field = match word.split_once('=') {
            Some((given, field)) => {
                number = given.parse().ok()?;
                field
            }
            None => {
                number += 1;
                word
            }
        };
        let place = match field.strip_prefix('+') {
            Some(inner) => Place::Inline(inner),
            None => Place::Field(field),
        };
        known.push((number, place));
    }
    Some((name, known))
}

/// `core.v1.PodSpec` of `io.k8s.api.core.v1.PodSpec`.
fn short(name: &str) -> &str {
    let packages = [
        "io.k8s.apimachinery.pkg.apis.",
        "io.k8s.apiextensions-apiserver.pkg.apis.",
        "io.k8s.kube-aggregator.pkg.apis.",
        "io.k8s.api.",
    ];
    let found = packages
        .iter()
        .find_map(|package| name.strip_prefix(package));
    found.unwrap_or(name)
}

/// The type in the beta that a version has been.
fn beta_of(short: &str) -> Option<String> {
    let mut parts = short.split('.');
    let (package, version, name) = (parts.next()?, parts.next()?, parts.next()?);
    let beta = match (package, version) {
        ("autoscaling", "v2") => "v2beta2",
        (_, "v1") => "v1beta1",
        _ => return None,
    };
    Some(format!("{package}.{beta}.{name}"))
}
