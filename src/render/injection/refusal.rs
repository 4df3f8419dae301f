//! Why a Deployment does not get the agent.

use thiserror::Error;

use crate::api::names::{AGENT_DIRECTORY, COVERAGE_PORT, FIELD_MANAGER};

/// Why a Deployment does not get the agent; displayed as a condition's message, which says what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotInjected {
    /// The container that was named is not there.
    #[error(
        "the pods have no container {name}; agents.coverage.container can be {}",
        listed(there)
    )]
    ContainerNotFound {
        /// The one that was named.
        name: String,
        /// Those that are there.
        there: Vec<String>,
    },
    /// Which container runs the JVM cannot be known.
    #[error(
        "the pods have several containers; say in agents.coverage.container which one runs the JVM: {}",
        listed(there)
    )]
    ContainerAmbiguous {
        /// Those that are there.
        there: Vec<String>,
    },
    /// There is nothing to put it into.
    #[error("the pods have no containers")]
    NoContainers,
    /// The port would be the node's.
    #[error(
        "the pods use the network of their node (hostNetwork), where two replicas would need the same port; set agents.coverage.injection to None and bring the agent along in the image"
    )]
    HostNetwork,
    /// The agent's image is one for Linux.
    #[error(
        "the pods run on Windows, for which there is no image of the agent; set agents.coverage.injection to None and bring the agent along in the image"
    )]
    WindowsPod,
    /// The options come from elsewhere.
    #[error(
        "JAVA_TOOL_OPTIONS of container {container} has valueFrom, whose value cannot be kept; write the value itself into env, or refer to it with $(NAME) from another variable that has the valueFrom"
    )]
    OptionsFromElsewhere {
        /// The container.
        container: String,
    },
    /// The options may come from elsewhere.
    #[error(
        "container {container} has envFrom, and a JAVA_TOOL_OPTIONS among that would be lost; write JAVA_TOOL_OPTIONS into env as well, with the value that is meant, which may be empty"
    )]
    EnvFrom {
        /// The container.
        container: String,
    },
    /// Which value counts is the server's to say.
    #[error("env of container {container} has JAVA_TOOL_OPTIONS more than once; keep one of them")]
    OptionsTwice {
        /// The container.
        container: String,
    },
    /// No JVM starts with such options.
    #[error(
        "JAVA_TOOL_OPTIONS of container {container} has a quote without an end, with which no JVM starts"
    )]
    UnmatchedQuote {
        /// The container.
        container: String,
    },
    /// No process starts with such an environment.
    #[error(
        "JAVA_TOOL_OPTIONS of container {container} would have {length} bytes, more than the {most} that are taken; shorten agents.coverage.includes and excludes, for instance with wildcards"
    )]
    OptionsTooLong {
        /// The container.
        container: String,
        /// How long they would be.
        length: usize,
        /// How long they may be.
        most: usize,
    },
    /// Two agents in one JVM end it.
    #[error(
        "container {container} has a JaCoCo agent already ({place}), and a JVM does not start with two; take it out, or set agents.coverage.injection to None and use it"
    )]
    AnotherJacoco {
        /// The container.
        container: String,
        /// Where it is asked for.
        place: String,
    },
    /// Somebody else listens there.
    #[error("port {port} is taken in the pods by {by}; choose another one in agents.coverage.port")]
    PortTaken {
        /// The port.
        port: u16,
        /// Who has it.
        by: String,
    },
    /// What we would add is there already, and is something else.
    #[error("the pods have {what} already, which is not the agent's; give it another name")]
    NameTaken {
        /// What.
        what: String,
    },
    /// Something else is mounted where the agent goes.
    #[error(
        "container {container} has something else mounted at {AGENT_DIRECTORY}; mount it elsewhere"
    )]
    PathTaken {
        /// The container.
        container: String,
    },
    /// The label that we add would contradict the selector.
    #[error(
        "the Deployment's selector uses the label {COVERAGE_PORT}, which says whether pods carry the agent; select by another label"
    )]
    LabelSelected,
    /// A pattern that no class can match.
    #[error("agents.coverage.{field}: the pattern {pattern:?} {why}")]
    Pattern {
        /// `includes` or `excludes`.
        field: &'static str,
        /// The pattern.
        pattern: String,
        /// What is wrong with it, and what to do.
        why: &'static str,
    },
    /// Somebody else applies what the agent needs.
    #[error(
        "{} applies {field} of Deployment {deployment}, which the agent needs: {}",
        applier(manager),
        way_out(manager)
    )]
    Conflict {
        /// The Deployment's name.
        deployment: String,
        /// The field manager.
        manager: String,
        /// The field.
        field: String,
    },
    /// Its controller would undo whatever is written.
    #[error(
        "Deployment {deployment} is made by {owner}, which would undo what is put into it; let that put the agent there, or set agents.coverage.injection to None and bring the agent along in the image"
    )]
    Controlled {
        /// The Deployment's name.
        deployment: String,
        /// Kind and name of what controls it.
        owner: String,
    },
    /// Not every image may be put into other people's pods.
    #[error(
        "agents.coverage.image {image} is not among the images that the operator allows (agentImages of the Config); take it out, or ask for it"
    )]
    ImageNotAllowed {
        /// The image.
        image: String,
    },
    /// One Deployment carries one agent.
    #[error(
        "Deployment {deployment} carries the agent for ClosureJVMTarget {target} already; let one of the two refer to it"
    )]
    DeploymentTaken {
        /// The Deployment's name.
        deployment: String,
        /// The name of the Target that it is carried for.
        target: String,
    },
}

impl NotInjected {
    /// One word, as a condition's reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::ContainerNotFound { .. } => "ContainerNotFound",
            Self::ContainerAmbiguous { .. } => "ContainerAmbiguous",
            Self::NoContainers => "NoContainers",
            Self::HostNetwork => "HostNetwork",
            Self::WindowsPod => "WindowsPod",
            Self::OptionsFromElsewhere { .. } => "OptionsFromElsewhere",
            Self::EnvFrom { .. } => "OptionsMayComeFromElsewhere",
            Self::OptionsTwice { .. } => "OptionsTwice",
            Self::UnmatchedQuote { .. } => "OptionsUnreadable",
            Self::OptionsTooLong { .. } => "OptionsTooLong",
            Self::AnotherJacoco { .. } => "AnotherJaCoCoAgent",
            Self::PortTaken { .. } => "PortTaken",
            Self::NameTaken { .. } | Self::PathTaken { .. } => "NameTaken",
            Self::LabelSelected => "LabelSelected",
            Self::Pattern { .. } => "InvalidPattern",
            Self::Conflict { .. } => "Conflict",
            Self::Controlled { .. } => "Controlled",
            Self::ImageNotAllowed { .. } => "ImageNotAllowed",
            Self::DeploymentTaken { .. } => "DeploymentTaken",
        }
    }
}

fn applier(manager: &str) -> String {
    match manager {
        FIELD_MANAGER => "a Sync".to_owned(),
        manager => format!("field manager {manager}"),
    }
}

/// Says what to do about a field that somebody else applies.
fn way_out(manager: &str) -> &'static str {
    match manager {
        FIELD_MANAGER => {
            "put the ClosureJVMTarget into the source of that Sync, which then has the agent in its manifests"
        }
        _ => {
            "take it out of what is applied there, or let one Sync have both the Deployment and the ClosureJVMTarget, or set agents.coverage.injection to None and bring the agent along in the image"
        }
    }
}

fn listed(names: &[String]) -> String {
    match names.split_last() {
        None => "nothing".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}
