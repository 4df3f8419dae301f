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
    /// Values of the file so far.
    values: usize,
    copied: usize,
}

impl<'l> Budget<'l> {
    /// Begins with what the file's documents before this one have cost.
    pub(super) fn new(limits: &'l Limits, values: usize) -> Self {
        Self {
            limits,
            values,
            copied: 0,
        }
    }

    /// Values of the file so far.
    pub(super) fn values(&self) -> usize {
        self.values
    }

    /// Charges one value that stands in the text.
    pub(super) fn value(&mut self, position: Position) -> Result<(), Stop> {
        self.values = self.values.saturating_add(1);
        if self.values > self.limits.file_values {
            let message = format!("more than {} values in one file", self.limits.file_values);
            let hint = "the rest of the file was not read; split it";
            return Err(Stop(Fault::error(position, message).hint(hint)));
        }
        Ok(())
    }

    /// Charges a copy *before* it is made, so that a bomb costs nothing: neither memory nor the documents after it.
    pub(super) fn copy(&mut self, position: Position, size: Size) -> Result<(), Stop> {
        let values = self.values.saturating_add(size.nodes);
        let copied = self.copied.saturating_add(size.bytes);
        if values > self.limits.file_values || copied > self.limits.alias_bytes {
            let message = "anchors and aliases make this document too large";
            return Err(Stop(Fault::error(position, message)));
        }
        (self.values, self.copied) = (values, copied);
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
        if outer.saturating_add(inner) > self.limits.nesting {
            let message = format!("nested more than {} levels deep", self.limits.nesting);
            return Err(Stop(Fault::error(position, message)));
        }
        Ok(())
    }
}
