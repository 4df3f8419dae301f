//! Values as the API server's messages show them, which is as Go does.

use serde_json::{Number, Value};

pub(super) use crate::words::quoted;

/// Such as `"x"`, `1`, `map[string]interface {}{"a":2}`; nothing is shown as a quoted `null`.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "\"null\"".to_owned(),
        other => inner(other),
    }
}

/// A list of texts, such as `[]string{"a", "b"}`.
pub(super) fn texts(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[]string{{{}}}", texts.join(", "))
}

/// A number: whole ones as they are, others in the shortest form, with an exponent when they are very large or very small.
pub(super) fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => self::float(float),
        _ => number.to_string(),
    }
}

/// A limit, which schemas hold as a float.
pub(super) fn float(float: f64) -> String {
    let size = float.abs();
    if float != 0.0 && !(1e-4..1e21).contains(&size) {
        let text = format!("{float:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    float.to_string()
}

fn inner(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => number(value),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields: Vec<String> = fields
                .into_iter()
                .map(|(name, value)| format!("{}:{}", quoted(name), inner(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_shown_as_go_shows_them() {
        let value = json!({ "b": [1, "x\n", null], "a": { "f": 1.5 } });
        assert_eq!(
            shown(&value),
            r#"map[string]interface {}{"a":map[string]interface {}{"f":1.5}, "b":[]interface {}{1, "x\n", interface {}(nil)}}"#
        );
        assert_eq!(shown(&Value::Null), "\"null\"");
    }

    #[test]
    fn floats_have_exponents_where_go_gives_them_one() {
        for (value, text) in [
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (0.1, "0.1"),
            (0.00001, "1e-05"),
            (5.0, "5"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(float(value), text);
        }
    }
}
