//! Single files of a jar, which is a zip archive: as much of that format as jars use (APPNOTE.TXT 4.3; no encryption, one disk,
//! no ZIP64).

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use super::error::JarError;

const END: u32 = 0x0605_4b50;
const END_BYTES: usize = 22;
/// The longest comment there can be at the end.
const COMMENT_BYTES: usize = 65_535;
const ENTRY: u32 = 0x0201_4b50;
const ENTRY_BYTES: usize = 46;
const LOCAL: u32 = 0x0403_4b50;
const LOCAL_BYTES: usize = 30;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// An archive in memory.
pub(super) struct Jar<'a> {
    bytes: &'a [u8],
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    name: &'a [u8],
    method: u16,
    packed: usize,
    /// Where its local header begins.
    at: usize,
}

impl<'a> Jar<'a> {
    /// Reads the directory at the end of the archive.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, JarError> {
        let end = find_end(bytes).ok_or(JarError::NoArchive)?;
        let broken = JarError::Damaged("its directory is cut off");
        let (count, mut at) = (short(bytes, end + 10), long(bytes, end + 16));
        let mut entries = Vec::new();
        for _ in 0..count.ok_or(broken.clone())? {
            let (entry, next) = at.and_then(|at| entry(bytes, at)).ok_or(broken.clone())?;
            entries.push(entry);
            at = Some(next);
        }
        Ok(Self { bytes, entries })
    }

    /// Tells whether there is a file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|it| it.name == name.as_bytes())
    }

    /// Gives the content of a file, of at most so many bytes, if there is one of this name.
    pub(super) fn file(&self, name: &str, limit: usize) -> Result<Option<Vec<u8>>, JarError> {
        let Some(entry) = self.entries.iter().find(|it| it.name == name.as_bytes()) else {
            return Ok(None);
        };
        let too_large = JarError::TooLarge {
            name: name.to_owned(),
            limit,
        };
        let packed = self
            .packed(entry)
            .ok_or(JarError::Damaged("a file of it is cut off"))?;
        match entry.method {
            STORED if packed.len() > limit => Err(too_large),
            STORED => Ok(Some(packed.to_vec())),
            DEFLATED => match decompress_to_vec_with_limit(packed, limit) {
                Ok(content) => Ok(Some(content)),
                Err(error) if error.status == miniz_oxide::inflate::TINFLStatus::HasMoreOutput => {
                    Err(too_large)
                }
                Err(_) => Err(JarError::Damaged("a file of it cannot be unpacked")),
            },
            method => Err(JarError::Method {
                name: name.to_owned(),
                method,
            }),
        }
    }

    /// What the archive holds of a file: behind its local header, whose name and extra field have lengths of their own.
    fn packed(&self, entry: &Entry<'_>) -> Option<&'a [u8]> {
        let at = entry.at;
        (long(self.bytes, at)? == LOCAL as usize).then_some(())?;
        let name = usize::from(short(self.bytes, at + 26)?);
        let extra = usize::from(short(self.bytes, at + 28)?);
        let start = at.checked_add(LOCAL_BYTES + name + extra)?;
        self.bytes.get(start..start.checked_add(entry.packed)?)
    }
}

/// The last place that looks like the end record, and whose comment ends where the archive does.
fn find_end(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let first = last.saturating_sub(COMMENT_BYTES);
    (first..=last).rev().find(|&at| {
        long(bytes, at) == Some(END as usize)
            && short(bytes, at + 20).is_some_and(|comment| usize::from(comment) == last - at)
    })
}

/// An entry of the directory, and where the next one is.
fn entry(bytes: &[u8], at: usize) -> Option<(Entry<'_>, usize)> {
    (long(bytes, at)? == ENTRY as usize).then_some(())?;
    let [name, extra, comment] = [28, 30, 32].map(|field| short(bytes, at + field));
    let (name, extra, comment) = (name?.into(), extra?, comment?);
    let start = at.checked_add(ENTRY_BYTES)?;
    let name_end = start.checked_add(name)?;
    let entry = Entry {
        name: bytes.get(start..name_end)?,
        method: short(bytes, at + 10)?,
        packed: long(bytes, at + 20)?,
        at: long(bytes, at + 42)?,
    };
    Some((entry, name_end + usize::from(extra) + usize::from(comment)))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let field = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(field.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(field.try_into().ok()?)).ok()
}
