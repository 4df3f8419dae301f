//! A proxy in front of an API server, which fails as servers and networks do.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::serve::ListenerExt as _;
use futures_util::{StreamExt as _, stream};
use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, RETRY_AFTER, TRANSFER_ENCODING,
};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode, Uri};
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::kubeconfig::Access;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// 429 with `Retry-After: 1`, in the API server's own words, which are no JSON.
    TooMany,
    /// A `Status` of this code.
    Code(u16),
    /// The connection is reset before the API server hears of it.
    ResetBefore,
    /// The API server does it, and its answer is lost.
    ResetAfter,
    /// An answer ends in the middle of its next piece: of a watch, in the middle of an event.
    Cut,
    /// A watch gets an event that says that its resourceVersion is too old.
    GoneEvent,
    /// It takes so much longer.
    Stall(Duration),
}

/// A request, to choose a fault for it.
pub struct Asked<'a> {
    pub method: &'a Method,
    pub uri: &'a Uri,
}

impl Asked<'_> {
    pub fn is_watch(&self) -> bool {
        let query = self.uri.query().unwrap_or_default();
        query
            .split('&')
            .any(|it| matches!(it, "watch=true" | "watch=1"))
    }

    /// Tells whether it is about objects of a kind, or one of them; `resource` is the plural.
    pub fn is_about(&self, resource: &str) -> bool {
        self.uri.path().split('/').any(|it| it == resource)
    }
}

type Rule = Box<dyn Fn(&Asked<'_>) -> Option<Fault> + Send>;

/// It listens on a port of its own, and is gone with the test.
pub struct Proxy {
    dir: TempDir,
    state: Arc<Shared>,
    _runtime: Runtime,
}

struct Shared {
    upstream: Client,
    rule: Mutex<Rule>,
    /// Ends the watches of now.
    watches: Mutex<CancellationToken>,
    asked: AtomicUsize,
    done: Mutex<BTreeMap<Fault, usize>>,
}

impl Shared {
    fn note(&self, fault: Fault) {
        *self.done.lock().unwrap().entry(fault).or_default() += 1;
    }
}

impl Proxy {
    /// In front of the API server of a lab, without faults.
    pub fn new(lab: &Path) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (port, state) = runtime.block_on(async {
            // Closed with nothing to linger for, a connection is reset. Those that end well the client closes.
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let listener = listener.tap_io(|stream| stream.set_zero_linger().unwrap());
            let state = Arc::new(Shared {
                upstream: upstream(&lab.join("kubeconfig")).await,
                rule: Mutex::new(Box::new(|_| None)),
                watches: Mutex::default(),
                asked: AtomicUsize::new(0),
                done: Mutex::default(),
            });
            let router = Router::new().fallback(answer).with_state(state.clone());
            tokio::spawn(async move { axum::serve(listener, router).await });
            (port, state)
        });
        let dir = tempfile::tempdir().unwrap();
        let access = Access::of(lab).at(&format!("http://127.0.0.1:{port}"));
        access.write(dir.path());
        Self {
            dir,
            state,
            _runtime: runtime,
        }
    }

    /// A folder with a `kubeconfig` of the same users, to be used in place of the lab's.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Chooses faults from now on.
    pub fn set(&self, rule: impl Fn(&Asked<'_>) -> Option<Fault> + Send + 'static) {
        *self.state.rule.lock().unwrap() = Box::new(rule);
    }

    /// No faults from now on.
    pub fn heal(&self) {
        self.set(|_| None);
    }

    /// Resets the connections of all watches.
    pub fn reset_watches(&self) {
        std::mem::take(&mut *self.state.watches.lock().unwrap()).cancel();
    }

    /// How many requests have come.
    pub fn asked(&self) -> usize {
        self.state.asked.load(Ordering::Relaxed)
    }

    /// How often a fault has happened.
    pub fn count(&self, fault: Fault) -> usize {
        let done = self.state.done.lock().unwrap();
        done.get(&fault).copied().unwrap_or(0)
    }
}

/// Any of the faults that a request can meet, in so many of a hundred.
pub fn at_random(seed: u64, percent: u8) -> impl Fn(&Asked<'_>) -> Option<Fault> + Send {
    println!("faults at random: seed {seed}");
    let random = Mutex::new(fastrand::Rng::with_seed(seed));
    move |asked| {
        let mut random = random.lock().unwrap();
        if random.u8(0..100) >= percent {
            return None;
        }
        let faults: &[Fault] = if asked.is_watch() {
            &ON_WATCHES
        } else {
            &ON_REQUESTS
        };
        random.choice(faults).copied()
    }
}

/// What [`at_random`] does to watches.
pub const ON_WATCHES: [Fault; 5] = [
    Fault::TooMany,
    Fault::Code(500),
    Fault::ResetBefore,
    Fault::Cut,
    Fault::GoneEvent,
];

/// What [`at_random`] does to all other requests.
pub const ON_REQUESTS: [Fault; 7] = [
    Fault::TooMany,
    Fault::Code(500),
    Fault::Code(503),
    Fault::ResetBefore,
    Fault::ResetAfter,
    Fault::Cut,
    Fault::Stall(Duration::from_millis(300)),
];

/// The API server, for whoever sends his own credentials; nothing is tried twice.
async fn upstream(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let choice = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &choice)
        .await
        .unwrap();
    config.auth_info = AuthInfo::default();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

async fn answer(State(state): State<Arc<Shared>>, head: Parts, body: Bytes) -> Response<Body> {
    let asked = Asked {
        method: &head.method,
        uri: &head.uri,
    };
    state.asked.fetch_add(1, Ordering::Relaxed);
    let fault = (state.rule.lock().unwrap())(&asked);
    let happens = || {
        println!("{fault:?}: {} {}", head.method, head.uri);
        fault.into_iter().for_each(|fault| state.note(fault));
    };
    match fault {
        None if asked.is_watch() => {
            let ends = state.watches.lock().unwrap().clone();
            let answer = forward(&state, &head, body).await;
            answer.map(|body| until(body, ends))
        }
        None => forward(&state, &head, body).await,
        Some(Fault::TooMany) => {
            happens();
            let text = "Too many requests, please try again later.";
            let mut answer = Response::new(text.into());
            *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            answer.headers_mut().insert(RETRY_AFTER, 1.into());
            answer
        }
        Some(Fault::Code(code)) => {
            happens();
            status(code)
        }
        Some(Fault::ResetBefore) => {
            happens();
            reset()
        }
        Some(Fault::ResetAfter) => {
            forward(&state, &head, body).await;
            happens();
            reset()
        }
        Some(Fault::Cut) => {
            let answer = forward(&state, &head, body).await;
            let state = state.clone();
            answer.map(|body| cut(body, move || state.note(Fault::Cut)))
        }
        Some(Fault::GoneEvent) => {
            happens();
            let event = json!({ "type": "ERROR", "object": failure(410) });
            Response::new(format!("{event}\n").into())
        }
        Some(Fault::Stall(time)) => {
            happens();
            tokio::time::sleep(time).await;
            forward(&state, &head, body).await
        }
    }
}

async fn forward(state: &Shared, head: &Parts, body: Bytes) -> Response<Body> {
    let mut request = Request::new(kube::client::Body::from(body.to_vec()));
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = head.uri.clone();
    *request.headers_mut() = head.headers.clone();
    for header in [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        request.headers_mut().remove(header);
    }
    match state.upstream.send(request).await {
        Ok(mut answer) => {
            for header in [CONNECTION, TRANSFER_ENCODING] {
                answer.headers_mut().remove(header);
            }
            answer.map(Body::new)
        }
        // There is nobody to answer.
        Err(_) => reset(),
    }
}

/// An answer that no byte is sent of.
fn reset() -> Response<Body> {
    let nothing = stream::once(async { Err::<Bytes, _>(broken()) });
    Response::new(Body::from_stream(nothing))
}

/// All of it, unless it is reset before.
fn until(body: Body, ends: CancellationToken) -> Body {
    let pieces = body
        .into_data_stream()
        .take_until(ends.clone().cancelled_owned());
    let end = stream::once(async move { ends.is_cancelled() });
    let end = end.filter_map(async |reset| reset.then(|| Err(broken())));
    Body::from_stream(pieces.chain(end))
}

fn broken() -> axum::Error {
    axum::Error::new("the connection is reset")
}

/// The first half of the first piece, and no more; `happens` when there is one.
fn cut(body: Body, happens: impl Fn() + Send + 'static) -> Body {
    let half = body.into_data_stream().take(1).map(move |piece| {
        happens();
        piece.map(|mut piece| piece.split_to(piece.len() / 2))
    });
    let end = stream::once(async {
        // What comes at once with the end of it is not even sent.
        tokio::time::sleep(Duration::from_millis(20)).await;
        Err(broken())
    });
    Body::from_stream(half.chain(end))
}

fn status(code: u16) -> Response<Body> {
    let mut answer = Response::new(failure(code).to_string().into());
    *answer.status_mut() = StatusCode::from_u16(code).unwrap();
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, "application/json".parse().unwrap());
    answer
}

fn failure(code: u16) -> serde_json::Value {
    let (reason, message) = match code {
        404 => (
            "NotFound",
            "the server could not find the requested resource",
        ),
        410 => ("Expired", "too old resource version: 1 (2)"),
        500 => ("InternalError", "Internal error occurred: injected"),
        503 => (
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        ),
        504 => (
            "Timeout",
            "the server was unable to return a response in the time allotted",
        ),
        other => panic!("what would the API server say with {other}?"),
    };
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": message,
    })
}

/// A fault that does not happen proves nothing.
#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read as _, Write as _};
    use std::net::TcpStream;
    use std::time::Instant;

    use super::*;
    use crate::support::lab::{api, shared};
    use crate::support::manifest::config_map;
    use crate::support::namespace::Namespace;

    const NAMESPACES: &str = "/api/v1/namespaces";

    /// What comes until the answer ends, and whether that is a reset. It is we who close the connection then: closed by the
    /// proxy, it would be reset, and an answer on its way lost.
    fn get(proxy: &Proxy, path: &str) -> (String, bool) {
        let mut access = Access::of(proxy.dir());
        let (server, token) = (access.server(), access.token());
        let address = server.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        let reset = loop {
            if is_whole(&answer) {
                break false;
            }
            match stream.read(&mut part) {
                Ok(0) => break false,
                Ok(n) => answer.extend_from_slice(&part[..n]),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
                    break true;
                }
            }
        };
        (String::from_utf8(answer).unwrap(), reset)
    }

    /// By its length, or by the empty chunk at its end.
    fn is_whole(answer: &[u8]) -> bool {
        let Some(end) = answer.windows(4).position(|it| it == b"\r\n\r\n") else {
            return false;
        };
        let (head, body) = answer.split_at(end + 4);
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        match head.split_once("content-length: ") {
            Some((_, rest)) => body.len() >= rest.lines().next().unwrap().parse().unwrap(),
            None => body.ends_with(b"0\r\n\r\n"),
        }
    }

    #[test]
    fn every_fault_is_what_it_is_called() {
        let proxy = Proxy::new(shared());
        let (good, reset) = get(&proxy, NAMESPACES);
        assert!(
            good.starts_with("HTTP/1.1 200") && good.contains("\"kube-system\""),
            "{good}"
        );
        assert!(!reset);
        assert_eq!(proxy.asked(), 1);
        let with = |fault: Fault, path: &str| {
            proxy.set(move |_| Some(fault));
            let answer = get(&proxy, path);
            assert_eq!(proxy.count(fault), 1);
            answer
        };
        let (text, reset) = with(Fault::TooMany, NAMESPACES);
        assert!(
            text.starts_with("HTTP/1.1 429") && text.contains("retry-after: 1\r\n"),
            "{text}"
        );
        assert!(!reset);
        let (text, _) = with(Fault::Code(503), NAMESPACES);
        assert!(
            text.starts_with("HTTP/1.1 503") && text.contains("ServiceUnavailable"),
            "{text}"
        );
        assert_eq!(with(Fault::ResetBefore, NAMESPACES), (String::new(), true));
        let (text, reset) = with(Fault::Cut, NAMESPACES);
        assert!(
            reset && text.starts_with("HTTP/1.1 200") && text.len() < good.len(),
            "{text}"
        );
        let watch = format!("{NAMESPACES}?watch=true");
        let (text, _) = with(Fault::GoneEvent, &watch);
        assert!(
            text.starts_with("HTTP/1.1 200") && text.contains("\"code\":410"),
            "{text}"
        );
        let time = Duration::from_millis(300);
        let begin = Instant::now();
        let (text, _) = with(Fault::Stall(time), NAMESPACES);
        assert!(text.starts_with("HTTP/1.1 200") && begin.elapsed() >= time);
    }

    #[test]
    fn a_lost_answer_is_to_something_that_was_done_and_watches_end_when_told() {
        let proxy = Proxy::new(shared());
        let ns = Namespace::new("proxied");
        ns.create("configmaps", &config_map("a", "1"));
        let maps = format!("{NAMESPACES}/{}/configmaps", ns.name);
        std::thread::scope(|scope| {
            let watch = scope.spawn(|| get(&proxy, &format!("{maps}?watch=true")));
            // Its first event is on its way.
            while proxy.asked() == 0 {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(Duration::from_millis(500));
            proxy.reset_watches();
            let (text, reset) = watch.join().unwrap();
            assert!(reset && text.contains("\"ADDED\""), "{text}");
        });
        proxy.set(|asked| (asked.method == "PATCH").then_some(Fault::ResetAfter));
        let through = crate::support::api::Api::connect(&proxy.dir().join("kubeconfig"));
        let lost = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            through.edit(&format!("{maps}/a"), &json!({ "data": { "key": "2" } }))
        }));
        assert!(lost.is_err(), "it was answered");
        assert_eq!(api().get(&format!("{maps}/a"))["data"]["key"], "2");
    }
}
