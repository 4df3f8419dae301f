//! The pods of a Campaign's Target, and what they have to tell.

use jiff::Timestamp;

use super::Ended;
use super::status::Ran;
use crate::api::campaign::{CampaignSpec, PodCount};
use crate::api::names::TARGET;
use crate::cluster::{Cluster, CoveragePod};
use crate::coverage::{Collected, Direct, Peer, PeerAddress, Request, Store, collect};
use crate::reconcile::controller::name::Name;
use crate::reconcile::controller::problem::Problem;
use crate::render::service_name;

/// Connections at once: several Campaigns run at the same time, and others want file descriptors as well.
const CONNECTIONS: usize = 32;

/// The pods behind the Service of a Target. They are dialed where they are.
#[derive(Debug)]
pub struct Pods(Vec<Peer>);

impl Pods {
    /// Finds them.
    ///
    /// # Errors
    /// As the server answers, and when there is nobody to ask.
    pub async fn find(
        cluster: &Cluster,
        campaign: &Name,
        spec: &CampaignSpec,
    ) -> Result<Self, Ended> {
        let missing =
            |reason, message: String| Err(Ended::Missing(Problem::passing(reason, message)));
        let (namespace, name) = (&campaign.namespace, &spec.target_ref.name);
        let which = format!("{TARGET} {namespace}/{name}");
        let Some(seen) = cluster.target(namespace, name).await? else {
            return missing("TargetNotFound", format!("there is no {which}"));
        };
        let target = match &seen.target {
            Ok(target) => &target.spec,
            Err(why) => return missing("TargetInvalid", format!("{which}: {why}")),
        };
        if !(target.coverage_service && target.agents.coverage.enabled) {
            let message = format!("{which} has coverage or its Service switched off");
            return missing("CoverageDisabled", message);
        }
        let service = service_name(name);
        let pods = cluster.coverage_pods(namespace, &service).await?;
        if pods.is_empty() {
            let message = format!("there is no pod behind Service {namespace}/{service}");
            return missing("NoEndpoints", message);
        }
        let port = target.agents.coverage.port;
        Ok(Self(pods.into_iter().map(|pod| peer(pod, port)).collect()))
    }

    /// Asks all of them for what they have.
    pub async fn collect(&self) -> Collected {
        collect(&Direct, &self.0, &request(false)).await
    }

    /// Asks those again that have answered, and has them forget what they tell.
    pub async fn reset(&self, answered: &Collected) -> Store {
        let whole = answered.whole();
        let whole: Vec<Peer> = whole
            .iter()
            .filter_map(|it| self.0.get(*it).cloned())
            .collect();
        collect(&Direct, &whole, &request(true)).await.union
    }
}

fn peer(pod: CoveragePod, port: u16) -> Peer {
    Peer {
        address: PeerAddress::Sockets(pod.sockets(port)),
        name: pod.name,
    }
}

fn request(reset: bool) -> Request {
    Request {
        reset,
        concurrency: CONNECTIONS,
        ..Request::default()
    }
}

/// What a run says of the pods.
pub fn ran(collected: &Collected, at: Timestamp) -> Ran {
    let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    let failed = collected.pods.iter().filter_map(|pod| {
        let failure = pod.outcome.as_ref().err()?;
        Some(format!("{}: {}", pod.peer, failure.message))
    });
    let failed: Vec<String> = failed.collect();
    let dumps = collected.pods.iter().map(|pod| match &pod.outcome {
        Ok(dump) => (&pod.peer, dump),
        Err(failure) => (&pod.peer, &failure.kept),
    });
    let mismatches = dumps.flat_map(|(peer, dump)| {
        dump.mismatches
            .iter()
            .map(move |it| format!("{peer}: {it}"))
    });
    Ran {
        at,
        pods: PodCount {
            reached: count(collected.pods.len() - failed.len()),
            total: count(collected.pods.len()),
        },
        mismatches: mismatches.collect(),
        failed,
        stored: None,
    }
}
