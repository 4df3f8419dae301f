//! The bounds on sources: the usual ones, but for those that a Config sets.

use crate::api::config;
use crate::{load, source};

/// How much of a source is read, and of what was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// On files and names.
    pub source: source::Limits,
    /// On what is in the files.
    pub load: load::Limits,
}

impl Limits {
    /// Those of a Config.
    pub fn of(config: &config::Limits) -> Self {
        // By name, so that none is forgotten.
        let config::Limits {
            file_bytes,
            total_bytes,
            files,
            entries,
            directory_depth,
            path_bytes,
            all_path_bytes,
            fetch_bytes,
            file_documents,
            documents,
            file_values,
            values,
            nesting,
            alias_bytes,
            file_faults,
            faults,
        } = *config;
        let mut limits = Self::default();
        let Self { source, load } = &mut limits;
        set(&mut source.file_bytes, file_bytes);
        set(&mut load.file_bytes, file_bytes);
        set(&mut source.total_bytes, total_bytes);
        set(&mut source.files, files);
        set(&mut source.entries, entries);
        set(&mut source.depth, directory_depth);
        set(&mut source.path_bytes, path_bytes);
        set(&mut source.all_path_bytes, all_path_bytes);
        set(&mut source.fetch_bytes, fetch_bytes);
        set(&mut load.file_documents, file_documents);
        set(&mut load.documents, documents);
        set(&mut load.file_values, file_values);
        set(&mut load.values, values);
        set(&mut load.nesting, nesting);
        set(&mut load.alias_bytes, alias_bytes);
        // Sources and what is in them are told of in the same place.
        set(&mut source.faults, faults);
        set(&mut load.faults, faults);
        set(&mut load.file_faults, file_faults);
        limits
    }
}

fn set<T: TryFrom<u64>>(limit: &mut T, given: Option<u64>) {
    if let Some(given) = given.and_then(|it| T::try_from(it).ok()) {
        *limit = given;
    }
}
