//! YAML text -> trees.
//!
//! The parser is granit-parser, the event parser beneath serde-saphyr, used directly: kubectl's reading of a scalar
//! needs its raw text *and* its style (`"on"` is a string, `on` a boolean), and a serde visitor sees neither.

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::Parsed;
use super::budget::Stop;
use super::build::Builder;
use super::scalar::{self, Reading, Unreadable};
use crate::load::fault::Fault;
use crate::load::{Limits, Position};

/// Reads the documents of a text whose first line has `lines_before` lines before it.
pub(super) fn read(text: &str, lines_before: u32, limits: &Limits) -> Vec<Parsed> {
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    // The builder stops at the limit first, with a better message; these bound the parser's own memory.
    options.flow_nesting_limit = limits.depth.saturating_add(8);
    options.block_nesting_limit = limits.depth.saturating_add(8);
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut documents = Vec::new();
    let mut builder = Builder::new(limits);
    while let Some(next) = parser.next_event() {
        let step = match next {
            Ok((Event::DocumentEnd, _)) => {
                let (root, faults) = std::mem::replace(&mut builder, Builder::new(limits)).finish();
                documents.push(Parsed { root, faults });
                Ok(())
            }
            Ok((event, span)) => feed(&mut builder, event, position(&span, lines_before)),
            Err(error) => Err(Stop(explain(
                syntax_fault(&error, lines_before, limits),
                text,
            ))),
        };
        if let Err(Stop(fault)) = step {
            let (_, mut faults) = builder.finish();
            faults.push(fault);
            documents.push(Parsed { root: None, faults });
            break;
        }
    }
    documents
}

fn feed(builder: &mut Builder<'_>, event: Event<'_>, position: Position) -> Result<(), Stop> {
    match event {
        Event::Scalar(text, style, anchor, tag) => {
            let plain = style == ScalarStyle::Plain;
            let tag = tag.as_deref();
            if builder.expects_key() && is_merge(&text, plain, tag) {
                builder.merge_key(position);
                return Ok(());
            }
            let reading = read_scalar(&text, plain, tag);
            if builder.expects_key()
                && let Ok(Reading::Bool(value)) = &reading
                && !text.eq_ignore_ascii_case(if *value { "true" } else { "false" })
            {
                let fault = Fault::warning(position, format!("this key is read as `{value}`"));
                builder.report(fault.hint("put the key in quotes"));
            }
            builder.scalar(position, anchor_id(anchor), reading)
        }
        Event::SequenceStart(_, anchor, _) => builder.start_list(position, anchor_id(anchor)),
        Event::MappingStart(_, anchor, _) => builder.start_map(position, anchor_id(anchor)),
        Event::SequenceEnd | Event::MappingEnd => builder.end(),
        Event::Alias(id) => builder.alias(position, id),
        _ => Ok(()),
    }
}

fn anchor_id(id: usize) -> Option<usize> {
    (id != 0).then_some(id)
}

/// The part after `!!`, for YAML's own tags.
fn own_tag(tag: &Tag) -> Option<String> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
        .map(|suffix| suffix.into_owned())
}

fn is_merge(text: &str, plain: bool, tag: Option<&Tag>) -> bool {
    text == "<<"
        && match tag {
            None => plain,
            Some(tag) => own_tag(tag).as_deref() == Some("merge"),
        }
}

fn read_scalar(text: &str, plain: bool, tag: Option<&Tag>) -> Result<Reading, Unreadable> {
    match tag {
        Some(tag) => scalar::tagged(own_tag(tag).as_deref().unwrap_or_default(), text),
        None if plain => scalar::plain(text),
        None => Ok(Reading::Text(text.to_owned())),
    }
}

fn position(span: &Span, lines_before: u32) -> Position {
    place(span.start.line(), span.start.col(), lines_before)
}

/// The parser counts lines from 1 and columns from 0.
fn place(line: usize, column: usize, lines_before: u32) -> Position {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Position {
        line: number(line).max(1).saturating_add(lines_before),
        column: number(column).saturating_add(1),
    }
}

/// Templates are the most frequent reason why a file of a repository is no YAML.
fn explain(fault: Fault, text: &str) -> Fault {
    if text.contains("{{") {
        fault.hint("this looks like a template; commit its output instead")
    } else {
        fault
    }
}

fn syntax_fault(error: &ScanError, lines_before: u32, limits: &Limits) -> Fault {
    let mark = error.marker();
    let at = place(mark.line(), mark.col(), lines_before);
    let fault = |message: &str| Fault::syntax(at, message);
    match error.kind() {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => {
            fault("a tab cannot indent YAML").hint("indent with spaces")
        }
        ErrorKind::UnknownAnchor => fault("unknown anchor").hint(
            "define it earlier in the same document; a value that begins with `*` must be quoted",
        ),
        ErrorKind::UnexpectedCharacter { .. } => {
            fault("no value can begin with this character").hint("quote the value")
        }
        ErrorKind::RecursionLimitExceeded => {
            // The scanner runs ahead of the builder, so its bound may be met first.
            fault(&format!("nested more than {} levels deep", limits.depth))
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            fault("a `:` is not expected here")
                .hint("check the indentation; a value that contains `: ` must be quoted")
        }
        ErrorKind::BomInsideDocument => fault("a byte order mark in the middle of a document"),
        ErrorKind::UnclosedQuotedScalar => fault("a quote is not closed"),
        ErrorKind::UnclosedFlowCollection { open } => fault(&format!("`{open}` is not closed")),
        ErrorKind::UndeclaredTagHandle => fault("a tag's prefix is not declared"),
        kind => fault(&kind.to_string()),
    }
}
