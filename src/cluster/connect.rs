//! The connection to an API server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::map_request;
use http::header::{AUTHORIZATION, HeaderValue, USER_AGENT};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::sync::Semaphore;

use super::ClusterError;
use super::cache::Cache;
use super::identity::Identity;
use super::recording::{Recording, Refusals};
use super::send::{ANSWER_WITHIN, Observer, WriteGuard};

/// Which cluster, and as whom; what is absent is taken from the kubeconfig, as kubectl does.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// Path of the kubeconfig.
    pub kubeconfig: Option<PathBuf>,
    /// Context in it.
    pub context: Option<String>,
    /// User to impersonate.
    pub as_user: Option<String>,
    /// Groups to impersonate.
    pub as_groups: Vec<String>,
}

/// A connected API server, and how it is to be used.
#[derive(Clone)]
pub struct Cluster {
    pub(super) client: Client,
    /// `None` for a server in this process, which has one connection for everything.
    pub(super) config: Option<Arc<Config>>,
    pub(super) default_namespace: String,
    pub(super) identity: Arc<Identity>,
    pub(super) guard: Option<Arc<dyn WriteGuard>>,
    pub(super) observer: Option<Arc<Observer>>,
    pub(super) requests: Option<Arc<Semaphore>>,
    pub(super) cache: Option<Arc<Cache>>,
    pub(super) recording: Option<Arc<Recording>>,
    pub(super) refusals: Arc<Refusals>,
}

impl Cluster {
    /// Reads the configuration and makes a client; sends nothing yet.
    ///
    /// # Errors
    /// When there is no usable configuration.
    pub async fn connect(options: &ConnectOptions) -> Result<Self, ClusterError> {
        let mut config = config(options).await?;
        // Both go into each request, so that a tenant's take their place and do not come on top.
        let user = config.auth_info.impersonate.take();
        let groups = config.auth_info.impersonate_groups.take();
        let user = options.as_user.clone().or(user);
        let groups = match &options.as_groups {
            none if none.is_empty() => groups.unwrap_or_default(),
            groups => groups.clone(),
        };
        // Audit logs and metrics of the server tell clients apart by this.
        let agent = concat!("covergence/", env!("CARGO_PKG_VERSION"));
        config
            .headers
            .push((USER_AGENT, HeaderValue::from_static(agent)));
        config.connect_timeout = Some(Duration::from_secs(10));
        let identity = Identity::new(user.as_deref(), &groups)?;
        let default_namespace = config.default_namespace.clone();
        Ok(Self {
            client: client(&config, Some(ANSWER_WITHIN))?,
            config: Some(Arc::new(config)),
            default_namespace,
            identity: Arc::new(identity),
            guard: None,
            observer: None,
            requests: None,
            cache: None,
            recording: None,
            refusals: Arc::default(),
        })
    }

    /// Connects to a server in this process, which is asked without a network.
    ///
    /// # Errors
    /// When the token cannot stand in a header.
    pub fn in_process(
        server: Router,
        token: &str,
        default_namespace: &str,
    ) -> Result<Self, ClusterError> {
        let mut bearer = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|error| ClusterError::Config(error.to_string()))?;
        bearer.set_sensitive(true);
        let server = server.layer(map_request(move |mut request: axum::extract::Request| {
            let bearer = bearer.clone();
            async move {
                request.headers_mut().insert(AUTHORIZATION, bearer);
                request
            }
        }));
        Ok(Self {
            client: Client::new(server, default_namespace),
            config: None,
            default_namespace: default_namespace.to_owned(),
            identity: Arc::new(Identity::new(None, &[])?),
            guard: None,
            observer: None,
            requests: None,
            cache: None,
            recording: None,
            refusals: Arc::default(),
        })
    }

    /// The same API server as a ServiceAccount: with its rights only.
    ///
    /// # Errors
    /// When there can be no account of that name.
    pub fn as_service_account(&self, namespace: &str, name: &str) -> Result<Self, ClusterError> {
        let identity = Identity::service_account(namespace, name)?;
        Ok(Self {
            identity: Arc::new(identity),
            ..self.clone()
        })
    }

    /// The same, with a guard that is asked before each write, though not before a dry run.
    #[must_use]
    pub fn guarded(&self, guard: Arc<dyn WriteGuard>) -> Self {
        Self {
            guard: Some(guard),
            ..self.clone()
        }
    }

    /// The same, with somebody who is told of each request.
    #[must_use]
    pub fn observed(&self, observer: Arc<Observer>) -> Self {
        Self {
            observer: Some(observer),
            ..self.clone()
        }
    }

    /// The same, with at most so many requests in flight, together with all that are made from it; who waits longest is
    /// next. Watches do not count.
    #[must_use]
    pub fn limited(&self, requests: usize) -> Self {
        Self {
            requests: Some(Arc::new(Semaphore::new(requests.max(1)))),
            ..self.clone()
        }
    }

    /// The same, and all that is asked for from now on is noted.
    #[must_use]
    pub fn recorded(&self, recording: Arc<Recording>) -> Self {
        Self {
            recording: Some(recording),
            ..self.clone()
        }
    }

    /// The same, where these are refused as they were refused elsewhere.
    #[must_use]
    pub fn refusing(&self, refusals: Refusals) -> Self {
        Self {
            refusals: Arc::new(refusals),
            ..self.clone()
        }
    }

    /// A client whose connections may be silent for so long.
    pub(super) fn patient_client(&self, silence: Duration) -> Result<Client, ClusterError> {
        match &self.config {
            Some(config) => client(config, Some(silence)),
            None => Ok(self.client.clone()),
        }
    }

    /// A client for what is no request and answer: it signs by itself, and its connections may be silent for ever.
    pub(super) fn streaming_client(&self) -> Result<Client, ClusterError> {
        let Some(config) = &self.config else {
            return Ok(self.client.clone());
        };
        let mut config = Config::clone(config);
        config.headers.extend(self.identity.headers());
        client(&config, None)
    }

    /// The namespace of the context, or `default`.
    pub fn default_namespace(&self) -> &str {
        &self.default_namespace
    }
}

fn client(config: &Config, silence: Option<Duration>) -> Result<Client, ClusterError> {
    let mut config = config.clone();
    config.read_timeout = silence;
    config.default_retry = false;
    Client::try_from(config)
        .map_err(|e| ClusterError::Config(format!("cannot use the cluster's configuration: {e}")))
}

/// Reads the namespace of the context without connecting; `None` without a readable kubeconfig.
pub async fn context_namespace(options: &ConnectOptions) -> Option<String> {
    config(options)
        .await
        .ok()
        .map(|config| config.default_namespace)
}

async fn config(options: &ConnectOptions) -> Result<Config, ClusterError> {
    let cannot = |e: &dyn std::fmt::Display| {
        ClusterError::Config(format!(
            "cannot read the cluster's configuration: {e} (see --kubeconfig and --context)"
        ))
    };
    let choice = KubeConfigOptions {
        context: options.context.clone(),
        ..KubeConfigOptions::default()
    };
    match &options.kubeconfig {
        Some(path) => {
            let kubeconfig = Kubeconfig::read_from(path).map_err(|e| cannot(&e))?;
            Config::from_custom_kubeconfig(kubeconfig, &choice)
                .await
                .map_err(|e| cannot(&e))
        }
        None if options.context.is_some() => Config::from_kubeconfig(&choice)
            .await
            .map_err(|e| cannot(&e)),
        None => Config::infer().await.map_err(|e| cannot(&e)),
    }
}
