//! The files that are written: the union, and each pod by itself.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::dump_args::DumpArgs;
use super::read::Reading;
use crate::cli::error::CliError;
use crate::coverage::{Limits, Store, write_exec};
use crate::durable::write_durably;

/// Where the union goes. Nothing that a pod sends, and no name but a pod's own, becomes part of a path.
pub struct Files {
    output: PathBuf,
    per_pod: Option<PathBuf>,
    append: bool,
    /// The pods whose files were written in this run, and where.
    pods: BTreeMap<PathBuf, String>,
    /// What could not be written of single pods.
    pub problems: Vec<String>,
}

impl Files {
    /// Checks, before any agent is asked, that files may be written, and reads what is to be added to.
    pub fn open(args: &DumpArgs) -> Result<(Self, Option<Store>), CliError> {
        let output = args.output.clone().unwrap_or_default();
        let exists = output.symlink_metadata().is_ok();
        if exists && !args.append && !args.force {
            let text = format!("{} is there already", output.display());
            return Err(CliError::usage(format!("{text}: {CHOICE}")));
        }
        let folder = output.parent().filter(|it| *it != Path::new(""));
        if let Some(folder) = folder.filter(|it| !it.is_dir()) {
            return Err(CliError::usage(format!(
                "{} is no folder",
                folder.display()
            )));
        }
        let earlier = match exists && args.append {
            true => Some(read_whole(&output).map_err(CliError::usage)?),
            false => None,
        };
        if let Some(folder) = &args.per_pod {
            open_folder(folder, args.append || args.force)?;
        }
        let files = Self {
            output,
            per_pod: args.per_pod.clone(),
            append: args.append,
            pods: BTreeMap::new(),
            problems: Vec::new(),
        };
        Ok((files, earlier))
    }

    /// Where the union is.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// Writes the union.
    pub fn write_union(&self, union: &Store) -> Result<(), CliError> {
        write(&self.output, union).map_err(CliError::usage)
    }

    /// Writes what does not fit into the union beside it, where agents do not have it any more: `union.exec.unmerged-1` and so on.
    pub fn write_unmerged(&self, unmerged: &[Store]) -> Result<Vec<PathBuf>, CliError> {
        let mut written = Vec::new();
        for (store, number) in unmerged.iter().zip(1..) {
            let mut name = OsString::from(&self.output);
            name.push(format!(".unmerged-{number}"));
            let path = PathBuf::from(name);
            write(&path, store).map_err(CliError::usage)?;
            written.push(path);
        }
        Ok(written)
    }

    /// Adds to the file of a pod, where each has one. The first time in a run its file begins anew, unless it is to be added to.
    pub fn keep(&mut self, pod: &str, store: &Store) {
        let Some(folder) = self.per_pod.as_ref().filter(|_| *store != Store::new()) else {
            return;
        };
        let path = folder.join(file_name(pod));
        let known = self.pods.entry(path.clone());
        let again = matches!(known, Entry::Occupied(_));
        if known.or_insert_with(|| pod.to_owned()) != pod {
            let text = format!("{pod}: another one has the file {}", path.display());
            self.problems.push(text);
            return;
        }
        let added = match (again || self.append) && path.symlink_metadata().is_ok() {
            true => read_whole(&path).and_then(|mut all| {
                let (_, mismatches) = all.merge(store);
                match mismatches.first() {
                    Some(mismatch) => Err(format!("{}: {mismatch}", path.display())),
                    None => write(&path, &all),
                }
            }),
            false => write(&path, store),
        };
        self.problems.extend(added.err());
    }
}

const CHOICE: &str = "--append adds to what is there, --force replaces it";

fn open_folder(folder: &Path, may_hold: bool) -> Result<(), CliError> {
    let failed = |error: io::Error| {
        CliError::usage(format!("cannot write into {}: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let empty = fs::read_dir(folder).map_err(failed)?.next().is_none();
    if !empty && !may_hold {
        let text = format!("{} holds files already", folder.display());
        return Err(CliError::usage(format!("{text}: {CHOICE}")));
    }
    Ok(())
}

/// What is added to must be whole: who replaces a damaged file loses what could still be saved of it.
fn read_whole(path: &Path) -> Result<Store, String> {
    let mut store = Store::new();
    let reading = Reading::of(path, &mut store, &Limits::default());
    match reading.problems().next() {
        Some(problem) => Err(format!("cannot add to {}: {problem}", path.display())),
        None => Ok(store),
    }
}

fn write(path: &Path, store: &Store) -> Result<(), String> {
    let written = write_durably(path, |out| write_exec(store, out));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The name of a pod is a name of a file; of a host, an address and a port, what could be more than a name is replaced.
fn file_name(pod: &str) -> String {
    let plain = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' => c,
        _ => '_',
    };
    let name: String = pod
        .chars()
        .filter(|c| !matches!(c, '[' | ']'))
        .map(plain)
        .collect();
    format!("{}.exec", name.trim_start_matches(['.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        assert_eq!(file_name("pet-6d4c-x7k2p"), "pet-6d4c-x7k2p.exec");
        assert_eq!(file_name("10.0.0.1:6300"), "10.0.0.1_6300.exec");
        assert_eq!(file_name("[fd00::1]:6300"), "fd00__1_6300.exec");
        for hostile in [
            "../../etc/passwd",
            "..",
            ".",
            "/etc/passwd",
            "a/../b",
            "a\0b",
            "",
        ] {
            let name = file_name(hostile);
            let path = Path::new("dir").join(&name);
            assert_eq!(path.parent(), Some(Path::new("dir")), "{name}");
            assert!(name.ends_with(".exec") && !name.contains('/'), "{name}");
        }
    }
}
