//! Builds the tree of a document from the parser's events, within the limits.

use std::collections::HashMap;

use super::Parsed;
use super::budget::{Budget, Size, Stop};
use super::mapping::{Key, Mapping};
use super::scalar::{Reading, Unreadable};
use crate::load::fault::Fault;
use crate::load::quota::Quota;
use crate::load::{Entry, Limits, Node, NodeKind, Position, Severity};

/// What an anchor names.
enum Anchored {
    /// A list or mapping that is still being read: an alias to it would contain itself.
    Open,
    Done(Node, Size),
}

enum Collection {
    List(Vec<Node>),
    Map(Mapping),
}

struct Frame {
    position: Position,
    anchor: Option<usize>,
    size: Size,
    collection: Collection,
}

/// A document being built. Values that cannot be are reported and read as null, so that all faults show at once.
pub(super) struct Builder<'l> {
    budget: Budget<'l>,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    root: Option<Node>,
    faults: Vec<Fault>,
    /// Whether a second document seems to go on in this one.
    joined: bool,
    quota: Quota,
}

impl<'l> Builder<'l> {
    /// Begins a document of a file whose documents before it had so many values.
    pub(super) fn new(limits: &'l Limits, values: usize) -> Self {
        Self {
            budget: Budget::new(limits, values),
            frames: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            faults: Vec::new(),
            joined: false,
            quota: Quota::new(limits.file_faults),
        }
    }

    /// Ends the document: its value, when there is one, what is wrong with it, and the file's values so far.
    pub(super) fn finish(self) -> (Parsed, usize) {
        let values = self.budget.values();
        let parsed = Parsed {
            root: self.root,
            faults: self.faults,
        };
        (parsed, values)
    }

    /// The value so far; all of it once the document has ended.
    pub(super) fn root(&self) -> Option<&Node> {
        self.root.as_ref()
    }

    /// Whether a scalar that comes next is a key.
    pub(super) fn expects_key(&self) -> bool {
        matches!(
            self.frames.last().map(|f| &f.collection),
            Some(Collection::Map(Mapping { key: None, .. }))
        )
    }

    /// The keys that the next value stands under, the innermost first.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let frames = self.frames.iter().rev();
        frames.filter_map(|frame| match &frame.collection {
            Collection::Map(Mapping {
                key: Some(Key::Named(key, _)),
                ..
            }) => Some(key.as_str()),
            _ => None,
        })
    }

    /// Reports something; past the limit further reports are dropped.
    pub(super) fn report(&mut self, fault: Fault) {
        if self.quota.takes(fault.severity) {
            self.faults.push(fault);
        }
    }

    /// Reports something of the innermost mapping. Two documents that no `---` parts give one fault and not one a key.
    fn report_of_map(&mut self, fault: Fault) {
        let joins = |fault: &Fault| {
            let types = ["duplicate key `apiVersion`", "duplicate key `kind`"];
            fault.position.column == 1 && types.iter().any(|it| fault.message.starts_with(it))
        };
        let at_margin = self.frames.len() == 1 && fault.position.column == 1;
        if at_margin && self.joined && fault.severity == Severity::Error {
            return;
        }
        if at_margin && joins(&fault) {
            self.joined = true;
            let hint = "begin the second document with a `---` line, or keep one of the two";
            self.report(fault.hint(hint));
        } else {
            self.report(fault);
        }
    }

    /// Takes the key `<<`.
    pub(super) fn merge_key(&mut self, position: Position) {
        if let Some(Frame {
            collection: Collection::Map(map),
            ..
        }) = self.frames.last_mut()
        {
            map.key = Some(Key::Merge(position));
        }
    }

    /// Takes a scalar: a key or a value, as the place demands.
    pub(super) fn scalar(
        &mut self,
        position: Position,
        anchor: Option<usize>,
        reading: Result<Reading, Unreadable>,
    ) -> Result<(), Stop> {
        self.budget.value(position)?;
        if self.expects_key() {
            if let (Some(id), Ok(reading)) = (anchor, &reading)
                && let Ok(kind) = reading.clone().into_value()
            {
                let size = Size::of(Some(&kind));
                self.keep(id, &Node { position, kind }, size)?;
            }
            self.key(position, reading.and_then(Reading::into_key));
            return Ok(());
        }
        let kind = reading
            .and_then(Reading::into_value)
            .unwrap_or_else(|why| self.unreadable(position, why));
        let size = Size::of(Some(&kind));
        self.complete(Node { position, kind }, size, anchor)
    }

    /// Begins a mapping.
    pub(super) fn start_map(
        &mut self,
        position: Position,
        anchor: Option<usize>,
    ) -> Result<(), Stop> {
        self.start(position, anchor, Collection::Map(Mapping::default()))
    }

    /// Begins a list.
    pub(super) fn start_list(
        &mut self,
        position: Position,
        anchor: Option<usize>,
    ) -> Result<(), Stop> {
        self.start(position, anchor, Collection::List(Vec::new()))
    }

    /// Ends the innermost mapping or list.
    pub(super) fn end(&mut self) -> Result<(), Stop> {
        let Some(Frame {
            position,
            anchor,
            size,
            collection,
        }) = self.frames.pop()
        else {
            return Ok(());
        };
        let kind = match collection {
            Collection::List(items) => NodeKind::List(items),
            Collection::Map(map) => NodeKind::Map(map.entries),
        };
        if self.expects_key() {
            self.key(position, Err(Unreadable::CompoundKey));
            Ok(())
        } else {
            self.complete(Node { position, kind }, size, anchor)
        }
    }

    /// Copies what an anchor names.
    pub(super) fn alias(&mut self, position: Position, id: usize) -> Result<(), Stop> {
        let (node, size) = match self.anchors.get(&id) {
            Some(Anchored::Done(node, size)) => {
                self.budget
                    .depth(position, self.frames.len(), Some(*size))?;
                self.budget.copy(position, *size)?;
                let kind = node.kind.clone();
                (Node { position, kind }, *size)
            }
            Some(Anchored::Open) => {
                return Err(Stop(Fault::error(position, "this alias contains itself")));
            }
            None => return Err(Stop(Fault::error(position, "unknown anchor"))),
        };
        if self.expects_key() {
            self.key(position, key_of(node.kind));
            Ok(())
        } else {
            self.complete(node, size, None)
        }
    }

    fn start(
        &mut self,
        position: Position,
        anchor: Option<usize>,
        collection: Collection,
    ) -> Result<(), Stop> {
        self.budget.value(position)?;
        self.budget.depth(position, self.frames.len(), None)?;
        if let Some(id) = anchor {
            self.anchors.insert(id, Anchored::Open);
        }
        let size = Size::of(None);
        self.frames.push(Frame {
            position,
            anchor,
            size,
            collection,
        });
        Ok(())
    }

    fn unreadable(&mut self, position: Position, why: Unreadable) -> NodeKind {
        let fault = Fault::error(position, why.to_string());
        self.report(match why.hint() {
            Some(hint) => fault.hint(hint),
            None => fault,
        });
        NodeKind::Null
    }

    fn key(&mut self, position: Position, key: Result<String, Unreadable>) {
        let key = match key {
            Ok(text) => Key::Named(text, position),
            Err(why) => {
                self.unreadable(position, why);
                Key::Invalid
            }
        };
        if let Some(Frame {
            collection: Collection::Map(map),
            ..
        }) = self.frames.last_mut()
        {
            map.key = Some(key);
        }
    }

    fn complete(&mut self, node: Node, size: Size, anchor: Option<usize>) -> Result<(), Stop> {
        if let Some(id) = anchor {
            self.keep(id, &node, size)?;
        }
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        let key = match &frame.collection {
            Collection::Map(Mapping {
                key: Some(Key::Named(key, _)),
                ..
            }) => key.len(),
            _ => 0,
        };
        frame.size.add(size, key);
        let faults = match &mut frame.collection {
            Collection::List(items) => {
                items.push(node);
                Vec::new()
            }
            Collection::Map(map) => match map.key.take() {
                Some(Key::Named(key, position)) => map
                    .insert(Entry {
                        key,
                        position,
                        value: node,
                    })
                    .into_iter()
                    .collect(),
                Some(Key::Merge(position)) => map.merge(position, node),
                Some(Key::Invalid) | None => Vec::new(),
            },
        };
        for fault in faults {
            self.report_of_map(fault);
        }
        Ok(())
    }

    /// Keeps a copy for the aliases of an anchor; anchors inside anchors multiply just as aliases do.
    fn keep(&mut self, id: usize, node: &Node, size: Size) -> Result<(), Stop> {
        self.budget.copy(node.position, size)?;
        self.anchors.insert(id, Anchored::Done(node.clone(), size));
        Ok(())
    }
}

/// Makes a key of an aliased value.
fn key_of(kind: NodeKind) -> Result<String, Unreadable> {
    match kind {
        NodeKind::Null => Err(Unreadable::NullKey),
        NodeKind::Bool(value) => Ok(value.to_string()),
        // Whether it was an integer or a float, of which kubectl makes different keys, is forgotten.
        NodeKind::Number(_) => Err(Unreadable::AliasedNumber),
        NodeKind::String(text) => Ok(text),
        NodeKind::List(_) | NodeKind::Map(_) => Err(Unreadable::CompoundKey),
    }
}
