//! The same object twice in a source: which one would win is nobody's intention.

use std::collections::{BTreeMap, BTreeSet};

use super::{Diagnostic, Document};
use crate::api::ObjectId;

/// Finds objects that stand in a source more than once, in the order of the documents: one error at each later
/// place, naming the first. Also gives the indices of *all* the documents concerned; none of them may be applied.
///
/// `id_of` names the object a document stands for; a caller that knows the default namespace fills it in here.
pub fn duplicates(
    documents: &[Document],
    id_of: impl Fn(&Document) -> ObjectId,
) -> (Vec<Diagnostic>, BTreeSet<usize>) {
    let mut first: BTreeMap<ObjectId, (usize, &Document)> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    let mut concerned = BTreeSet::new();
    for (index, document) in documents.iter().enumerate() {
        let id = id_of(document);
        match first.get(&id) {
            None => {
                first.insert(id, (index, document));
            }
            Some((known, original)) => {
                let message = format!("{id} is already defined in {}", original.origin);
                diagnostics.push(
                    Diagnostic::error_at(&document.origin, message)
                        .with_hint("keep one of the two; until then neither is applied"),
                );
                concerned.extend([*known, index]);
            }
        }
    }
    (diagnostics, concerned)
}
