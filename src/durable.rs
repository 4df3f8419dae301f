//! Files that are there wholly or not at all, whatever happens in between.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file in such a way that, at any time and after any crash, what is at `path` is the old one or the new one.
///
/// What is written goes to a file beside it, which is synced, and then takes its name. Only regular files are replaced: whatever
/// else has the name (a link, a device, a folder) is an error.
pub fn write_durably(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    refuse_others(path)?;
    let (folder, temporary) = beside(path)?;
    let result = fill(&temporary, write).and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // Nothing is left behind; what went wrong is told anyway.
        let _ = fs::remove_file(&temporary);
    }
    result?;
    // The name is in the folder, which is synced by itself.
    File::open(folder)?.sync_all()
}

fn refuse_others(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "is there and is no regular file",
        )),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The folder of a path, and a name in it that nobody else uses.
fn beside(path: &Path) -> io::Result<(&Path, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if path.file_name().is_none() {
        let text = "is not the name of a file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = format!(".covergence-{}-{count}.tmp", process::id());
    Ok((folder, folder.join(temporary)))
}

fn fill(
    temporary: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    // One that a crash left behind has the number of a process that is gone, which may be ours again.
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(temporary)?;
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("union.exec");
        for text in ["first", "second"] {
            write_durably(&path, |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["union.exec"]);
    }

    #[test]
    fn what_cannot_be_written_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("union.exec");
        write_durably(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_durably(&path, |out| {
            out.write_all(b"half of the ne")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["union.exec"]);
    }

    #[test]
    fn links_and_folders_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link.exec");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        for path in [
            &link,
            folder.path(),
            Path::new("/dev/null"),
            Path::new(".."),
        ] {
            let error = write_durably(path, |out| out.write_all(b"x")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
        assert_eq!(names(folder.path()), ["link.exec"]);
    }
}
