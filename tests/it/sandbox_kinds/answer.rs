//! What an API server answers, without what is different each time.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::support::api::Refused;

/// The answer to one case.
pub struct Answer {
    given: Value,
    answer: Result<Value, Refused>,
}

/// Metadata that the API server makes.
const ITS_OWN: [&str; 7] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "generation",
    "namespace",
];

impl Answer {
    pub fn to(given: &Value, answer: Result<Value, Refused>) -> Self {
        Self {
            given: given.clone(),
            answer,
        }
    }

    /// 200 for what was taken.
    pub fn code(&self) -> u16 {
        match &self.answer {
            Ok(_) => 200,
            Err(refused) => refused.code,
        }
    }

    /// As it is kept in a file: what was added to the object or changed of it, or what is wrong with it.
    pub fn to_json(&self, namespace: &str) -> Value {
        let json = match &self.answer {
            Ok(object) => json!({ "adds": self.additions(object) }),
            Err(refused) => {
                let causes = causes(refused);
                match causes.is_empty() {
                    true => json!({ "code": refused.code, "message": words(&refused.message) }),
                    false => json!({ "code": refused.code, "causes": causes }),
                }
            }
        };
        let text = json.to_string().replace(namespace, "NAMESPACE");
        serde_json::from_str(&text).unwrap()
    }

    /// Paths of what is wrong.
    pub fn fields(&self) -> BTreeSet<String> {
        let causes = self.answer.as_ref().err().into_iter();
        let causes = causes.flat_map(|refused| &refused.causes);
        causes.map(|[_, field, _]| field.clone()).collect()
    }

    /// What is in the object that was not given, by paths.
    pub fn additions(&self, object: &Value) -> Map<String, Value> {
        let mut additions = Map::new();
        let mut given = self.given.clone();
        let mut object = object.clone();
        for object in [&mut given, &mut object] {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.retain(|field, _| !ITS_OWN.contains(&field.as_str()));
            }
        }
        compare("", &given, &object, &mut additions);
        let said = given.to_string();
        for value in additions.values_mut() {
            drop_nulls(value);
            *value = steady(value, &said);
        }
        additions
    }

    /// The object, where one was answered.
    pub fn object(&self) -> Option<&Value> {
        self.answer.as_ref().ok()
    }
}

fn compare(path: &str, given: &Value, got: &Value, additions: &mut Map<String, Value>) {
    match (given, got) {
        (Value::Object(given), Value::Object(got)) => {
            for (field, value) in got {
                let path = format!("{path}/{field}");
                match given.get(field) {
                    Some(before) => compare(&path, before, value, additions),
                    None => drop(additions.insert(path, value.clone())),
                }
            }
            for field in given.keys().filter(|field| !got.contains_key(*field)) {
                additions.insert(format!("{path}/{field}"), Value::Null);
            }
        }
        (Value::Array(given), Value::Array(got)) if given.len() == got.len() => {
            for (index, (given, got)) in given.iter().zip(got).enumerate() {
                compare(&format!("{path}/{index}"), given, got, additions);
            }
        }
        _ if given == got => {}
        _ => drop(additions.insert(path.to_owned(), got.clone())),
    }
}

/// Old servers answer `null` in places where later ones answer nothing.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Without addresses, ports, uids and times that are others each time.
fn steady(value: &Value, given: &str) -> Value {
    let text = value.to_string();
    let text = replace(&text, r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID");
    let text = replace(&text, r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", "TIME");
    let address = Regex::new(r"10\.96\.[0-9]+\.[0-9]+").unwrap();
    let text = address.replace_all(&text, |found: &regex::Captures<'_>| {
        match given.contains(&found[0]) {
            true => found[0].to_owned(),
            false => "ADDRESS".to_owned(),
        }
    });
    let port = Regex::new(r"(?-u:\b)3[0-2][0-9]{3}(?-u:\b)").unwrap();
    let text = port.replace_all(&text, |found: &regex::Captures<'_>| {
        match given.contains(&found[0]) {
            true => found[0].to_owned(),
            false => "\"PORT\"".to_owned(),
        }
    });
    serde_json::from_str(&text).unwrap()
}

/// What is wrong, in one line for each, sorted; the API server says some things twice.
fn causes(refused: &Refused) -> BTreeSet<String> {
    let line =
        |[reason, field, message]: &[String; 3]| format!("{reason} {field}: {}", words(message));
    refused.causes.iter().map(line).collect()
}

/// Words without what Go alone can say: `{…}` stands for its values, and the difference of two of them goes.
fn words(message: &str) -> String {
    let message = message.replace('\u{a0}', " ");
    let message = message.split('\n').next().unwrap_or_default();
    let message = replace(message, r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID");
    let go = Regex::new(r"(?s)value: (\[\])?([a-z0-9]+\.[A-Z]|byte\{).*[})]($|: )").unwrap();
    go.replace(&message, "value: {…}$3").into_owned()
}

fn replace(text: &str, pattern: &str, with: &str) -> String {
    Regex::new(pattern)
        .unwrap()
        .replace_all(text, with)
        .into_owned()
}

/// Whether an answer is the expected one, in which `{…}` stands for any value.
pub fn is_expected(answer: &Value, expected: &Value) -> bool {
    match (answer, expected) {
        (Value::Object(answer), Value::Object(expected)) => {
            answer.len() == expected.len()
                && answer
                    .iter()
                    .all(|(key, value)| expected.get(key).is_some_and(|it| is_expected(value, it)))
        }
        (Value::Array(answers), Value::Array(expected)) => {
            // Sorted by what stands in the place of `{…}`, they may be in another order.
            answers.len() == expected.len()
                && expected
                    .iter()
                    .all(|line| answers.iter().any(|answer| is_expected(answer, line)))
        }
        (Value::String(answer), Value::String(expected)) => match expected.split_once("{…}") {
            None => answer == expected,
            Some((before, after)) => {
                answer.len() >= before.len() + after.len()
                    && answer.starts_with(before)
                    && answer.ends_with(after)
            }
        },
        _ => answer == expected,
    }
}
