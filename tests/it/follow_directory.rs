//! Following a directory or a file with the kernel's notices: whatever is done to it, the change is noticed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use covergence::cli::logging::{self, LogFormat, log_filter};
use covergence::load::{Snapshot, load};
use covergence::source::watch::{Follower, Mode, Reason, Timing};
use covergence::source::{Limits, directory};
use tempfile::TempDir;
use tokio::time::timeout;

const NEVER: Duration = Duration::from_secs(24 * 3600);

/// A directory, and somebody who looks at it when told to. Nothing is looked for from time to time.
struct Followed {
    path: PathBuf,
    follower: Follower,
    outer: TempDir,
}

impl Followed {
    /// Follows `path` in a directory that `prepare` fills, until it reads as expected.
    async fn start(path: &str, prepare: impl FnOnce(&Path)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        prepare(directory.path());
        let path = directory.path().join(path);
        let timing = Timing {
            poll: NEVER,
            rescan: NEVER,
            ..Timing::default()
        };
        let mut follower = Follower::start(path.clone(), &Limits::default(), timing);
        follower.changed().await;
        assert_eq!(follower.mode(), Mode::Notified);
        Self {
            path,
            follower,
            outer: directory,
        }
    }

    /// Starts with one file `a.yaml`.
    async fn with_file() -> Self {
        Self::start("", |root| fs::write(root.join("a.yaml"), "a").unwrap()).await
    }

    /// A path beside the one that is followed, or below the directory.
    fn root(&self) -> &Path {
        self.outer.path()
    }

    /// Waits for notices until the path reads as these files with these contents.
    async fn reads(&mut self, expected: &[(&str, &str)]) {
        loop {
            let told = timeout(Duration::from_secs(60), self.follower.changed()).await;
            let snapshot = directory::read(&self.path, &Limits::default()).ok();
            let files = snapshot.as_ref().map(contents).unwrap_or_default();
            assert!(told.is_ok(), "no notice; it reads as {files:?}");
            if files == expected {
                break;
            }
        }
        // A late notice of this change must not stand for one of the next.
        while timeout(Duration::from_millis(200), self.follower.changed())
            .await
            .is_ok()
        {}
    }
}

fn contents(snapshot: &Snapshot) -> Vec<(&str, &str)> {
    let text = |bytes| std::str::from_utf8(bytes).unwrap();
    snapshot
        .files
        .iter()
        .map(|file| (&*file.path, text(&file.bytes)))
        .collect()
}

fn run(program: &str, arguments: &[&str], file: &Path) {
    let status = Command::new(program).args(arguments).arg(file).status();
    assert!(status.unwrap().success(), "{program}");
}

/// As vim does with `backupcopy=no`: tries whether it may write, moves the old file away, writes the new one.
fn save_as_vim(file: &Path, text: &str) {
    let beside = |name: &str| file.with_file_name(name);
    let backup = PathBuf::from(format!("{}~", file.display()));
    fs::write(beside(".a.yaml.swp"), "swap").unwrap();
    fs::write(beside("4913"), "").unwrap();
    fs::remove_file(beside("4913")).unwrap();
    fs::rename(file, &backup).unwrap();
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(&backup).unwrap();
    fs::remove_file(beside(".a.yaml.swp")).unwrap();
}

#[tokio::test]
async fn c48_every_save_of_an_editor_is_seen_and_its_files_are_ignored() {
    let mut followed = Followed::with_file().await;
    let file = followed.path.join("a.yaml");
    for text in ["once", "twice", "thrice"] {
        save_as_vim(&file, text);
        followed.reads(&[("a.yaml", text)]).await;
    }
}

/// The same for a single file: a watch of the file itself ends with the first rename.
#[tokio::test]
async fn c48_a_file_that_is_saved_twice_is_seen_twice() {
    let prepare = |root: &Path| fs::write(root.join("a.yaml"), "a").unwrap();
    let mut followed = Followed::start("a.yaml", prepare).await;
    let file = followed.path.clone();
    save_as_vim(&file, "b");
    followed.reads(&[("a.yaml", "b")]).await;
    run("sed", &["-i", "s/b/c/"], &file);
    followed.reads(&[("a.yaml", "c")]).await;
    run("sed", &["-i", "s/c/d/"], &file);
    followed.reads(&[("a.yaml", "d")]).await;
    fs::write(&file, "in place").unwrap();
    followed.reads(&[("a.yaml", "in place")]).await;
}

#[tokio::test]
async fn c48_sed_twice_is_seen_twice() {
    let mut followed = Followed::with_file().await;
    let file = followed.path.join("a.yaml");
    for (script, text) in [("s/a/b/", "b"), ("s/b/c/", "c")] {
        run("sed", &["-i", script], &file);
        followed.reads(&[("a.yaml", text)]).await;
    }
}

#[tokio::test]
async fn c48_a_file_that_is_deleted_and_recreated_is_seen() {
    let mut followed = Followed::with_file().await;
    let file = followed.path.join("a.yaml");
    for text in ["b", "c"] {
        fs::remove_file(&file).unwrap();
        followed.reads(&[]).await;
        fs::write(&file, text).unwrap();
        followed.reads(&[("a.yaml", text)]).await;
    }
}

/// What is half-written does not parse, and a reading with an error prunes nothing.
#[tokio::test]
async fn c48_a_half_written_file_is_an_error_and_the_rest_of_it_is_seen() {
    use std::io::Write as _;
    let mut followed = Followed::start("", |_| ()).await;
    let mut file = fs::File::create(followed.path.join("a.yaml")).unwrap();
    let first = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"pe";
    file.write_all(first.as_bytes()).unwrap();
    followed.reads(&[("a.yaml", first)]).await;
    let snapshot = directory::read(&followed.path, &Limits::default()).unwrap();
    let loaded = load(&snapshot, &covergence::load::Limits::default());
    assert!(loaded.documents.is_empty() && !loaded.diagnostics.is_empty());
    file.write_all(b"t\"\n").unwrap();
    let whole = format!("{first}t\"\n");
    followed.reads(&[("a.yaml", &whole)]).await;
}

#[tokio::test]
async fn directories_are_followed_as_they_come_and_go() {
    let mut followed = Followed::with_file().await;
    let deep = followed.path.join("one/two/three");
    for text in ["b", "c"] {
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("b.yaml"), text).unwrap();
        followed
            .reads(&[("a.yaml", "a"), ("one/two/three/b.yaml", text)])
            .await;
        fs::write(deep.join("b.yaml"), "changed").unwrap();
        followed
            .reads(&[("a.yaml", "a"), ("one/two/three/b.yaml", "changed")])
            .await;
        fs::remove_dir_all(followed.path.join("one")).unwrap();
        followed.reads(&[("a.yaml", "a")]).await;
    }
    // Moved in with what it holds.
    fs::create_dir_all(followed.path.join(".hidden/two")).unwrap();
    fs::write(followed.path.join(".hidden/two/c.yaml"), "c").unwrap();
    let moved = followed.path.join("moved");
    fs::rename(followed.path.join(".hidden"), &moved).unwrap();
    followed
        .reads(&[("a.yaml", "a"), ("moved/two/c.yaml", "c")])
        .await;
    fs::write(moved.join("two/c.yaml"), "d").unwrap();
    followed
        .reads(&[("a.yaml", "a"), ("moved/two/c.yaml", "d")])
        .await;
}

#[tokio::test]
async fn a_root_that_is_replaced_is_followed() {
    let prepare = |root: &Path| {
        fs::create_dir(root.join("shop")).unwrap();
        fs::write(root.join("shop/a.yaml"), "a").unwrap();
    };
    let mut followed = Followed::start("shop", prepare).await;
    let file = followed.path.join("a.yaml");
    // Deleted and recreated.
    for text in ["b", "c"] {
        fs::remove_dir_all(&followed.path).unwrap();
        followed.reads(&[]).await;
        fs::create_dir(&followed.path).unwrap();
        fs::write(&file, text).unwrap();
        followed.reads(&[("a.yaml", text)]).await;
        fs::write(&file, "then").unwrap();
        followed.reads(&[("a.yaml", "then")]).await;
    }
    // Moved away, and another one put in its place.
    let (new, old) = (followed.root().join("new"), followed.root().join("old"));
    fs::create_dir(&new).unwrap();
    fs::write(new.join("a.yaml"), "new").unwrap();
    fs::rename(&followed.path, &old).unwrap();
    fs::rename(&new, &followed.path).unwrap();
    followed.reads(&[("a.yaml", "new")]).await;
    fs::write(&file, "newer").unwrap();
    followed.reads(&[("a.yaml", "newer")]).await;
    // With the directory that it is in.
    let root = followed.root().to_owned();
    fs::remove_dir_all(root).unwrap();
    followed.reads(&[]).await;
    fs::create_dir_all(&followed.path).unwrap();
    fs::write(&file, "back").unwrap();
    followed.reads(&[("a.yaml", "back")]).await;
}

/// As the kubelet does: a hidden directory, a hidden link to it, and links that stay as they are.
#[tokio::test]
async fn a_configmap_volume_is_followed_through_its_swaps() {
    let write = |root: &Path, revision: &str| {
        fs::create_dir(root.join(revision)).unwrap();
        fs::write(root.join(revision).join("a.yaml"), revision).unwrap();
        symlink(revision, root.join("..data_tmp")).unwrap();
        fs::rename(root.join("..data_tmp"), root.join("..data")).unwrap();
    };
    let mut followed = Followed::start("", |root| {
        write(root, "..1");
        symlink("..data/a.yaml", root.join("a.yaml")).unwrap();
    })
    .await;
    for (old, new) in [("..1", "..2"), ("..2", "..3")] {
        write(&followed.path, new);
        fs::remove_dir_all(followed.path.join(old)).unwrap();
        followed.reads(&[("a.yaml", new)]).await;
    }
    // Nothing but the link leads there.
    fs::write(followed.path.join("..3/a.yaml"), "in place").unwrap();
    followed.reads(&[("a.yaml", "in place")]).await;
}

/// As git-sync does: the path that is followed lies behind a link that is swapped.
#[tokio::test]
async fn a_link_on_the_way_is_followed_through_its_swaps() {
    let write = |root: &Path, revision: &str| {
        let folder = root.join(".worktrees").join(revision).join("shop");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.yaml"), revision).unwrap();
        symlink(Path::new(".worktrees").join(revision), root.join("tmp")).unwrap();
        fs::rename(root.join("tmp"), root.join("current")).unwrap();
    };
    let mut followed = Followed::start("current/shop", |root| write(root, "1")).await;
    for revision in ["2", "3"] {
        write(followed.root(), revision);
        followed.reads(&[("a.yaml", revision)]).await;
    }
    let file = followed.root().join(".worktrees/3/shop/a.yaml");
    fs::write(file, "in place").unwrap();
    followed.reads(&[("a.yaml", "in place")]).await;
}

#[tokio::test]
async fn a_path_is_followed_from_before_it_exists() {
    let mut followed = Followed::start("later/deep/shop", |_| ()).await;
    fs::create_dir_all(&followed.path).unwrap();
    fs::write(followed.path.join("a.yaml"), "a").unwrap();
    followed.reads(&[("a.yaml", "a")]).await;
}

#[tokio::test]
async fn a_change_of_permissions_is_told() {
    let mut followed = Followed::with_file().await;
    let file = followed.path.join("a.yaml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let told = timeout(Duration::from_secs(60), followed.follower.changed()).await;
    assert!(told.is_ok());
}

/// Writes without a pause cannot hold a change back for ever.
#[tokio::test]
async fn constant_writing_starves_no_change() {
    let mut followed = Followed::with_file().await;
    let log = followed.path.join("log.txt");
    let writer = tokio::spawn(async move {
        loop {
            fs::write(&log, "x").unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    for _ in 0..3 {
        let told = timeout(Duration::from_secs(60), followed.follower.changed()).await;
        assert!(told.is_ok());
    }
    writer.abort();
}

/// Set in a child that may use few watches or instances: the limits of a user namespace count for its processes only.
const INSIDE: &str = "COVERGENCE_C49_INSIDE";

/// Runs one of these tests again where a limit of the kernel's is lowered; gives what it wrote to stderr.
fn run_limited(test: &str, limit: &str, most: u32) -> String {
    let script = format!("echo {most} > /proc/sys/user/{limit} && exec \"$0\" \"$@\"");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .arg(format!("follow_directory::{test}"))
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    told
}

/// Follows a tree that has more directories than watches, and sees a change in the last of them.
async fn poll_because_of(expected: Reason) -> Follower {
    let filter = log_filter("info").unwrap();
    logging::init(LogFormat::Text, filter).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let last = directory.path().join("1/2/3/4");
    fs::create_dir_all(&last).unwrap();
    fs::write(last.join("a.yaml"), "a").unwrap();
    let timing = Timing {
        poll: Duration::from_millis(100),
        rescan: NEVER,
        ..Timing::default()
    };
    let mut follower = Follower::start(directory.path().to_owned(), &Limits::default(), timing);
    follower.changed().await;
    assert_eq!(follower.mode(), Mode::Polling(expected));
    for text in ["other", "another"] {
        fs::write(last.join("a.yaml"), text).unwrap();
        let told = timeout(Duration::from_secs(60), follower.changed()).await;
        assert!(told.is_ok(), "{text}");
    }
    follower
}

#[tokio::test]
async fn c49_without_a_watch_left_it_polls_and_names_the_sysctl_once() {
    if std::env::var_os(INSIDE).is_some() {
        let polling = poll_because_of(Reason::NoWatches).await;
        // It keeps none of those that there are: they are enough for a small tree.
        let mut small = Followed::with_file().await;
        fs::write(small.path.join("a.yaml"), "b").unwrap();
        small.reads(&[("a.yaml", "b")]).await;
        assert_eq!(polling.mode(), Mode::Polling(Reason::NoWatches));
        return;
    }
    let name = "c49_without_a_watch_left_it_polls_and_names_the_sysctl_once";
    let told = run_limited(name, "max_inotify_watches", 4);
    let warnings: Vec<_> = told.lines().filter(|it| it.contains("WARN")).collect();
    assert_eq!(warnings.len(), 1, "{told}");
    assert!(
        warnings[0].contains("fs.inotify.max_user_watches"),
        "{told}"
    );
}

#[tokio::test]
async fn c49_without_an_instance_left_it_polls_and_names_the_sysctl_once() {
    if std::env::var_os(INSIDE).is_some() {
        poll_because_of(Reason::NoInstances).await;
        return;
    }
    let name = "c49_without_an_instance_left_it_polls_and_names_the_sysctl_once";
    let told = run_limited(name, "max_inotify_instances", 0);
    let warnings: Vec<_> = told.lines().filter(|it| it.contains("WARN")).collect();
    assert_eq!(warnings.len(), 1, "{told}");
    assert!(
        warnings[0].contains("fs.inotify.max_user_instances"),
        "{told}"
    );
}
