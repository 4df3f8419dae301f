//! The kinds that are served: those of Kubernetes, from a generated table, and those that CustomResourceDefinitions add.

pub mod capture;
pub mod discovery;
pub mod generate;
mod kind;
pub mod openapi;
mod parts;
pub mod protobuf;
mod read;
mod registry;
pub mod table;
pub mod tables;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use super::merge::{Node, Schema};

pub use self::kind::{Column, Kind, Origin, Scale};
pub(crate) use self::read::zero;
pub use self::read::{Read, read};
pub use self::registry::Registry;

/// The table of Kubernetes' own kinds, which `types/generate` makes of an API server's answers.
const BUILT_IN: &[u8] = include_bytes!("built_in.json");

/// The kinds of Kubernetes itself.
pub fn built_in() -> Registry {
    static KINDS: LazyLock<Registry> =
        LazyLock::new(|| table::from_bytes(BUILT_IN).unwrap_or_default());
    KINDS.clone()
}

/// A kind of which nothing is known but its name: any object is good, and is taken as one without parts that are keyed.
pub fn assumed(api_version: &str, kind: &str) -> Kind {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let singular = kind.to_lowercase();
    let mut schema = Schema::default();
    let root = schema.add(Node::Any);
    Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        list_kind: format!("{kind}List"),
        plural: plural(&singular),
        singular,
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        status: false,
        scale: None,
        generation: true,
        origin: Origin::Assumed,
        schema: Arc::new(schema),
        root,
        validation: None,
        columns: Vec::new(),
    }
}

/// The plural of a word in English, which is what tools make of a kind's name.
fn plural(singular: &str) -> String {
    let stem = singular.strip_suffix('y');
    match stem.filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u'])) {
        Some(stem) => format!("{stem}ies"),
        None if singular.ends_with(['s', 'x']) || singular.ends_with("ch") => {
            format!("{singular}es")
        }
        None => format!("{singular}s"),
    }
}
