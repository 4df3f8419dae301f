//! The union of what many peers have sent, and whose alone each probe is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::agent::AgentError;
use super::{
    ClassId, ExecutionData, ExecutionRef, Growth, JavaString, Mismatch, SessionInfo, Store,
};

/// Bytes that the union may take. That of a service with 20,000 classes takes some 10 MB.
const MOST: usize = 256 << 20;

/// What a class or a session takes besides its name and its probes.
const OVERHEAD: usize = 160;

/// Mismatches that are told of a peer; of all others it is told how many they are.
pub(super) const TOLD: usize = 20;

/// Who has hit a probe: a peer, by its number, or one of these.
type Owner = u32;
const NOBODY: Owner = u32::MAX;
/// It was hit in the file that the union is added to, and by no peer yet.
const EARLIER: Owner = u32::MAX - 1;
const SEVERAL: Owner = u32::MAX - 2;

/// Whatever the order in which dumps are added, the result is the same, unless there is too much.
///
/// Memory follows the union, however many peers there are: a number for each probe says who has hit it.
#[derive(Debug)]
pub(super) struct Tally {
    classes: HashMap<ClassId, Vec<Variant>>,
    /// A session that is dumped again is still the same one: its id, its start, and the latest dump.
    sessions: BTreeMap<(JavaString, i64), i64>,
    /// Bytes that all this takes.
    size: usize,
    /// Bytes that it may take.
    most: usize,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            classes: HashMap::new(),
            sessions: BTreeMap::new(),
            size: 0,
            most: MOST,
        }
    }
}

/// A class as some of the peers have it. There is one of each id, unless agents of different releases count probes differently.
#[derive(Debug)]
struct Variant {
    name: JavaString,
    owners: Box<[Owner]>,
    /// Whether it is in the file that the union is added to.
    earlier: bool,
    /// A bit for each peer that has it.
    peers: Vec<u64>,
}

/// What comes of it.
#[derive(Debug)]
pub(super) struct Union {
    /// All that fits together.
    pub store: Store,
    /// What does not: each of them has one more variant of some classes.
    pub unmerged: Vec<Store>,
    /// For each peer, what it has to do with the union.
    pub shares: Vec<Share>,
}

/// What a peer has to do with the union.
#[derive(Clone, Debug, Default)]
pub(super) struct Share {
    /// Probes that no other peer has hit.
    pub alone: u64,
    /// Classes that are not in the union as this peer has them: the first of them.
    pub mismatches: Vec<Mismatch>,
    /// How many they are.
    pub mismatched: u64,
}

impl Tally {
    /// Adds what the union is added to.
    ///
    /// # Errors
    /// When it takes too much memory; what fits is added.
    pub fn add_earlier(&mut self, store: &Store) -> Result<Growth, AgentError> {
        self.add(None, store)
    }

    /// Adds what a peer has sent.
    ///
    /// # Errors
    /// When it takes too much memory; what fits is added.
    pub fn add_dump(&mut self, peer: usize, store: &Store) -> Result<Growth, AgentError> {
        let peer = Owner::try_from(peer).ok().filter(|peer| *peer < SEVERAL);
        self.add(Some(peer.ok_or(AgentError::Full(self.most))?), store)
    }

    fn add(&mut self, peer: Option<Owner>, store: &Store) -> Result<Growth, AgentError> {
        let mut growth = Growth::default();
        for session in store.sessions() {
            self.add_session(session)?;
        }
        for class in store.classes() {
            growth += self.add_class(peer, class)?;
        }
        Ok(growth)
    }

    fn add_session(&mut self, session: &SessionInfo) -> Result<(), AgentError> {
        let SessionInfo { id, start, dump } = session;
        let key = (id.clone(), *start);
        if let Some(latest) = self.sessions.get_mut(&key) {
            *latest = (*latest).max(*dump);
            return Ok(());
        }
        self.grow(OVERHEAD + id.as_java_str().bytes().len())?;
        self.sessions.insert(key, *dump);
        Ok(())
    }

    fn add_class(
        &mut self,
        peer: Option<Owner>,
        class: ExecutionRef<'_>,
    ) -> Result<Growth, AgentError> {
        let known = |variant: &Variant| {
            variant.name.as_java_str() == class.name && variant.owners.len() == class.probes.len()
        };
        let variants = self.classes.get(&class.id);
        let at = variants.and_then(|variants| variants.iter().position(known));
        let new_class = variants.is_none();
        if at.is_none() {
            let owners = class.probes.len() * size_of::<Owner>();
            self.grow(OVERHEAD + class.name.bytes().len() + owners)?;
        }
        let variants = self.classes.entry(class.id).or_default();
        let at = at.unwrap_or_else(|| {
            variants.push(Variant::new(class));
            variants.len() - 1
        });
        let new_probes = variants.get_mut(at).map_or(0, |it| it.add(peer, class));
        Ok(Growth {
            new_classes: new_class.into(),
            new_probes,
        })
    }

    fn grow(&mut self, more: usize) -> Result<(), AgentError> {
        if self.size + more > self.most {
            return Err(AgentError::Full(self.most));
        }
        self.size += more;
        Ok(())
    }

    /// Puts it together, for so many peers.
    pub fn union(&self, peers: usize) -> Union {
        let mut union = Union {
            store: Store::new(),
            unmerged: Vec::new(),
            shares: vec![Share::default(); peers],
        };
        for ((id, start), dump) in &self.sessions {
            union.store.add_session(SessionInfo {
                id: id.clone(),
                start: *start,
                dump: *dump,
            });
        }
        let mut classes: Vec<_> = self.classes.iter().collect();
        classes.sort_unstable_by_key(|(id, _)| **id);
        for (id, variants) in classes {
            let mut variants: Vec<&Variant> = variants.iter().collect();
            variants.sort_by_key(|variant| variant.rank());
            if let Some((kept, others)) = variants.split_first() {
                union.keep(*id, kept);
                for (at, other) in others.iter().enumerate() {
                    union.leave_out(*id, other, kept, at);
                }
            }
        }
        union
    }
}

impl Variant {
    fn new(class: ExecutionRef<'_>) -> Self {
        Self {
            name: class.name.to_owned(),
            owners: vec![NOBODY; class.probes.len()].into(),
            earlier: false,
            peers: Vec::new(),
        }
    }

    /// Adds what a peer has hit of it, and tells how much of that nobody had.
    fn add(&mut self, peer: Option<Owner>, class: ExecutionRef<'_>) -> u64 {
        match peer {
            None => self.earlier = true,
            Some(peer) => set(&mut self.peers, peer),
        }
        let mut new = 0;
        for (owners, byte) in self.owners.chunks_mut(8).zip(class.probes.bytes()) {
            // Most of a class has mostly not run.
            if *byte == 0 {
                continue;
            }
            for (bit, owner) in owners.iter_mut().enumerate() {
                if byte >> bit & 1 == 0 {
                    continue;
                }
                new += u64::from(*owner == NOBODY);
                *owner = match (*owner, peer) {
                    (NOBODY, None) => EARLIER,
                    (known, None) => known,
                    (NOBODY | EARLIER, Some(peer)) => peer,
                    (known, Some(peer)) if known == peer => peer,
                    _ => SEVERAL,
                };
            }
        }
        new
    }

    /// The one that most peers have comes first, and what is in the file before all: that is not taken out again.
    fn rank(&self) -> impl Ord + use<> {
        let count: u32 = self.peers.iter().map(|word| word.count_ones()).sum();
        let first = self.peers().next();
        (!self.earlier, Reverse(count), first, self.owners.len())
    }

    fn peers(&self) -> impl Iterator<Item = usize> {
        let bits = |(at, word): (usize, &u64)| {
            let word = *word;
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| at * 64 + bit)
        };
        self.peers.iter().enumerate().flat_map(bits)
    }

    fn data(&self, id: ClassId) -> ExecutionData {
        ExecutionData {
            id,
            name: self.name.clone(),
            probes: self.owners.iter().map(|owner| *owner != NOBODY).collect(),
        }
    }
}

impl Union {
    fn keep(&mut self, id: ClassId, kept: &Variant) {
        // Each id comes once, so nothing can be in its way.
        let _ = self.store.put(kept.data(id).as_ref());
        for owner in &kept.owners {
            let peer = usize::try_from(*owner).ok();
            if let Some(share) = peer.and_then(|peer| self.shares.get_mut(peer)) {
                share.alone += 1;
            }
        }
    }

    fn leave_out(&mut self, id: ClassId, other: &Variant, kept: &Variant, at: usize) {
        if self.unmerged.len() <= at {
            self.unmerged.push(Store::new());
        }
        if let Some(store) = self.unmerged.get_mut(at) {
            let _ = store.put(other.data(id).as_ref());
        }
        for peer in other.peers() {
            let Some(share) = self.shares.get_mut(peer) else {
                continue;
            };
            share.mismatched += 1;
            if share.mismatches.len() < TOLD {
                share.mismatches.push(Mismatch {
                    id,
                    name: other.name.clone(),
                    probes: other.owners.len(),
                    known_name: kept.name.clone(),
                    known_probes: kept.owners.len(),
                });
            }
        }
    }
}

fn set(bits: &mut Vec<u64>, at: Owner) {
    let (word, bit) = ((at / 64) as usize, at % 64);
    if bits.len() <= word {
        bits.resize(word + 1, 0);
    }
    if let Some(word) = bits.get_mut(word) {
        *word |= 1 << bit;
    }
}

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;
