//! HTTP/1.1 over TLS with blocking sockets: as little as a load generator needs, so that it is never what is measured.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use openssl::ssl::{SslConnector, SslMethod, SslStream};

use crate::Res;

/// Where the API server is.
#[derive(Clone, Debug)]
pub struct Server {
    pub address: String,
    pub ca: PathBuf,
    pub token: String,
}

impl Server {
    pub fn connect(&self) -> Res<Connection> {
        let mut tls = SslConnector::builder(SslMethod::tls_client())?;
        tls.set_ca_file(&self.ca)?;
        let host = self.address.split(':').next().unwrap_or_default();
        let tcp = TcpStream::connect(&self.address)?;
        tcp.set_nodelay(true)?;
        let stream = tls.build().connect(host, tcp)?;
        Ok(Connection {
            stream: BufReader::with_capacity(64 * 1024, stream),
            server: self.clone(),
        })
    }
}

/// A connection that is kept open.
pub struct Connection {
    stream: BufReader<SslStream<TcpStream>>,
    server: Server,
}

struct Head {
    status: u16,
    length: Option<u64>,
    chunked: bool,
}

pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Connection {
    pub fn get_text(&mut self, path: &str) -> Res<String> {
        let answer = self.send("GET", path, "*/*", b"")?;
        match answer.status {
            200 => Ok(String::from_utf8(answer.body)?),
            status => Err(format!("GET {path}: {status}").into()),
        }
    }

    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        accept: &str,
        body: &[u8],
    ) -> io::Result<Answer> {
        self.request(method, path, accept, body)?;
        self.receive()
    }

    fn request(&mut self, method: &str, path: &str, accept: &str, body: &[u8]) -> io::Result<()> {
        let Server { address, token, .. } = &self.server;
        let kind = match method {
            "PATCH" => "application/apply-patch+yaml",
            _ => "application/json",
        };
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nAccept: {accept}\r\nContent-Type: {kind}\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        let stream = self.stream.get_mut();
        stream.write_all(&request)?;
        stream.flush()
    }

    /// Asks for a watch; [`chunk`](Self::chunk) gives its events.
    pub fn watch(&mut self, path: &str) -> Res<()> {
        self.request("GET", path, "application/json", b"")?;
        match self.head()? {
            Head {
                status: 200,
                chunked: true,
                ..
            } => Ok(()),
            Head { status, .. } => Err(format!("GET {path}: {status}").into()),
        }
    }

    /// Adds the next chunk of a body; false at its end.
    pub fn chunk(&mut self, body: &mut Vec<u8>) -> io::Result<bool> {
        let size = self.line()?;
        let size = u64::from_str_radix(size.trim(), 16).map_err(|_| wrong(&size))?;
        (&mut self.stream).take(size).read_to_end(body)?;
        self.line()?;
        Ok(size > 0)
    }

    /// The socket, by which another thread can end it.
    pub fn socket(&self) -> io::Result<TcpStream> {
        self.stream.get_ref().get_ref().try_clone()
    }

    fn receive(&mut self) -> io::Result<Answer> {
        let Head {
            status,
            length,
            chunked,
        } = self.head()?;
        let mut body = Vec::new();
        while chunked && self.chunk(&mut body)? {}
        if let Some(length) = length {
            (&mut self.stream).take(length).read_to_end(&mut body)?;
        }
        Ok(Answer { status, body })
    }

    fn head(&mut self) -> io::Result<Head> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut head = Head {
            status: status.ok_or_else(|| wrong(&first))?,
            length: None,
            chunked: false,
        };
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(':') {
                Some(("content-length", value)) => head.length = value.trim().parse().ok(),
                Some(("transfer-encoding", value)) => head.chunked = value.trim() == "chunked",
                Some(_) => {}
                None if line.is_empty() => return Ok(head),
                None => return Err(wrong(&line)),
            }
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::other(format!("unexpected answer: {what}"))
}
