//! Files of execution data, and what is wrong with them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread::{self, available_parallelism};

use crate::coverage::{Limits, Store, Taken};

/// Files for which another thread is worth its start.
const FILES_OF_A_THREAD: usize = 8;

/// Reads files into one store, in their order; what can be read of them is taken.
pub fn read_all(paths: &[PathBuf], limits: &Limits) -> (Store, Vec<Reading>) {
    let most = available_parallelism().map_or(1, usize::from);
    let threads = most.min(paths.len() / FILES_OF_A_THREAD);
    let regular = |path: &PathBuf| fs::metadata(path).is_ok_and(|found| found.is_file());
    if threads > 1
        && paths.iter().all(regular)
        && let Some(all) = side_by_side(paths, threads, limits)
    {
        return all;
    }
    in_turn(paths, limits)
}

fn in_turn(paths: &[PathBuf], limits: &Limits) -> (Store, Vec<Reading>) {
    let mut union = Store::new();
    let readings = paths
        .iter()
        .map(|path| Reading::of(path, &mut union, limits));
    let readings = readings.collect();
    (union, readings)
}

/// Reads by several threads; `None` when anything is wrong: what is to be told of it follows from the order, so all is read again.
fn side_by_side(
    paths: &[PathBuf],
    threads: usize,
    limits: &Limits,
) -> Option<(Store, Vec<Reading>)> {
    thread::scope(|scope| {
        let parts: Vec<_> = paths
            .chunks(paths.len().div_ceil(threads))
            .map(|part| scope.spawn(move || in_turn(part, limits)))
            .collect();
        let (mut union, mut readings) = (Store::new(), Vec::new());
        for part in parts {
            let (store, read) = part.join().ok()?;
            let (_, mismatches) = union.merge(&store);
            if !mismatches.is_empty() || !read.iter().all(Reading::is_whole) {
                return None;
            }
            readings.extend(read);
        }
        let summary = union.summary();
        let within =
            summary.classes <= limits.classes as u64 && summary.sessions <= limits.sessions as u64;
        within.then_some((union, readings))
    })
}

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
