//! Desired x live -> plan: what is to be done, in which order, and what must not be. Pure.

mod agent;
mod annotations;
mod approval;
mod build;
mod child;
mod classify;
mod composed;
#[cfg(test)]
mod composed_tests;
mod conceal;
mod deny;
mod diff;
mod fields;
mod health;
mod hold;
mod known;
mod leaving;
mod limit;
mod live;
mod managed;
mod managers;
mod member;
mod order;
mod prune;
mod redact;
mod rewritten;
mod rights;
mod step;
mod string_map;
#[cfg(test)]
mod tests;

pub use agent::{
    AgentImages, AgentRecord, AgentVerdict, AgentWish, Agents, TakeOut, give_up_agents,
    judge_agent, take_out,
};
pub use annotations::unreadable_wave;
pub use approval::{Approval, approve_command, quoted};
pub use build::{Index, Inputs, build, index};
pub use child::{child_id, deployment_of, network_policy_id};
pub use classify::{drift_of, is_as_applied};
pub use composed::compose_agents;
pub use conceal::{Token, conceal, reveal};
pub use deny::{hold_denied, withhold_prunes};
pub use diff::diff;
pub use health::{Health, health};
pub use hold::hold_back;
pub use known::Known;
pub use limit::Limit;
pub use live::{Live, ManagedFields};
pub use managers::other_managers;
pub use member::maybe_scaled;
pub use order::depends_on;
pub use prune::{PruneRules, judge_contents, still_goes, takes_others_along};
pub use redact::is_secret;
pub use rewritten::rewritten;
pub use rights::{Account, Terms, least_rights, roles};
pub use step::{Action, Body, Conflict, Expected, Plan, Step};
pub use string_map::StringMap;
