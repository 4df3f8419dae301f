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
        stream.flush()?;
        self.receive()
    }

    fn receive(&mut self) -> io::Result<Answer> {
        let wrong = |what: &str| io::Error::other(format!("unexpected answer: {what}"));
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| wrong(&first))?;
        let mut length = None;
        let mut chunked = false;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse().ok(),
                Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
                Some(_) => {}
                None if line.is_empty() => break,
                None => return Err(wrong(&line)),
            }
        }
        let mut body = Vec::new();
        while chunked {
            let size = self.line()?;
            let size = u64::from_str_radix(size.trim(), 16).map_err(|_| wrong(&size))?;
            (&mut self.stream).take(size).read_to_end(&mut body)?;
            self.line()?;
            chunked = size > 0;
        }
        if let Some(length) = length {
            (&mut self.stream).take(length).read_to_end(&mut body)?;
        }
        Ok(Answer { status, body })
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
