//! What the parser's errors mean to whoever wrote the file, and what to do.

use granit_parser::{ErrorKind, ScanError};

use crate::load::fault::Fault;
use crate::load::{Limits, Position, text};

/// Says what is wrong with a text that does not parse. `at` is the place in the file, `line` the one in the text.
pub(super) fn explain(
    error: &ScanError,
    at: Position,
    (text, line): (&str, usize),
    limits: &Limits,
) -> Fault {
    let (message, hint) = words(error.kind(), limits);
    let fault = Fault::syntax(at, message);
    match look_alike(text, line).or(hint) {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

/// What a text holds that explains an error better than the error does.
fn look_alike(text: &str, line: usize) -> Option<&'static str> {
    // Templates are the most frequent reason why a file of a repository is no YAML.
    if text.contains("{{") {
        return Some("this looks like a template; commit its output instead");
    }
    let line = text::lines(text).nth(line.checked_sub(1)?)?;
    if line.contains(['<', '=', '>']) && is_conflict_mark(line) {
        return Some("this is left from a merge; decide which side is right");
    }
    if line.contains('\u{a0}') {
        return Some("the line holds a no-break space (U+00A0), which YAML takes for a letter");
    }
    line.contains(['“', '”', '„', '‘', '’'])
        .then_some("the line holds typographic quotes, which YAML takes for letters")
}

/// What git leaves in a file that it could not merge.
fn is_conflict_mark(line: &str) -> bool {
    let line = line.trim_end();
    line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") || line == "======="
}

const QUOTE: Option<&str> = Some("put the value in quotes");
const INDENT: Option<&str> = Some("check the indentation of this line and of those above");

fn words(kind: &ErrorKind, limits: &Limits) -> (String, Option<&'static str>) {
    let (message, hint) = match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => {
            ("a tab cannot indent YAML", Some("indent with spaces"))
        }
        ErrorKind::UnknownAnchor => (
            "unknown anchor",
            Some(
                "define it earlier in the same document; a value that begins with `*` must be quoted",
            ),
        ),
        ErrorKind::UnexpectedCharacter { .. } => (
            "no value can begin with this character",
            Some("quote the value"),
        ),
        ErrorKind::RecursionLimitExceeded => {
            // The scanner runs ahead of the builder, so its bound may be met first.
            return (
                format!("nested more than {} levels deep", limits.nesting),
                None,
            );
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => (
            "a `:` is not expected here",
            Some("check the indentation; a value that contains `: ` must be quoted"),
        ),
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => (
            "this line has no `:` that would make it a key",
            Some(
                "write `key: value`; what goes on with the value above must be indented deeper than its key",
            ),
        ),
        ErrorKind::CommentInterceptedScalar => (
            "this line would go on with a value that a comment has ended",
            Some("take the comment out, or quote the whole value"),
        ),
        ErrorKind::CommentNotSeparated => ("a comment needs a blank before its `#`", None),
        ErrorKind::ExpectedBlockMappingKey => ("a key was expected here", INDENT),
        ErrorKind::ExpectedBlockSequenceEntry => ("an item (`- `) was expected here", INDENT),
        ErrorKind::InvalidIndentation | ErrorKind::InvalidBlockScalarIndent => {
            ("indented neither like the lines above nor deeper", INDENT)
        }
        ErrorKind::InvalidQuotedScalarIndent | ErrorKind::InvalidFlowScalarIndent => (
            "what goes on over several lines must be indented deeper than its key",
            Some("is a quote or a bracket not closed above?"),
        ),
        ErrorKind::BlockSequenceEntryNotAllowed => (
            "an item (`- `) is not expected here",
            Some("begin the list on a line of its own, or quote a value that begins with `- `"),
        ),
        ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::PlainScalarStartsWithDashFlowIndicator => (
            "items in brackets have no `- `",
            Some("write `[a, b]`; a value that is a dash must be quoted"),
        ),
        ErrorKind::ExpectedFlowMappingSeparator => (
            "expected `,` or `}`",
            Some("a value with brackets, braces or commas must be quoted here"),
        ),
        ErrorKind::ExpectedFlowSequenceSeparator => (
            "expected `,` or `]`",
            Some("a value with brackets, braces or commas must be quoted here"),
        ),
        ErrorKind::ExpectedNodeContent => ("a value was expected here", None),
        ErrorKind::UnexpectedEof
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::UnexpectedEofBlockSequence
        | ErrorKind::UnexpectedEofBlockMapping => {
            ("the document ends in the middle of a value", None)
        }
        ErrorKind::MissingAnchorOrAliasName => ("no name after `&` or `*`", QUOTE),
        ErrorKind::InvalidTagTerminator
        | ErrorKind::InvalidGlobalTagCharacter
        | ErrorKind::InvalidTagEscape
        | ErrorKind::UnclosedVerbatimTag
        | ErrorKind::MissingTagUri => (
            "what begins with `!` is a tag, and this one cannot be read",
            QUOTE,
        ),
        ErrorKind::UndeclaredTagHandle => ("a tag's prefix is not declared", QUOTE),
        ErrorKind::BomInsideDocument => ("a byte order mark in the middle of a document", None),
        ErrorKind::UnclosedQuotedScalar => (
            "a quote is not closed",
            Some("close it; text over several lines must be indented deeper than its key"),
        ),
        ErrorKind::DocumentIndicatorInQuotedScalar => {
            ("a quote is not closed before the end of the document", None)
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar => (
            "text follows the closing quote",
            Some("write '' for a quote inside of single quotes"),
        ),
        ErrorKind::InvalidTrailingDoubleQuotedScalar => (
            "text follows the closing quote",
            Some("write \\\" for a quote inside of double quotes"),
        ),
        ErrorKind::UnknownQuotedScalarEscape => (
            "YAML has no such escape",
            Some("write \\\\ for a backslash in double quotes, or use single quotes"),
        ),
        ErrorKind::InvalidQuotedScalarHexEscape => (
            "an escape lacks hexadecimal digits: `\\x` takes two, `\\u` four, `\\U` eight",
            Some("write \\\\ for a backslash in double quotes, or use single quotes"),
        ),
        ErrorKind::InvalidLowSurrogate
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => ("half of a UTF-16 surrogate pair", None),
        ErrorKind::InvalidBlockScalarHeader => (
            "text on the line of `|` or `>`",
            Some("begin the text on the next line, or quote a value that begins so"),
        ),
        ErrorKind::MisplacedFlowCollectionEnd => {
            ("a closing bracket that nothing has opened", QUOTE)
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            return (format!("`{open}` is closed by `{close}`"), None);
        }
        ErrorKind::UnclosedFlowCollection { open } => {
            return (format!("`{open}` is not closed"), None);
        }
        kind => return (kind.to_string(), None),
    };
    (message.to_owned(), hint)
}
