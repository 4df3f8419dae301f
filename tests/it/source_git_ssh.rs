//! A commit of a repository behind ssh as a source, with a real `sshd`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use covergence::load::Snapshot;
use covergence::source::git::{Credentials, GitSource, Material, SshKey, check};
use covergence::source::{Limits, SourceError};

use crate::support::git::{Work, fetch};
use crate::support::server::{Server, free_port};

const KINDS: [&str; 3] = ["rsa", "ecdsa", "ed25519"];

struct Setup {
    directory: tempfile::TempDir,
    work: Work,
    port: u16,
    _server: Server,
}

impl Setup {
    fn new(sshd: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in KINDS {
            keygen(name, &path(name), "");
        }
        keygen("ed25519", &path("client"), "");
        keygen("ed25519", &path("locked"), "hunter2");
        keygen("ed25519", &path("stranger"), "");
        let public = |name: &str| fs::read_to_string(path(name)).unwrap();
        fs::write(
            path("authorized"),
            public("client.pub") + &public("locked.pub"),
        )
        .unwrap();

        let port = free_port();
        let mut settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nPermitRootLogin yes\nAuthorizedKeysFile {}\nSetEnv PATH={}\n",
            path("authorized").display(),
            std::env::var("PATH").unwrap(),
        );
        for name in KINDS {
            settings += &format!("HostKey {}\n", path(name).display());
        }
        fs::write(path("sshd_config"), settings).unwrap();
        let mut command = Command::new(sshd);
        command.args(["-D", "-f"]).arg(path("sshd_config"));
        let server = Server::start(port, command);

        let work = Work::new();
        work.write("a.yaml", "1");
        work.commit("one");
        work.write("a.yaml", "2");
        work.commit("two");
        Self {
            directory,
            work,
            port,
            _server: server,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The line of `known_hosts` for the server's key of a kind.
    fn line(&self, kind: &str) -> String {
        let public = fs::read_to_string(self.path(&format!("{kind}.pub"))).unwrap();
        format!("[127.0.0.1]:{} {public}", self.port)
    }

    fn credentials(&self, known_hosts: String) -> Credentials {
        Credentials {
            ssh_keys: vec![SshKey {
                key: Material::File(self.path("client")),
                passphrase: None,
            }],
            known_hosts: vec![Material::Text(known_hosts)],
            ..Credentials::default()
        }
    }

    /// Reads; and a check before it says the same, be it the revision or why not.
    fn read(&self, credentials: Credentials) -> Result<Snapshot, SourceError> {
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        let path = self.work.path().display();
        let source = GitSource {
            url: format!("ssh://{}@127.0.0.1:{}{path}", user.trim(), self.port)
                .parse()
                .unwrap(),
            reference: None,
            path: None,
            values_files: Vec::new(),
            credentials,
        };
        let checked = check(&source, &self.path("cache"), &Limits::default());
        let fetched = fetch(&source, &self.path("cache"), &Limits::default());
        match (&checked, &fetched) {
            (Ok(revision), Ok(snapshot)) => assert_eq!(*revision, snapshot.revision),
            (Err(checked), Err(fetched)) => assert_eq!(checked.to_string(), fetched.to_string()),
            others => panic!("{others:?}"),
        }
        fetched
    }

    fn host_key_error(&self, credentials: Credentials) -> (String, String) {
        let error = self.read(credentials).unwrap_err();
        assert!(matches!(error, SourceError::HostKey { .. }), "{error:?}");
        (error.to_string(), error.hint().unwrap())
    }
}

fn keygen(kind: &str, path: &Path, passphrase: &str) {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-C", "", "-t", kind, "-N", passphrase, "-f"]);
    assert!(command.arg(path).status().unwrap().success());
}

/// One test: libgit2 keeps one home directory for the process, and it must be there to the end.
#[test]
fn c46_ssh_servers_are_recognised_and_let_us_in() {
    let sshd =
        std::env::var("COVERGENCE_SSHD").expect("run this by tests/run, which finds an ssh server");
    let setup = Setup::new(&sshd);
    let [rsa, ecdsa, ed25519] = KINDS.map(|kind| setup.line(kind));

    // Nothing on record, and then only another host.
    for known_hosts in [String::new(), ed25519.replace("127.0.0.1", "127.0.0.2")] {
        let (text, hint) = setup.host_key_error(setup.credentials(known_hosts));
        assert!(
            text.contains("key SHA256:") && text.contains("is unknown"),
            "{text}"
        );
        assert!(
            hint.contains(&format!("ssh-keyscan -p {} 127.0.0.1", setup.port)),
            "{hint}"
        );
    }

    // Each kind alone is enough, whichever the server and libssh2 like best; so are all in any order, and hashes.
    let hashed = setup.path("hashed");
    fs::write(&hashed, &ecdsa).unwrap();
    assert!(
        Command::new("ssh-keygen")
            .args(["-q", "-H", "-f"])
            .arg(&hashed)
            .output()
            .unwrap()
            .status
            .success()
    );
    let hashed = fs::read_to_string(hashed).unwrap();
    assert!(hashed.starts_with("|1|"));
    for known_hosts in [
        rsa.clone(),
        ecdsa.clone(),
        ed25519.clone(),
        format!("{rsa}{ecdsa}{ed25519}"),
        // After the others: what one source has on record must not get in another one's way.
        hashed,
        rsa.clone(),
    ] {
        let snapshot = setup.read(setup.credentials(known_hosts.clone()));
        let snapshot = snapshot.unwrap_or_else(|error| panic!("{known_hosts}: {error}"));
        assert_eq!(snapshot.files[0].bytes, b"2");
    }

    // Only the tip came, and nobody else may read it.
    let mode = fs::metadata(setup.path("cache"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    let cache = fs::read_dir(setup.path("cache"))
        .unwrap()
        .map(|it| it.unwrap().path());
    let entries: Vec<_> = cache.filter(|path| path.join("objects").is_dir()).collect();
    assert_eq!(entries.len(), 1);
    assert!(entries[0].join("shallow").exists());

    // Another key of the same kind: never accepted, least of all at "first" sight.
    let stranger = fs::read_to_string(setup.path("stranger.pub")).unwrap();
    let changed = format!("[127.0.0.1]:{} {stranger}", setup.port);
    for accept_new_hosts in [false, true] {
        let credentials = Credentials {
            accept_new_hosts,
            ..setup.credentials(changed.clone())
        };
        let (text, _) = setup.host_key_error(credentials);
        assert!(text.contains("known_hosts:1"), "{text}");
    }

    // First sight: remembered, so that the next one needs no permission.
    let new = || Credentials {
        accept_new_hosts: true,
        ..setup.credentials(String::new())
    };
    setup.read(new()).unwrap();
    let remembered = setup.path("cache/known_hosts");
    assert_eq!(fs::read_to_string(&remembered).unwrap().lines().count(), 1);
    setup.read(new()).unwrap();
    assert_eq!(fs::read_to_string(&remembered).unwrap().lines().count(), 1);
    fs::write(&remembered, &changed).unwrap();
    setup.host_key_error(new());

    // Keys: with a passphrase, from memory, a wrong one, none.
    let with = |ssh_keys| {
        setup.read(Credentials {
            ssh_keys,
            ..setup.credentials(ed25519.clone())
        })
    };
    let file = |name: &str| SshKey {
        key: Material::File(setup.path(name)),
        passphrase: None,
    };
    let passphrase = Some("hunter2".to_owned());
    with(vec![SshKey {
        passphrase,
        ..file("locked")
    }])
    .unwrap();
    let text = fs::read_to_string(setup.path("client")).unwrap();
    with(vec![SshKey {
        key: Material::Text(text),
        passphrase: None,
    }])
    .unwrap();
    // As a Kubernetes Secret has them.
    let data = ["identity", "known_hosts", "password"].map(str::to_owned);
    let locked = fs::read(setup.path("locked")).unwrap();
    let values = [locked, ed25519.clone().into_bytes(), b"hunter2\n".to_vec()];
    let secret = data.into_iter().zip(values).collect();
    setup
        .read(Credentials::from_secret(&secret).unwrap())
        .unwrap();
    with(vec![file("stranger"), file("client")]).unwrap();
    with(vec![file("gone"), file("locked"), file("client")]).unwrap();
    let wrong = SshKey {
        passphrase: Some("wrong".to_owned()),
        ..file("locked")
    };
    for (keys, why) in [
        (vec![], "none was given"),
        (vec![file("stranger")], "it refuses the key"),
        (vec![file("gone")], "No such file"),
        (vec![file("locked")], "needs a passphrase"),
        (vec![wrong], "it refuses the key"),
    ] {
        let error = with(keys).unwrap_err();
        assert!(matches!(error, SourceError::Auth { .. }), "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
    }
}
