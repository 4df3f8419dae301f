//! What the sandbox knows.

use super::auth::Auth;
use super::controllers::Controllers;
use super::kinds::Taken;
use super::store::Store;
use super::types::Registry;

/// Kinds, objects and users.
#[derive(Debug, Default)]
pub struct State {
    /// The kinds that are served.
    pub kinds: Registry,
    /// The objects.
    pub store: Store,
    /// What the controllers remember.
    pub controllers: Controllers,
    /// Addresses and ports that Services have.
    pub services: Taken,
    /// Users and their rights.
    pub auth: Auth,
}
