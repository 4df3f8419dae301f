//! A sandbox that runs: its state, who waits for changes of it, and the server.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use axum::Router;
use axum::serve::ListenerExt as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::auth::audit;
use super::controllers::{self, Pods};
use super::http::{self, Yaml};
use super::requests::Requests;
use super::state::State;
use super::tls::{Identity, TlsListener};
use super::{start, types};

/// How long answers that are under way may take once the sandbox is to end.
const GRACE: Duration = Duration::from_secs(2);
/// How often controllers look at the clock while something is to happen at a time.
const TICK: Duration = Duration::from_millis(500);
/// Changes come in bursts; the controllers look at a burst once.
const BURST: Duration = Duration::from_millis(2);
/// How long the controllers let requests go first at a time, and altogether before they do the next piece of work.
const MOMENT: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_millis(3);

/// What a sandbox does beside serving objects.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the controllers do with pods.
    pub pods: Pods,
    /// Where what was asked is written, as the API server's audit log has it.
    pub audit: Option<Arc<audit::Log>>,
    /// Whether the controllers run.
    pub controllers: bool,
    /// Whether roles are asked; if not, everybody who is known may do everything.
    pub authorization: bool,
    /// What reads bodies that are YAML and not JSON; without it they are refused.
    pub yaml: Option<Yaml>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            pods: Pods::Ready,
            audit: None,
            controllers: true,
            authorization: true,
            yaml: None,
        }
    }
}

/// A Kubernetes API in memory.
pub struct Sandbox {
    state: Mutex<State>,
    /// Those that are under way.
    requests: Requests,
    /// The version of the last change, for those who wait for one.
    version: watch::Sender<u64>,
    options: Options,
    admin_token: String,
    /// Made when it is first needed, which in one process it is not.
    identity: OnceLock<Identity>,
    /// Ends the watches.
    ended: CancellationToken,
}

impl Sandbox {
    /// Makes one with the kinds of Kubernetes and the objects that every cluster has.
    pub fn new(options: Options) -> Arc<Self> {
        let mut state = State {
            kinds: types::built_in(),
            ..State::default()
        };
        start::fill(&mut state);
        Self::with_state(state, options)
    }

    /// Makes one that serves a state, and nothing else.
    pub fn with_state(mut state: State, options: Options) -> Arc<Self> {
        state.auth.enforced = options.authorization;
        Arc::new(Self {
            version: watch::Sender::new(state.store.version()),
            admin_token: state.auth.tokens.admin().to_owned(),
            state: Mutex::new(state),
            requests: Requests::default(),
            options,
            identity: OnceLock::new(),
            ended: CancellationToken::new(),
        })
    }

    /// The service, for who is in the same process.
    pub fn router(self: &Arc<Self>) -> Router {
        http::router(self.clone())
    }

    /// Serves on an address, and runs the controllers, until it is told to stop.
    ///
    /// # Errors
    /// Those of the listener.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> io::Result<()> {
        let listener = TlsListener::new(listener, self.identity()?.clone()).tap_io(|_| ());
        let trusted = String::from_utf8_lossy(self.identity()?.certificate()).into_owned();
        self.lock().controllers.root_certificate = trusted;
        let ended = self.ended.clone();
        let wind_down = stop.clone();
        let service = self
            .router()
            .into_make_service_with_connect_info::<SocketAddr>();
        let server = axum::serve(listener, service).with_graceful_shutdown(async move {
            wind_down.cancelled().await;
            ended.cancel();
        });
        let late = async {
            stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        // The server says when it is over, not the controllers.
        let controllers = async {
            if self.options.controllers {
                self.control(stop.clone()).await;
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            served = server.into_future() => served,
            () = late => Ok(()),
            never = controllers => match never {},
        }
    }

    /// Runs the controllers whenever something has changed, until they are told to stop.
    pub async fn control(&self, stop: CancellationToken) {
        let mut changes = self.version.subscribe();
        changes.mark_changed();
        loop {
            let wait = self.lock().controllers.wait();
            tokio::select! {
                () = stop.cancelled() => return,
                changed = changes.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(TICK), if wait => {}
            }
            tokio::time::sleep(BURST).await;
            changes.mark_unchanged();
            while controllers::step(&mut self.lock(), self.options.pods) {
                self.give_way().await;
            }
        }
    }

    /// Lets requests that are under way go first: as on a cluster, they are not to wait for the controllers.
    async fn give_way(&self) {
        tokio::task::yield_now().await;
        let until = Instant::now() + PATIENCE;
        while self.requests.any() && Instant::now() < until {
            tokio::time::sleep(MOMENT).await;
        }
    }

    /// What kubectl needs to talk to it at an address, as a file.
    ///
    /// # Errors
    /// When no certificate can be made.
    pub fn kubeconfig(&self, address: SocketAddr) -> io::Result<String> {
        let trusted = STANDARD.encode(self.identity()?.certificate());
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "sandbox",
            "clusters": [{
                "name": "sandbox",
                "cluster": {
                    "server": format!("https://{address}"),
                    "certificate-authority-data": trusted,
                },
            }],
            "contexts": [{
                "name": "sandbox",
                "context": { "cluster": "sandbox", "user": "admin", "namespace": "default" },
            }],
            "users": [{ "name": "admin", "user": { "token": self.admin_token } }],
        });
        Ok(config.to_string())
    }

    pub(super) fn identity(&self) -> io::Result<&Identity> {
        if let Some(identity) = self.identity.get() {
            return Ok(identity);
        }
        let made = Identity::make()?;
        // Whoever was first.
        Ok(self.identity.get_or_init(|| made))
    }

    /// The token of somebody who may do everything.
    pub fn admin_token(&self) -> &str {
        &self.admin_token
    }

    /// What it does beside serving objects.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The state; what is changed in it is told to watches when the lock is given back.
    pub fn lock(&self) -> Locked<'_> {
        Locked {
            // A state is whole between any two steps of a request, whoever panicked in one.
            state: self.state.lock().unwrap_or_else(PoisonError::into_inner),
            version: &self.version,
        }
    }

    pub(super) fn requests(&self) -> &Requests {
        &self.requests
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    pub(super) fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither objects nor the token.
        let version = *self.version.borrow();
        f.debug_struct("Sandbox")
            .field("version", &version)
            .finish_non_exhaustive()
    }
}

/// The state, while nobody else has it.
pub struct Locked<'a> {
    state: MutexGuard<'a, State>,
    version: &'a watch::Sender<u64>,
}

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let now = self.state.store.version();
        self.version.send_if_modified(|version| {
            let is_news = *version != now;
            *version = now;
            is_news
        });
    }
}
