use std::os::unix::fs::symlink;
use std::thread::sleep;
use std::time::Duration;

use super::*;
use crate::source::disk::Content;
use crate::source::tree::{Entry, Fault, Target, Tree};

/// A volume whose `..data` link is swapped after the first file of a reading, as many times as asked.
struct Swapped<'a> {
    disk: Disk<'a>,
    swaps: &'a mut usize,
    has_swapped: bool,
}

impl Tree for Swapped<'_> {
    fn list(&mut self, directory: &Path, room: usize) -> Result<Vec<Entry>, Fault> {
        // So that the swap falls into a later tick of the kernel's clock than whatever came before.
        sleep(Duration::from_millis(30));
        self.disk.list(directory, room)
    }

    fn resolve(&mut self, link: &Path) -> Result<Target, Fault> {
        self.disk.resolve(link)
    }

    fn read(&mut self, file: &Path, limit: u64) -> Result<Vec<u8>, Fault> {
        let bytes = self.disk.read(file, limit);
        if *self.swaps > 0 && !self.has_swapped {
            *self.swaps -= 1;
            self.has_swapped = true;
            let root = self.disk.root;
            let now = fs::read_link(root.join("..data")).unwrap();
            let next = if now == Path::new("..1") {
                "..2"
            } else {
                "..1"
            };
            symlink(next, root.join("new")).unwrap();
            fs::rename(root.join("new"), root.join("..data")).unwrap();
        }
        bytes
    }
}

/// Reads a volume in which one object moves between two files with each swap; gives the bytes read and the faults.
fn read_swapped(mut swaps: usize) -> (usize, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(directory.path()).unwrap();
    for (path, text) in [
        ("..1/a.yaml", ""),
        ("..1/z.yaml", "object"),
        ("..2/a.yaml", "object"),
        ("..2/z.yaml", ""),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    symlink("..1", root.join("..data")).unwrap();
    for name in ["a.yaml", "z.yaml"] {
        symlink(format!("..data/{name}"), root.join(name)).unwrap();
    }
    let collected = settled(|| {
        let mut tree = Swapped {
            disk: Disk::new(&root),
            swaps: &mut swaps,
            has_swapped: false,
        };
        let collected = walk(&mut tree, Path::new(""), &Limits::default())?;
        Ok(((collected, None), tree.disk.changed()))
    });
    let (files, diagnostics) = collected.unwrap().0.finish();
    let faults = diagnostics.into_iter().map(|it| it.message).collect();
    (files.iter().map(|it| it.bytes.len()).sum(), faults)
}

#[test]
fn c48_two_moments_of_a_directory_are_never_one_snapshot() {
    let whole = "object".len();
    assert_eq!(read_swapped(0), (whole, vec![]));
    for swaps in 1..ATTEMPTS {
        assert_eq!(read_swapped(swaps), (whole, vec![]), "{swaps}");
    }
    let (_, faults) = read_swapped(ATTEMPTS);
    assert_eq!(faults, ["keeps changing while it is read"]);
}

#[test]
fn c48_a_file_that_is_being_written_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(directory.path()).unwrap();
    let path = root.join("a.yaml");
    fs::write(&path, "whole").unwrap();
    let disk = Disk::new(&root);
    assert!(
        matches!(disk.attempt(&path, 100), Ok(Some(Content::Bytes(bytes))) if bytes == b"whole")
    );
    // Its directory has become another one since it was listed.
    fs::create_dir(root.join("real")).unwrap();
    fs::write(root.join("real/b.yaml"), "x").unwrap();
    symlink("real", root.join("link")).unwrap();
    let through = disk.attempt(&root.join("link/b.yaml"), 100);
    assert!(matches!(through, Ok(None)));
}

/// Between listing and opening, someone may put something else in a file's place.
#[test]
fn what_has_become_a_link_or_a_fifo_is_not_opened() {
    let directory = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(directory.path()).unwrap();
    fs::write(root.join("a.yaml"), "x").unwrap();
    symlink("a.yaml", root.join("link.yaml")).unwrap();
    let fifo = root.join("fifo.yaml");
    let mut mkfifo = std::process::Command::new("mkfifo");
    assert!(mkfifo.arg(&fifo).status().unwrap().success());
    let disk = Disk::new(&root);
    let link = disk.attempt(&root.join("link.yaml"), 100);
    assert_eq!(link.err().unwrap().raw_os_error(), Some(libc::ELOOP));
    // Without a writer, a plain open would wait for ever.
    assert!(matches!(
        disk.attempt(&fifo, 100),
        Ok(Some(Content::Special("a FIFO")))
    ));
}
