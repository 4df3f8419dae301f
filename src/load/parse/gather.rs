//! The documents of one chunk, within what its file may cost.

use super::budget::Stop;
use super::build::Builder;
use super::{Parsed, Spent};
use crate::load::Limits;
use crate::load::quota::Quota;

/// The documents so far. A chunk is all between two `---`, and may hold millions of them: `{}{}{}…`.
pub(super) struct Gathered<'l> {
    pub(super) limits: &'l Limits,
    spent: &'l mut Spent,
    documents: Vec<Parsed>,
    faults: Quota,
}

impl<'l> Gathered<'l> {
    /// Begins with none.
    pub(super) fn new(limits: &'l Limits, spent: &'l mut Spent) -> Self {
        Self {
            limits,
            spent,
            documents: Vec::new(),
            faults: Quota::new(limits.file_faults),
        }
    }

    /// Tells whether no document has ended yet.
    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Begins a document.
    pub(super) fn begin(&self) -> Builder<'l> {
        Builder::new(self.limits, self.spent.values)
    }

    /// Takes a document that has ended, and tells whether there may be more.
    pub(super) fn end(&mut self, builder: Builder<'l>) -> bool {
        let (parsed, values) = builder.finish();
        self.spent.values = values;
        self.take(parsed)
    }

    /// Takes a document that could not be read to its end: without it nobody knows where the next one begins.
    pub(super) fn stop(&mut self, builder: Builder<'l>, Stop(fault): Stop) {
        let (mut parsed, values) = builder.finish();
        self.spent.values = values;
        parsed.root = None;
        parsed.faults.push(fault);
        self.take(parsed);
    }

    fn take(&mut self, mut parsed: Parsed) -> bool {
        self.spent.documents = self.spent.documents.saturating_add(1);
        parsed
            .faults
            .retain(|fault| self.faults.takes(fault.severity));
        self.documents.push(parsed);
        !self.faults.is_used_up()
            && self.spent.documents <= self.limits.file_documents
            && self.spent.values <= self.limits.file_values
    }

    /// Gives them.
    pub(super) fn finish(self) -> Vec<Parsed> {
        self.documents
    }
}
