//! The rules of schemas.

use serde_json::{Map, Number, Value};

use super::super::fields::{flag, items, text, texts};
use super::super::{invalid, pattern, required, show, unsupported};
use super::{child, choices, formats, item, of_field, types};
use crate::error::Cause;

/// What checking a value found.
#[derive(Default)]
pub(super) struct Outcome {
    /// What is wrong.
    pub(super) causes: Vec<Cause>,
    /// How many schemas were looked at.
    pub(super) visited: usize,
}

impl Outcome {
    /// That of a value.
    pub(super) fn of(schema: &Value, value: &Value, path: &str) -> Self {
        let mut outcome = Self::default();
        outcome.check(schema, value, path);
        outcome
    }

    /// Takes over that of a part.
    pub(super) fn merge(&mut self, part: Self) {
        self.causes.extend(part.causes);
        self.visited += part.visited;
    }

    fn check(&mut self, schema: &Value, value: &Value, path: &str) {
        self.visited += 1;
        self.causes.extend(types::check(schema, value, path));
        choices::check(schema, value, path, self);
        match value {
            Value::String(text) => self.text(schema, text, path),
            Value::Number(number) => self.number(schema, number, path),
            Value::Array(items) => self.list(schema, items, path),
            _ => {}
        }
        self.one_of_some(schema, value, path);
        if let Value::Object(fields) = value {
            self.object(schema, fields, path);
        }
    }

    fn fail(&mut self, value: &str, path: &str, why: &str) {
        let why = format!("{path} in body {why}");
        self.causes.push(invalid(path, value, &why));
    }

    fn text(&mut self, schema: &Value, value: &str, path: &str) {
        let shown = show::quoted(value);
        let length = value.chars().count() as u64;
        if let Some(most) = limit(schema, "maxLength").filter(|most| length > *most) {
            self.fail(
                &shown,
                path,
                &format!("should be at most {most} chars long"),
            );
        }
        if let Some(least) = limit(schema, "minLength").filter(|least| length < *least) {
            self.fail(
                &shown,
                path,
                &format!("should be at least {least} chars long"),
            );
        }
        let wanted = text(schema, "pattern");
        if !wanted.is_empty() && !pattern::fits(wanted, value) {
            self.fail(&shown, path, &format!("should match '{wanted}'"));
        }
        let format = text(schema, "format");
        if !formats::fits(format, value) {
            self.fail(
                &shown,
                path,
                &format!("must be of type {format}: {}", show::quoted(value)),
            );
        }
    }

    fn number(&mut self, schema: &Value, number: &Number, path: &str) {
        let shown = show::number(number);
        let Some(value) = number.as_f64() else {
            return;
        };
        let bound = |name| schema.get(name).and_then(Value::as_f64);
        let told = |bound: f64| match number.is_f64() {
            true => show::float(bound),
            false => show::float(bound.trunc()),
        };
        if let Some(factor) = bound("multipleOf").filter(|factor| *factor > 0.0)
            && (value / factor).fract() != 0.0
        {
            let why = format!("should be a multiple of {}", show::float(factor));
            self.fail(&shown, path, &why);
        }
        let strict = flag(schema, "exclusiveMaximum");
        if let Some(most) = bound("maximum")
            && (value > most || strict && value >= most)
        {
            let or = if strict { "" } else { " or equal to" };
            let why = format!("should be less than{or} {}", told(most));
            self.fail(&shown, path, &why);
        }
        let strict = flag(schema, "exclusiveMinimum");
        if let Some(least) = bound("minimum")
            && (value < least || strict && value <= least)
        {
            let or = if strict { "" } else { " or equal to" };
            let why = format!("should be greater than{or} {}", told(least));
            self.fail(&shown, path, &why);
        }
    }

    fn list(&mut self, schema: &Value, items: &[Value], path: &str) {
        if let Some(of) = schema.get("items") {
            for (index, value) in items.iter().enumerate() {
                self.check(of, value, &item(path, index));
            }
        }
        let length = items.len() as u64;
        if let Some(least) = limit(schema, "minItems").filter(|least| length < *least) {
            let why = format!("should have at least {least} items");
            self.fail(&length.to_string(), path, &why);
        }
        if let Some(most) = limit(schema, "maxItems").filter(|most| length > *most) {
            let why = format!("should have at most {most} items");
            self.fail(&length.to_string(), path, &why);
        }
    }

    fn object(&mut self, schema: &Value, fields: &Map<String, Value>, path: &str) {
        let count = fields.len() as u64;
        if let Some(least) = limit(schema, "minProperties").filter(|least| count < *least) {
            let why = format!("should have at least {least} properties");
            self.fail(&least.to_string(), path, &why);
        }
        if let Some(most) = limit(schema, "maxProperties").filter(|most| count > *most) {
            let why = format!("should have at most {most} properties");
            self.fail(&most.to_string(), path, &why);
        }
        for (name, value) in fields {
            if let Some(schema) = of_field(schema, name) {
                self.check(schema, value, &child(path, name));
            }
        }
        for name in texts(schema, "required") {
            if !fields.contains_key(name) {
                self.causes.push(required(child(path, name), ""));
            }
        }
    }

    fn one_of_some(&mut self, schema: &Value, value: &Value, path: &str) {
        let allowed: Vec<&Value> = items(schema, "enum").collect();
        if allowed.is_empty() || allowed.iter().any(|allowed| same(allowed, value)) {
            return;
        }
        let allowed: Vec<String> = allowed.into_iter().map(plain).collect();
        self.causes
            .push(unsupported(path, &show::shown(value), &allowed));
    }
}

/// What is wrong with a value.
pub(in super::super) fn causes(schema: &Value, value: &Value, path: &str) -> Vec<Cause> {
    Outcome::of(schema, value, path).causes
}

fn limit(schema: &Value, name: &str) -> Option<u64> {
    schema.get(name).and_then(Value::as_u64)
}

fn same(allowed: &Value, value: &Value) -> bool {
    match (allowed, value) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
