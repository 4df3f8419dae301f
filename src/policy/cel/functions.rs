//! Functions that are computed here: those that the library does not have, takes other values for, or counts otherwise.

use kube_cel::cel::Value;

use super::budget::{Budget, units};
use super::convert::{strictly, to_text};
use super::fault::Fault;
use super::library::wrong;
use super::optional;
use super::url::{Url, url};
use super::value::type_of;

/// Computes a function, if it is one of those that are computed here.
///
/// # Errors
/// Why there is no result.
pub fn call(
    budget: &Budget,
    name: &str,
    target: Option<&Value>,
    args: &[Value],
) -> Result<Option<Value>, Fault> {
    let value = match (name, target, args) {
        ("size", Some(value), []) | ("size", None, [value]) => size(budget, value)?,
        ("type", None, [value]) => type_of(value).ok_or_else(|| wrong(name, value))?,
        ("dyn", None, [value]) => value.clone(),
        ("bool", None, [value]) => boolean(value)?,
        ("contains" | "startsWith" | "endsWith", Some(text), [part]) => {
            texts(budget, name, text, part)?
        }
        // The library takes a text for every type, and what is no text for one that does not match.
        ("matches" | "find", Some(text), [pattern]) | ("matches", None, [text, pattern]) => {
            both_texts(name, text, pattern)?;
            return Ok(None);
        }
        ("isSorted" | "min" | "max", Some(list), _) => {
            items(name, list)?;
            return Ok(None);
        }
        ("sum", Some(list), []) => sum(budget, items(name, list)?)?,
        ("join", Some(list), _) => {
            let is_other = |value: &&Value| !matches!(value, Value::String(_));
            if let Some(other) = items(name, list)?.iter().find(is_other) {
                return Err(wrong(name, other));
            }
            return Ok(None);
        }
        // The library stops at what it does not understand, and takes the rest for nothing.
        ("duration", None, [Value::String(text)]) if !is_duration(text) => {
            return Err(Fault::error("duration(): it is no duration such as 1h30m"));
        }
        ("string", None, [value]) => match to_text(value) {
            Some(text) => text,
            None => return Ok(None),
        },
        ("int", None, [Value::Timestamp(it)]) => Value::Int(it.timestamp()),
        ("indexOf" | "lastIndexOf", Some(_), [_, Value::Int(at)]) if *at < 0 => {
            return Err(Fault::error(format!("{name}(): the index is out of range")));
        }
        ("url" | "isURL", None, [Value::String(text)]) => {
            budget.charge_text(text.len())?;
            match name {
                "url" => url(text)?,
                _ => Value::Bool(Url::parse(text).is_some()),
            }
        }
        ("url" | "isURL", None, [value]) => return Err(wrong(name, value)),
        (
            "getScheme" | "getHost" | "getHostname" | "getPort" | "getEscapedPath" | "getQuery",
            Some(value),
            [],
        ) => accessor(budget, name, value)?,
        (
            "quantity" | "isQuantity" | "ip" | "isIP" | "cidr" | "isCIDR" | "semver" | "isSemver",
            None,
            [Value::String(text), ..],
        ) => match (strictly(name, text), name.starts_with("is")) {
            (Ok(()), _) => return Ok(None),
            (Err(_), true) => Value::Bool(false),
            (Err(fault), false) => return Err(fault),
        },
        // What these are called on is never known here.
        (
            "allowed" | "check" | "error" | "errored" | "fieldSelector" | "group" | "labelSelector"
            | "name" | "namespace" | "path" | "reason" | "resource" | "serviceAccount"
            | "subresource",
            Some(value),
            _,
        ) => return Err(wrong(name, value)),
        _ => return optionals(name, target, args),
    };
    Ok(Some(value))
}

fn accessor(budget: &Budget, name: &str, value: &Value) -> Result<Value, Fault> {
    let url = match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<Url>(),
        _ => None,
    };
    budget.charge_text(url.map_or(0, Url::len))?;
    url.and_then(|url| url.get(name))
        .ok_or_else(|| wrong(name, value))
}

fn optionals(name: &str, target: Option<&Value>, args: &[Value]) -> Result<Option<Value>, Fault> {
    let value = match (name, target, args) {
        ("optional.none", None, []) => optional::none(),
        ("optional.of", None, [value]) => optional::of(value.clone()),
        ("optional.ofNonZeroValue", None, [value]) if value.is_zero() => optional::none(),
        ("optional.ofNonZeroValue", None, [value]) => optional::of(value.clone()),
        ("hasValue", Some(value), []) => Value::Bool(optional::wanted(value)?.is_some()),
        ("value", Some(value), []) => optional::wanted(value)?
            .cloned()
            .ok_or_else(|| Fault::error("value(): the optional holds nothing"))?,
        ("orValue", Some(value), [other]) => optional::wanted(value)?.unwrap_or(other).clone(),
        ("or", Some(value), [other]) => {
            optional::wanted(other)?;
            let held = optional::wanted(value)?.is_some();
            if held { value } else { other }.clone()
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// Elements, entries, bytes, or characters: the library counts a text's bytes.
fn size(budget: &Budget, value: &Value) -> Result<Value, Fault> {
    let size = match value {
        Value::List(items) => items.len(),
        Value::Map(map) => map.map.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::String(text) => {
            budget.charge_text(text.len())?;
            text.chars().count()
        }
        other => return Err(wrong("size", other)),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

fn boolean(value: &Value) -> Result<Value, Fault> {
    match value {
        Value::Bool(it) => Ok(Value::Bool(*it)),
        // The texts of Go's strconv.ParseBool.
        Value::String(text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(Value::Bool(false)),
            _ => Err(Fault::error("bool(): it is neither true nor false")),
        },
        other => Err(wrong("bool", other)),
    }
}

fn texts(budget: &Budget, name: &str, text: &Value, part: &Value) -> Result<Value, Fault> {
    both_texts(name, text, part)?;
    let (Value::String(text), Value::String(part)) = (text, part) else {
        return Err(wrong(name, text));
    };
    budget.charge_text(text.len().saturating_add(part.len()))?;
    Ok(Value::Bool(match name {
        "contains" => text.contains(part.as_str()),
        "startsWith" => text.starts_with(part.as_str()),
        _ => text.ends_with(part.as_str()),
    }))
}

fn both_texts(name: &str, text: &Value, other: &Value) -> Result<(), Fault> {
    let is_other = |value: &&Value| !matches!(value, Value::String(_));
    match [text, other].into_iter().find(is_other) {
        Some(value) => Err(wrong(name, value)),
        None => Ok(()),
    }
}

fn items<'a>(name: &str, value: &'a Value) -> Result<&'a [Value], Fault> {
    match value {
        Value::List(items) => Ok(items),
        other => Err(wrong(name, other)),
    }
}

/// The library's integers overflow without a word.
fn sum(budget: &Budget, items: &[Value]) -> Result<Value, Fault> {
    budget.charge(units(items.len()))?;
    let (first, rest) = match items.split_first() {
        Some(split) => split,
        None => return Ok(Value::Int(0)),
    };
    let is_summand = |value: &&Value| {
        matches!(
            value,
            Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Duration(_)
        )
    };
    if let Some(other) = items.iter().find(|value| !is_summand(value)) {
        return Err(wrong("sum", other));
    }
    rest.iter().try_fold(first.clone(), |sum, item| {
        (sum + item.clone()).map_err(|_| Fault::error("sum(): the elements have no sum"))
    })
}

/// Whether a text is a duration as Go writes it, and nothing else.
fn is_duration(text: &str) -> bool {
    let mut rest = text.trim_start_matches(['+', '-']);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() || text.len() - rest.len() > 1 || text.len() > 64 {
        return false;
    }
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let units = ["ns", "us", "ms", "s", "m", "h"];
        let unit = units.iter().find_map(|unit| number.strip_prefix(unit));
        match unit {
            // `m` is also the beginning of `ms`, which comes first.
            Some(after) if number.len() < rest.len() => rest = after,
            _ => return false,
        }
    }
    true
}
