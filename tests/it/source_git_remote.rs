//! A commit of a repository on a server as a source.

use std::fs;
use std::path::{Path, PathBuf};

use covergence::load::Snapshot;
use covergence::source::git::{Credentials, GitSource, check};
use covergence::source::{Limits, SourceError};
use tempfile::TempDir;

use crate::support::git::{Work, fetch};
use crate::support::http::{Http, Rules};
use crate::support::server::Server;

/// A repository with three commits, a directory to serve it from, and a cache.
struct Setup {
    work: Work,
    served: TempDir,
    cache: TempDir,
    commits: Vec<String>,
}

impl Setup {
    fn new() -> Self {
        let work = Work::new();
        let commits = (1..=3)
            .map(|n| {
                work.write("pets/a.yaml", &format!("{n}"));
                work.commit("change")
            })
            .collect();
        let served = tempfile::tempdir().unwrap();
        let bare = served.path().join("pets.git");
        work.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        work.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
        let cache = tempfile::tempdir().unwrap();
        Self {
            work,
            served,
            cache,
            commits,
        }
    }

    fn push(&self) {
        self.work.git(&[
            "push",
            "-q",
            "--force",
            "--prune",
            "origin",
            "refs/heads/*:refs/heads/*",
            "refs/tags/*:refs/tags/*",
        ]);
    }

    fn configure(&self, key: &str, value: &str) {
        let bare = self.served.path().join("pets.git");
        self.work
            .git(&["-C", bare.to_str().unwrap(), "config", key, value]);
    }

    /// Fetches; and a check before it says the same, be it the revision or why not.
    fn read(&self, url: &str, reference: Option<&str>) -> Result<Snapshot, SourceError> {
        let checked = self.check(&source(url, reference));
        let fetched = self.fetch(&source(url, reference));
        match (&checked, &fetched) {
            (Ok(checked), Ok(snapshot)) => assert_eq!(*checked, snapshot.revision),
            // What a ref leads to, its name does not tell.
            (Ok(_), Err(SourceError::NotACommit { .. })) => {}
            (Err(checked), Err(fetched)) => assert_eq!(checked.to_string(), fetched.to_string()),
            others => panic!("{url} {reference:?}: {others:?}"),
        }
        fetched
    }

    fn check(&self, source: &GitSource) -> Result<String, SourceError> {
        check(source, self.cache.path(), &Limits::default())
    }

    fn fetch(&self, source: &GitSource) -> Result<Snapshot, SourceError> {
        fetch(source, self.cache.path(), &Limits::default())
    }

    /// The cache entries, and how many commits each holds.
    fn entries(&self) -> Vec<(PathBuf, usize)> {
        let mut entries: Vec<_> = fs::read_dir(self.cache.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.join("objects").is_dir())
            .map(|path| {
                let list = [
                    "cat-file",
                    "--batch-all-objects",
                    "--batch-check=%(objecttype)",
                ];
                let mut args = vec!["-C", path.to_str().unwrap()];
                args.extend(list);
                let kinds = self.work.git(&args);
                let commits = kinds.lines().filter(|kind| *kind == "commit").count();
                (path, commits)
            })
            .collect();
        entries.sort();
        entries
    }

    fn counts(&self) -> Vec<usize> {
        self.entries().iter().map(|entry| entry.1).collect()
    }
}

fn source(url: &str, reference: Option<&str>) -> GitSource {
    GitSource {
        url: url.parse().unwrap(),
        reference: reference.map(str::to_owned),
        path: Some("pets".to_owned()),
        values_files: Vec::new(),
        credentials: Credentials::default(),
    }
}

fn text(snapshot: &Snapshot) -> &str {
    std::str::from_utf8(&snapshot.files[0].bytes).unwrap()
}

/// Runs a check over `git://` and over http.
fn over_each_transport(check: impl Fn(&Setup, &str)) {
    let setup = Setup::new();
    let daemon = Server::git_daemon(setup.served.path());
    check(&setup, &format!("git://127.0.0.1:{}/pets.git", daemon.port));
    let setup = Setup::new();
    let http = Http::start(setup.served.path(), Rules::default());
    check(&setup, &http.url(""));
}

#[test]
fn a_branch_is_fetched_without_its_history() {
    over_each_transport(|setup, url| {
        let snapshot = setup.read(url, None).unwrap();
        assert_eq!(text(&snapshot), "3");
        assert_eq!(snapshot.revision, format!("main@sha1:{}", setup.commits[2]));
        assert_eq!(setup.counts(), [1], "{url}");
        // The next commit comes alone, too.
        setup.work.write("pets/a.yaml", "4");
        let commit = setup.work.commit("four");
        setup.push();
        let snapshot = setup.read(url, Some("main")).unwrap();
        assert_eq!(text(&snapshot), "4");
        assert_eq!(snapshot.revision, format!("main@sha1:{commit}"));
        assert_eq!(setup.counts(), [2], "{url}");
    });
}

#[test]
fn tags_and_full_names_are_fetched_without_history() {
    over_each_transport(|setup, url| {
        setup.work.git(&["tag", "light", "HEAD~1"]);
        setup
            .work
            .git(&["tag", "-a", "annotated", "HEAD~2", "-m", "x"]);
        setup.push();
        for (reference, n) in [("annotated", 1), ("light", 2), ("refs/tags/light", 2)] {
            let snapshot = setup.read(url, Some(reference)).unwrap();
            assert_eq!(text(&snapshot), n.to_string());
            let name = reference.trim_start_matches("refs/tags/");
            assert_eq!(
                snapshot.revision,
                format!("{name}@sha1:{}", setup.commits[n - 1])
            );
        }
        assert_eq!(setup.counts(), [2], "{url}");
    });
}

#[test]
fn a_commit_is_fetched_alone_or_with_all_history_as_the_server_allows() {
    over_each_transport(|setup, url| {
        let first = setup.commits[0].as_str();
        let snapshot = setup.read(url, Some(first)).unwrap();
        assert_eq!(snapshot.revision, format!("sha1:{first}"));
        assert_eq!(text(&snapshot), "1");
        assert_eq!(setup.counts(), [0, 3], "{url}");

        setup.configure("uploadpack.allowAnySHA1InWant", "true");
        let second = setup.commits[1].as_str();
        assert_eq!(text(&setup.read(url, Some(second)).unwrap()), "2");
        assert_eq!(setup.counts(), [1, 3], "{url}");

        for prefix in [&first[..7], &first[..12]] {
            let snapshot = setup.read(url, Some(prefix)).unwrap();
            assert_eq!(snapshot.revision, format!("sha1:{first}"));
        }
        for missing in ["1".repeat(40), "1".repeat(9)] {
            // Not by `read`: that a whole commit is missing, no check tells.
            let error = setup.fetch(&source(url, Some(&missing))).unwrap_err();
            assert!(matches!(error, SourceError::RefNotFound { .. }), "{error}");
        }
    });
}

#[test]
fn c40_a_rewritten_branch_is_followed() {
    over_each_transport(|setup, url| {
        setup.read(url, Some("main")).unwrap();
        for n in 0..3 {
            setup.work.write("pets/a.yaml", &format!("rewritten {n}"));
            setup
                .work
                .git(&["commit", "-q", "-a", "--amend", "-m", "rewritten"]);
            setup.push();
            let commit = setup.work.git(&["rev-parse", "HEAD"]);
            let snapshot = setup.read(url, Some("main")).unwrap();
            assert_eq!(snapshot.revision, format!("main@sha1:{commit}"));
            assert_eq!(text(&snapshot), format!("rewritten {n}"));
        }
        // And back again: an old commit is in the cache already.
        setup
            .work
            .git(&["reset", "-q", "--hard", &setup.commits[0]]);
        setup.push();
        assert_eq!(text(&setup.read(url, Some("main")).unwrap()), "1");
    });
}

#[test]
fn c41_a_deleted_branch_is_an_error_until_it_is_back() {
    over_each_transport(|setup, url| {
        setup.work.git(&["branch", "live"]);
        setup.push();
        setup.read(url, Some("live")).unwrap();
        setup.work.git(&["branch", "-D", "-q", "live"]);
        setup.work.git(&["branch", "live2"]);
        setup.push();
        let error = setup.read(url, Some("live")).unwrap_err();
        assert!(matches!(error, SourceError::RefNotFound { .. }), "{error}");
        assert_eq!(error.hint().unwrap(), "did you mean live2?");
        // A branch may even take the place of a directory of branches.
        setup.work.git(&["branch", "live/green"]);
        setup.push();
        setup.read(url, Some("live/green")).unwrap();
        setup.work.git(&["branch", "-D", "-q", "live/green"]);
        setup.work.git(&["branch", "live"]);
        setup.push();
        setup.read(url, Some("live")).unwrap();
    });
}

#[test]
fn a_check_asks_for_the_refs_and_nothing_else() {
    let setup = Setup::new();
    let http = Http::start(setup.served.path(), Rules::default());
    setup.work.git(&["tag", "-a", "v1", "HEAD~1", "-m", "x"]);
    setup.push();
    let full = setup.commits[0].as_str();
    for (reference, revision) in [
        (None, format!("main@sha1:{}", setup.commits[2])),
        (Some("v1"), format!("v1@sha1:{}", setup.commits[1])),
        (Some(full), format!("sha1:{full}")),
    ] {
        http.seen.lock().unwrap().clear();
        assert_eq!(
            setup.check(&source(&http.url(""), reference)).unwrap(),
            revision
        );
        let seen = http.seen.lock().unwrap();
        let [(request, _)] = seen.as_slice() else {
            panic!("{seen:?}");
        };
        assert!(
            request.contains("/info/refs?service=git-upload-pack"),
            "{request}"
        );
    }
    assert_eq!(setup.entries(), []);
}

#[test]
fn a_check_of_an_abbreviated_commit_fetches_once() {
    let setup = Setup::new();
    let http = Http::start(setup.served.path(), Rules::default());
    let source = source(&http.url(""), Some(&setup.commits[0][..10]));
    let revision = format!("sha1:{}", setup.commits[0]);
    let packs = |source| {
        http.seen.lock().unwrap().clear();
        assert_eq!(setup.check(source).unwrap(), revision);
        let seen = http.seen.lock().unwrap();
        seen.iter().filter(|it| it.0.starts_with("POST")).count()
    };
    assert!(packs(&source) > 0);
    assert_eq!(packs(&source), 0);
}

/// A check shows a refused login and an unreachable server as a fetch does, without the password.
#[test]
fn a_check_that_is_not_let_in_says_so() {
    let setup = Setup::new();
    let rules = Rules {
        login: Some("Basic bm90aGluZw==".to_owned()),
        ..Rules::default()
    };
    let http = Http::start(setup.served.path(), rules);
    let error = setup
        .check(&source(&http.url("robot:hunter2@"), None))
        .unwrap_err();
    assert!(matches!(error, SourceError::Auth { .. }), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn c31_a_path_missing_in_the_commit_is_its_own_error() {
    over_each_transport(|setup, url| {
        let gone = GitSource {
            path: Some("gone".to_owned()),
            ..source(url, None)
        };
        let error = setup.fetch(&gone).unwrap_err();
        assert!(matches!(error, SourceError::PathMissing { .. }), "{error}");
    });
}

#[test]
fn a_tag_of_something_else_is_no_commit() {
    over_each_transport(|setup, url| {
        setup.work.git(&["tag", "blob", "HEAD:pets/a.yaml"]);
        setup.push();
        let error = setup.read(url, Some("blob")).unwrap_err();
        assert!(matches!(error, SourceError::NotACommit { .. }), "{error:?}");
    });
}

#[test]
fn an_empty_repository_has_no_head() {
    let setup = Setup::new();
    let empty = setup.served.path().join("empty.git");
    setup
        .work
        .git(&["init", "-q", "--bare", empty.to_str().unwrap()]);
    let daemon = Server::git_daemon(setup.served.path());
    let url = format!("git://127.0.0.1:{}/empty.git", daemon.port);
    let error = setup.read(&url, None).unwrap_err();
    assert!(matches!(error, SourceError::RefNotFound { .. }), "{error}");
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let setup = Setup::new();
    let daemon = Server::git_daemon(setup.served.path());
    let url = format!("git://127.0.0.1:{}/pets.git", daemon.port);
    setup.read(&url, None).unwrap();
    let entry = setup.entries()[0].0.clone();
    let damages: [&dyn Fn(&Path); 5] = [
        &|entry| fs::remove_file(entry.join("HEAD")).unwrap(),
        &|entry| fs::remove_dir_all(entry.join("objects")).unwrap(),
        &|entry| each_pack(entry, |path| fs::write(path, "PACK").unwrap()),
        // The last bytes of the largest object: the commit and its trees can still be read.
        &|entry| {
            each_pack(entry, |path| {
                let mut bytes = fs::read(&path).unwrap();
                for byte in bytes.iter_mut().skip(12) {
                    *byte ^= 0x55;
                }
                fs::write(path, bytes).unwrap();
            })
        },
        &|entry| {
            fs::remove_dir_all(entry).unwrap();
            fs::write(entry, "a file").unwrap();
        },
    ];
    for (n, damage) in damages.iter().enumerate() {
        damage(&entry);
        let snapshot = setup.read(&url, None);
        assert_eq!(
            snapshot.as_ref().map(text).map_err(ToString::to_string),
            Ok("3"),
            "{n}"
        );
        // In its place, and not beside it with all history.
        assert_eq!(setup.counts(), [1], "{n}");
    }
}

fn each_pack(entry: &Path, change: impl Fn(PathBuf)) {
    let mut count = 0;
    for file in fs::read_dir(entry.join("objects/pack")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|it| it == "pack") {
            // Packs are read-only; a new file takes the place of the old one.
            let bytes = fs::read(&path).unwrap();
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
            change(path);
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn many_fetches_do_not_fill_the_cache_with_packs() {
    let setup = Setup::new();
    let daemon = Server::git_daemon(setup.served.path());
    let url = format!("git://127.0.0.1:{}/pets.git", daemon.port);
    setup.read(&url, None).unwrap();
    let packs = setup.entries()[0].0.join("objects/pack");
    let count = || fs::read_dir(&packs).unwrap().count();
    let before = count();
    for n in 0..60 {
        fs::write(packs.join(format!("pack-{n}.pack")), "").unwrap();
    }
    assert_eq!(text(&setup.read(&url, None).unwrap()), "3");
    assert_eq!(count(), before);
}

/// git takes any bytes in a ref's name; git2 panics on what is not UTF-8.
#[test]
fn a_ref_with_an_odd_name_does_not_get_in_the_way() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let setup = Setup::new();
    let bare = setup.served.path().join("pets.git");
    let mut command = crate::support::git::command(&bare, &["update-ref"]);
    command
        .arg(OsStr::from_bytes(b"refs/heads/\xff"))
        .arg("HEAD");
    assert!(command.status().unwrap().success());
    let daemon = Server::git_daemon(setup.served.path());
    let url = format!("git://127.0.0.1:{}/pets.git", daemon.port);
    assert_eq!(text(&setup.read(&url, Some("main")).unwrap()), "3");
    // With history, all branches are fetched.
    let first = setup.commits[0].as_str();
    assert_eq!(text(&setup.read(&url, Some(first)).unwrap()), "1");
}

/// The first fetch of a process sets the timeout for all: nextest gives each test a process of its own.
#[test]
fn a_silent_server_is_given_up() {
    let setup = Setup::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let limits = Limits {
        timeout: std::time::Duration::from_millis(300),
        ..Limits::default()
    };
    for scheme in ["git", "http", "https", "ssh"] {
        let url = format!("{scheme}://127.0.0.1:{port}/pets.git");
        let error = fetch(&source(&url, None), setup.cache.path(), &limits).unwrap_err();
        assert!(
            matches!(error, SourceError::Transport { .. }),
            "{scheme}: {error:?}"
        );
    }
}

#[test]
fn fetches_at_the_same_time_share_a_cache_entry() {
    let setup = Setup::new();
    let http = Http::start(setup.served.path(), Rules::default());
    let url = http.url("");
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| setup.read(&url, None).map(|it| text(&it).to_owned())))
            .collect();
        for reader in readers {
            assert_eq!(reader.join().unwrap().unwrap(), "3");
        }
    });
    assert_eq!(setup.counts(), [1]);
}

#[test]
fn a_fetch_that_is_too_large_is_stopped() {
    let setup = Setup::new();
    // Digits that do not compress well.
    let mut state = 1_u64;
    let noise: String = (0..200_000)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b' ' + u8::try_from(state >> 58).unwrap())
        })
        .collect();
    setup.work.write("large.txt", &noise);
    setup.work.commit("large");
    setup.push();
    let http = Http::start(setup.served.path(), Rules::default());
    let limits = Limits {
        fetch_bytes: 50_000,
        ..Limits::default()
    };
    let error = fetch(&source(&http.url(""), None), setup.cache.path(), &limits).unwrap_err();
    assert!(matches!(error, SourceError::TooLarge { .. }), "{error}");
}

#[test]
fn a_login_comes_from_the_url_or_from_the_credentials() {
    let setup = Setup::new();
    let login = Some("Basic cm9ib3Q6aHVudGVyMg==".to_owned());
    let http = Http::start(
        setup.served.path(),
        Rules {
            login,
            ..Rules::default()
        },
    );
    assert_eq!(
        text(&setup.read(&http.url("robot:hunter2@"), None).unwrap()),
        "3"
    );
    let given = GitSource {
        credentials: Credentials {
            user: Some("robot".to_owned()),
            password: Some("hunter2".to_owned()),
            ..Credentials::default()
        },
        ..source(&http.url(""), None)
    };
    assert_eq!(text(&setup.fetch(&given).unwrap()), "3");
}

#[test]
fn a_refused_login_is_told_without_the_password() {
    let setup = Setup::new();
    let login = Some("Basic cm9ib3Q6aHVudGVyMg==".to_owned());
    let http = Http::start(
        setup.served.path(),
        Rules {
            login,
            ..Rules::default()
        },
    );
    for userinfo in ["robot:hunter3@", "hunter3@", ""] {
        let error = setup.read(&http.url(userinfo), None).unwrap_err();
        assert!(matches!(error, SourceError::Auth { .. }), "{error:?}");
        let text = format!("{error} {error:?}");
        assert!(!text.contains("hunter"), "{text}");
        assert!(text.contains("does not let us in"), "{text}");
    }
    // What is in the cache is for those only whom the server lets in.
    setup.read(&http.url("robot:hunter2@"), None).unwrap();
    for reference in [None, Some(setup.commits[2].as_str())] {
        let error = setup.read(&http.url(""), reference).unwrap_err();
        assert!(matches!(error, SourceError::Auth { .. }), "{error:?}");
    }
}

#[test]
fn a_login_is_not_sent_to_where_the_server_redirects() {
    let setup = Setup::new();
    let login = Some("Basic cm9ib3Q6aHVudGVyMg==".to_owned());
    let thief = Http::start(
        setup.served.path(),
        Rules {
            login,
            ..Rules::default()
        },
    );
    let redirect = Some(format!("http://127.0.0.1:{}", thief.port));
    let http = Http::start(
        setup.served.path(),
        Rules {
            redirect,
            ..Rules::default()
        },
    );
    let error = setup.read(&http.url("robot:hunter2@"), None).unwrap_err();
    assert!(matches!(error, SourceError::Auth { .. }), "{error:?}");
    assert!(
        error.to_string().contains("redirects to another server"),
        "{error}"
    );
    let seen = thief.seen.lock().unwrap();
    assert!(!seen.is_empty());
    assert!(seen.iter().all(|(_, login)| login.is_none()), "{seen:?}");
}

#[test]
fn a_redirect_without_login_is_followed() {
    let setup = Setup::new();
    let to = Http::start(setup.served.path(), Rules::default());
    let redirect = Some(format!("http://127.0.0.1:{}", to.port));
    let from = Http::start(
        setup.served.path(),
        Rules {
            redirect,
            ..Rules::default()
        },
    );
    assert_eq!(text(&setup.read(&from.url(""), None).unwrap()), "3");
}

#[test]
fn http_errors_are_told_apart() {
    let setup = Setup::new();
    let with = |status| {
        let rules = Rules {
            status: Some(status),
            ..Rules::default()
        };
        let http = Http::start(setup.served.path(), rules);
        setup.read(&http.url("robot:hunter2@"), None).unwrap_err()
    };
    assert!(matches!(with(403), SourceError::Auth { .. }));
    for status in [404, 500] {
        let error = with(status);
        assert!(matches!(error, SourceError::Transport { .. }), "{error:?}");
        assert!(error.to_string().contains(&status.to_string()), "{error}");
        assert!(
            !format!("{error} {error:?}").contains("hunter2"),
            "{error:?}"
        );
    }
}

#[test]
fn nobody_there_is_a_transport_error() {
    let setup = Setup::new();
    let port = crate::support::server::free_port();
    for scheme in ["git", "http", "https"] {
        let url = format!("{scheme}://robot:hunter2@127.0.0.1:{port}/pets.git");
        let error = setup.read(&url, None).unwrap_err();
        assert!(matches!(error, SourceError::Transport { .. }), "{error:?}");
        assert!(
            !format!("{error} {error:?}").contains("hunter2"),
            "{error:?}"
        );
    }
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let setup = Setup::new();
    let (key, certificate) = (
        setup.served.path().join("key"),
        setup.served.path().join("crt"),
    );
    let (key, certificate) = (key.to_str().unwrap(), certificate.to_str().unwrap());
    let openssl = |args: &[&str]| {
        let mut command = std::process::Command::new("openssl");
        command.args(args).stderr(std::process::Stdio::null());
        command
    };
    let made = openssl(&[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=127.0.0.1",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        key,
        "-out",
        certificate,
    ]);
    let mut made = made;
    assert!(made.status().unwrap().success());
    let port = crate::support::server::free_port();
    let accept = format!("127.0.0.1:{port}");
    let serve = openssl(&[
        "s_server",
        "-accept",
        &accept,
        "-key",
        key,
        "-cert",
        certificate,
        "-www",
        "-quiet",
    ]);
    let _server = Server::start(port, serve);
    let error = setup
        .read(&format!("https://127.0.0.1:{port}/pets.git"), None)
        .unwrap_err();
    assert!(matches!(error, SourceError::Transport { .. }), "{error:?}");
    assert!(error.to_string().contains("certificate"), "{error}");
}
