//! Label selectors, and the words the API server has for what is none.

use std::iter::Peekable;
use std::vec::IntoIter;

use serde_json::Value;

/// A label selector; all its requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
    Above(i64),
    Below(i64),
}

impl Labels {
    /// Reads `a=b,c in (d,e),!f`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = tokens(text).into_iter().peekable();
        let mut requirements = Vec::new();
        match tokens.peek() {
            None => return Ok(Self::default()),
            Some(Token::Word(_) | Token::Sign("!")) => {}
            Some(other) => {
                return Err(format!(
                    "found '{}', expected: !, identifier, or 'end of string'",
                    other.text()
                ));
            }
        }
        loop {
            let requirement = requirement(&mut tokens)
                .map_err(|error| format!("unable to parse requirement: {error}"))?;
            requirements.push(requirement);
            match tokens.next() {
                None => return Ok(Self(requirements)),
                Some(Token::Sign(",")) => {}
                Some(other) => {
                    return Err(format!(
                        "found '{}', expected: ',' or 'end of string'",
                        other.text()
                    ));
                }
            }
            if !matches!(tokens.peek(), Some(Token::Word(_) | Token::Sign("!"))) {
                return Err(format!(
                    "found '{}', expected: identifier after ','",
                    text_of(tokens.peek())
                ));
            }
        }
    }

    /// Whether an object's labels are as they must be.
    pub fn matches(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels");
        self.0.iter().all(|requirement| {
            let label = labels.and_then(|labels| labels.get(&requirement.key));
            requirement.test.holds(label.and_then(Value::as_str))
        })
    }

    /// Whether nothing is required.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }
}

impl Test {
    fn holds(&self, label: Option<&str>) -> bool {
        let is_among = |values: &[String]| label.is_some_and(|l| values.iter().any(|v| v == l));
        let number = || label.and_then(|label| label.parse::<i64>().ok());
        match self {
            Self::In(values) => is_among(values),
            Self::NotIn(values) => !is_among(values),
            Self::Exists => label.is_some(),
            Self::Absent => label.is_none(),
            Self::Above(bound) => number().is_some_and(|number| number > *bound),
            Self::Below(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Sign(&'static str),
    Word(String),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Self::Sign(sign) => sign,
            Self::Word(word) => word,
        }
    }
}

fn text_of(token: Option<&Token>) -> &str {
    token.map_or("", Token::text)
}

/// Longer signs first.
const SIGNS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            found.push(Token::Sign(sign));
            rest = rest.strip_prefix(sign).unwrap_or_default();
        } else {
            let end = rest
                .find(|c: char| c.is_whitespace() || "=!(),><".contains(c))
                .unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            found.push(Token::Word(word.to_owned()));
            rest = after;
        }
        rest = rest.trim_start();
    }
    found
}

fn requirement(tokens: &mut Peekable<IntoIter<Token>>) -> Result<Requirement, String> {
    let absent = tokens.next_if_eq(&Token::Sign("!")).is_some();
    let key = match tokens.next() {
        Some(Token::Word(key)) => key,
        other => {
            return Err(format!(
                "found '{}', expected: identifier",
                text_of(other.as_ref())
            ));
        }
    };
    check_key(&key)?;
    if absent {
        return Ok(Requirement {
            key,
            test: Test::Absent,
        });
    }
    if matches!(tokens.peek(), None | Some(Token::Sign(","))) {
        return Ok(Requirement {
            key,
            test: Test::Exists,
        });
    }
    let operator = tokens.next();
    let test = match text_of(operator.as_ref()) {
        "=" | "==" => Test::In(vec![exact(tokens)?]),
        "!=" => Test::NotIn(vec![exact(tokens)?]),
        "in" => Test::In(several(tokens)?),
        "notin" => Test::NotIn(several(tokens)?),
        ">" => Test::Above(number(tokens)?),
        "<" => Test::Below(number(tokens)?),
        other => {
            return Err(format!(
                "found '{other}', expected: '=', '!=', '==', 'in', notin'"
            ));
        }
    };
    if let Test::In(values) | Test::NotIn(values) = &test {
        values
            .iter()
            .try_for_each(|value| check_value(&key, value))?;
    }
    Ok(Requirement { key, test })
}

fn number(tokens: &mut Peekable<IntoIter<Token>>) -> Result<i64, String> {
    exact(tokens)?
        .parse()
        .map_err(|_| "for 'Gt', 'Lt' operators, the value must be an integer".to_owned())
}

fn exact(tokens: &mut Peekable<IntoIter<Token>>) -> Result<String, String> {
    match tokens.peek() {
        None | Some(Token::Sign(",")) => Ok(String::new()),
        Some(Token::Word(_)) => Ok(tokens
            .next()
            .map(|word| word.text().to_owned())
            .unwrap_or_default()),
        Some(other) => Err(format!("found '{}', expected: identifier", other.text())),
    }
}

/// `(a,b)`; nothing between two commas, or in the parentheses, is an empty value.
fn several(tokens: &mut Peekable<IntoIter<Token>>) -> Result<Vec<String>, String> {
    if tokens.next_if_eq(&Token::Sign("(")).is_none() {
        return Err(format!("found '{}' expected: '('", text_of(tokens.peek())));
    }
    let mut values = Vec::new();
    loop {
        let value = tokens.next_if(|token| matches!(token, Token::Word(_)));
        values.push(value.map(|word| word.text().to_owned()).unwrap_or_default());
        match tokens.next() {
            Some(Token::Sign(")")) => return Ok(values),
            Some(Token::Sign(",")) => {}
            other => {
                return Err(format!(
                    "found '{}', expected: ',' or ')'",
                    text_of(other.as_ref())
                ));
            }
        }
    }
}

fn check_key(key: &str) -> Result<(), String> {
    let (prefix, name) = key
        .split_once('/')
        .map_or((None, key), |(p, n)| (Some(p), n));
    let prefix_is_good = prefix.is_none_or(|prefix| {
        prefix.len() <= 253
            && prefix
                .split('.')
                .all(|part| is_name(part, |b| b.is_ascii_lowercase() || b.is_ascii_digit(), b"-"))
    });
    if !prefix_is_good {
        return Err(format!(
            "invalid label key {key:?}: prefix part a DNS-1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ));
    }
    if name.len() > 63 {
        return Err(format!(
            "invalid label key {key:?}: name part must be no more than 63 characters"
        ));
    }
    if !is_name(name, |byte| byte.is_ascii_alphanumeric(), b"-_.") {
        return Err(format!(
            "invalid label key {key:?}: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        ));
    }
    Ok(())
}

fn check_value(key: &str, value: &str) -> Result<(), String> {
    if value.len() > 63 {
        return Err(format!(
            "invalid label value: {value:?}: at key: {key:?}: must be no more than 63 characters"
        ));
    }
    if !value.is_empty() && !is_name(value, |byte| byte.is_ascii_alphanumeric(), b"-_.") {
        return Err(format!(
            "invalid label value: {value:?}: at key: {key:?}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ));
    }
    Ok(())
}

/// Whether a text begins and ends with `outer` bytes and has only those and `inner` ones.
fn is_name(text: &str, outer: impl Fn(u8) -> bool, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    ends.iter().all(|end| end.is_some_and(|byte| outer(*byte)))
        && bytes
            .iter()
            .all(|byte| outer(*byte) || inner.contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn matches(selector: &str) -> bool {
        let object =
            json!({ "metadata": { "labels": { "app": "shop", "n": "5", "x.io/tier": "" } } });
        Labels::parse(selector).unwrap().matches(&object)
    }

    #[test]
    fn requirements_hold_or_do_not() {
        for selector in [
            "",
            "app=shop",
            "app==shop",
            "app!=x",
            "none!=x",
            "app in (a, shop)",
            "app notin (a,b)",
            "none notin (a)",
            "app",
            "!none",
            "n>4",
            "n<6",
            "x.io/tier=",
            "x.io/tier in ()",
            "app=shop,n",
            " app = shop , !none ",
            "in notin (in)",
        ] {
            assert!(matches(selector), "{selector}");
        }
        for selector in [
            "app=x",
            "app!=shop",
            "none=x",
            "app in (a)",
            "app notin (shop)",
            "!app",
            "none",
            "n>5",
            "n<5",
            "app>1",
            "app=shop,none",
            "none in (a)",
            "app in ()",
        ] {
            assert!(!matches(selector), "{selector}");
        }
        let bare = Labels::parse("!app").unwrap();
        assert!(bare.matches(&json!({ "metadata": {} })));
    }

    /// The words are those of a real API server.
    #[test]
    fn what_is_no_selector_is_told() {
        for (selector, expected) in [
            (
                "a b",
                "unable to parse requirement: found 'b', expected: '=', '!=', '==', 'in', notin'",
            ),
            (
                "==",
                "found '==', expected: !, identifier, or 'end of string'",
            ),
            ("a=b=c", "found '=', expected: ',' or 'end of string'"),
            ("a,", "found '', expected: identifier after ','"),
            (
                "a in b",
                "unable to parse requirement: found 'b' expected: '('",
            ),
            (
                "a>x",
                "unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer",
            ),
            (
                "-a=b",
                "unable to parse requirement: invalid label key \"-a\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ),
            (
                "a=-b",
                "unable to parse requirement: invalid label value: \"-b\": at key: \"a\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            ),
        ] {
            assert_eq!(Labels::parse(selector).unwrap_err(), expected, "{selector}");
        }
    }
}
