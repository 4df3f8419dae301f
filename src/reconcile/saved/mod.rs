//! A cluster as far as the plan of one set goes: saved to a file, and put in the place of the cluster later.

mod deploy;
mod file;
mod secrets;
mod stand_in;
mod take;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::deploy::deploy;
pub use self::file::SavedError;
use self::secrets::Salt;
pub use self::stand_in::StandIn;
pub use self::take::save;
use crate::cluster::Asked;

/// What a plan of one set needs of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Saved {
    /// Namespace of the Sync.
    pub namespace: String,
    /// Name of the Sync.
    pub name: String,
    /// Namespace of objects that name none, where nothing else is said.
    pub default_namespace: String,
    /// The kinds that the server has, as [`crate::sandbox::types::table`] writes them.
    kinds: String,
    /// Objects, with tokens in the place of Secrets' values.
    objects: Vec<Value>,
    /// Objects of which only a part of the metadata is known.
    outlines: Vec<Value>,
    /// What was looked for: what is not among the objects was not there.
    asked: Vec<Asked>,
    /// What may not be looked for, and what the server said to that.
    refused: Vec<(Asked, String)>,
    /// Whether Namespaces may not be read: those that are named are taken to be there.
    namespaces_unseen: bool,
    /// What the tokens were made with.
    salt: Salt,
}
