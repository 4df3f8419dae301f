//! Why a rollout does not go on, and whether that points to the agent.

mod last_words;
mod pod;
#[cfg(test)]
mod tests;
mod text;
mod trouble;

use std::fmt;

use self::last_words::LastWords;
pub use self::pod::PodFacts;
pub use self::text::fit_to_tell;
use self::trouble::{Crash, Trouble};
use super::injection::is_out_of_range;
use super::rollout::{Rollout, Stalled};
use super::selector::service_selector;
use super::target::{Deployment, Target};
use crate::api::names::{AGENT, AGENT_JAR};
use crate::render::{ContainerShape, EnvValue, PodShape};

/// Label of a pod: the hash of the template that it was made from.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// Why a rollout does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// In words that stay the same as long as it is the same.
    pub words: String,
    /// What shows more, as long as the pods are there.
    pub hint: Option<String>,
    /// Whether it points to the agent.
    pub agent: bool,
    /// Whether it can be told by now; if not, pods have not got so far that they would say anything.
    pub settled: bool,
}

/// A rollout that does not go on.
#[derive(Clone, Debug)]
pub struct Case {
    namespace: String,
    deployment: String,
    /// The hash of its template.
    hash: Option<String>,
    /// The container that the agent is in, if we put it there.
    jvm: Option<String>,
    port: u16,
}

/// What can be told of a rollout from its pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// All that there is.
    Told(Diagnosis),
    /// The end of a log would tell more.
    Log(LogWanted),
}

/// A log whose end would tell more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogWanted {
    /// The pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// Whether it is that of the run before the present one.
    pub previous: bool,
    crash: Crash,
}

/// With what shows more.
impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl Case {
    /// Makes one of what is known of a Target and its Deployment.
    pub fn new(target: &Target, deployment: &Deployment) -> Self {
        Self {
            namespace: target.namespace.clone(),
            deployment: target.spec.deployment_ref.name.clone(),
            hash: deployment.rollout.template_hash().map(str::to_owned),
            jvm: carrier(&deployment.pod).map(|it| it.name.clone()),
            port: target.spec.agents.coverage.port,
        }
    }

    /// Judges by what refuses the pods, where that is the reason; `None` when the pods have to be looked at.
    pub fn refused(rollout: &Rollout) -> Option<Diagnosis> {
        let stalled @ Stalled::Refused(message) = rollout.stalled.as_ref()? else {
            return None;
        };
        Some(Diagnosis {
            words: stalled.to_string(),
            hint: None,
            // Whoever refuses a pod for a container names that container, or what it asks for.
            agent: message.contains(AGENT) || is_out_of_range(message),
            settled: true,
        })
    }

    /// Judges by the pods.
    pub fn judge(&self, pods: &[PodFacts]) -> Finding {
        let waiting = pods.iter().filter(|pod| !pod.ready);
        let troubles = waiting.map(|pod| (Trouble::of(pod, self.jvm.as_deref()), pod));
        let worst = troubles.min_by_key(|(trouble, pod)| (trouble.rank(), pod.name.clone()));
        let Some((trouble, pod)) = worst else {
            return Finding::Told(Trouble::Unclear.told(self));
        };
        match trouble {
            Trouble::Crash(crash) if crash.is_jvms => Finding::Log(LogWanted {
                pod: pod.name.clone(),
                container: crash.container.clone(),
                previous: crash.has_restarted,
                crash,
            }),
            trouble => Finding::Told(trouble.told(self)),
        }
    }

    /// Judges by the end of a log as well, if it could be read.
    pub fn judge_log(&self, wanted: &LogWanted, log: Option<&str>) -> Diagnosis {
        let log = log.unwrap_or_default();
        let LastWords { said, agent } = LastWords::in_log(log, self.port);
        let mut told = Trouble::Crash(wanted.crash.clone()).told(self);
        if !said.is_empty() {
            told.words = format!("{}: \"{}\"", told.words, said.join("\", \""));
            told.agent = agent;
        }
        told
    }

    /// The command that shows what a container has said: its log is not ours to tell.
    fn command(&self, container: &str) -> String {
        let Self {
            namespace,
            deployment,
            hash,
            ..
        } = self;
        let whose = match hash {
            Some(hash) => format!("-l {TEMPLATE_HASH}={hash}"),
            None => format!("deployment/{deployment}"),
        };
        format!("see kubectl -n {namespace} logs {whose} -c {container} --previous")
    }
}

/// Selects the pods of a Deployment's present template, as a list of labels; `None` when its selector is more than that.
pub fn pod_selector(deployment: &Deployment) -> Option<String> {
    let mut labels = service_selector(&deployment.selector).ok()?;
    if let Some(hash) = deployment.rollout.template_hash() {
        labels.insert(TEMPLATE_HASH.to_owned(), hash.to_owned());
    }
    let labels = labels.iter().map(|(key, value)| format!("{key}={value}"));
    Some(labels.collect::<Vec<_>>().join(","))
}

/// Finds the container of a template that our agent is in.
pub fn carrier(shape: &PodShape) -> Option<&ContainerShape> {
    let brings = shape.init_containers.iter().any(|it| it.name == AGENT);
    let has = |it: &&ContainerShape| match &it.java_tool_options {
        EnvValue::Value(options) => options.contains(AGENT_JAR),
        EnvValue::Absent | EnvValue::From | EnvValue::Twice => false,
    };
    shape.containers.iter().find(has).filter(|_| brings)
}
