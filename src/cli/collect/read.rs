//! Files of execution data, and what is wrong with them.

use std::fs::File;
use std::path::Path;

use crate::coverage::{Limits, Store, Taken};

/// What came of reading a file.
pub struct Reading {
    /// What it brought.
    pub taken: Taken,
    /// Why it was not read to its end, if it was not.
    pub failure: Option<String>,
}

impl Reading {
    /// Reads a file into a store; what can be read of it is taken.
    pub fn of(path: &Path, store: &mut Store, limits: &Limits) -> Self {
        let mut taken = Taken::default();
        let result = match File::open(path) {
            Ok(file) => store.take_exec(file, limits, &mut taken),
            Err(error) => Err(error.into()),
        };
        Self {
            taken,
            failure: result.err().map(|error| error.to_string()),
        }
    }

    /// Tells whether everything is in the store.
    pub fn is_whole(&self) -> bool {
        self.failure.is_none() && self.taken.mismatches.is_empty()
    }

    /// All that is wrong, a line each.
    pub fn problems(&self) -> impl Iterator<Item = String> {
        let mismatches = self.taken.mismatches.iter().map(ToString::to_string);
        mismatches.chain(self.failure.clone())
    }
}
