//! An API server that says what a test wants it to say: for answers that a real one gives too seldom.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;

/// What is answered: a code, and lines, after which a watch stays open for as long as the test runs.
pub struct Answer {
    pub code: u16,
    pub lines: Vec<Value>,
    pub stays_open: bool,
}

impl Answer {
    /// One object.
    pub fn object(object: Value) -> Self {
        Self {
            code: 200,
            lines: vec![object],
            stays_open: false,
        }
    }

    /// A refusal.
    pub fn refusal(code: u16, reason: &str) -> Self {
        Self {
            code,
            ..Self::object(status(code, reason))
        }
    }

    /// Lines of a watch.
    pub fn watch(lines: Vec<Value>, stays_open: bool) -> Self {
        Self {
            code: 200,
            lines,
            stays_open,
        }
    }
}

/// A `Status` that says no.
pub fn status(code: u16, reason: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure",
        "code": code, "reason": reason, "message": format!("{reason} {code}"),
    })
}

/// The server, until the test ends.
pub struct FakeApi {
    folder: TempDir,
    asked: Arc<Mutex<Vec<String>>>,
}

impl FakeApi {
    /// `answer` gets path and query of each GET, and how many of the same path came before it.
    pub fn start(answer: impl Fn(&str, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (answer, log) = (Arc::new(answer), Arc::clone(&asked));
        // Detached: it ends with the process, and holds nothing but its port.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                std::thread::spawn(move || serve(stream, &*answer, &log));
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{ "name": "fake", "cluster": { "server": format!("http://127.0.0.1:{port}") } }],
            "users": [{ "name": "fake", "user": {} }],
            "contexts": [{ "name": "fake", "context": { "cluster": "fake", "user": "fake" } }],
        });
        std::fs::write(folder.path().join("kubeconfig"), kubeconfig.to_string()).unwrap();
        Self { folder, asked }
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// All that was asked.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(&str, usize) -> Answer + Sync),
    log: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let request = lines.next()?.ok()?;
    let target = request.split(' ').nth(1)?.to_owned();
    while !lines.next()?.ok()?.is_empty() {}
    let before = {
        let mut log = log.lock().unwrap();
        let path = |target: &str| target.split('?').next().unwrap().to_owned();
        let same = log.iter().filter(|asked| path(asked) == path(&target));
        let before = same.count();
        log.push(target.clone());
        before
    };
    let Answer {
        code,
        lines: body,
        stays_open,
    } = answer(&target, before);
    let mut text = format!(
        "HTTP/1.1 {code} Because\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    );
    for line in body {
        text += &format!("{line}\n");
    }
    stream.write_all(text.as_bytes()).ok()?;
    if stays_open {
        // Until the other side has had enough.
        lines.next();
    }
    Some(())
}
