//! How it stands with the agent of a Target.

use super::{AgentImage, AgentPatch, NotInjected, agent_patch};
use crate::api::names::TARGET;
use crate::api::target::OnFailure;
use crate::render::{Deployment, Stalled, Target};

/// Reason of what only the controller does.
pub const LEFT_TO_CONTROLLER: &str = "LeftToController";

/// Reason of an agent that was taken out again because its rollout failed. It is read as well: it holds until another thing is
/// asked for.
pub const REVERTED: &str = "Reverted";

/// How it stands with the agent of a Target whose Deployment is there.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentState {
    /// The pods have it, as far as their template tells.
    InPlace {
        /// Whether it is part of the Deployment as a Sync applies it.
        composed: bool,
        /// What may go wrong with it all the same.
        remark: Option<String>,
    },
    /// The Sync of the Deployment puts it there.
    Coming,
    /// The Deployment is not in the Target's source: only the controller puts it there, who can take it out again.
    LeftToController,
    /// The pods have it, and do not start because of it.
    Fails(String),
    /// The pods did not start because of it: it is out again, or goes. What is said of that.
    Reverted(String),
    /// The Deployment cannot carry it.
    Refused(NotInjected),
    /// It could not be put there, or is not put there again: reason and message.
    Hindered(&'static str, String),
}

impl AgentState {
    /// Finds out how it stands. `composed` tells whether the Deployment comes with the Target, and `planned` what was to be put
    /// into its manifest, where that is known.
    pub fn of(
        target: &Target,
        deployment: &Deployment,
        composed: bool,
        planned: Option<&Result<AgentPatch, NotInjected>>,
        image: &AgentImage,
    ) -> Self {
        let patch = match planned {
            Some(planned) => planned.clone(),
            None => agent_patch(target, &deployment.pod, image),
        };
        match patch {
            Err(no) => Self::Refused(no),
            Ok(patch) if patch.runs_in(&deployment.pod) => Self::failed(target, deployment)
                .unwrap_or(Self::InPlace {
                    composed,
                    remark: patch.remark,
                }),
            Ok(_) if composed => Self::Coming,
            Ok(_) => Self::LeftToController,
        }
    }

    /// What becomes of an agent that the pods do not start with, if that is so.
    fn failed(target: &Target, deployment: &Deployment) -> Option<Self> {
        let Some(Stalled::Diagnosed(why)) = &deployment.rollout.stalled else {
            return None;
        };
        let name = &target.spec.deployment_ref.name;
        why.agent
            .then(|| match target.spec.agents.coverage.on_failure {
                OnFailure::Keep => Self::Fails(why.to_string()),
                // That the pods are shown with is of no use when they are gone.
                OnFailure::Revert => Self::Reverted(format!(
                    "the agent is taken out of Deployment {name} again, whose rollout failed with it: {}; it is tried again when the spec of this {TARGET} changes",
                    why.words
                )),
            })
    }

    /// Reason and message of a condition.
    pub fn words(&self, deployment: &str) -> (&'static str, String) {
        match self {
            Self::InPlace { composed, remark } => {
                let (reason, how) = match composed {
                    true => ("Composed", "with the manifest of"),
                    false => ("Injected", "beside the manifest of"),
                };
                let remark = remark.iter().map(|remark| format!("; {remark}"));
                let remark: String = remark.collect();
                let message =
                    format!("the pods get the agent {how} Deployment {deployment}{remark}");
                (reason, message)
            }
            Self::Coming => {
                let message =
                    format!("the agent comes when its Sync next applies Deployment {deployment}");
                ("NotAppliedYet", message)
            }
            Self::LeftToController => {
                let message = format!(
                    "Deployment {deployment} is not in the source of its Target: only the controller (covergence run) puts the agent into it, since only that takes it out again"
                );
                (LEFT_TO_CONTROLLER, message)
            }
            Self::Fails(why) => {
                let message =
                    format!("Deployment {deployment} does not roll out with the agent: {why}");
                ("AgentFails", message)
            }
            Self::Reverted(message) => (REVERTED, message.clone()),
            Self::Refused(no) => (no.reason(), no.to_string()),
            Self::Hindered(reason, message) => (*reason, message.clone()),
        }
    }
}
