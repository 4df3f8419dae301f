//! The webhook receiver, as git servers use it.

use std::io::Write as _;

use covergence::api::digest::hex;
use covergence::metrics::Metrics;
use covergence::web::{Auth, HookTarget, Receiver};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tempfile::NamedTempFile;
use tokio::sync::mpsc::{self, channel};

use crate::support::site::{Answer, Site};

/// The example of GitHub's "Validating webhook deliveries".
const SECRET: &str = "It's a Secret to Everybody";
const BODY: &[u8] = b"Hello, World!";
const SIGNATURE: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

const MIB: usize = 1024 * 1024;

/// A receiver that knows of one Sync, `shop/pets`.
struct Hook {
    site: Site,
    queue: mpsc::Receiver<HookTarget>,
    metrics: Metrics,
    secret: NamedTempFile,
}

impl Hook {
    fn new() -> Self {
        let mut secret = NamedTempFile::new().unwrap();
        writeln!(secret, "{SECRET}").unwrap();
        let auth = Auth::Secret(secret.path().to_owned());
        Self::with(auth, secret)
    }

    fn with(auth: Auth, secret: NamedTempFile) -> Self {
        let (triggers, queue) = channel(8);
        let metrics = Metrics::default();
        let known = Box::new(|namespace: &str, name: &str| (namespace, name) == ("shop", "pets"));
        let receiver = Receiver::new(auth, known, triggers, metrics.clone());
        Self {
            site: Site::start(receiver.pages()),
            queue,
            metrics,
            secret,
        }
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.site.ask("POST", path, headers, body)
    }

    fn triggered(&mut self) -> Option<HookTarget> {
        self.queue.try_recv().ok()
    }
}

fn one() -> HookTarget {
    HookTarget::One {
        namespace: "shop".into(),
        name: "pets".into(),
    }
}

fn signature(body: &[u8]) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    hex(&mac.chain_update(body).finalize().into_bytes())
}

#[test]
fn a_push_to_github_triggers() {
    let mut hook = Hook::new();
    // GitHub sends the old signature as well.
    let headers = [
        ("X-GitHub-Event", "push"),
        (
            "X-Hub-Signature",
            "sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59",
        ),
        ("X-Hub-Signature-256", SIGNATURE),
    ];
    let answer = hook.post("/hook/shop/pets", &headers, BODY);
    assert_eq!((answer.status, answer.body.as_str()), (202, "accepted\n"));
    assert_eq!(hook.triggered(), Some(one()));
    assert_eq!(hook.post("/hook", &headers, BODY).status, 202);
    assert_eq!(hook.triggered(), Some(HookTarget::All));
    let page = hook.metrics.encode().unwrap();
    let count = r#"covergence_webhook_requests_total{provider="github",outcome="accepted"} 2"#;
    assert!(page.contains(count), "{page}");
}

#[test]
fn every_git_server_is_understood() {
    let mut hook = Hook::new();
    let body = br#"{"ref":"refs/heads/main"}"#;
    let digits = signature(body);
    let named = format!("sha256={digits}");
    for headers in [
        [("X-GitHub-Event", "push"), ("X-Hub-Signature-256", &named)],
        [("X-Gitlab-Event", "Push Hook"), ("X-Gitlab-Token", SECRET)],
        [("X-Gitea-Event", "push"), ("X-Gitea-Signature", &digits)],
        [("X-Gogs-Event", "push"), ("X-Gogs-Signature", &digits)],
        [
            ("X-Event-Key", "repo:refs_changed"),
            ("X-Hub-Signature", &named),
        ],
        [("X-Hook-UUID", "6d1f"), ("X-Hub-Signature", &named)],
        [("User-Agent", "ours"), ("X-Signature", &named)],
    ] {
        let answer = hook.post("/hook/shop/pets", &headers, body);
        assert_eq!(answer.status, 202, "{headers:?}: {}", answer.body);
        assert_eq!(hook.triggered(), Some(one()), "{headers:?}");
    }
}

#[test]
fn a_ping_is_answered_and_triggers_nothing() {
    let mut hook = Hook::new();
    let headers = [
        ("X-GitHub-Event", "ping"),
        ("X-Hub-Signature-256", SIGNATURE),
    ];
    let answer = hook.post("/hook", &headers, BODY);
    assert_eq!((answer.status, answer.body.as_str()), (200, "pong\n"));
    assert_eq!(hook.triggered(), None);
}

#[test]
fn without_the_secret_nothing_triggers() {
    let mut hook = Hook::new();
    let sha1 = "sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59";
    for (headers, why) in [
        (
            &[("X-GitHub-Event", "push")][..],
            "there is no x-hub-signature-256: give the webhook a secret\n",
        ),
        (&[], "there is no x-signature: give the webhook a secret\n"),
        (
            &[
                ("X-Event-Key", "repo:refs_changed"),
                ("X-Hub-Signature", sha1),
            ],
            "only sha256= signatures count\n",
        ),
        (
            &[("X-Hub-Signature-256", SIGNATURE)],
            "there is no x-signature: give the webhook a secret\n",
        ),
        (
            &[("X-Gitlab-Event", "Push Hook"), ("X-Gitlab-Token", "It's")],
            "the signature or token is not right\n",
        ),
    ] {
        for path in ["/hook", "/hook/shop/pets", "/hook/shop/toys"] {
            let answer = hook.post(path, headers, BODY);
            assert_eq!((answer.status, answer.body.as_str()), (401, why), "{path}");
        }
    }
    let headers = [
        ("X-GitHub-Event", "push"),
        ("X-Hub-Signature-256", SIGNATURE),
    ];
    assert_eq!(hook.post("/hook", &headers, b"Hello, World?").status, 401);
    assert_eq!(hook.triggered(), None);
}

#[test]
fn what_is_not_there_cannot_be_triggered() {
    let mut hook = Hook::new();
    let headers = [("X-Signature", SIGNATURE)];
    for path in [
        "/hook/shop/toys",
        "/hook/shop",
        "/hook/shop/pets/x",
        "/hooks",
        "/",
    ] {
        assert_eq!(hook.post(path, &headers, BODY).status, 404, "{path}");
    }
    let answer = hook.site.ask("GET", "/hook", &headers, b"");
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    assert_eq!(hook.triggered(), None);
}

/// CVE-2024-40634: a body without end took all memory.
#[test]
fn a_body_is_read_up_to_a_limit() {
    let mut hook = Hook::new();
    let whole = vec![b'x'; MIB];
    let named = format!("sha256={}", signature(&whole));
    let answer = hook.post("/hook", &[("X-Signature", &named)], &whole);
    assert_eq!(answer.status, 202);
    assert_eq!(hook.triggered(), Some(HookTarget::All));

    let more = vec![b'x'; MIB + 1];
    let named = format!("sha256={}", signature(&more));
    let answer = hook.post("/hook", &[("X-Signature", &named)], &more);
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (413, "the body is larger than 1 MiB\n")
    );

    // Its end is never sent, and nobody waits for it.
    let headers = [("X-Signature", SIGNATURE), ("Transfer-Encoding", "chunked")];
    let mut endless = hook.site.open("POST", "/hook", &headers);
    write!(endless, "{:x}\r\n", more.len()).unwrap();
    endless.write_all(&more).unwrap();
    assert_eq!(Answer::read(endless).status, 413);
    assert_eq!(hook.triggered(), None);
}

#[test]
fn a_secret_that_is_changed_counts_at_once_and_an_empty_one_never() {
    let mut hook = Hook::new();
    let token = |token| [("X-Gitlab-Event", "Push Hook"), ("X-Gitlab-Token", token)];
    std::fs::write(hook.secret.path(), "renewed\n").unwrap();
    assert_eq!(hook.post("/hook", &token(SECRET), b"").status, 401);
    assert_eq!(hook.post("/hook", &token("renewed"), b"").status, 202);
    assert_eq!(hook.triggered(), Some(HookTarget::All));
    std::fs::write(hook.secret.path(), "\n").unwrap();
    assert_eq!(hook.post("/hook", &token(""), b"").status, 503);
    assert_eq!(hook.triggered(), None);
}

#[test]
fn anybody_triggers_where_no_secret_is_wanted() {
    let mut hook = Hook::with(Auth::Insecure, NamedTempFile::new().unwrap());
    assert_eq!(hook.post("/hook/shop/pets", &[], b"").status, 202);
    assert_eq!(hook.triggered(), Some(one()));
    let answer = hook.post("/hook/shop/toys", &[], b"");
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (404, "there is no such Sync\n")
    );
    let answer = hook.post("/hook", &[], &vec![b'x'; MIB + 1]);
    assert_eq!(answer.status, 413);
    assert_eq!(hook.triggered(), None);
}
