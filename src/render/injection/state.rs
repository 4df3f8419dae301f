//! How it stands with the agent of a Target.

use super::{AgentImage, AgentPatch, NotInjected, agent_patch};
use crate::render::{Deployment, Target};

/// Reason of what only the controller does.
pub const LEFT_TO_CONTROLLER: &str = "LeftToController";

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
    /// The Deployment cannot carry it.
    Refused(NotInjected),
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
            Ok(patch) if patch.runs_in(&deployment.pod) => Self::InPlace {
                composed,
                remark: patch.remark,
            },
            Ok(_) if composed => Self::Coming,
            Ok(_) => Self::LeftToController,
        }
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
            Self::Refused(no) => (no.reason(), no.to_string()),
        }
    }
}
