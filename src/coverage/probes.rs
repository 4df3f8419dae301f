//! Sets of probes, in the form in which they are written: the least significant bit first.

/// What was reached of a class, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbesRef<'a> {
    len: usize,
    /// As many as `len` bits take; the unused ones of the last are zero.
    bytes: &'a [u8],
}

/// What was reached of a class.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Probes {
    len: usize,
    bytes: Vec<u8>,
}

impl<'a> ProbesRef<'a> {
    /// `bytes` are as many as `len` probes take, and have no bit set beyond them.
    pub(super) fn new(len: usize, bytes: &'a [u8]) -> Self {
        debug_assert!(bytes.len() == len.div_ceil(8));
        Self { len, bytes }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.len
    }

    /// Tells whether the class has none, as interfaces without code.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// How many were hit.
    pub fn count(self) -> u64 {
        words(self.bytes)
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// Tells whether any was hit.
    pub fn any(self) -> bool {
        self.bytes.iter().any(|byte| *byte != 0)
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = bool> + 'a {
        let bits = self
            .bytes
            .iter()
            .flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
        bits.take(self.len)
    }

    /// As they are written.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Copies them.
    pub fn to_owned(self) -> Probes {
        Probes {
            len: self.len,
            bytes: self.bytes.to_vec(),
        }
    }
}

impl Probes {
    /// The same, borrowed.
    pub fn as_ref(&self) -> ProbesRef<'_> {
        ProbesRef::new(self.len, &self.bytes)
    }
}

impl FromIterator<bool> for Probes {
    fn from_iter<T: IntoIterator<Item = bool>>(bits: T) -> Self {
        let mut probes = Self::default();
        for bit in bits {
            if probes.len.is_multiple_of(8) {
                probes.bytes.push(0);
            }
            if let Some(last) = probes.bytes.last_mut() {
                *last |= u8::from(bit) << (probes.len % 8);
            }
            probes.len += 1;
        }
        probes
    }
}

/// Adds what was hit, and tells how many were not before. Both are of one length.
pub(super) fn unite(into: &mut [u8], from: &[u8]) -> u64 {
    debug_assert!(into.len() == from.len());
    let mut new = 0;
    let (into, into_rest) = into.as_chunks_mut::<8>();
    let (from, from_rest) = from.as_chunks::<8>();
    // After a few dumps hardly anything is new, and nothing has to be counted or written.
    for (into, from) in into.iter_mut().zip(from) {
        let (old, other) = (u64::from_le_bytes(*into), u64::from_le_bytes(*from));
        if other & !old != 0 {
            new += u64::from((other & !old).count_ones());
            *into = (old | other).to_le_bytes();
        }
    }
    for (into, from) in into_rest.iter_mut().zip(from_rest) {
        if from & !*into != 0 {
            new += u64::from((from & !*into).count_ones());
            *into |= from;
        }
    }
    new
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (whole, rest) = bytes.as_chunks::<8>();
    let rest = rest.iter().map(|byte| u64::from(*byte));
    whole
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .chain(rest)
}
