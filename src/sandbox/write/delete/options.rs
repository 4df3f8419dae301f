//! How something is to be deleted.

use serde_json::Value;

use crate::error::{ApiError, Cause};
use crate::request::Request;
use crate::write::key::Write;
use crate::write::metadata::{metadata, text};

/// What becomes of what an object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::write) enum Propagation {
    /// It stays.
    Orphan,
    /// It goes after the object.
    Background,
    /// It goes before the object.
    Foreground,
}

/// `DeleteOptions`, from the body or from parameters.
#[derive(Clone, Debug, Default)]
pub(in crate::write) struct Options {
    propagation: Option<Propagation>,
    grace: Option<i64>,
    uid: String,
    version: String,
    /// Whether the body says that nothing is to be kept.
    pub(super) dry: bool,
}

impl Options {
    /// Reads a request's options; parameters count where there is no body.
    pub(in crate::write) fn read(request: &Request, body: &Value) -> Result<Self, ApiError> {
        let field = |name: &str| body.get(name).filter(|value| !value.is_null());
        let said = |name: &str| match field(name) {
            Some(value) => value.as_str(),
            None => request.parameter(name).filter(|_| body.is_null()),
        };
        let mut options = Self {
            grace: match field("gracePeriodSeconds") {
                Some(seconds) => seconds.as_i64(),
                None => said("gracePeriodSeconds").and_then(|seconds| seconds.parse().ok()),
            },
            ..Self::default()
        };
        if let Some(wanted) = field("dryRun").and_then(Value::as_array) {
            options.dry = !wanted.is_empty();
            if wanted.iter().any(|wanted| wanted != "All") {
                let said: Vec<String> = wanted.iter().map(Value::to_string).collect();
                let cause = Cause {
                    reason: "FieldValueNotSupported",
                    message: format!(
                        "Unsupported value: []string{{{}}}: supported values: \"All\"",
                        said.join(", ")
                    ),
                    field: "dryRun".to_owned(),
                };
                return Err(ApiError::invalid(
                    "meta.k8s.io",
                    "DeleteOptions",
                    "",
                    vec![cause],
                ));
            }
        }
        if let Some(preconditions) = field("preconditions") {
            text(preconditions, "uid").clone_into(&mut options.uid);
            text(preconditions, "resourceVersion").clone_into(&mut options.version);
        }
        let orphan = match field("orphanDependents") {
            Some(value) => value.as_bool(),
            None => said("orphanDependents").and_then(|value| value.parse().ok()),
        };
        options.propagation = match said("propagationPolicy").filter(|said| !said.is_empty()) {
            Some(said) if orphan.is_some() => {
                return Err(refuse(
                    "FieldValueInvalid",
                    format!(
                        "Invalid value: {said:?}: orphanDependents and deletionPropagation cannot be both set"
                    ),
                ));
            }
            Some("Orphan") => Some(Propagation::Orphan),
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some(said) => {
                return Err(refuse(
                    "FieldValueNotSupported",
                    format!(
                        "Unsupported value: {said:?}: supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""
                    ),
                ));
            }
            None => orphan.map(|orphan| match orphan {
                true => Propagation::Orphan,
                false => Propagation::Background,
            }),
        };
        Ok(options)
    }

    /// Holds the preconditions against an object.
    pub(super) fn hold(&self, write: &Write<'_>, object: &Value) -> Result<(), ApiError> {
        let Write { kind, key, .. } = write;
        let conflict = |why: String| ApiError::conflict(&kind.group, &kind.kind, &key.name, &why);
        let uid = text(metadata(object), "uid");
        if !self.uid.is_empty() && self.uid != uid {
            return Err(conflict(format!(
                "the UID in the precondition ({}) does not match the UID in record ({uid}). The object might have been deleted and then recreated",
                self.uid
            )));
        }
        let version = text(metadata(object), "resourceVersion");
        if !self.version.is_empty() && self.version != version {
            return Err(conflict(format!(
                "the ResourceVersion in the precondition ({}) does not match the ResourceVersion in record ({version}). The object might have been modified",
                self.version
            )));
        }
        Ok(())
    }

    /// What becomes of what the object owns; `None` leaves it to the finalizers that the object has.
    pub(super) fn propagation(&self, write: &Write<'_>) -> Option<Propagation> {
        // As these kinds did when there was no propagation to choose.
        let old = match &*write.key.resource {
            "jobs.batch" | "replicationcontrollers" => true,
            "cronjobs.batch" => write.kind.version == "v1beta1",
            _ => false,
        };
        self.propagation.or(old.then_some(Propagation::Orphan))
    }

    /// Seconds that an object may take: only pods that are on a node and not at their end have any.
    pub(super) fn grace(&self, write: &Write<'_>, object: &Value) -> i64 {
        let at = |path| object.pointer(path);
        let phase = at("/status/phase").and_then(Value::as_str);
        let node = at("/spec/nodeName").and_then(Value::as_str);
        if &*write.key.resource != "pods"
            || node.is_none_or(str::is_empty)
            || matches!(phase, Some("Succeeded" | "Failed"))
        {
            return 0;
        }
        let own = at("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
        let left = at("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64);
        match (self.grace, left) {
            (None, Some(left)) => left,
            (Some(wanted), Some(left)) => wanted.min(left),
            (wanted, None) => wanted.or(own).unwrap_or(30),
        }
    }
}

fn refuse(reason: &'static str, message: String) -> ApiError {
    let cause = Cause {
        reason,
        message,
        field: "propagationPolicy".to_owned(),
    };
    ApiError::invalid("meta.k8s.io", "DeleteOptions", "", vec![cause])
}
