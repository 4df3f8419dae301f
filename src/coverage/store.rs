//! The union of execution data.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use thiserror::Error;

use super::block::{ClassId, ExecutionRef, SessionInfo};
use super::java_string::{JavaStr, JavaString};
use super::probes::{ProbesRef, unite};

/// The union of execution data: what ran anywhere.
///
/// Replicas of one service write their classes in nearly the same order, so each class remembers which one came after it the last
/// time: mostly it does again, or is left out and the one after that comes.
#[derive(Clone, Debug, Default)]
pub struct Store {
    sessions: BTreeSet<SessionInfo>,
    entries: Vec<Entry>,
    places: HashMap<ClassId, usize>,
    /// Of all entries, one after the other.
    names: Vec<u8>,
    /// Of all entries, one after the other.
    probes: Vec<u8>,
    /// The place of the class that came last.
    last: usize,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    probes: u64,
    hit: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    id: ClassId,
    name: Range<usize>,
    probes: Range<usize>,
    len: usize,
    /// The place of the class that came after it.
    next: usize,
}

/// What was not known before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Classes.
    pub new_classes: u64,
    /// Probes that are hit now.
    pub new_probes: u64,
}

impl std::ops::AddAssign for Growth {
    fn add_assign(&mut self, other: Self) {
        let Self {
            new_classes,
            new_probes,
        } = other;
        self.new_classes += new_classes;
        self.new_probes += new_probes;
    }
}

/// What is in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sessions.
    pub sessions: u64,
    /// Classes, of which several may have one name.
    pub classes: u64,
    /// Probes of all of them.
    pub probes: u64,
    /// Probes that were hit.
    pub hit: u64,
}

/// A class that is not what was known by its id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.text())]
pub struct Mismatch {
    /// The id of both.
    pub id: ClassId,
    /// The name of the one that is refused.
    pub name: JavaString,
    /// How many probes it has.
    pub probes: usize,
    /// The name of the one that is kept.
    pub known_name: JavaString,
    /// How many probes that has.
    pub known_probes: usize,
}

impl Mismatch {
    fn text(&self) -> String {
        let Self {
            id,
            name,
            probes,
            known_name,
            known_probes,
        } = self;
        if name != known_name {
            return format!("class {name} has the id of {known_name} ({id})");
        }
        format!(
            "class {name} ({id}) has {probes} probes here, and {known_probes} in what came before: the agents are of different releases"
        )
    }
}

impl Store {
    /// Begins with nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Adds a session; the very same one is kept once.
    pub fn add_session(&mut self, session: SessionInfo) {
        self.sessions.insert(session);
    }

    /// Adds what was hit of a class. After a mismatch the store is as it was.
    pub fn put(&mut self, data: ExecutionRef<'_>) -> Result<Growth, Mismatch> {
        let after = |place: usize| self.entries.get(place).map(|entry| entry.next);
        let is_it = |place: &usize| self.entries.get(*place).is_some_and(|it| it.id == data.id);
        let expected = after(self.last);
        let beyond = expected.and_then(after);
        let place = match expected.filter(is_it).or(beyond.filter(is_it)) {
            Some(place) => place,
            None => {
                let new = self.entries.len();
                let place = *self.places.entry(data.id).or_insert(new);
                if let Some(last) = self.entries.get_mut(self.last) {
                    last.next = place;
                }
                if place == new {
                    return Ok(self.append(data));
                }
                place
            }
        };
        self.last = place;
        let Some(entry) = self.entries.get(place) else {
            return Ok(Growth::default());
        };
        let name = self.names.get(entry.name.clone()).unwrap_or_default();
        if entry.len != data.probes.len() || name != data.name.bytes() {
            return Err(Mismatch {
                id: data.id,
                name: data.name.to_owned(),
                probes: data.probes.len(),
                known_name: self.name(entry).to_owned(),
                known_probes: entry.len,
            });
        }
        let probes = self
            .probes
            .get_mut(entry.probes.clone())
            .unwrap_or_default();
        let new_probes = unite(probes, data.probes.bytes());
        self.counts.hit += new_probes;
        Ok(Growth {
            new_classes: 0,
            new_probes,
        })
    }

    fn append(&mut self, data: ExecutionRef<'_>) -> Growth {
        let ExecutionRef { id, name, probes } = data;
        self.entries.push(Entry {
            id,
            name: extend(&mut self.names, name.bytes()),
            probes: extend(&mut self.probes, probes.bytes()),
            len: probes.len(),
            next: self.entries.len() + 1,
        });
        self.last = self.entries.len() - 1;
        let new_probes = probes.count();
        self.counts.probes += probes.len() as u64;
        self.counts.hit += new_probes;
        Growth {
            new_classes: 1,
            new_probes,
        }
    }

    /// Adds all of another one; what does not match is left out.
    pub fn merge(&mut self, other: &Self) -> (Growth, Vec<Mismatch>) {
        self.sessions.extend(other.sessions.iter().cloned());
        let (mut growth, mut mismatches) = (Growth::default(), Vec::new());
        for class in other.arrived() {
            match self.put(class) {
                Ok(more) => growth += more,
                Err(mismatch) => mismatches.push(mismatch),
            }
        }
        (growth, mismatches)
    }

    /// The sessions, by the time of their dump.
    pub fn sessions(&self) -> impl ExactSizeIterator<Item = &SessionInfo> {
        self.sessions.iter()
    }

    /// The classes, by id.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = ExecutionRef<'_>> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_unstable_by_key(|entry| entry.id);
        entries.into_iter().map(|entry| self.class(entry))
    }

    /// A class, if anything is known of it.
    pub fn get(&self, id: ClassId) -> Option<ExecutionRef<'_>> {
        let place = self.places.get(&id)?;
        self.entries.get(*place).map(|entry| self.class(entry))
    }

    /// How many classes there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there is the very same session.
    pub(super) fn has_session(&self, session: &SessionInfo) -> bool {
        self.sessions.contains(session)
    }

    /// What there is altogether.
    pub fn summary(&self) -> Summary {
        let Counts { probes, hit } = self.counts;
        Summary {
            sessions: self.sessions.len() as u64,
            classes: self.entries.len() as u64,
            probes,
            hit,
        }
    }

    fn arrived(&self) -> impl Iterator<Item = ExecutionRef<'_>> {
        self.entries.iter().map(|entry| self.class(entry))
    }

    fn class(&self, entry: &Entry) -> ExecutionRef<'_> {
        let bytes = self.probes.get(entry.probes.clone()).unwrap_or_default();
        ExecutionRef {
            id: entry.id,
            name: self.name(entry),
            probes: ProbesRef::new(entry.len, bytes),
        }
    }

    fn name(&self, entry: &Entry) -> JavaStr<'_> {
        let bytes = self.names.get(entry.name.clone()).unwrap_or_default();
        JavaStr::known(bytes)
    }
}

/// Two stores are equal if the same is in them, whatever came first.
impl PartialEq for Store {
    fn eq(&self, other: &Self) -> bool {
        self.sessions == other.sessions
            && self.entries.len() == other.entries.len()
            && self
                .arrived()
                .all(|class| other.get(class.id) == Some(class))
    }
}

impl Eq for Store {}

fn extend(into: &mut Vec<u8>, bytes: &[u8]) -> Range<usize> {
    let begin = into.len();
    into.extend_from_slice(bytes);
    begin..into.len()
}
