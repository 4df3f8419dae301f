//! Desired objects × policies -> verdicts: Kubernetes' own ValidatingAdmissionPolicies, without an API server. Pure.
//!
//! What cannot be evaluated has not passed: it is a verdict of its own, and the policy's `failurePolicy` decides.

mod cel;
mod evaluate;
mod evaluator;
mod gather;
mod matching;
mod model;
mod node;
mod params;
mod read;
mod request;
mod schema;
mod selector;
mod set;
mod subject;
#[cfg(test)]
mod tests;
mod values;
mod verdict;

pub use evaluate::evaluate;
pub use gather::{Asked, Gathered, gather};
pub use model::Enforcement;
pub use selector::Labels;
pub use set::Set;
pub use subject::{Old, Subject, Surroundings, User, labels_of, resource_of};
pub use verdict::{Note, Report, Verdict};
