//! What is wrong with one pod.

use super::pod::{ContainerFacts, ContainerState, Ended, PodFacts, Waiting};
use super::text::one_line;
use super::{Case, Diagnosis};
use crate::api::names::{AGENT, AGENT_INSTALL};

/// What is wrong with a pod, the first thing first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The agent's init container does not start, or has failed.
    Agent(String),
    /// A container ends.
    Crash(Crash),
    /// A container does not start.
    Start(String),
    /// The pod has failed as a whole.
    Failed(String),
    /// No node takes it.
    Unschedulable(String),
    /// It runs, and is not ready.
    NotReady(String),
    /// It has not got far enough to say anything.
    Unclear,
}

/// A container that ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Crash {
    pub container: String,
    /// Whether it is the JVM's, or may be it.
    pub is_jvms: bool,
    /// Whether what has ended is the run before the present one.
    pub has_restarted: bool,
    init: bool,
    exit_code: i64,
    reason: String,
}

/// How our own program begins to say what it could not do.
const OWN_WORDS: [&str; 3] = ["read the agent ", "the agent ", "install the agent in "];

impl Trouble {
    /// Finds it. `jvm` is the container that the agent was put into; where it was not put by us, each may be the JVM's.
    pub(super) fn of(pod: &PodFacts, jvm: Option<&str>) -> Self {
        if let Some(words) = &pod.failed {
            return Self::Failed(words.clone());
        }
        for container in &pod.init {
            if let Some(trouble) = of_init(container) {
                return trouble;
            }
        }
        let is_jvms = |it: &ContainerFacts| jvm.is_none_or(|jvm| jvm == it.name);
        let troubles = pod
            .containers
            .iter()
            .filter_map(|it| of_container(it, is_jvms(it)));
        if let Some(worst) = troubles.min_by_key(Self::rank) {
            return worst;
        }
        if let Some(words) = &pod.unschedulable {
            return Self::Unschedulable(words.clone());
        }
        let runs = |it: &&ContainerFacts| it.state == ContainerState::Running && !it.ready;
        match pod.containers.iter().find(runs) {
            Some(container) => Self::NotReady(container.name.clone()),
            None => Self::Unclear,
        }
    }

    /// What is nearest to the agent is told before the rest.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Agent(_) => 0,
            Self::Crash(crash) if crash.is_jvms => 1,
            Self::Crash(_) | Self::Start(_) => 2,
            Self::Failed(_) => 3,
            Self::Unschedulable(_) => 4,
            Self::NotReady(_) => 5,
            Self::Unclear => 6,
        }
    }

    /// Says it.
    pub(super) fn told(&self, case: &Case) -> Diagnosis {
        let words = match self {
            Self::Agent(words) | Self::Start(words) => words.clone(),
            Self::Crash(crash) => crash.how(),
            Self::Failed(words) => format!("a pod has failed: {words}"),
            Self::Unschedulable(words) => format!("no node takes its pods: {words}"),
            Self::NotReady(container) => format!("container {container} runs, and is not ready"),
            Self::Unclear => "its pods do not start, and do not say why".to_owned(),
        };
        Diagnosis {
            words,
            hint: match self {
                Self::Crash(crash) => Some(case.command(&crash.container)),
                _ => None,
            },
            agent: matches!(self, Self::Agent(_)),
            settled: *self != Self::Unclear,
        }
    }
}

impl Crash {
    /// How it ends.
    fn how(&self) -> String {
        let Self {
            container,
            exit_code,
            ..
        } = self;
        let what = if self.init {
            "init container"
        } else {
            "container"
        };
        let reason = match &*self.reason {
            // Which is what every code says.
            "" | "Error" | "Completed" => String::new(),
            reason => format!(" ({reason})"),
        };
        format!("{what} {container} ends with exit code {exit_code}{reason}")
    }
}

fn of_init(container: &ContainerFacts) -> Option<Trouble> {
    let is_ours = container.name == AGENT;
    let what = format!("init container {}", container.name);
    let started = |words: String| match is_ours {
        true => Trouble::Agent(words),
        false => Trouble::Start(words),
    };
    let failed = |ended: &Ended| match is_ours {
        true => Trouble::Agent(agent_failed(ended, container)),
        false => Trouble::Crash(Crash::new(container, ended, true)),
    };
    match (&container.state, &container.last) {
        (ContainerState::Ended(ended), _) if ended.exit_code != 0 => Some(failed(ended)),
        (ContainerState::Waiting(Some(waiting)), Some(last)) if waiting.is_back_off() => {
            Some(failed(last))
        }
        (ContainerState::Waiting(Some(waiting)), _) => {
            Some(started(waiting.told(&what, container)))
        }
        _ => None,
    }
}

fn of_container(container: &ContainerFacts, is_jvms: bool) -> Option<Trouble> {
    let crash = |ended: &Ended| {
        let crash = Crash::new(container, ended, false);
        Trouble::Crash(Crash { is_jvms, ..crash })
    };
    match (&container.state, &container.last) {
        (ContainerState::Ended(ended), _) => Some(crash(ended)),
        (ContainerState::Waiting(Some(waiting)), Some(last)) if waiting.is_back_off() => {
            Some(crash(last))
        }
        (ContainerState::Waiting(Some(waiting)), _) => {
            let what = format!("container {}", container.name);
            Some(Trouble::Start(waiting.told(&what, container)))
        }
        // It was started again a moment ago.
        (ContainerState::Running | ContainerState::Waiting(None), Some(last))
            if !container.ready =>
        {
            Some(crash(last))
        }
        _ => None,
    }
}

/// What the agent's init container has to say of its failure.
fn agent_failed(ended: &Ended, container: &ContainerFacts) -> String {
    let what = format!("init container {}", container.name);
    let image = &container.image;
    let [program, ..] = AGENT_INSTALL;
    let lacks = [
        "no such file or directory",
        "executable file not found",
        "not found in $PATH",
    ];
    if ended.message.contains(program) && lacks.iter().any(|it| ended.message.contains(it)) {
        return format!("{what} does not start: image {image} has no {program}");
    }
    let own = ended.message.lines().find_map(|line| {
        let words = line.strip_prefix("error: ")?;
        OWN_WORDS
            .iter()
            .any(|own| words.starts_with(own))
            .then_some(words)
    });
    let how = Crash::new(container, ended, true).how();
    match own {
        Some(words) => format!("{how}: {}", one_line(words)),
        None => format!("{how} (image {image})"),
    }
}

impl Crash {
    fn new(container: &ContainerFacts, ended: &Ended, init: bool) -> Self {
        Self {
            container: container.name.clone(),
            is_jvms: false,
            has_restarted: !matches!(container.state, ContainerState::Ended(_)),
            init,
            exit_code: ended.exit_code,
            reason: one_line(&ended.reason),
        }
    }
}

impl Waiting {
    fn is_back_off(&self) -> bool {
        self.reason == "CrashLoopBackOff"
    }

    /// Says why a container does not start. The kubelet's words for the same thing change from one moment to the next (a pull
    /// that fails and the wait for another one), and hold ids that do.
    fn told(&self, what: &str, container: &ContainerFacts) -> String {
        let image = &container.image;
        match &*self.reason {
            "ErrImagePull" | "ImagePullBackOff" | "RegistryUnavailable" => {
                format!("image {image} of {what} cannot be pulled")
            }
            "InvalidImageName" => format!("{what} does not start: {image} is no name of an image"),
            "ErrImageNeverPull" => {
                format!("image {image} of {what} is not on the node, and may not be pulled")
            }
            // It names what is missing, and then the pod.
            "CreateContainerConfigError" => {
                let message = self.message.split(" (pod: ").next().unwrap_or_default();
                format!("{what} does not start: {}", one_line(message))
            }
            reason => format!("{what} does not start: {}", one_line(reason)),
        }
    }
}
