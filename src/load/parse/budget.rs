//! What a document may cost: values, copies that aliases make, depth.

use crate::load::fault::Fault;
use crate::load::{Limits, NodeKind, Position};

/// The document went past a limit, or does not parse: nothing more of it is read.
pub(super) struct Stop(pub Fault);

/// How large a value is, to charge aliases for what they copy.
#[derive(Clone, Copy)]
pub(super) struct Size {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

impl Size {
    /// The size of a scalar, or of a list or mapping before anything is in it.
    pub(super) fn of(kind: Option<&NodeKind>) -> Self {
        let bytes = match kind {
            Some(NodeKind::String(text)) => text.len(),
            _ => 0,
        };
        Self {
            nodes: 1,
            bytes,
            depth: 0,
        }
    }

    /// Adds a value that is inside, with its key.
    pub(super) fn add(&mut self, child: Size, key: usize) {
        self.nodes = self.nodes.saturating_add(child.nodes);
        self.bytes = self.bytes.saturating_add(child.bytes).saturating_add(key);
        self.depth = self.depth.max(child.depth.saturating_add(1));
    }
}

/// What a document has cost so far.
pub(super) struct Budget<'l> {
    limits: &'l Limits,
    nodes: usize,
    copied: usize,
}

impl<'l> Budget<'l> {
    /// Begins with nothing spent.
    pub(super) fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            nodes: 0,
            copied: 0,
        }
    }

    /// How many faults of one document are kept.
    pub(super) fn faults(&self) -> usize {
        self.limits.faults_per_file
    }

    /// Charges one value that stands in the text.
    pub(super) fn value(&mut self, position: Position) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > self.limits.nodes {
            let message = format!("more than {} values in one document", self.limits.nodes);
            return Err(Stop(Fault::error(position, message)));
        }
        Ok(())
    }

    /// Charges a copy *before* it is made, so that a bomb costs nothing.
    pub(super) fn copy(&mut self, position: Position, size: Size) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(size.nodes);
        self.copied = self.copied.saturating_add(size.bytes);
        if self.nodes > self.limits.nodes || self.copied > self.limits.copied_bytes {
            let message = "anchors and aliases make this document too large";
            return Err(Stop(Fault::error(position, message)));
        }
        Ok(())
    }

    /// Checks how deep a value reaches that stands inside `outer` others; `inner` when it is copied.
    pub(super) fn depth(
        &self,
        position: Position,
        outer: usize,
        inner: Option<Size>,
    ) -> Result<(), Stop> {
        let inner = inner.map_or(1, |size| size.depth);
        if outer.saturating_add(inner) > self.limits.depth {
            let message = format!("nested more than {} levels deep", self.limits.depth);
            return Err(Stop(Fault::error(position, message)));
        }
        Ok(())
    }
}
