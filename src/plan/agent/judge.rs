//! One Target's agent and one live Deployment -> what is to be done.

use serde_json::{Value, json};

use super::record::{AgentRecord, RecordedTarget};
use super::restore::rest_of;
use super::{AgentImages, OPTIONS, applier, brought};
use crate::api::ObjectId;
use crate::api::digest::sha256;
use crate::api::names::{AGENT_MANAGER, AGENT_RECORD, COVERAGE_PORT};
use crate::plan::fields::Fields;
use crate::plan::managed::{FieldPath, lost_fields, owners};
use crate::plan::{Conflict, Live, ManagedFields};
use crate::render::{
    AgentPatch, EnvValue, NotInjected, PodShape, Target, agent_patch, without_agent,
};

/// What a Target wants of a Deployment, as far as the agent goes.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentWish {
    /// It is to carry the agent.
    Carry {
        /// For this Target.
        target: Box<Target>,
        /// What may bring the agent.
        images: AgentImages,
    },
    /// It is to be as it was before it carried the agent.
    GiveUp {
        /// Name of the Target that it carries the agent for.
        target: String,
        /// Why.
        why: &'static str,
    },
}

/// What is to be done about the agent in a Deployment.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentVerdict {
    /// Nothing, and why.
    Nothing(String),
    /// This is to be applied.
    Put {
        /// The object, with the record of what it replaces.
        object: Value,
        /// Why.
        reason: String,
        /// Whether others have changed what was put in before.
        drift: bool,
    },
    /// It is to be taken out.
    TakeOut {
        /// What was there before.
        record: AgentRecord,
        /// Why.
        reason: String,
    },
    /// It ought to be put in, but that would harm somebody.
    Refuse {
        /// Why, and what to do.
        no: NotInjected,
        /// Fields that others apply.
        conflicts: Vec<Conflict>,
    },
}

/// Judges a Deployment by its metadata and the shape of its pods.
pub fn judge_agent(wish: &AgentWish, id: &ObjectId, live: &Live, shape: &PodShape) -> AgentVerdict {
    if live.deletion_timestamp.is_some() {
        return AgentVerdict::Nothing("it is being deleted".into());
    }
    let record = AgentRecord::of(live);
    match wish {
        AgentWish::Carry { target, images } => carry(target, images, id, live, shape, record),
        AgentWish::GiveUp { target, why } => match record {
            Some(record) if record.target.name == *target => AgentVerdict::TakeOut {
                record,
                reason: (*why).to_owned(),
            },
            _ => AgentVerdict::Nothing("it carries no agent".into()),
        },
    }
}

fn carry(
    target: &Target,
    images: &AgentImages,
    id: &ObjectId,
    live: &Live,
    shape: &PodShape,
    before: Option<AgentRecord>,
) -> AgentVerdict {
    let refuse = |no| AgentVerdict::Refuse {
        no,
        conflicts: Vec::new(),
    };
    if let Some(other) = before.as_ref().map(|it| &it.target.name)
        && *other != target.name
    {
        return refuse(NotInjected::DeploymentTaken {
            deployment: id.name.clone(),
            target: other.clone(),
        });
    }
    if let Some(owner) = live.controller() {
        return refuse(NotInjected::Controlled {
            deployment: id.name.clone(),
            owner: format!("{} {}", owner.kind, owner.name),
        });
    }
    if let Some(image) = images.refused(target) {
        let image = image.to_owned();
        return refuse(NotInjected::ImageNotAllowed { image });
    }
    // Judged first: as long as one container has the agent's port, no other can have it.
    let named = target.spec.agents.coverage.container.as_deref();
    let named = named.filter(|name| shape.containers.iter().any(|it| it.name == *name));
    if let (Some(record), Some(named)) = (&before, named)
        && record.container != named
    {
        return moves(record, named);
    }
    let patch = match agent_patch(target, shape, &images.default) {
        Ok(patch) => patch,
        // What it carries already stays: nothing better is known.
        Err(no) => return AgentVerdict::Nothing(no.to_string()),
    };
    if let Some(record) = before.as_ref().filter(|it| it.container != patch.container) {
        return moves(record, &patch.container);
    }
    let digest = digest(&patch, id);
    let is_new = before.as_ref().is_none_or(|it| it.digest != digest);
    let record = record(target, &patch, shape, live, before.as_ref(), digest);
    let object = to_apply(&patch, id, &record);
    let nothing = Fields::default();
    let ours = live.managed_fields.iter().find(|it| is_agents(it));
    let lost = lost_fields(&object, ours.map_or(&nothing, |it| &it.fields));
    let conflicts = conflicts(&patch, shape, live);
    if let Some(Conflict { manager, field }) = conflicts.first() {
        let no = NotInjected::Conflict {
            deployment: id.name.clone(),
            manager: manager.clone(),
            field: field.clone(),
        };
        return AgentVerdict::Refuse { no, conflicts };
    }
    if lost.is_empty() && before.as_ref() == Some(&record) {
        return AgentVerdict::Nothing("it carries the agent".into());
    }
    let drift = !is_new && !lost.is_empty();
    AgentVerdict::Put {
        reason: match (&before, drift) {
            (None, _) => format!("the agent is put in for ClosureJVMTarget {}", target.name),
            (Some(_), true) => changed_by(&lost, live),
            (Some(_), false) => "what is put in has changed".into(),
        },
        object,
        drift,
    }
}

fn moves(record: &AgentRecord, container: &str) -> AgentVerdict {
    AgentVerdict::TakeOut {
        record: record.clone(),
        reason: format!("the agent moves to container {container}"),
    }
}

fn is_agents(entry: &ManagedFields) -> bool {
    entry.manager == AGENT_MANAGER && entry.operation == "Apply" && entry.subresource.is_empty()
}

/// The digest of what a Target wants put in, whatever options it is put before.
fn digest(patch: &AgentPatch, id: &ObjectId) -> String {
    let alone = AgentPatch {
        java_tool_options: patch.option.clone(),
        ..patch.clone()
    };
    sha256(alone.to_apply(id).to_string())
}

/// Notes what is replaced. What was noted before holds as long as nobody has written other options since.
fn record(
    target: &Target,
    patch: &AgentPatch,
    shape: &PodShape,
    live: &Live,
    before: Option<&AgentRecord>,
    digest: String,
) -> AgentRecord {
    let uid = target.live.as_ref().map(|live| live.uid.clone());
    let recorded = RecordedTarget {
        name: target.name.clone(),
        uid: uid.unwrap_or_default(),
    };
    let mut record = AgentRecord::new(recorded, patch.container.clone(), digest);
    let container = shape
        .containers
        .iter()
        .find(|it| it.name == patch.container);
    let now = container.and_then(|it| match &it.java_tool_options {
        EnvValue::Value(value) => Some(value),
        EnvValue::Absent | EnvValue::From | EnvValue::Twice => None,
    });
    let rest = now.and_then(|now| without_agent(now));
    let noted = before
        .filter(|before| rest.as_deref() == Some(rest_of(before.java_tool_options.as_deref())));
    (record.java_tool_options, record.taken_from) = match (noted, rest) {
        (Some(noted), _) => (noted.java_tool_options.clone(), noted.taken_from.clone()),
        (None, Some(rest)) => (Some(rest).filter(|it| !it.is_empty()), None),
        (None, None) => (now.cloned(), None),
    };
    if record.java_tool_options.is_some() && record.taken_from.is_none() {
        let value = options_value(&patch.container);
        let mut owners = owners(&value, &live.managed_fields);
        let owner = owners.find(|it| it.operation == "Update");
        record.taken_from = owner.map(|it| it.manager.clone());
    }
    let number = patch.port.get("containerPort").and_then(Value::as_u64);
    let declares = |it: &crate::render::ContainerShape| {
        let mut ports = it.ports.iter();
        ports.any(|port| Some(u64::from(port.number)) == number && port.is_tcp(port.number))
    };
    record.port_was_there = match shape.coverage_port.as_deref() == Some(&*patch.label.1) {
        true => before.is_some_and(|before| before.port_was_there),
        false => container.is_some_and(declares),
    };
    record
}

fn to_apply(patch: &AgentPatch, id: &ObjectId, record: &AgentRecord) -> Value {
    let mut object = patch.to_apply(id);
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        // The label is for watches, which cannot select by annotations.
        metadata.insert("labels".into(), json!({ AGENT_RECORD: "injected" }));
        metadata.insert("annotations".into(), json!({ AGENT_RECORD: record.text() }));
    }
    object
}

fn options_value(container: &str) -> FieldPath {
    let container = format!("k:{}", json!({ "name": container }));
    let variable = format!("k:{}", json!({ "name": OPTIONS }));
    let path = [
        "f:spec",
        "f:template",
        "f:spec",
        "f:containers",
        &container,
        "f:env",
        &variable,
        "f:value",
    ];
    FieldPath::new(path)
}

/// Finds the fields that another applier owns, and that would get another value.
fn conflicts(patch: &AgentPatch, shape: &PodShape, live: &Live) -> Vec<Conflict> {
    let options = EnvValue::Value(patch.java_tool_options.clone());
    let mut containers = shape.containers.iter();
    let has_options =
        containers.any(|it| it.name == patch.container && it.java_tool_options == options);
    let label = format!("f:{COVERAGE_PORT}");
    let label = ["f:spec", "f:template", "f:metadata", "f:labels", &label];
    let [init_container, volume] = brought();
    let mut fields = Vec::new();
    if !has_options {
        fields.push(options_value(&patch.container));
    }
    if !patch.is_in(shape) {
        fields.extend([FieldPath::new(label), init_container, volume]);
    }
    let owned = fields.into_iter().filter_map(|path| {
        let manager = applier(&path, live)?.to_owned();
        let field = path.to_string();
        Some(Conflict { manager, field })
    });
    owned.collect()
}

fn changed_by(lost: &[FieldPath], live: &Live) -> String {
    let told = lost.first().map(|path| {
        let mut owners = owners(path, &live.managed_fields).filter(|it| !is_agents(it));
        match owners.next() {
            Some(owner) => format!("{path} was changed by {}", owner.manager),
            None => format!("{path} is gone"),
        }
    });
    let more = match lost.len() {
        0 | 1 => String::new(),
        all => format!(", and {} more", all - 1),
    };
    format!("drift: {}{more}", told.unwrap_or_default())
}
