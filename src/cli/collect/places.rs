//! Where agents are: at addresses, or behind the Service of a Target.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::dump_args::DumpArgs;
use crate::api::names::TARGET;
use crate::cli::error::CliError;
use crate::cli::settings;
use crate::cluster::{Cluster, CoveragePod};
use crate::coverage::{Host, Peer, PeerAddress};
use crate::render::Target;

/// Between two looks who is there: soon enough for a pod that lives briefly, and seldom enough for an API server.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Where to look for agents, again and again if need be.
pub enum Places {
    /// At these hosts.
    Hosts(Vec<Host>),
    /// Behind the Service of a Target.
    Service(Box<Service>),
}

/// The Service of a Target.
pub struct Service {
    cluster: Cluster,
    namespace: String,
    target: String,
    name: String,
    port: u16,
    /// Whether pods are dialled at their addresses, and not through the API server.
    direct: bool,
}

impl Places {
    /// Reads what was typed: what has a colon is a host, since no name in Kubernetes has one.
    pub async fn read(args: &DumpArgs) -> Result<Self, CliError> {
        let from = args.from.as_deref().unwrap_or_default();
        if from.contains(':') {
            let hosts = from.split(',').map(str::parse);
            let hosts = hosts
                .collect::<Result<_, String>>()
                .map_err(CliError::usage)?;
            return Ok(Self::Hosts(hosts));
        }
        let service = Service::find(args, from).await?;
        Ok(Self::Service(Box::new(service)))
    }

    /// The cluster whose API server is to forward ports, if it is to.
    pub fn forwarding(&self) -> Option<&Cluster> {
        match self {
            Self::Service(service) if !service.direct => Some(&service.cluster),
            _ => None,
        }
    }

    /// Looks who is there: hosts in the order that was typed, pods by name, each once.
    pub async fn look(&self) -> Result<Vec<Peer>, CliError> {
        let mut peers = match self {
            Self::Hosts(hosts) => look_up(hosts).await?,
            Self::Service(service) => service.look().await?,
        };
        let mut seen = BTreeSet::new();
        peers.retain(|peer| seen.insert(peer.address.clone()));
        Ok(peers)
    }

    /// Looks who is there, again and again. A look that fails is told once, and tried again.
    pub async fn look_again(self, seen: mpsc::Sender<Result<Vec<Peer>, String>>) {
        let mut away = false;
        loop {
            sleep(LOOK_AGAIN).await;
            let look = self.look().await.map_err(|error| error.to_string());
            let told = away && look.is_err();
            away = look.is_err();
            if !told && seen.send(look).await.is_err() {
                return;
            }
        }
    }

    /// Why nobody is there, and what to do about it.
    pub fn nobody(&self) -> CliError {
        match self {
            Self::Hosts(_) => CliError::usage("there is no address to ask"),
            Self::Service(service) => service.nobody(),
        }
    }
}

async fn look_up(hosts: &[Host]) -> Result<Vec<Peer>, CliError> {
    let mut peers = Vec::new();
    for host in hosts {
        let found = host.peers().await;
        let unknown = |error| CliError::usage(format!("cannot find {host}: {error}"));
        peers.extend(found.map_err(unknown)?);
    }
    Ok(peers)
}

impl Service {
    async fn find(args: &DumpArgs, from: &str) -> Result<Self, CliError> {
        let (namespace, name) = match from.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (args.namespace.as_deref(), from),
        };
        let namespace = namespace.map(settings::namespace).transpose();
        let namespace = namespace.map_err(|error| CliError::usage(format!("{from:?}: {error}")))?;
        let name = settings::object_name(name).map_err(|error| {
            let hint = "give a ClosureJVMTarget as NAME or NAMESPACE/NAME, or agents as HOST:PORT";
            CliError::usage(format!("{from:?}: {error}; {hint}"))
        })?;
        let cluster = settings::connect(&args.cluster).await?;
        let namespace = namespace.unwrap_or_else(|| cluster.default_namespace().to_owned());
        let Some(seen) = cluster.target(&namespace, &name).await? else {
            let message = format!("there is no {TARGET} {namespace}/{name}");
            let hint = "covergence status -A shows all there are";
            return Err(CliError::usage(format!("{message} ({hint})")));
        };
        let target = seen.target.as_ref().map_err(|why| {
            CliError::usage(format!("{TARGET} {namespace}/{name} cannot be read: {why}"))
        })?;
        let (service, port) = endpoint(target)?;
        Ok(Self {
            direct: is_direct(args),
            cluster,
            namespace,
            target: name,
            name: service,
            port,
        })
    }

    async fn look(&self) -> Result<Vec<Peer>, CliError> {
        let pods = self.cluster.coverage_pods(&self.namespace, &self.name);
        Ok(pods.await?.into_iter().map(|pod| self.peer(pod)).collect())
    }

    fn peer(&self, pod: CoveragePod) -> Peer {
        let address = match pod.uid.clone().filter(|_| !self.direct) {
            Some(uid) => PeerAddress::Pod {
                namespace: self.namespace.clone(),
                pod: pod.name.clone(),
                uid,
                port: pod.port.unwrap_or(self.port),
            },
            None => PeerAddress::Sockets(pod.sockets(self.port)),
        };
        Peer {
            name: pod.name,
            address,
        }
    }

    fn nobody(&self) -> CliError {
        let Self {
            namespace,
            target,
            name,
            ..
        } = self;
        CliError::usage(format!(
            "no pod stands behind the Service {name} of {TARGET} {namespace}/{target}: are any running, and do they have the \
             agent? (covergence status -n {namespace}; kubectl get pods -n {namespace})"
        ))
    }
}

/// In the cluster pods are dialled; `kubeconfig` or `context` lead to some cluster, perhaps another one.
fn is_direct(args: &DumpArgs) -> bool {
    let named = args.cluster.kubeconfig.is_some() || args.cluster.context.is_some();
    let inside = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    args.direct || (inside && !named && !args.port_forward)
}

/// The Service of a Target and its port, from the endpoint that is published, `<service>.<namespace>.svc.<domain>:<port>`.
fn endpoint(target: &Target) -> Result<(String, u16), CliError> {
    let id = format!("{}/{}", target.namespace, target.name);
    let status = target.live.as_ref().map(|live| &live.status);
    let published = status.and_then(|status| status.coverage_endpoint.as_deref());
    let read = published.and_then(|endpoint| {
        let (host, port) = endpoint.rsplit_once(':')?;
        Some((host.split('.').next()?.to_owned(), port.parse().ok()?))
    });
    if let Some((service, port)) = read
        && settings::object_name(&service).is_ok()
    {
        return Ok((service, port));
    }
    let conditions = status.map_or(&[][..], |status| &status.conditions);
    let why = conditions
        .iter()
        .find(|condition| condition.type_ == "CoverageServiceReady");
    let why = why.map_or_else(
        || "no controller and no `covergence sync` has looked after it yet".to_owned(),
        |condition| condition.message.clone(),
    );
    Err(CliError::usage(format!(
        "{TARGET} {id} has no Service: {why} (it takes coverageService: true and agents.coverage.enabled: true)"
    )))
}
