//! Refusals, as the API server words them.

use serde_json::{Map, Value, json};

/// A `Status` of kind `Failure`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// HTTP status.
    pub code: u16,
    /// Machine-readable word, such as `NotFound`; empty for none.
    pub reason: &'static str,
    /// What people read.
    pub message: String,
    /// What programs read, where there is more to tell.
    pub details: Option<Box<Details>>,
}

/// What a refusal is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// API group.
    pub group: String,
    /// Kind, or its plural where the API server says so.
    pub kind: String,
    /// Name.
    pub name: String,
    /// What is wrong, field by field.
    pub causes: Vec<Cause>,
    /// Seconds to wait before the next try.
    pub retry_after: Option<u32>,
}

/// One field that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Such as `FieldValueInvalid`.
    pub reason: &'static str,
    /// What people read, such as `Invalid value: "x": must be …`.
    pub message: String,
    /// Such as `spec.ports[0].port`.
    pub field: String,
}

impl ApiError {
    /// A refusal that is about no object.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: None,
        }
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 404 for an object; `plural` and `group` name its kind.
    pub fn not_found(group: &str, plural: &str, name: &str) -> Self {
        let resource = resource(group, plural);
        Self::new(404, "NotFound", format!("{resource} {name:?} not found"))
            .about(group, plural, name)
    }

    /// 404 for a path.
    pub fn no_such_path() -> Self {
        Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
    }

    /// 409 since it is there already.
    pub fn already_exists(group: &str, plural: &str, name: &str) -> Self {
        let resource = resource(group, plural);
        Self::new(
            409,
            "AlreadyExists",
            format!("{resource} {name:?} already exists"),
        )
        .about(group, plural, name)
    }

    /// 409 since somebody was faster, or since a precondition does not hold.
    pub fn conflict(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let resource = resource(group, plural);
        let message = format!("Operation cannot be fulfilled on {resource} {name:?}: {why}");
        Self::new(409, "Conflict", message).about(group, plural, name)
    }

    /// 422 with all that is wrong; `kind` is the Kind, not the plural.
    pub fn invalid(group: &str, kind: &str, name: &str, causes: Vec<Cause>) -> Self {
        let said: Vec<String> = causes
            .iter()
            .map(|cause| format!("{}: {}", cause.field, cause.message))
            .collect();
        let said = match said.as_slice() {
            [one] => one.clone(),
            all => format!("[{}]", all.join(", ")),
        };
        let message = format!("{} {name:?} is invalid: {said}", resource(group, kind));
        let mut error = Self::new(422, "Invalid", message).about(group, kind, name);
        error.details_mut().causes = causes;
        error
    }

    /// 403; `message` is whole.
    pub fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let resource = resource(group, plural);
        Self::new(
            403,
            "Forbidden",
            format!("{resource} {name:?} is forbidden: {why}"),
        )
        .about(group, plural, name)
    }

    /// 501: what this API does not do.
    pub fn not_implemented(what: &str) -> Self {
        let message = format!("{what}: not served by the sandbox, which is no whole Kubernetes");
        Self::new(501, "NotImplemented", message)
    }

    /// The same, about an object.
    #[must_use]
    pub fn about(mut self, group: &str, kind: &str, name: &str) -> Self {
        let details = self.details_mut();
        (details.group, details.kind, details.name) =
            (group.to_owned(), kind.to_owned(), name.to_owned());
        self
    }

    /// What programs read of it.
    pub fn details_mut(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }

    /// The `Status` object.
    pub fn body(&self) -> Value {
        let mut status = Map::new();
        let mut put = |name: &str, value: Value| status.insert(name.to_owned(), value);
        put("kind", "Status".into());
        put("apiVersion", "v1".into());
        put("metadata", json!({}));
        put("status", "Failure".into());
        put("message", self.message.as_str().into());
        put("code", self.code.into());
        if !self.reason.is_empty() {
            put("reason", self.reason.into());
        }
        if let Some(details) = &self.details {
            put("details", details.body());
        }
        status.into()
    }
}

impl Details {
    fn body(&self) -> Value {
        let mut body = Map::new();
        for (key, value) in [
            ("name", &self.name),
            ("group", &self.group),
            ("kind", &self.kind),
        ] {
            if !value.is_empty() {
                body.insert(key.to_owned(), value.as_str().into());
            }
        }
        if !self.causes.is_empty() {
            let causes = self.causes.iter().map(|cause| {
                let fields = [
                    ("reason", cause.reason),
                    ("message", &cause.message),
                    ("field", &cause.field),
                ];
                let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
                fields
                    .map(|(name, text)| (name.to_owned(), Value::from(text)))
                    .collect::<Value>()
            });
            body.insert("causes".to_owned(), causes.collect());
        }
        if let Some(seconds) = self.retry_after {
            body.insert("retryAfterSeconds".to_owned(), seconds.into());
        }
        body.into()
    }
}

fn resource(group: &str, kind: &str) -> String {
    match group {
        "" => kind.to_owned(),
        group => format!("{kind}.{group}"),
    }
}
