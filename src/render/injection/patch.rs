//! Exactly what is added to a Deployment.

use serde_json::{Map, Value, json};

use super::image::{AgentImage, init_container, mount, volume};
use super::options::{agent_option, carries, has_listener, java_tool_options, remark, starts_with};
use super::refusal::NotInjected;
use super::shape::{ContainerShape, OPTIONS, PodShape, PortShape};
use crate::api::names::{AGENT, AGENT_DIRECTORY, COVERAGE_PORT, COVERAGE_PORT_NAME};
use crate::api::{ObjectId, target::CoverageAgent};
use crate::render::Target;

/// Exactly what is added to a Deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentPatch {
    /// The container that runs the JVM.
    pub container: String,
    /// The init container that brings the agent.
    pub init_container: Value,
    /// The volume that it is brought in.
    pub volume: Value,
    /// That volume's mount in the JVM's container.
    pub mount: Value,
    /// The port in the JVM's container; without a name where it is there already, or where the name is another port's.
    pub port: Value,
    /// The JVM's option for the agent.
    pub option: String,
    /// The whole value of `JAVA_TOOL_OPTIONS`.
    pub java_tool_options: String,
    /// The label of the pods.
    pub label: (&'static str, String),
    /// The image that carries the agent.
    pub image: String,
    /// What may go wrong with it all the same, for people.
    pub remark: Option<String>,
}

/// Says what a Deployment of this shape needs to carry a Target's agent. What it carries already is taken for what it is, so
/// that the same comes out again.
///
/// # Errors
/// Why it cannot carry it.
pub fn agent_patch(
    target: &Target,
    shape: &PodShape,
    default_image: &AgentImage,
) -> Result<AgentPatch, NotInjected> {
    let coverage = &target.spec.agents.coverage;
    if shape.host_network {
        return Err(NotInjected::HostNetwork);
    }
    if shape.windows {
        return Err(NotInjected::WindowsPod);
    }
    if shape.selects_coverage_port {
        return Err(NotInjected::LabelSelected);
    }
    if let Some(what) = shape.foreign.first() {
        return Err(NotInjected::NameTaken { what: what.clone() });
    }
    let option = agent_option(coverage)?;
    let container = choose(coverage, shape)?;
    if container.path_taken {
        let container = container.name.clone();
        return Err(NotInjected::PathTaken { container });
    }
    let port = port(coverage.port, container, shape)?;
    let java_tool_options = java_tool_options(&option, container)?;
    let image = AgentImage {
        image: coverage
            .image
            .as_ref()
            .unwrap_or(&default_image.image)
            .clone(),
        pull_policy: match (coverage.image_pull_policy, &coverage.image) {
            (Some(policy), _) => Some(policy),
            (None, Some(_)) => None,
            (None, None) => default_image.pull_policy,
        },
    };
    Ok(AgentPatch {
        container: container.name.clone(),
        init_container: init_container(&image, shape.runs_as_root),
        volume: volume(),
        mount: mount(),
        port,
        remark: remark(&java_tool_options, coverage.port),
        option,
        java_tool_options,
        label: (COVERAGE_PORT, coverage.port.to_string()),
        image: image.image,
    })
}

/// Finds the container that runs the JVM: the one that is named, the one that carries the agent already, or the only one.
///
/// No container is passed over for its name, however well-known a proxy it is: naming the right one is one line.
fn choose<'a>(
    coverage: &CoverageAgent,
    shape: &'a PodShape,
) -> Result<&'a ContainerShape, NotInjected> {
    let there = || shape.containers.iter().map(|it| it.name.clone()).collect();
    if let Some(name) = &coverage.container {
        let named = shape.containers.iter().find(|it| it.name == *name);
        return named.ok_or_else(|| NotInjected::ContainerNotFound {
            name: name.clone(),
            there: there(),
        });
    }
    match shape.containers.as_slice() {
        [] => Err(NotInjected::NoContainers),
        [only] => Ok(only),
        several => several
            .iter()
            .find(|it| carries(it, coverage.port))
            .ok_or_else(|| NotInjected::ContainerAmbiguous { there: there() }),
    }
}

/// Renders the port. All containers of a pod share its ports, and a JVM that finds its port taken ends.
fn port(number: u16, own: &ContainerShape, shape: &PodShape) -> Result<Value, NotInjected> {
    let sidecars = shape.init_containers.iter().filter(|it| it.is_sidecar);
    for container in shape.containers.iter().chain(sidecars) {
        if let Some(by) = listener(number, container, container.name == own.name) {
            return Err(NotInjected::PortTaken { port: number, by });
        }
    }
    let mut port = json!({ "containerPort": number, "protocol": "TCP" });
    let declared = own.ports.iter().find(|port| port.is_tcp(number));
    // A port that is ours and has become another one gives its name up.
    let before = |port: &PortShape| shape.coverage_port == Some(port.number.to_string());
    let mut others = own.ports.iter().filter(|port| !before(port));
    let taken = others.any(|port| port.name.as_deref() == Some(COVERAGE_PORT_NAME));
    let name = match declared {
        Some(declared) => declared.name.as_deref(),
        None => Some(COVERAGE_PORT_NAME).filter(|_| !taken),
    };
    if let (Some(name), Some(fields)) = (name, port.as_object_mut()) {
        fields.insert("name".into(), json!(name));
    }
    Ok(port)
}

/// Says who but our agent listens on a port, as far as the template tells. Whoever declares the agent's port in the JVM's
/// container without a name, or with the agent's, means the agent.
fn listener(number: u16, container: &ContainerShape, is_own: bool) -> Option<String> {
    let declared = container.ports.iter().find(|port| port.is_tcp(number));
    let name = declared.and_then(|port| port.name.as_deref());
    let meant = is_own && name.is_none_or(|name| name == COVERAGE_PORT_NAME);
    match (declared, name) {
        (Some(_), Some(name)) if !meant => {
            Some(format!("port {name} of container {}", container.name))
        }
        (Some(_), None) if !meant => Some(format!("container {}", container.name)),
        _ if !is_own && has_listener(container, number) => {
            Some(format!("an agent in container {}", container.name))
        }
        _ => None,
    }
}

impl AgentPatch {
    /// Puts it into a manifest; once more changes nothing.
    pub fn compose(&self, deployment: &mut Value) {
        let Some(template) = deployment.pointer_mut("/spec/template") else {
            return;
        };
        if let Some(labels) = object_in(template, "metadata").and_then(|it| object_in(it, "labels"))
            && let Some(labels) = labels.as_object_mut()
        {
            labels.insert(self.label.0.into(), json!(self.label.1));
        }
        let Some(pod) = object_in(template, "spec") else {
            return;
        };
        put(pod, "initContainers", &self.init_container, by_name);
        put(pod, "volumes", &self.volume, by_name);
        let containers = pod.get_mut("containers").and_then(Value::as_array_mut);
        let mut containers = containers.into_iter().flatten();
        let chosen = containers.find(|it| it.get("name").is_some_and(|it| *it == self.container));
        let Some(container) = chosen else { return };
        let variable = json!({ "name": OPTIONS, "value": self.java_tool_options });
        put(container, "env", &variable, by_name);
        put(container, "ports", &self.port, by_port);
        put(container, "volumeMounts", &self.mount, by_path);
    }

    /// Renders what the manager of the agent applies to a Deployment that no Sync composes it into.
    pub fn to_apply(&self, deployment: &ObjectId) -> Value {
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": { "name": deployment.name, "namespace": deployment.namespace },
            "spec": { "template": {
                "metadata": { "labels": { self.label.0: self.label.1 } },
                "spec": {
                    "containers": [{
                        "name": self.container,
                        "env": [{ "name": OPTIONS, "value": self.java_tool_options }],
                        "ports": [self.port],
                        "volumeMounts": [self.mount],
                    }],
                    "initContainers": [self.init_container],
                    "volumes": [self.volume],
                },
            } },
        })
    }

    /// Tells whether pods of this shape run the agent as it is to be, whatever image brings it.
    pub fn runs_in(&self, shape: &PodShape) -> bool {
        let chosen = shape.containers.iter().find(|it| it.name == self.container);
        shape.coverage_port.as_deref() == Some(&*self.label.1)
            && shape.init_containers.iter().any(|it| it.name == AGENT)
            && shape.volumes.iter().any(|it| it == AGENT)
            && chosen.is_some_and(|container| {
                starts_with(&container.java_tool_options, &self.option)
                    && container.mounts.iter().any(|it| it == AGENT_DIRECTORY)
            })
    }

    /// Tells whether a pod template has all of it.
    pub fn is_in(&self, shape: &PodShape) -> bool {
        let number = self.port.get("containerPort").and_then(Value::as_u64);
        let brought = |it: &ContainerShape| it.name == AGENT && it.image == self.image;
        let declared = |it: &ContainerShape| {
            let mut ports = it.ports.iter();
            ports.any(|port| Some(u64::from(port.number)) == number && port.protocol == "TCP")
        };
        let mut containers = shape.containers.iter();
        self.runs_in(shape)
            && shape.init_containers.iter().any(brought)
            && containers.any(|it| it.name == self.container && declared(it))
    }
}

/// The map at a key, which is made when it is not there.
fn object_in<'a>(holder: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    let entry = holder.as_object_mut()?.entry(key);
    Some(entry.or_insert_with(|| json!(Map::new())))
}

/// Puts an item into a list: over the fields of the one that is the same, or as a new one.
fn put(holder: &mut Value, list: &str, item: &Value, same: fn(&Value, &Value) -> bool) {
    let Some(fields) = holder.as_object_mut() else {
        return;
    };
    let Some(items) = fields
        .entry(list)
        .or_insert_with(|| json!([]))
        .as_array_mut()
    else {
        return;
    };
    match items.iter_mut().find(|it| same(it, item)) {
        Some(found) => {
            if let (Some(found), Some(item)) = (found.as_object_mut(), item.as_object()) {
                found.extend(item.clone());
            }
        }
        // At the end, where server-side apply puts what is new in a list.
        None => items.push(item.clone()),
    }
}

fn by_name(a: &Value, b: &Value) -> bool {
    a.get("name") == b.get("name")
}

fn by_port(a: &Value, b: &Value) -> bool {
    let protocol = |it: &Value| {
        it.get("protocol")
            .and_then(Value::as_str)
            .unwrap_or("TCP")
            .to_owned()
    };
    a.get("containerPort") == b.get("containerPort") && protocol(a) == protocol(b)
}

fn by_path(a: &Value, b: &Value) -> bool {
    let path = |it: &Value| {
        let path = it
            .get("mountPath")
            .and_then(Value::as_str)
            .unwrap_or_default();
        path.trim_end_matches('/').to_owned()
    };
    path(a) == path(b)
}
