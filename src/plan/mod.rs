//! Desired x live -> plan: what is to be done, in which order, and what must not be. Pure.

mod annotations;
mod build;
mod classify;
mod diff;
mod fields;
mod health;
mod known;
mod live;
mod managed;
mod order;
mod prune;
mod redact;
mod step;
#[cfg(test)]
mod tests;

pub use annotations::unreadable_wave;
pub use build::{Index, Inputs, build, child_id, deployment_of, index, maybe_scaled};
pub use classify::{ChildOwner, Verdict, classify_child, classify_member, purge};
pub use diff::diff;
pub use fields::Fields;
pub use health::{Health, health};
pub use known::Known;
pub use live::{Live, ManagedFields, Owner};
pub use managed::{FieldPath, lost_fields, other_owners};
pub use order::{DEPENDS_ON, Ordered, batches, depends_on, kind_rank, place};
pub use prune::{PruneRules, judge, judge_contents, may_prune, still_goes, takes_others_along};
pub use redact::{is_secret, redact, redact_pair};
pub use step::{Action, Body, Conflict, Expected, Plan, Step};
