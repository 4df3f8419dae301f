//! Many followers in one process: they share one inotify instance, of which a user has 128 by default.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use covergence::source::Limits;
use covergence::source::watch::{Follower, Mode, Timing};
use tokio::time::{sleep, timeout};

const MINUTE: Duration = Duration::from_secs(60);

/// Follows by notices alone.
async fn follow(directory: &Path) -> Follower {
    let never = Duration::from_secs(24 * 3600);
    let timing = Timing {
        poll: never,
        rescan: never,
        ..Timing::default()
    };
    let mut follower = Follower::start(directory.to_owned(), &Limits::default(), timing);
    follower.changed().await;
    assert_eq!(follower.mode(), Mode::Notified);
    follower
}

async fn hears(follower: &mut Follower) -> bool {
    timeout(MINUTE, follower.changed()).await.is_ok()
}

/// The inotify instances of this process, by the names of their descriptors.
fn instances() -> Vec<OsString> {
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().flatten();
    descriptors
        .filter(|it| fs::read_link(it.path()).is_ok_and(|it| it == Path::new("anon_inode:inotify")))
        .map(|it| it.file_name())
        .collect()
}

/// Asks the kernel (proc_pid_fdinfo(5)) whether this process watches a directory.
fn is_watched(directory: &Path) -> bool {
    let inode = format!(" ino:{:x} ", fs::metadata(directory).unwrap().ino());
    instances().iter().any(|descriptor| {
        let told = fs::read_to_string(Path::new("/proc/self/fdinfo").join(descriptor));
        told.unwrap().contains(&inode)
    })
}

async fn until_unwatched(directory: &Path) {
    let unwatched = async {
        while is_watched(directory) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(timeout(MINUTE, unwatched).await.is_ok());
}

#[tokio::test]
async fn three_hundred_followers_share_one_instance() {
    let root = tempfile::tempdir().unwrap();
    let mut followed = Vec::new();
    for number in 0..300 {
        let directory = root.path().join(number.to_string());
        fs::create_dir(&directory).unwrap();
        followed.push((follow(&directory).await, directory));
    }
    assert_eq!(instances().len(), 1);
    for (_, directory) in &followed {
        fs::write(directory.join("a.yaml"), "a").unwrap();
    }
    for (follower, directory) in &mut followed {
        assert!(hears(follower).await, "{}", directory.display());
    }
}

#[tokio::test]
async fn a_directory_is_watched_for_as_long_as_anybody_follows_it() {
    let root = tempfile::tempdir().unwrap();
    let (common, own) = (root.path().join("common"), root.path().join("own"));
    fs::create_dir(&common).unwrap();
    fs::create_dir(&own).unwrap();
    let mut outer = follow(root.path()).await;
    let mut one = follow(&common).await;
    let mut other = follow(&common).await;
    let file = common.join("a.yaml");
    for text in ["once", "twice"] {
        fs::write(&file, text).unwrap();
        assert!(hears(&mut outer).await && hears(&mut one).await && hears(&mut other).await);
    }
    assert!(is_watched(&own));
    drop(outer);
    until_unwatched(&own).await;
    fs::write(&file, "thrice").unwrap();
    assert!(hears(&mut one).await && hears(&mut other).await);
    drop(one);
    fs::write(&file, "once more").unwrap();
    assert!(hears(&mut other).await && is_watched(&common));
    drop(other);
    until_unwatched(&common).await;
    until_unwatched(root.path()).await;
}
