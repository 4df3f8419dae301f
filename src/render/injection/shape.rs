//! What injection needs to know of a pod template.

use serde_json::Value;

use super::words::mentions_jacoco;
use crate::api::names::{AGENT, AGENT_DIRECTORY, AGENT_INSTALL, COVERAGE_PORT};

/// The variable that every JVM reads.
pub(super) const OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// A pod template, as far as injection needs to know it. Read once and kept: it is small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodShape {
    /// Whether its ports are the node's.
    pub host_network: bool,
    /// Whether it is for Windows.
    pub windows: bool,
    /// Whether the pod says that its containers run as root.
    pub runs_as_root: bool,
    /// Its containers.
    pub containers: Vec<ContainerShape>,
    /// Its init containers.
    pub init_containers: Vec<ContainerShape>,
    /// Names of its volumes.
    pub volumes: Vec<String>,
    /// The label that says which port the agent has.
    pub coverage_port: Option<String>,
    /// Whether the Deployment selects pods by that label.
    pub selects_coverage_port: bool,
    /// What has a name of ours and is not ours.
    pub foreign: Vec<String>,
}

/// A container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerShape {
    /// Its name.
    pub name: String,
    /// Its image.
    pub image: String,
    /// The ports that it declares.
    pub ports: Vec<PortShape>,
    /// Its JVM's options.
    pub java_tool_options: EnvValue,
    /// Whether it has variables from elsewhere, which may be the JVM's options.
    pub env_from: bool,
    /// Where else than in these options a JaCoCo agent is asked for.
    pub jacoco: Option<String>,
    /// Paths of its mounts.
    pub mounts: Vec<String>,
    /// Whether something else is mounted where the agent goes.
    pub path_taken: bool,
    /// Whether it is an init container that goes on beside the others.
    pub is_sidecar: bool,
}

/// A port that a container declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortShape {
    /// Its number.
    pub number: u16,
    /// `TCP`, unless it says something else.
    pub protocol: String,
    /// Its name.
    pub name: Option<String>,
}

/// A variable of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EnvValue {
    /// It is not there.
    #[default]
    Absent,
    /// It has this value.
    Value(String),
    /// It has a value from elsewhere.
    From,
    /// It is there more than once.
    Twice,
}

impl PodShape {
    /// Reads the pod template of a Deployment, from a manifest or live.
    pub fn read(deployment: &Value) -> Self {
        let template = deployment.pointer("/spec/template").unwrap_or(&Value::Null);
        let pod = template.get("spec").unwrap_or(&Value::Null);
        let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str);
        let windows = ["/os/name", "/nodeSelector/kubernetes.io~1os"];
        let names = |list| items(pod, list).filter_map(name).map(str::to_owned);
        let selector = deployment.pointer("/spec/selector");
        Self {
            host_network: pod.get("hostNetwork") == Some(&Value::Bool(true)),
            windows: windows.iter().any(|it| text(it) == Some("windows")),
            runs_as_root: pod
                .pointer("/securityContext/runAsUser")
                .and_then(Value::as_i64)
                == Some(0),
            containers: items(pod, "containers").map(ContainerShape::read).collect(),
            init_containers: items(pod, "initContainers")
                .map(ContainerShape::read)
                .collect(),
            volumes: names("volumes").collect(),
            coverage_port: template
                .pointer("/metadata/labels")
                .and_then(|labels| labels.get(COVERAGE_PORT)?.as_str())
                .map(str::to_owned),
            selects_coverage_port: selector.is_some_and(selects_coverage_port),
            foreign: foreign(pod),
        }
    }
}

impl ContainerShape {
    fn read(container: &Value) -> Self {
        let text = |field| container.get(field).and_then(Value::as_str);
        let mounts = items(container, "volumeMounts");
        Self {
            name: text("name").unwrap_or_default().to_owned(),
            image: text("image").unwrap_or_default().to_owned(),
            ports: items(container, "ports")
                .filter_map(PortShape::read)
                .collect(),
            java_tool_options: EnvValue::read(container, OPTIONS),
            env_from: items(container, "envFrom").any(may_hold_options),
            jacoco: jacoco_elsewhere(container),
            mounts: mounts
                .clone()
                .filter_map(mount_path)
                .map(str::to_owned)
                .collect(),
            path_taken: mounts
                .filter(|mount| mount_path(mount) == Some(AGENT_DIRECTORY))
                .any(|mount| name(mount) != Some(AGENT)),
            is_sidecar: text("restartPolicy") == Some("Always"),
        }
    }
}

impl PortShape {
    fn read(port: &Value) -> Option<Self> {
        let number = port.get("containerPort")?.as_u64()?;
        let text = |field| port.get(field).and_then(Value::as_str);
        Some(Self {
            number: u16::try_from(number).ok()?,
            protocol: text("protocol").unwrap_or("TCP").to_owned(),
            name: text("name").map(str::to_owned),
        })
    }

    /// Tells whether it is this TCP port.
    pub fn is_tcp(&self, number: u16) -> bool {
        self.number == number && self.protocol == "TCP"
    }
}

impl EnvValue {
    fn read(container: &Value, variable: &str) -> Self {
        let mut found = items(container, "env").filter(|entry| name(entry) == Some(variable));
        let Some(entry) = found.next() else {
            return Self::Absent;
        };
        if found.next().is_some() {
            return Self::Twice;
        }
        if entry.get("valueFrom").is_some_and(|from| !from.is_null()) {
            return Self::From;
        }
        let value = entry.get("value").and_then(Value::as_str);
        Self::Value(value.unwrap_or_default().to_owned())
    }
}

/// A list of what may be no list.
fn items<'a>(holder: &'a Value, list: &str) -> std::slice::Iter<'a, Value> {
    let items = holder.get(list).and_then(Value::as_array);
    items.map_or(&[][..], Vec::as_slice).iter()
}

fn name(item: &Value) -> Option<&str> {
    item.get("name")?.as_str()
}

/// Where a volume is mounted, without a slash at the end.
fn mount_path(mount: &Value) -> Option<&str> {
    Some(mount.get("mountPath")?.as_str()?.trim_end_matches('/'))
}

/// Tells whether variables from a source may have the name of the JVM's options: a prefix may rule that out.
fn may_hold_options(source: &Value) -> bool {
    let prefix = source.get("prefix").and_then(Value::as_str);
    OPTIONS.starts_with(prefix.unwrap_or_default())
}

/// Finds a JaCoCo agent in a container's command line and in its other variables.
fn jacoco_elsewhere(container: &Value) -> Option<String> {
    let line = ["command", "args"].into_iter();
    let mut line = line.filter(|part| {
        let mut words = items(container, part).filter_map(Value::as_str);
        words.any(mentions_jacoco)
    });
    let variable = || {
        let others = items(container, "env").filter(|entry| name(entry) != Some(OPTIONS));
        let mut found = others.filter(|entry| {
            let value = entry.get("value").and_then(Value::as_str);
            value.is_some_and(mentions_jacoco)
        });
        found
            .next()
            .and_then(name)
            .map(|name| format!("variable {name}"))
    };
    line.next().map(str::to_owned).or_else(variable)
}

fn selects_coverage_port(selector: &Value) -> bool {
    let labels = selector.get("matchLabels");
    let mut expressions = items(selector, "matchExpressions");
    labels.is_some_and(|labels| labels.get(COVERAGE_PORT).is_some())
        || expressions.any(|it| it.get("key").is_some_and(|key| key == COVERAGE_PORT))
}

/// Finds what has our names and is something else.
fn foreign(pod: &Value) -> Vec<String> {
    let named = |list| items(pod, list).filter(|item| name(item) == Some(AGENT));
    let installs = |container: &&Value| {
        let command = items(container, "command").map(Value::as_str);
        command.eq(AGENT_INSTALL.map(Some))
    };
    let containers = named("containers").map(|_| "a container");
    let init = named("initContainers").filter(|it| !installs(it));
    let volumes = named("volumes").filter(|it| it.get("emptyDir").is_none());
    let found = containers
        .chain(init.map(|_| "an init container"))
        .chain(volumes.map(|_| "a volume"));
    found.map(|what| format!("{what} {AGENT}")).collect()
}
