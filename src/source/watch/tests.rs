use std::fs;
use std::path::Path;

use tokio::time::timeout;

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn follower(path: &Path) -> Follower {
    Follower::start(path.to_owned(), &Limits::default(), Timing::default())
}

/// The clock is paused: an hour takes no time, but the looks that fall into it are taken. What is expected here is expected of
/// a follower that polls, too: the user's other processes may hold every inotify instance.
#[tokio::test(start_paused = true)]
async fn an_idle_tree_gives_no_signal_but_the_first() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.yaml"), "a").unwrap();
    let mut follower = follower(directory.path());
    follower.changed().await;
    assert!(timeout(HOUR, follower.changed()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_rescan_finds_what_inotify_does_not_tell() {
    let directory = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.yaml");
    fs::write(&file, "a").unwrap();
    // A write through this name is told to whoever watches its directory, and nobody does.
    let name = elsewhere.path().join("b.yaml");
    fs::hard_link(&file, &name).unwrap();
    let mut follower = follower(directory.path());
    follower.changed().await;
    fs::write(&name, "changed").unwrap();
    assert!(timeout(HOUR, follower.changed()).await.is_ok());
    assert!(timeout(HOUR, follower.changed()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_path_that_does_not_exist_yet_is_followed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("later/deep/shop");
    let mut follower = follower(&path);
    follower.changed().await;
    assert!(timeout(HOUR, follower.changed()).await.is_err());
    fs::create_dir_all(&path).unwrap();
    assert!(timeout(HOUR, follower.changed()).await.is_ok());
}

/// What a Config lets the reader read is followed.
#[tokio::test(start_paused = true)]
async fn folders_as_deep_as_the_limits_allow_are_followed() {
    let directory = tempfile::tempdir().unwrap();
    let deep = directory.path().join("d/".repeat(70));
    fs::create_dir_all(&deep).unwrap();
    for (depth, is_followed) in [(64, false), (70, true)] {
        let limits = Limits {
            depth,
            ..Limits::default()
        };
        let mut follower = Follower::start(directory.path().to_owned(), &limits, Timing::default());
        follower.changed().await;
        fs::write(deep.join(format!("{depth}.yaml")), "a").unwrap();
        let heard = timeout(HOUR, follower.changed()).await.is_ok();
        assert_eq!(heard, is_followed, "{depth}");
    }
}

#[test]
fn reasons_say_what_to_do() {
    assert_eq!(
        Reason::NoWatches.to_string(),
        "no inotify watch is left; raise the sysctl fs.inotify.max_user_watches"
    );
    assert!(
        Reason::NoInstances
            .to_string()
            .contains("fs.inotify.max_user_instances")
    );
}

#[test]
fn intervals_differ_by_a_tenth_at_most() {
    let spreads: Vec<_> = (0..50).map(|_| spread(HOUR)).collect();
    assert!(spreads.iter().all(|it| (HOUR..HOUR * 11 / 10).contains(it)));
    assert!(spreads.iter().any(|it| *it != spreads[0]));
}
