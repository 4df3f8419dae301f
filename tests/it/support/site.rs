//! Pages served in this process, and somebody who asks for them over TCP.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use axum::Router;
use covergence::web::{bind, serve};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A server on a free port. It goes with the test.
pub struct Site {
    pub address: SocketAddr,
    runtime: Runtime,
    serving: JoinHandle<std::io::Result<()>>,
    stop: CancellationToken,
}

/// What was answered. Names of headers are in lower case.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Site {
    pub fn start(pages: Router) -> Self {
        let runtime = Runtime::new().unwrap();
        let stop = CancellationToken::new();
        let (address, serving) = runtime.block_on(async {
            let listener = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
            let address = listener.local_addr().unwrap();
            (address, tokio::spawn(serve(listener, pages, stop.clone())))
        });
        Self {
            address,
            runtime,
            serving,
            stop,
        }
    }

    /// Sends a request on a connection of its own.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        ask(self.address, method, path, headers, body)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    /// Sends the head of a request only.
    pub fn open(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = head(method, path, headers);
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// Tells the server to stop, and waits until it has.
    pub fn stop(self) {
        self.stop.cancel();
        self.runtime.block_on(self.serving).unwrap().unwrap();
    }
}

/// Sends a request to whatever listens there.
pub fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let length = body.len().to_string();
    let mut headers = headers.to_vec();
    headers.push(("Content-Length", &length));
    // At once: a server that answers without reading the body closes, and what comes later would reset the connection.
    let request = [head(method, path, &headers).as_bytes(), body].concat();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&request).unwrap();
    Answer::read(stream)
}

fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head + "\r\n"
}

impl Answer {
    pub fn read(mut stream: TcpStream) -> Self {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_ascii_lowercase(), value.to_owned())
        });
        Self {
            status: status.parse().unwrap(),
            headers: headers.collect(),
            body: body.to_owned(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(it, _)| it == name);
        header.map(|(_, value)| value.as_str())
    }
}
