//! A mapping under construction: duplicate keys and merge keys.

use std::collections::HashMap;

use crate::load::fault::Fault;
use crate::load::{Entry, Node, NodeKind, Position};

/// A key whose value comes next.
pub(super) enum Key {
    /// `<<`: the value is merged.
    Merge(Position),
    Named(String, Position),
    /// Already reported; the value is read and dropped.
    Invalid,
}

/// A mapping being read.
#[derive(Default)]
pub(super) struct Mapping {
    pub(super) entries: Vec<Entry>,
    /// Which entries come from a merge and may be replaced without complaint.
    merged: Vec<bool>,
    /// Where each key is, once there are too many to search.
    index: HashMap<String, usize>,
    pub(super) key: Option<Key>,
}

/// Past this many entries a mapping is searched by hash, so that a large one does not take quadratic time.
const SEARCHED: usize = 16;

impl Mapping {
    fn find(&self, key: &str) -> Option<usize> {
        if self.entries.len() <= SEARCHED {
            self.entries.iter().position(|e| e.key == key)
        } else {
            self.index.get(key).copied()
        }
    }

    fn push(&mut self, entry: Entry, merged: bool) {
        if self.entries.len() == SEARCHED {
            let known = self.entries.iter().enumerate();
            self.index = known.map(|(i, e)| (e.key.clone(), i)).collect();
        }
        if self.entries.len() >= SEARCHED {
            self.index.insert(entry.key.clone(), self.entries.len());
        }
        self.entries.push(entry);
        self.merged.push(merged);
    }

    /// Adds a written entry; it replaces a merged one, and must not meet another written one.
    pub(super) fn insert(&mut self, entry: Entry) -> Option<Fault> {
        let Some(at) = self.find(&entry.key) else {
            self.push(entry, false);
            return None;
        };
        match (self.entries.get_mut(at), self.merged.get_mut(at)) {
            (Some(known), Some(merged)) if *merged => {
                *known = entry;
                *merged = false;
                None
            }
            (Some(known), _) => {
                let Position { line, column } = known.position;
                let message = format!(
                    "duplicate key `{}`: it is already at line {line}, column {column}",
                    entry.key
                );
                Some(Fault::error(entry.position, message).hint("keep one of the two"))
            }
            (None, _) => None,
        }
    }

    /// Adds the entries of `<<`. In a list of mappings the earlier one wins; a key written *before* `<<` is
    /// replaced, which is what kubectl does and not what YAML says, so people are told.
    pub(super) fn merge(&mut self, position: Position, value: Node) -> Vec<Fault> {
        let wrong = || {
            Fault::error(position, "`<<` takes a mapping or a list of mappings").hint(
                "name one by its anchor (`<<: *anchor`), or quote `<<` if it is a key like others",
            )
        };
        let sources = match value.kind {
            NodeKind::Map(entries) => vec![entries],
            NodeKind::List(items) => {
                let maps = items.into_iter().rev().map(|item| match item.kind {
                    NodeKind::Map(entries) => Some(entries),
                    _ => None,
                });
                match maps.collect::<Option<Vec<_>>>() {
                    Some(maps) => maps,
                    None => return vec![wrong()],
                }
            }
            _ => return vec![wrong()],
        };
        let mut faults = Vec::new();
        for entry in sources.into_iter().flatten() {
            let Some(at) = self.find(&entry.key) else {
                self.push(entry, true);
                continue;
            };
            if let (Some(known), Some(merged)) = (self.entries.get_mut(at), self.merged.get_mut(at))
            {
                if !*merged {
                    let message = format!(
                        "`<<` replaces `{}` of line {}, as kubectl reads it",
                        entry.key, known.position.line
                    );
                    faults.push(
                        Fault::warning(position, message)
                            .hint("put `<<` first; what follows it then wins everywhere"),
                    );
                }
                *known = entry;
                *merged = true;
            }
        }
        faults
    }
}
