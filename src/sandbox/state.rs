//! What the sandbox knows.

use super::controllers::Controllers;
use super::store::Store;
use super::types::Registry;

/// Kinds and objects.
#[derive(Debug, Default)]
pub struct State {
    /// The kinds that are served.
    pub kinds: Registry,
    /// The objects.
    pub store: Store,
    /// What the controllers remember.
    pub controllers: Controllers,
}
