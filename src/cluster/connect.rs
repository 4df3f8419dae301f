//! The connection to an API server.

use std::path::PathBuf;
use std::time::Duration;

use http::Request;
use http::header::{HeaderValue, USER_AGENT};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::ClusterError;

/// The same as kube-apiserver's own limit for a request.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

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

/// A connected API server.
#[derive(Clone)]
pub struct Cluster {
    pub(super) client: Client,
    default_namespace: String,
}

impl Cluster {
    /// Reads the configuration and makes a client; sends nothing yet.
    ///
    /// # Errors
    /// When there is no usable configuration.
    pub async fn connect(options: &ConnectOptions) -> Result<Self, ClusterError> {
        let mut config = config(options).await?;
        config.auth_info.impersonate = options.as_user.clone().or(config.auth_info.impersonate);
        if !options.as_groups.is_empty() {
            config.auth_info.impersonate_groups = Some(options.as_groups.clone());
        }
        // Audit logs and metrics of the server tell clients apart by this.
        let agent = concat!("covergence/", env!("CARGO_PKG_VERSION"));
        config
            .headers
            .push((USER_AGENT, HeaderValue::from_static(agent)));
        config.connect_timeout = Some(Duration::from_secs(10));
        config.read_timeout = Some(ANSWER_WITHIN);
        let default_namespace = config.default_namespace.clone();
        let client = Client::try_from(config).map_err(|e| {
            ClusterError::Config(format!("cannot use the cluster's configuration: {e}"))
        })?;
        Ok(Self {
            client,
            default_namespace,
        })
    }

    /// Sends a request, and again for a while when the server is too busy to answer it.
    pub(super) async fn request<T: DeserializeOwned>(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<T, ClusterError> {
        in_time(self.client.request(request)).await
    }

    /// The namespace of the context, or `default`.
    pub fn default_namespace(&self) -> &str {
        &self.default_namespace
    }
}

/// Limits how long a request may take with all its repetitions: kube's own policy tries for minutes.
pub(super) async fn in_time<T>(
    answer: impl Future<Output = kube::Result<T>>,
) -> Result<T, ClusterError> {
    match timeout(ANSWER_WITHIN, answer).await {
        Ok(answer) => answer.map_err(ClusterError::from),
        Err(_) => {
            let seconds = ANSWER_WITHIN.as_secs();
            Err(ClusterError::Unavailable(format!(
                "no good answer within {seconds} s"
            )))
        }
    }
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
