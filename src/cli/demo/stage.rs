//! Where the demo plays: an API server, a namespace, a repository.

use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::program::Program;
use super::repository::Repository;
use crate::cli::args::DemoArgs;
use crate::cli::error::CliError;
use crate::cli::folder::Folder;
use crate::cluster::{Cluster, ConnectOptions, Kind};
use crate::sandbox::controllers::Pods;
use crate::sandbox::{Options, Sandbox};

/// Name of the Sync, and of the folder with the repository.
pub const NAME: &str = "shop";

/// What the demo plays with.
pub struct Stage {
    pub folder: Folder,
    pub repository: Repository,
    pub cluster: Cluster,
    /// The kubeconfig of the sandbox; `None` on a cluster of somebody's own.
    pub kubeconfig: Option<PathBuf>,
    pub program: Program,
    pub namespace: String,
    stop: CancellationToken,
}

impl Stage {
    /// Sets it up.
    pub async fn set(args: &DemoArgs) -> Result<Self, CliError> {
        let folder = Folder::new("demo")?;
        let repository = Repository::new(&folder.path().join(NAME))?;
        let stop = CancellationToken::new();
        let sandbox = if args.cluster {
            None
        } else {
            Some(raise(folder.path(), &stop).await?)
        };
        let options = ConnectOptions {
            kubeconfig: sandbox.clone().or_else(|| args.kubeconfig.clone()),
            context: args.context.clone(),
            ..ConnectOptions::default()
        };
        let cluster = Cluster::connect(&options).await?;
        let namespace = match &sandbox {
            Some(_) => NAME.to_owned(),
            None => format!("covergence-demo-{:06x}", fastrand::u32(..1 << 24)),
        };
        let object =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
        cluster.apply(&Kind::namespace(), &object, false).await?;
        let program = Program::new(folder.path(), &options)?;
        Ok(Self {
            folder,
            repository,
            cluster,
            kubeconfig: sandbox,
            program,
            namespace,
            stop,
        })
    }

    /// Writes the configuration of a controller that follows the repository and looks after this namespace only.
    pub fn write_config(&self) -> Result<String, CliError> {
        let work = self.folder.path().display();
        let namespace = &self.namespace;
        let sync = format!(
            "apiVersion: closurejvm.io/v1alpha1
kind: Sync
metadata: {{ namespace: {namespace}, name: {NAME} }}
spec:
  source: {{ git: {{ url: {work}/{NAME}, ref: main }} }}
  prune: true
  pruneLimit: 30%
"
        );
        let config = format!(
            "---
apiVersion: closurejvm.io/v1alpha1
kind: Config
metadata: {{ name: demo }}
spec:
  namespaces: [{namespace}]
  directories: [{work}]
  leases: {{ enabled: false }}
"
        );
        let folder = self.folder.path().join("config");
        std::fs::create_dir(&folder)?;
        std::fs::write(folder.join("shop.yaml"), format!("{sync}{config}"))?;
        Ok(sync)
    }

    /// Takes away what was put into a cluster of somebody's own, and ends the sandbox.
    pub async fn clear(self) -> Result<(), CliError> {
        self.stop.cancel();
        if self.kubeconfig.is_none() {
            let kind = Kind::namespace();
            self.cluster
                .delete_any(&kind, None, &self.namespace)
                .await?;
        }
        Ok(())
    }
}

/// Raises a sandbox whose pods are ready at once, and gives its kubeconfig.
async fn raise(folder: &Path, stop: &CancellationToken) -> Result<PathBuf, CliError> {
    let sandbox = Sandbox::new(Options {
        pods: Pods::Ready,
        ..Options::default()
    });
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let kubeconfig = sandbox.kubeconfig(listener.local_addr()?)?.to_string();
    let path = folder.join("kubeconfig");
    let mut file = std::fs::OpenOptions::new();
    let mut file = file.write(true).create_new(true).mode(0o600).open(&path)?;
    std::io::Write::write_all(&mut file, kubeconfig.as_bytes())?;
    tokio::spawn(Arc::clone(&sandbox).serve(listener, stop.clone()));
    Ok(path)
}
