//! CustomResourceDefinitions, and the objects of the kinds they make.

mod definition;
mod fields;
mod kinds;
mod names;
mod object;
mod pattern;
mod schema;
mod show;
#[cfg(test)]
mod tests;

pub use self::definition::{
    default as default_definition, established, validate as validate_definition,
};
pub use self::kinds::kinds;
pub use self::object::{default, prune, validate};

use super::error::Cause;

/// A [`Cause`] for a value that is not as it should be.
fn invalid(field: impl Into<String>, value: &str, why: &str) -> Cause {
    cause(
        "FieldValueInvalid",
        field,
        format!("Invalid value: {value}: {why}"),
    )
}

/// A [`Cause`] for what must be there; `why` may be empty.
fn required(field: impl Into<String>, why: &str) -> Cause {
    cause("FieldValueRequired", field, told("Required value", why))
}

/// A [`Cause`] for what must not be there.
fn forbidden(field: impl Into<String>, why: &str) -> Cause {
    cause("FieldValueForbidden", field, told("Forbidden", why))
}

/// A [`Cause`] for a value that is none of those there are; `value` is shown as it is.
fn unsupported<S: AsRef<str>>(field: impl Into<String>, value: &str, supported: &[S]) -> Cause {
    let supported: Vec<String> = supported
        .iter()
        .map(|value| show::quoted(value.as_ref()))
        .collect();
    let message = format!(
        "Unsupported value: {value}: supported values: {}",
        supported.join(", ")
    );
    cause("FieldValueNotSupported", field, message)
}

fn cause(reason: &'static str, field: impl Into<String>, message: String) -> Cause {
    Cause {
        reason,
        message,
        field: field.into(),
    }
}

fn told(what: &str, why: &str) -> String {
    match why {
        "" => what.to_owned(),
        why => format!("{what}: {why}"),
    }
}
