//! YAML text -> trees.
//!
//! The parser is granit-parser, the event parser beneath serde-saphyr, used directly: kubectl's reading of a scalar
//! needs its raw text *and* its style (`"on"` is a string, `on` a boolean), and a serde visitor sees neither.

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::budget::Stop;
use super::build::Builder;
use super::explain::explain;
use super::flow::{self, InFlow};
use super::gather::Gathered;
use super::scalar::{self, Reading, Unreadable};
use super::{Parsed, doubts};
use crate::load::fault::Fault;
use crate::load::{Node, NodeKind, Position};

/// Reads the documents of a text whose first line has `lines_before` lines before it.
pub(super) fn read(text: &str, lines_before: u32, mut gathered: Gathered<'_>) -> Vec<Parsed> {
    let limits = gathered.limits;
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    // The builder stops at the limit first, with a better message; these bound the parser's own memory.
    options.flow_nesting_limit = limits.nesting.saturating_add(8);
    options.block_nesting_limit = limits.nesting.saturating_add(8);
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = gathered.begin();
    let mut implicit = false;
    // How many brackets and braces are open.
    let mut flow = 0_usize;
    while let Some(next) = parser.next_event() {
        let step = match next {
            Ok((Event::DocumentStart(explicit, _), _)) => {
                implicit = !explicit && !gathered.is_empty();
                Ok(())
            }
            Ok((Event::DocumentEnd, _)) => {
                if implicit && let Some(fault) = builder.root().and_then(unseen) {
                    builder.report(fault);
                }
                if !gathered.end(builder) {
                    break;
                }
                builder = gathered.begin();
                Ok(())
            }
            Ok((event, span)) => {
                let position = position(&span, lines_before);
                match &event {
                    Event::SequenceStart(style, ..) | Event::MappingStart(style, ..)
                        if flow > 0 || *style == StructureStyle::Flow =>
                    {
                        flow += 1;
                    }
                    Event::SequenceEnd | Event::MappingEnd => flow = flow.saturating_sub(1),
                    Event::Scalar(scalar, ScalarStyle::Plain, _, tag) if flow > 0 => {
                        let after = span.end.byte_offset().and_then(|at| text.get(at..));
                        let scalar = InFlow {
                            text: scalar,
                            after: after.unwrap_or_default(),
                            is_tagged: tag.is_some(),
                            is_key: builder.expects_key(),
                        };
                        if let Some(fault) = flow::doubt(position, &scalar) {
                            builder.report(fault);
                        }
                    }
                    _ => {}
                }
                feed(&mut builder, event, position)
            }
            Err(error) => {
                let mark = error.marker();
                let at = place(mark.line(), mark.col(), lines_before);
                Err(Stop(explain(&error, at, (text, mark.line()), limits)))
            }
        };
        if let Err(stop) = step {
            gathered.stop(builder, stop);
            break;
        }
    }
    gathered.finish()
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
            if let (true, None, Ok(reading)) = (plain, tag, &reading) {
                let doubt = if builder.expects_key() {
                    doubts::key(position, &text, reading)
                } else {
                    doubts::value(position, &text, reading, builder.keys())
                };
                if let Some(doubt) = doubt {
                    builder.report(doubt);
                }
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

/// kubectl parts a file at `---` only, and reads one document of each part.
fn unseen(root: &Node) -> Option<Fault> {
    (root.kind != NodeKind::Null).then(|| {
        Fault::error(
            root.position,
            "kubectl would not read this document: only `...` parts it from the one above",
        )
        .hint("begin it with a `---` line")
    })
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
