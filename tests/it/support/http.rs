//! A small http server in front of `git http-backend`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use super::git::command;

/// How the server answers.
#[derive(Clone, Default)]
pub struct Rules {
    /// The value of `Authorization` without which it answers 401.
    pub login: Option<String>,
    /// Where it sends all requests.
    pub redirect: Option<String>,
    /// The status of all answers, instead of an answer.
    pub status: Option<u16>,
}

/// What was asked: the first line, and the login that came with it.
type Log = Mutex<Vec<(String, Option<String>)>>;

/// Serves the repositories of a directory until the test ends.
pub struct Http {
    pub port: u16,
    pub seen: Arc<Log>,
}

impl Http {
    pub fn start(base: &Path, rules: Rules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::default();
        let (base, log) = (base.to_owned(), Arc::clone(&seen));
        // Detached: it ends with the process, and holds nothing but its port.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (base, rules, log) = (base.clone(), rules.clone(), Arc::clone(&log));
                std::thread::spawn(move || answer(stream, base, &rules, &log));
            }
        });
        Self { port, seen }
    }

    pub fn url(&self, userinfo: &str) -> String {
        format!("http://{userinfo}127.0.0.1:{}/pets.git", self.port)
    }
}

fn answer(mut stream: TcpStream, base: PathBuf, rules: &Rules, log: &Log) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = || -> Option<String> {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned())
    };
    let request = line()?;
    let mut headers = Vec::new();
    while let Some(header) = line().filter(|header| !header.is_empty()) {
        let (name, value) = header.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let header = |name: &str| {
        headers
            .iter()
            .find(|it| it.0 == name)
            .map(|it| it.1.clone())
    };
    let body = match header("content-length") {
        Some(length) => {
            let mut body = vec![0; length.parse().ok()?];
            reader.read_exact(&mut body).ok()?;
            body
        }
        None if header("transfer-encoding").is_some() => chunks(&mut reader)?,
        None => Vec::new(),
    };
    let login = header("authorization");
    log.lock().unwrap().push((request.clone(), login.clone()));
    let (method, target) = request.split_once(' ')?;
    let target = target.split(' ').next()?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));

    let head = |status: &str, extra: &str| {
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n{extra}\r\n")
    };
    let plain = if let Some(to) = &rules.redirect {
        Some(head("302 Found", &format!("Location: {to}{target}\r\n")))
    } else if let Some(status) = rules.status {
        Some(head(&format!("{status} Because"), ""))
    } else if rules.login.is_some() && login != rules.login {
        let wants = "WWW-Authenticate: Basic realm=\"pets\"\r\n";
        Some(head("401 Unauthorized", wants))
    } else {
        None
    };
    if let Some(head) = plain {
        stream.write_all(head.as_bytes()).ok()?;
        return Some(());
    }

    let mut backend = command(&base, &["http-backend"])
        .env("GIT_PROJECT_ROOT", &base)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type").unwrap_or_default())
        .env(
            "HTTP_CONTENT_ENCODING",
            header("content-encoding").unwrap_or_default(),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    backend.stdin.take()?.write_all(&body).ok()?;
    let output = backend.wait_with_output().ok()?.stdout;
    let end = output.windows(4).position(|it| it == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&output[..end]).ok()?;
    let status = head.lines().find_map(|line| line.strip_prefix("Status: "));
    let status = status.unwrap_or("200 OK");
    let body = &output[end + 4..];
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{head}\r\n\r\n"
    );
    stream.write_all(answer.as_bytes()).ok()?;
    stream.write_all(body).ok()
}

fn chunks(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend(&chunk[..size]);
    }
}
