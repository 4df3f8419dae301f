//! Parameters of requests.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

/// Decodes a query; the last one of a name counts.
pub fn parse(query: &str) -> BTreeMap<String, String> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect()
}

fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

/// A switch as Go reads it: there and neither `false` nor `0`.
pub fn is_on(value: Option<&str>) -> bool {
    value.is_some_and(|value| !matches!(value, "false" | "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let query = parse("a=1&b=x%3Dy%2Cz&c=1+2&d&a=3&&%65=f");
        let pairs: Vec<String> = query.iter().map(|(k, v)| format!("{k}:{v}")).collect();
        assert_eq!(pairs, ["a:3", "b:x=y,z", "c:1 2", "d:", "e:f"]);
    }

    #[test]
    fn switches_are_on_unless_they_are_off() {
        assert!(is_on(Some("true")) && is_on(Some("1")) && is_on(Some("")));
        assert!(!is_on(Some("false")) && !is_on(Some("0")) && !is_on(None));
    }
}
