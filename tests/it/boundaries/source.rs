//! Just enough of Rust's grammar to see which paths a file names, and where.

use std::iter::Peekable;
use std::str::CharIndices;

/// A word or a sign of a source text, without comments, strings and characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub line: usize,
    pub text: String,
}

impl Token {
    fn is(&self, text: &str) -> bool {
        self.text == text
    }

    fn is_word(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// A path with all its segments, such as `std::fs::read`, wherever it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub line: usize,
    pub segments: Vec<String>,
    /// It is the name of a macro: `env!`.
    pub is_macro: bool,
    /// It is a method that is called: `.now()`.
    pub is_method: bool,
}

/// Splits a text into tokens; `::` and `r#word` are one token each.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut line = 1;
    while let Some((at, c)) = chars.next() {
        let rest = &text[at..];
        let start = line;
        let skipped = if c.is_whitespace() {
            c.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = literal(rest) {
            length
        } else {
            let length = word(rest).unwrap_or(if rest.starts_with("::") {
                2
            } else {
                c.len_utf8()
            });
            let text = rest[..length].trim_start_matches("r#").to_owned();
            tokens.push(Token { line: start, text });
            length
        };
        line += rest[..skipped].matches('\n').count();
        advance(&mut chars, at + skipped);
    }
    tokens
}

fn advance(chars: &mut Peekable<CharIndices<'_>>, to: usize) {
    while chars.next_if(|(at, _)| *at < to).is_some() {}
}

/// Length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Length of a word, a number or a raw identifier.
fn word(text: &str) -> Option<usize> {
    let prefix = if text.starts_with("r#") { 2 } else { 0 };
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let body = &text[prefix..];
    if !body.starts_with(is_part) {
        return None;
    }
    Some(prefix + body.find(|c| !is_part(c)).unwrap_or(body.len()))
}

/// Length of a string, a byte string, a raw string or a character, with all prefixes. A lifetime is none.
fn literal(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""]
        .into_iter()
        .find(|prefix| text.starts_with(prefix))?;
    let body = &text[prefix.len()..];
    let hashes = body.len() - body.trim_start_matches('#').len();
    if prefix.ends_with('r') && body[hashes..].starts_with('"') {
        let end = format!("\"{}", "#".repeat(hashes));
        let from = prefix.len() + hashes + 1;
        return Some(
            text[from..]
                .find(&end)
                .map_or(text.len(), |at| from + at + end.len()),
        );
    }
    if body.starts_with('"') {
        return Some(prefix.len() + quoted(body, '"'));
    }
    if !body.starts_with('\'') {
        return None;
    }
    let mut inside = body.chars().skip(1);
    let is_char = matches!(
        (inside.next(), inside.next()),
        (Some('\\'), _) | (Some(_), Some('\''))
    );
    // A lifetime: its mark is a token that nobody asks for.
    is_char.then(|| prefix.len() + quoted(body, '\''))
}

fn quoted(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == mark => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// What is left without the items that only tests see, and the modules in other files that only tests see.
pub fn without_tests(tokens: &[Token]) -> (Vec<Token>, Vec<String>) {
    let mut kept = Vec::new();
    let mut modules = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_inner = spells(&tokens[at..], &["#", "!", "["]);
        if !is_inner && !spells(&tokens[at..], &["#", "["]) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let end = at + group(&tokens[at..]);
        if !only_for_tests(&tokens[at..end]) {
            kept.extend_from_slice(&tokens[at..end]);
            at = end;
        } else if is_inner {
            return (kept, modules); // all the rest of the file
        } else {
            let item = item(&tokens[end..]);
            let words: Vec<&str> = tokens[end..end + item]
                .iter()
                .map(|t| t.text.as_str())
                .collect();
            if let [.., "mod", name, ";"] = words.as_slice() {
                modules.push((*name).to_owned());
            }
            at = end + item;
        }
    }
    (kept, modules)
}

fn spells(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.is(word))
}

/// `#[cfg(test)]` or `#[cfg(all(test, …))]`, but not `#[cfg(not(test))]`, nor `any`, which also holds outside of tests.
fn only_for_tests(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute
        .iter()
        .map(|t| t.text.as_str())
        .filter(|t| *t != "!")
        .collect();
    words.starts_with(&["#", "[", "cfg", "(", "test", ")"])
        || words.starts_with(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// How many tokens there are up to the end of the first group of brackets.
fn group(tokens: &[Token]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth -= 1;
                if depth <= 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// How many tokens there are up to the end of an item: its braces, or a semicolon outside of any bracket. A field or a
/// variant ends with a comma.
fn item(tokens: &[Token]) -> usize {
    let keywords = [
        "fn",
        "mod",
        "impl",
        "struct",
        "enum",
        "trait",
        "use",
        "static",
        "const",
        "type",
        "macro_rules",
    ];
    let opens = tokens
        .iter()
        .position(|token| token.is("{"))
        .unwrap_or(tokens.len());
    let is_item = tokens[..opens]
        .iter()
        .take(6)
        .any(|token| keywords.contains(&token.text.as_str()));
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            "}" | ")" => return at, // the last field or argument of something
            "{" => return at + group(&tokens[at..]),
            "(" | "[" => at += group(&tokens[at..]),
            _ => at += 1,
        }
    }
    tokens.len()
}

/// All paths that are named, those of `use` with their groups multiplied out. A word alone is a path too.
pub fn paths(tokens: &[Token]) -> Vec<Path> {
    let mut paths = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is("use") && !tokens.get(at + 1).is_some_and(|next| next.is("<")) {
            at = use_tree(tokens, at + 1, &[], &mut paths);
        } else if tokens[at].is_word() {
            let start = at;
            let mut segments = vec![tokens[at].text.clone()];
            while spells(&tokens[at + 1..], &["::"])
                && tokens.get(at + 2).is_some_and(Token::is_word)
            {
                at += 2;
                segments.push(tokens[at].text.clone());
            }
            let follows = |text: &str| tokens.get(at + 1).is_some_and(|next| next.is(text));
            paths.push(Path {
                line: tokens[start].line,
                segments,
                is_macro: follows("!") && !tokens.get(at + 2).is_some_and(|next| next.is("=")),
                is_method: start > 0 && tokens[start - 1].is(".") && follows("("),
            });
            at += 1;
        } else {
            at += 1;
        }
    }
    paths
}

/// Reads one tree of a `use` and returns where it ends.
fn use_tree(tokens: &[Token], mut at: usize, prefix: &[String], paths: &mut Vec<Path>) -> usize {
    let mut segments = prefix.to_vec();
    let mut line = tokens.get(at).map_or(0, |token| token.line);
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| !token.is("}")) {
                    at = use_tree(tokens, at, &segments, paths);
                    if tokens.get(at).is_some_and(|token| token.is(",")) {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "as" => at += 2,
            "self" if !prefix.is_empty() => at += 1,
            _ if token.is_word() || token.is("*") => {
                line = token.line;
                segments.push(token.text.clone());
                at += 1;
            }
            _ => break,
        }
    }
    paths.push(Path {
        line,
        segments,
        is_macro: false,
        is_method: false,
    });
    at
}
