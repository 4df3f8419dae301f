//! The union over all runs, as it is stored.

use std::collections::{HashMap, HashSet};

use crate::coverage::{
    JavaString, Limits, Mismatch, SessionInfo, Store, Summary, read_exec, write_exec,
};
use crate::storage::{StorageError, Update};

/// Sessions that a file keeps: the latest ones. They say which JVMs were asked, and no probe goes with them.
const SESSIONS: usize = 10_000;

/// The largest file: a million classes of a hundred probes have less.
pub const BYTES: u64 = 256 << 20;

/// What a union has become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// What is in it.
    pub summary: Summary,
    /// Whether there was a file before.
    pub was_there: bool,
    /// Classes of the new data that do not match those in the file, and are left out.
    pub mismatches: Vec<Mismatch>,
}

/// Adds new data to a stored union. It is to be stored again only when there is something new.
///
/// # Errors
/// When what is stored cannot be read: then it is nobody's to write over.
pub fn merge(stored: Option<&[u8]>, new: &Store) -> Result<Update<Merged>, StorageError> {
    let limits = Limits {
        bytes: BYTES,
        ..Limits::default()
    };
    let before = stored.map(|bytes| {
        read_exec(bytes, &limits).map_err(|error| {
            StorageError::Unreadable(format!(
                "the stored file cannot be read, and is left as it is: {error}"
            ))
        })
    });
    let before = before.transpose()?;
    let was_there = before.is_some();
    let before = before.unwrap_or_default();
    let known: HashSet<&JavaString> = before.sessions().map(|session| &session.id).collect();
    let has_new_session = new.sessions().any(|session| !known.contains(&session.id));

    let mut union = Store::new();
    for class in before.classes() {
        // It was read into a store before, so nothing can be wrong with it.
        let _ = union.put(class);
    }
    let (mut has_new_probe, mut mismatches) = (false, Vec::new());
    // A class without a hit is in no file.
    for class in new.classes().filter(|class| class.probes.count() > 0) {
        match union.put(class) {
            Ok(growth) => has_new_probe |= growth.new_probes > 0,
            Err(mismatch) => mismatches.push(mismatch),
        }
    }
    for session in latest_sessions(before.sessions().chain(new.sessions())) {
        union.add_session(session);
    }
    let mut content = None;
    if !was_there || has_new_probe || has_new_session {
        let mut bytes = Vec::new();
        write_exec(&union, &mut bytes)
            .map_err(|error| StorageError::Unavailable(error.to_string()))?;
        // What could not be read again would be lost.
        if bytes.len() as u64 > BYTES || union.summary().classes > limits.classes as u64 {
            let message = format!(
                "the union has more than {BYTES} bytes or {} classes; the file is left as it is",
                limits.classes
            );
            return Err(StorageError::TooLarge(message));
        }
        content = Some(bytes);
    }
    Ok(Update {
        content,
        outcome: Merged {
            summary: union.summary(),
            was_there,
            mismatches,
        },
    })
}

/// One session for each JVM, from its first start to its last dump, as JaCoCo merges them: a JVM is asked in every run.
fn latest_sessions<'a>(all: impl Iterator<Item = &'a SessionInfo>) -> Vec<SessionInfo> {
    let mut by_id: HashMap<&JavaString, SessionInfo> = HashMap::new();
    for session in all {
        let known = by_id.entry(&session.id).or_insert_with(|| session.clone());
        known.start = known.start.min(session.start);
        known.dump = known.dump.max(session.dump);
    }
    let mut sessions: Vec<SessionInfo> = by_id.into_values().collect();
    sessions.sort_unstable();
    sessions.split_off(sessions.len().saturating_sub(SESSIONS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::{ClassId, ExecutionData, Probes};

    fn session(id: &str, start: i64, dump: i64) -> SessionInfo {
        SessionInfo {
            id: id.try_into().unwrap(),
            start,
            dump,
        }
    }

    fn store(sessions: &[SessionInfo], classes: &[(u64, &str, &[bool])]) -> Store {
        let mut store = Store::new();
        for session in sessions {
            store.add_session(session.clone());
        }
        for (id, name, hits) in classes {
            let probes: Probes = hits.iter().copied().collect();
            let class = ExecutionData {
                id: ClassId(*id),
                name: (*name).try_into().unwrap(),
                probes,
            };
            store.put(class.as_ref()).unwrap();
        }
        store
    }

    /// What is stored after another one.
    fn stored(before: Option<&[u8]>, new: &Store) -> (Option<Vec<u8>>, Merged) {
        let Update { content, outcome } = merge(before, new).unwrap();
        (content, outcome)
    }

    #[test]
    fn runs_add_up_and_what_says_nothing_new_is_not_stored() {
        let first = store(&[session("a", 5, 10)], &[(1, "a/A", &[true, false])]);
        let (file, merged) = stored(None, &first);
        assert!(!merged.was_there);
        assert_eq!((merged.summary.hit, merged.summary.probes), (1, 2));
        let file = file.unwrap();
        // The same JVM, asked again.
        let again = store(&[session("a", 5, 20)], &[(1, "a/A", &[true, false])]);
        let (nothing, merged) = stored(Some(&file), &again);
        assert_eq!(nothing, None);
        assert!(merged.was_there);
        // Another one, that knows less.
        let other = store(&[session("b", 15, 20)], &[]);
        let (file, merged) = stored(Some(&file), &other);
        assert_eq!((merged.summary.hit, merged.summary.sessions), (1, 2));
        // The first again after a reset, with something new.
        let reset = store(
            &[session("a", 21, 30)],
            &[(1, "a/A", &[false, true]), (2, "a/B", &[true])],
        );
        let (file, merged) = stored(file.as_deref(), &reset);
        assert_eq!((merged.summary.hit, merged.summary.classes), (3, 2));
        let union = read_exec(&file.unwrap(), &Limits::default()).unwrap();
        let sessions: Vec<_> = union.sessions().cloned().collect();
        assert_eq!(sessions, [session("b", 15, 20), session("a", 5, 30)]);
    }

    #[test]
    fn a_class_that_does_not_match_is_told_and_keeps_the_rest() {
        let (file, _) = stored(None, &store(&[], &[(1, "a/A", &[true, false])]));
        let new = store(&[], &[(1, "a/A", &[true, true, true]), (2, "a/B", &[true])]);
        let (file, merged) = stored(file.as_deref(), &new);
        assert_eq!(merged.mismatches.len(), 1);
        assert_eq!(merged.summary.hit, 2);
        assert!(file.is_some());
    }

    #[test]
    fn what_cannot_be_read_is_not_written_over() {
        let new = store(&[], &[(1, "a/A", &[true])]);
        let (file, _) = stored(None, &new);
        let mut file = file.unwrap();
        file.truncate(file.len() - 1);
        for bytes in [file.as_slice(), b"hello"] {
            let error = merge(Some(bytes), &new).err().unwrap();
            assert_eq!(error.reason(), "StorageUnreadable");
        }
    }

    #[test]
    fn what_could_not_be_read_again_is_not_stored() {
        let (file, _) = stored(None, &store(&[], &[(1, "a/A", &[true])]));
        let mut large = Store::new();
        let probes: Probes = std::iter::repeat_n(true, 1 << 20).collect();
        for id in 2..2 + (BYTES >> 17) {
            let class = ExecutionData {
                id: ClassId(id),
                name: "a/B".try_into().unwrap(),
                probes: probes.clone(),
            };
            large.put(class.as_ref()).unwrap();
        }
        let error = merge(file.as_deref(), &large).err().unwrap();
        assert_eq!(error.reason(), "FileTooLarge");
    }

    #[test]
    fn sessions_are_bounded() {
        let many: Vec<_> = (0..SESSIONS as i64 + 5)
            .map(|i| session(&format!("jvm-{i}"), i, i + 1))
            .collect();
        let (_, merged) = stored(None, &store(&many, &[]));
        assert_eq!(merged.summary.sessions, SESSIONS as u64);
        let kept = latest_sessions(many.iter());
        assert_eq!(kept[0].start, 5);
    }
}
