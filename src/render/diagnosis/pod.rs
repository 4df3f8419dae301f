//! What is looked at of a pod that does not become available.

use serde_json::Value;

use super::text::one_line;

/// A pod, as far as it tells why it does not start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodFacts {
    /// Its name.
    pub name: String,
    /// Whether it is ready.
    pub ready: bool,
    /// Why no node takes it, if that is so.
    pub unschedulable: Option<String>,
    /// Why it has failed as a whole, if it has: evicted, or refused by its node.
    pub failed: Option<String>,
    /// Its init containers, in their order.
    pub init: Vec<ContainerFacts>,
    /// Its containers.
    pub containers: Vec<ContainerFacts>,
}

/// A container of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerFacts {
    /// Its name.
    pub name: String,
    /// Its image, as the pod asks for it.
    pub image: String,
    /// Whether it is ready.
    pub ready: bool,
    /// What it does.
    pub state: ContainerState,
    /// How the run before this one ended, if there was one.
    pub last: Option<Ended>,
}

/// What a container does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ContainerState {
    /// It has not started; the kubelet's reason, if it has one.
    Waiting(Option<Waiting>),
    /// It runs.
    Running,
    /// It has ended.
    Ended(Ended),
    /// Nothing is known yet.
    #[default]
    Unknown,
}

/// Why a container has not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// One word.
    pub reason: String,
    /// The kubelet's words.
    pub message: String,
}

/// How a container has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code.
    pub exit_code: i64,
    /// One word.
    pub reason: String,
    /// What it wrote for the kubelet to read, as it is.
    pub message: String,
}

impl PodFacts {
    /// Reads a pod; `None` for one that is being deleted: how that ends says nothing.
    pub fn read(pod: &Value) -> Option<Self> {
        if pod.pointer("/metadata/deletionTimestamp").is_some() {
            return None;
        }
        let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str);
        let condition =
            |type_: &str| items(pod, "/status/conditions").find(|it| is(it, "type", type_));
        let scheduled = condition("PodScheduled").filter(|it| is(it, "status", "False"));
        let failed = text("/status/phase") == Some("Failed");
        let reason = || {
            let reason = text("/status/reason").unwrap_or("Failed");
            let message = text("/status/message").unwrap_or_default();
            one_line(&format!("{reason}: {message}"))
        };
        Some(Self {
            name: text("/metadata/name")?.to_owned(),
            ready: condition("Ready").is_some_and(|it| is(it, "status", "True")),
            unschedulable: scheduled.map(|it| one_line(&string(it, "message"))),
            failed: failed.then(reason),
            init: containers(pod, "/spec/initContainers", "/status/initContainerStatuses"),
            containers: containers(pod, "/spec/containers", "/status/containerStatuses"),
        })
    }
}

/// Reads containers in the order of the spec: that of their statuses is none.
fn containers(pod: &Value, spec: &str, status: &str) -> Vec<ContainerFacts> {
    let read = |container: &Value| {
        let name = string(container, "name");
        let status = items(pod, status).find(|it| is(it, "name", &name));
        let status = status.unwrap_or(&Value::Null);
        ContainerFacts {
            image: string(container, "image"),
            ready: status.get("ready") == Some(&Value::Bool(true)),
            state: state(status.get("state")),
            last: status.pointer("/lastState/terminated").map(Ended::read),
            name,
        }
    };
    items(pod, spec).map(read).collect()
}

fn state(state: Option<&Value>) -> ContainerState {
    let part = |name| {
        state
            .and_then(|state| state.get(name))
            .filter(|it| !it.is_null())
    };
    if let Some(ended) = part("terminated") {
        return ContainerState::Ended(Ended::read(ended));
    }
    if part("running").is_some() {
        return ContainerState::Running;
    }
    let waiting = |it: &Value| {
        let (reason, message) = (string(it, "reason"), string(it, "message"));
        // Those are what every container goes through.
        let goes_on = matches!(&*reason, "" | "ContainerCreating" | "PodInitializing");
        (!goes_on).then_some(Waiting { reason, message })
    };
    part("waiting").map_or(ContainerState::Unknown, |it| {
        ContainerState::Waiting(waiting(it))
    })
}

impl ContainerFacts {
    /// What it has said at its end, if that was a good one.
    pub fn said(&self) -> Option<&str> {
        match &self.state {
            ContainerState::Ended(ended) if ended.exit_code == 0 => Some(&ended.message),
            _ => None,
        }
    }
}

impl Ended {
    fn read(state: &Value) -> Self {
        Self {
            exit_code: state
                .get("exitCode")
                .and_then(Value::as_i64)
                .unwrap_or_default(),
            reason: string(state, "reason"),
            message: string(state, "message"),
        }
    }
}

fn items<'a>(object: &'a Value, list: &str) -> std::slice::Iter<'a, Value> {
    let items = object.pointer(list).and_then(Value::as_array);
    items.map_or(&[][..], Vec::as_slice).iter()
}

fn string(object: &Value, field: &str) -> String {
    let text = object.get(field).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn is(object: &Value, field: &str, value: &str) -> bool {
    object.get(field).is_some_and(|it| it == value)
}
