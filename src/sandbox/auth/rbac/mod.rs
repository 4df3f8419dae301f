//! Rights by roles and their bindings.

mod aggregation;
mod cache;
mod policy;
mod rule;

pub use self::aggregation::aggregate;
pub use self::cache::Cache;
pub use self::policy::{Decision, Policy};
pub use self::rule::{ALL, Rule, covers_path};

/// API group of roles and bindings.
pub const GROUP: &str = "rbac.authorization.k8s.io";
