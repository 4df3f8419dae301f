//! Builds the tree of a document from the parser's events, within the limits.

use std::collections::HashMap;

use super::fault::Fault;
use super::mapping::{Key, Mapping};
use super::scalar::{Reading, Unreadable};
use super::{Entry, Limits, Node, NodeKind, Position};

/// How large a value is, to charge aliases for what they copy.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

impl Size {
    fn add_child(&mut self, child: Size) {
        self.nodes = self.nodes.saturating_add(child.nodes);
        self.bytes = self.bytes.saturating_add(child.bytes);
        self.depth = self.depth.max(child.depth.saturating_add(1));
    }
}

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
    limits: &'l Limits,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    nodes: usize,
    copied: usize,
    root: Option<Node>,
    faults: Vec<Fault>,
}

/// The document went past a limit: nothing more of it is read.
pub(super) struct Stop(pub Fault);

impl<'l> Builder<'l> {
    pub(super) fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            frames: Vec::new(),
            anchors: HashMap::new(),
            nodes: 0,
            copied: 0,
            root: None,
            faults: Vec::new(),
        }
    }

    /// Ends the document: its value, when there is one, and what is wrong with it.
    pub(super) fn finish(self) -> (Option<Node>, Vec<Fault>) {
        (self.root, self.faults)
    }

    /// Whether a scalar that comes next is a key.
    pub(super) fn expects_key(&self) -> bool {
        matches!(
            self.frames.last().map(|f| &f.collection),
            Some(Collection::Map(Mapping { key: None, .. }))
        )
    }

    /// Reports something; past the limit further reports are dropped.
    pub(super) fn report(&mut self, fault: Fault) {
        if self.faults.len() < self.limits.faults_per_file {
            self.faults.push(fault);
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
        self.charge(position, 1)?;
        if self.expects_key() {
            if let (Some(id), Ok(reading)) = (anchor, &reading)
                && let Ok(kind) = reading.clone().into_value()
            {
                let size = Size {
                    nodes: 1,
                    bytes: text_len(&kind),
                    depth: 0,
                };
                self.keep(id, &Node { position, kind }, size)?;
            }
            self.key(position, reading.and_then(Reading::into_key));
            return Ok(());
        }
        let kind = reading
            .and_then(Reading::into_value)
            .unwrap_or_else(|why| self.unreadable(position, why));
        let size = Size {
            nodes: 1,
            bytes: text_len(&kind),
            depth: 0,
        };
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
                let depth = self.frames.len().saturating_add(size.depth);
                if depth > self.limits.depth {
                    return Err(self.too_deep(position));
                }
                let size = *size;
                self.nodes = self.nodes.saturating_add(size.nodes);
                self.copied = self.copied.saturating_add(size.bytes);
                if self.copied_too_much() {
                    return Err(bomb(position));
                }
                (
                    Node {
                        position,
                        ..node.clone()
                    },
                    size,
                )
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
        self.charge(position, 1)?;
        if self.frames.len() >= self.limits.depth {
            return Err(self.too_deep(position));
        }
        if let Some(id) = anchor {
            self.anchors.insert(id, Anchored::Open);
        }
        let size = Size {
            nodes: 1,
            bytes: 0,
            depth: 0,
        };
        self.frames.push(Frame {
            position,
            anchor,
            size,
            collection,
        });
        Ok(())
    }

    fn charge(&mut self, position: Position, nodes: usize) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.nodes {
            let message = format!("more than {} values in one document", self.limits.nodes);
            return Err(Stop(Fault::error(position, message)));
        }
        Ok(())
    }

    fn too_deep(&self, position: Position) -> Stop {
        let message = format!("nested more than {} levels deep", self.limits.depth);
        Stop(Fault::error(position, message))
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
        frame.size.add_child(size);
        let faults = match &mut frame.collection {
            Collection::List(items) => {
                items.push(node);
                Vec::new()
            }
            Collection::Map(map) => match map.key.take() {
                Some(Key::Named(key, position)) => {
                    frame.size.bytes = frame.size.bytes.saturating_add(key.len());
                    map.insert(Entry {
                        key,
                        position,
                        value: node,
                    })
                    .into_iter()
                    .collect()
                }
                Some(Key::Merge(position)) => map.merge(position, node),
                Some(Key::Invalid) | None => Vec::new(),
            },
        };
        for fault in faults {
            self.report(fault);
        }
        Ok(())
    }

    /// Keeps a copy for the aliases of an anchor. Copies are charged before they are made, so that a bomb
    /// costs nothing; anchors inside anchors multiply just as aliases do.
    fn keep(&mut self, id: usize, node: &Node, size: Size) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(size.nodes);
        self.copied = self.copied.saturating_add(size.bytes);
        if self.copied_too_much() {
            return Err(bomb(node.position));
        }
        self.anchors.insert(id, Anchored::Done(node.clone(), size));
        Ok(())
    }

    fn copied_too_much(&self) -> bool {
        self.nodes > self.limits.nodes || self.copied > self.limits.copied_bytes
    }
}

/// Makes a key of an aliased value.
fn key_of(kind: NodeKind) -> Result<String, Unreadable> {
    match kind {
        NodeKind::Null => Err(Unreadable::NullKey),
        NodeKind::Bool(value) => Ok(value.to_string()),
        NodeKind::Number(number) => Ok(number.to_string()),
        NodeKind::String(text) => Ok(text),
        NodeKind::List(_) | NodeKind::Map(_) => Err(Unreadable::CompoundKey),
    }
}

fn bomb(position: Position) -> Stop {
    Stop(Fault::error(
        position,
        "anchors and aliases make this document too large",
    ))
}

fn text_len(kind: &NodeKind) -> usize {
    match kind {
        NodeKind::String(text) => text.len(),
        _ => 0,
    }
}
