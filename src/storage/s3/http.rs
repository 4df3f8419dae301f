//! Requests to one server, over what the Kubernetes client brings along, and what went wrong in words that hold no more
//! than a status and a code: the rest of an answer may come from a server that a tenant only hoped to read.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};
use http_body_util::{BodyExt as _, Limited};
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_openssl::SslStream;
use hyper_util::rt::TokioIo;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use openssl::ssl::SslConnector;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::Endpoint;

/// A connection is there within this.
const CONNECT: Duration = Duration::from_secs(10);

/// The head of an answer is there within this, the body of the request being sent before.
const ANSWER: Duration = Duration::from_secs(60);

/// The most of an error's body that is read.
const ERROR_BYTES: usize = 64 * 1024;

/// Sends requests to one server, whatever their URL says. Each has a connection of its own: there are two in a run.
#[derive(Clone)]
pub(super) struct Http {
    pub endpoint: Endpoint,
    pub tls: SslConnector,
    pub told: Told,
}

/// What the last request that failed is told as.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(Arc<Mutex<Option<String>>>);

impl Told {
    pub fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, words: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl HttpConnector for Http {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Http {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.told.set(None);
        let answer = self.exchange(request).await;
        if let Err(error) = &answer {
            let cause =
                std::error::Error::source(error).map_or_else(String::new, ToString::to_string);
            self.told.set(Some(cause));
        }
        answer
    }
}

impl Http {
    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let connected = timeout(CONNECT, self.connected()).await;
        let stream = connected
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(|error| {
                let Endpoint { host, port, .. } = &self.endpoint;
                let words = format!("connect to {host}:{port}: {error}");
                HttpError::new(HttpErrorKind::Connect, io::Error::new(error.kind(), words))
            })?;
        let failed = |error| HttpError::new(HttpErrorKind::Interrupted, error);
        let (mut sender, connection) = http1::handshake(stream).await.map_err(failed)?;
        // Ends with the answer's body, or when that is not wanted any more.
        tokio::spawn(connection);
        let answer = timeout(ANSWER, sender.send_request(to_origin(request)?)).await;
        let answer = answer.map_err(|error| HttpError::new(HttpErrorKind::Timeout, error))?;
        let (head, body) = answer.map_err(failed)?.into_parts();
        if head.status.is_success() {
            let body = HttpResponseBody::new(body.map_err(failed));
            return Ok(HttpResponse::from_parts(head, body));
        }
        let body = timeout(ANSWER, Limited::new(body, ERROR_BYTES).collect()).await;
        let body = match body {
            Ok(Ok(body)) => body.to_bytes(),
            _ => Bytes::new(),
        };
        let status = head.status.as_u16();
        self.told.set(Some(match code(&body) {
            Some(code) => format!("the server answers {status} ({code})"),
            None => format!("the server answers {status}"),
        }));
        Ok(HttpResponse::from_parts(head, body.into()))
    }

    async fn connected(&self) -> io::Result<Box<dyn Stream>> {
        let tcp = TokioIo::new(self.dial().await?);
        if !self.endpoint.has_tls {
            return Ok(Box::new(tcp));
        }
        let ssl = self
            .tls
            .configure()
            .and_then(|it| it.into_ssl(&self.endpoint.host));
        let mut stream = SslStream::new(ssl?, tcp)?;
        Pin::new(&mut stream)
            .connect()
            .await
            .map_err(io::Error::other)?;
        Ok(Box::new(stream))
    }

    /// Connects to an address that may be reached. It is looked up here, so that what was checked is what is used.
    async fn dial(&self) -> io::Result<TcpStream> {
        let Endpoint { host, port, .. } = &self.endpoint;
        let mut failure = io::Error::other("it has no address");
        for address in lookup_host((host.as_str(), *port)).await? {
            if !self.endpoint.may_reach(address.ip()) {
                let message = "it leads to an address that only servers which the controller's Config names may have (campaigns.endpoints)";
                failure = io::Error::other(message);
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}

/// A connection, with TLS or without.
trait Stream: Read + Write + Send + Unpin {}

impl<T: Read + Write + Send + Unpin> Stream for T {}

/// Makes a request one for the server that it is sent to: a path, and the host in a header.
fn to_origin(request: HttpRequest) -> Result<HttpRequest, HttpError> {
    let (mut head, body) = request.into_parts();
    let authority = head.uri.authority().map(|it| it.as_str().to_owned());
    let path = head.uri.path_and_query().cloned();
    if let (None, Some(authority)) = (head.headers.get(HOST), authority) {
        let host = HeaderValue::from_str(&authority);
        let host = host.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        head.headers.insert(HOST, host);
    }
    head.uri = Uri::from(path.unwrap_or(PathAndQuery::from_static("/")));
    Ok(HttpRequest::from_parts(head, body))
}

/// The code of an S3 error, if it is one.
fn code(body: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_code = code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_code && !code.is_empty()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_answer_only_a_code_is_told() {
        let body =
            |code: &str| format!("<?xml?><Error><Code>{code}</Code><Message>m</Message></Error>");
        assert_eq!(code(body("NoSuchBucket").as_bytes()), Some("NoSuchBucket"));
        assert_eq!(code(body("root:x:0:0").as_bytes()), None);
        assert_eq!(code(body("").as_bytes()), None);
        assert_eq!(code(body(&"A".repeat(65)).as_bytes()), None);
        assert_eq!(code(b"<html>hello</html>"), None);
    }
}
