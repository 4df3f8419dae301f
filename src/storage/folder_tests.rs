use std::fs;
use std::os::unix::fs::symlink;

use super::*;

const MOST: u64 = 1000;

fn folder(root: &Path, path: &str) -> Folder {
    Folder::new(root, "team", path, "pets.exec").unwrap()
}

/// Appends to what is there.
fn append(folder: &Folder, text: &'static str) -> Result<usize, StorageError> {
    let merge = move |stored: Option<&[u8]>| {
        let mut content = stored.unwrap_or_default().to_vec();
        content.extend_from_slice(text.as_bytes());
        Ok(Update {
            outcome: content.len(),
            content: Some(content),
        })
    };
    folder.update(MOST, &merge)
}

#[test]
fn what_is_stored_is_read_and_replaced() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(root.path(), "nightly/shop");
    assert_eq!(append(&folder, "ab"), Ok(2));
    assert_eq!(append(&folder, "cd"), Ok(4));
    let path = root.path().join("team/nightly/shop/pets.exec");
    assert_eq!(folder.location(), path.display().to_string());
    assert_eq!(fs::read(&path).unwrap(), b"abcd");
    // Nothing else is left there.
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    assert_eq!(entries.count(), 1);
    // Where nothing is to be written, nothing is.
    let seen = folder.update(MOST, &|stored: Option<&[u8]>| {
        Ok(Update {
            content: None,
            outcome: stored.map(<[u8]>::to_vec),
        })
    });
    assert_eq!(seen, Ok(Some(b"abcd".to_vec())));
}

#[test]
fn a_path_never_leads_out_of_the_namespace() {
    let root = tempfile::tempdir().unwrap();
    for path in [
        "",
        "..",
        "../other",
        "a/../../other",
        "/etc",
        "a//b",
        "a/",
        "./a",
        ".hidden",
        "a/.b",
        "a\0b",
        "a\nb",
        "é",
    ] {
        let made = Folder::new(root.path(), "team", path, "pets.exec");
        assert!(matches!(made, Err(StorageError::NotAllowed(_))), "{path:?}");
    }
    for namespace in ["", "..", "a/b"] {
        assert!(Folder::new(root.path(), namespace, "a", "pets.exec").is_err());
    }
    assert!(Folder::new(root.path(), "team", "a", "../pets.exec").is_err());
}

#[test]
fn no_link_is_followed_wherever_it_stands() {
    let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let team = root.path().join("team");
    fs::create_dir(&team).unwrap();
    symlink(other.path(), team.join("out")).unwrap();
    fs::create_dir(team.join("in")).unwrap();
    symlink(other.path(), team.join("in/deep")).unwrap();
    for path in ["out", "out/a", "in/deep"] {
        let error = append(&folder(root.path(), path), "x").unwrap_err();
        assert!(error.to_string().contains("is not followed"), "{error}");
    }
    // A namespace that is a link to another one's folder.
    symlink(&team, root.path().join("evil")).unwrap();
    let evil = Folder::new(root.path(), "evil", "in", "pets.exec").unwrap();
    assert!(append(&evil, "x").is_err());
    // The file itself.
    let secret = other.path().join("secret");
    fs::write(&secret, "s").unwrap();
    symlink(&secret, team.join("in/pets.exec")).unwrap();
    let error = append(&folder(root.path(), "in"), "x").unwrap_err();
    assert!(error.to_string().contains("it is a link"), "{error}");
    assert_eq!(fs::read(&secret).unwrap(), b"s");
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
}

#[test]
fn what_is_no_file_or_too_large_is_left_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("team/a");
    fs::create_dir_all(place.join("pets.exec")).unwrap();
    let error = append(&folder(root.path(), "a"), "x").unwrap_err();
    assert!(error.to_string().contains("no regular file"), "{error}");
    fs::remove_dir(place.join("pets.exec")).unwrap();
    let large = vec![7; 1001];
    fs::write(place.join("pets.exec"), &large).unwrap();
    let error = append(&folder(root.path(), "a"), "x").unwrap_err();
    assert_eq!(error.reason(), "FileTooLarge");
    assert_eq!(fs::read(place.join("pets.exec")).unwrap(), large);
}

#[test]
fn a_root_that_is_not_there_is_not_made() {
    let root = tempfile::tempdir().unwrap();
    let missing = root.path().join("not-mounted");
    let error = append(&folder(&missing, "a"), "x").unwrap_err();
    assert_eq!(error.reason(), "StorageUnavailable");
    assert!(!missing.exists());
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let root = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    append(&folder(root.path(), "a"), "x").unwrap();
                }
            });
        }
    });
    let stored = fs::read(root.path().join("team/a/pets.exec")).unwrap();
    assert_eq!(stored.len(), 80);
}

#[test]
fn a_merge_that_fails_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let folder = folder(root.path(), "a");
    append(&folder, "ab").unwrap();
    let failed = folder.update(MOST, &|_: Option<&[u8]>| -> Result<Update<()>, _> {
        Err(StorageError::Unreadable("no".into()))
    });
    assert!(failed.is_err());
    assert_eq!(append(&folder, "cd"), Ok(4));
}
