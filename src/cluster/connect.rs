//! The connection to an API server.

use std::path::PathBuf;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::ClusterError;

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
        config.connect_timeout = Some(Duration::from_secs(10));
        // A request that is neither answered nor refused for a minute is lost: kube-apiserver's own limit is the same.
        config.read_timeout = Some(Duration::from_secs(60));
        let default_namespace = config.default_namespace.clone();
        let client = Client::try_from(config).map_err(|e| {
            ClusterError::Config(format!("cannot use the cluster's configuration: {e}"))
        })?;
        Ok(Self {
            client,
            default_namespace,
        })
    }

    /// The namespace of the context, or `default`.
    pub fn default_namespace(&self) -> &str {
        &self.default_namespace
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
