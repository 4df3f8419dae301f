//! What is wrong with an object, in the API server's words.

use std::fmt::Display;

use serde_json::Value;

use super::spot::Spot;
use crate::error::Cause;
use crate::words;

/// What was found so far.
#[derive(Default)]
pub(super) struct Causes(pub(super) Vec<Cause>);

impl Causes {
    /// Something is missing; `why` may be empty.
    pub(super) fn required(&mut self, spot: &Spot<'_>, why: &str) {
        self.add("FieldValueRequired", spot, "Required value", why);
    }

    /// A value does not do.
    pub(super) fn invalid(&mut self, spot: &Spot<'_>, why: &str) {
        self.invalid_as(spot, &shown(spot.value), why);
    }

    /// A value does not do, and is shown in a way of its own.
    pub(super) fn invalid_as(&mut self, spot: &Spot<'_>, shown: &str, why: &str) {
        let what = format!("Invalid value: {shown}");
        self.add("FieldValueInvalid", spot, &what, why);
    }

    /// A value does not do for several reasons.
    pub(super) fn all_invalid(&mut self, spot: &Spot<'_>, whys: &[String]) {
        for why in whys {
            self.invalid(spot, why);
        }
    }

    /// A text, which may be absent, does not do for several reasons.
    pub(super) fn text_invalid(&mut self, spot: &Spot<'_>, text: &str, whys: &[String]) {
        for why in whys {
            self.invalid_as(spot, &quoted(text), why);
        }
    }

    /// A value is none of those there are.
    pub(super) fn unsupported(&mut self, spot: &Spot<'_>, supported: &[&str]) {
        self.unsupported_as(spot, &shown(spot.value), supported);
    }

    /// A value is none of those there are, and is shown in a way of its own.
    pub(super) fn unsupported_as(&mut self, spot: &Spot<'_>, shown: &str, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(quoted).collect();
        let what = format!("Unsupported value: {shown}");
        let why = format!("supported values: {}", supported.join(", "));
        self.add("FieldValueNotSupported", spot, &what, &why);
    }

    /// Says that a text is none of those there are, unless it is.
    pub(super) fn one_of(&mut self, spot: &Spot<'_>, supported: &[&str]) {
        if !supported.contains(&spot.text()) {
            self.unsupported_as(spot, &quoted(spot.text()), supported);
        }
    }

    /// A value is there already.
    pub(super) fn duplicate(&mut self, spot: &Spot<'_>) {
        self.duplicate_as(spot, &shown(spot.value));
    }

    /// A value is there already, and is shown in a way of its own.
    pub(super) fn duplicate_as(&mut self, spot: &Spot<'_>, shown: &str) {
        let what = format!("Duplicate value: {shown}");
        self.add("FieldValueDuplicate", spot, &what, "");
    }

    /// A value must not be there, or not change.
    pub(super) fn forbidden(&mut self, spot: &Spot<'_>, why: &str) {
        self.add("FieldValueForbidden", spot, "Forbidden", why);
    }

    /// What a text names is not there.
    pub(super) fn not_found(&mut self, spot: &Spot<'_>) {
        let what = format!("Not found: {}", quoted(spot.text()));
        self.add("FieldValueNotFound", spot, &what, "");
    }

    /// A list is too long.
    pub(super) fn too_many(&mut self, spot: &Spot<'_>, count: usize, most: usize) {
        let what = format!("Too many: {count}");
        let why = format!("must have at most {most} items");
        self.add("FieldValueTooMany", spot, &what, &why);
    }

    /// A value has too many bytes.
    pub(super) fn too_long(&mut self, spot: &Spot<'_>, most: usize) {
        let why = format!("must have at most {most} bytes");
        self.add("FieldValueTooLong", spot, "Too long", &why);
    }

    /// A number is below zero; nothing is zero.
    pub(super) fn not_negative(&mut self, spot: &Spot<'_>) {
        if spot.int().unwrap_or(0) < 0 {
            self.invalid(spot, "must be greater than or equal to 0");
        }
    }

    /// A value is not as it was.
    pub(super) fn unchanged(&mut self, spot: &Spot<'_>, old: &Value) {
        if spot.value != old {
            self.invalid(spot, "field is immutable");
        }
    }

    fn add(&mut self, reason: &'static str, spot: &Spot<'_>, what: &str, why: &str) {
        let message = match why {
            "" => what.to_owned(),
            why => format!("{what}: {why}"),
        };
        self.0.push(Cause {
            reason,
            message,
            field: spot.to_string(),
        });
    }
}

/// A value as messages show it: text in quotes, lists of texts as Go has them, all else as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "\"null\"".to_owned(),
        Value::String(text) => quoted(text),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            texts_shown(&texts)
        }
        other => other.to_string(),
    }
}

/// Texts as Go shows them, such as `[]string{"a", "b"}`.
pub(super) fn texts_shown(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(quoted).collect();
    format!("[]string{{{}}}", texts.join(", "))
}

/// Labels as Go shows them, such as `map[string]string{"a":"b"}`.
pub(super) fn labels_shown(labels: &Value) -> String {
    let Some(labels) = labels.as_object().filter(|labels| !labels.is_empty()) else {
        return "map[string]string(nil)".to_owned();
    };
    let shown: Vec<String> = labels
        .iter()
        .map(|(key, value)| format!("{}:{}", quoted(key), quoted(value.as_str().unwrap_or(""))))
        .collect();
    format!("map[string]string{{{}}}", shown.join(", "))
}

/// Anything in quotes, as Go quotes its text.
pub(super) fn quoted(text: impl Display) -> String {
    words::quoted(&text.to_string())
}
