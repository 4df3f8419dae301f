//! The agent in Deployments that no Sync composes it into: what is to be done, by what their metadata and shape tell.

mod images;
mod judge;
mod record;
mod restore;
mod steps;
#[cfg(test)]
mod tests;

pub use images::AgentImages;
pub use judge::{AgentVerdict, AgentWish, judge_agent};
pub use record::AgentRecord;
pub use restore::{TakeOut, take_out};
pub(super) use steps::agent_steps;
pub use steps::{Agents, give_up_agents};

use serde_json::json;

use super::live::Live;
use super::managed::FieldPath;
use crate::api::names::{AGENT, AGENT_MANAGER};

/// The variable that every JVM reads.
const OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// Finds an applier, other than us, whose manifest has the agent as well.
fn others_carry_it(live: &Live) -> Option<&str> {
    brought().iter().find_map(|path| applier(path, live))
}

/// The init container that brings the agent, and the volume that it is brought in.
fn brought() -> [FieldPath; 2] {
    let agent = format!("k:{}", json!({ "name": AGENT }));
    ["f:initContainers", "f:volumes"]
        .map(|list| FieldPath::new(["f:spec", "f:template", "f:spec", list, &agent]))
}

/// Finds an applier, other than us, who owns a field.
fn applier<'a>(path: &FieldPath, live: &'a Live) -> Option<&'a str> {
    let owners = super::managed::owners(path, &live.managed_fields);
    let mut appliers = owners.filter(|it| it.operation == "Apply" && it.manager != AGENT_MANAGER);
    appliers.next().map(|it| it.manager.as_str())
}
