//! The parameters of a write.

use crate::error::{ApiError, Cause};
use crate::request::{PatchType, Request, Verb};

/// Longest name of a field manager.
const MANAGER: usize = 128;

/// Refuses parameters that say nothing.
pub(super) fn check(request: &Request) -> Result<(), ApiError> {
    let mut causes = Vec::new();
    let apply = request.verb == Verb::Patch(PatchType::Apply);
    let manager = request.parameter("fieldManager").unwrap_or_default();
    if matches!(request.verb, Verb::Patch(_)) {
        if apply && manager.is_empty() {
            causes.push(cause(
                "FieldValueRequired",
                "fieldManager",
                "Required value: is required for apply patch",
            ));
        }
        if !apply && request.query.contains_key("force") {
            causes.push(cause(
                "FieldValueForbidden",
                "force",
                "Forbidden: may not be specified for non-apply patch",
            ));
        }
    }
    if manager.len() > MANAGER {
        let why = format!("Too long: must have at most {MANAGER} bytes");
        causes.push(cause("FieldValueTooLong", "fieldManager", &why));
    }
    if let Some(wanted) = request.parameter("dryRun")
        && !matches!(wanted, "" | "All")
    {
        let why = format!("Unsupported value: []string{{{wanted:?}}}: supported values: \"All\"");
        causes.push(cause("FieldValueNotSupported", "dryRun", &why));
    }
    if let Some(wanted) = request.parameter("fieldValidation")
        && !matches!(wanted, "" | "Ignore" | "Warn" | "Strict")
    {
        let why = format!(
            "Unsupported value: {wanted:?}: supported values: \"Ignore\", \"Strict\", \"Warn\""
        );
        causes.push(cause("FieldValueNotSupported", "fieldValidation", &why));
    }
    if causes.is_empty() {
        return Ok(());
    }
    let kind = match request.verb {
        Verb::Create => "CreateOptions",
        Verb::Patch(_) => "PatchOptions",
        Verb::Delete | Verb::DeleteCollection => "DeleteOptions",
        _ => "UpdateOptions",
    };
    Err(ApiError::invalid("meta.k8s.io", kind, "", causes))
}

fn cause(reason: &'static str, field: &str, message: &str) -> Cause {
    Cause {
        reason,
        message: message.to_owned(),
        field: field.to_owned(),
    }
}
