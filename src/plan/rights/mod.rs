//! The least rights that an account needs to sync a source: what a run asks of the API server, as Roles and bindings.
//!
//! It follows `reconcile/survey` (reads), `reconcile/execute` (writes) and `reconcile/targets` (status); the integration
//! test `rbac_command` holds it against the audit log.

mod grants;
mod needs;
mod roles;

pub use needs::{Terms, least_rights};
pub use roles::{Account, roles};
