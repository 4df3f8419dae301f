//! Dumps of many peers, at once and into one union.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::agent::{Agent, AgentError, Dump};
use super::collected::{Collected, PodDump, PodFailure, PodResult};
use super::peer::{Dial, Peer, PeerAddress};
use super::tally::{Share, TOLD, Tally};
use super::{Growth, Limits, SessionInfo, Store};

/// Answers that are read at once. Peers that are silent are waited for together, and take no part of this.
const READING: usize = 4;

/// What is asked of peers, and how long they are waited for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Whether agents begin anew in the very moment of their dump.
    pub reset: bool,
    /// For a connection.
    pub connect_timeout: Duration,
    /// For something to come.
    pub read_timeout: Duration,
    /// For a whole answer, from its first byte on.
    pub total_timeout: Duration,
    /// Connections at once.
    pub concurrency: usize,
    /// What one answer may hold.
    pub limits: Limits,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            reset: false,
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(10),
            total_timeout: Duration::from_secs(60),
            // Each takes a file descriptor, of which there are 1,024 by default.
            concurrency: 256,
            limits: Limits {
                // Thirty times what the largest services send.
                bytes: 64 << 20,
                sessions: 1000,
                classes: 500_000,
                ..Limits::default()
            },
        }
    }
}

/// Dumps all peers. The result does not depend on the order in which they answer.
pub async fn collect(dial: &impl Dial, peers: &[Peer], request: &Request) -> Collected {
    let mut collection = Collection::default();
    let all: Vec<usize> = peers.iter().map(|it| collection.add(it.clone())).collect();
    collection.dump(dial, &all, request, |_, _| {}).await;
    collection.collected()
}

/// A union that grows by one dump after the other.
#[derive(Debug, Default)]
pub struct Collection {
    tally: Tally,
    pods: Vec<Pod>,
}

#[derive(Debug)]
struct Pod {
    peer: Peer,
    /// The first of those that are the same JVM, if there are others: probes are hit by that one.
    jvm: usize,
    latest: PodDump,
    failure: Option<(&'static str, String)>,
}

impl Pod {
    /// What was lost is lost, also when another JVM comes up in its place.
    fn is_lost(&self) -> bool {
        matches!(self.failure, Some((reason, _)) if reason == AgentError::KILLED)
    }

    /// Tells whether it is the same JVM that has dumped before: then only the connection was lost.
    fn has_session_of(&self, store: &Store) -> bool {
        let known = |it: &SessionInfo| {
            let mut own = self.latest.sessions.iter();
            own.any(|own| own.id == it.id && own.start == it.start)
        };
        store.sessions().any(known)
    }
}

impl Collection {
    /// Adds what the union is added to. That is taken out by nothing which does not fit to it.
    ///
    /// # Errors
    /// When it takes too much memory.
    pub fn add_earlier(&mut self, store: &Store) -> Result<(), AgentError> {
        self.tally.add_earlier(store).map(|_| ())
    }

    /// Adds a peer, which has failed as long as nothing has come from it, and gives its number.
    pub fn add(&mut self, peer: Peer) -> usize {
        let number = self.pods.len();
        let failure = Some(("Unreachable", "it was not asked yet".to_owned()));
        self.pods.push(Pod {
            peer,
            jvm: number,
            latest: PodDump::default(),
            failure,
        });
        number
    }

    /// How many peers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pods.len()
    }

    /// Tells whether there is no peer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty()
    }

    /// A peer, by its number.
    #[must_use]
    pub fn peer(&self, number: usize) -> Option<&Peer> {
        self.pods.get(number).map(|pod| &pod.peer)
    }

    /// Dumps these peers, each dump into the union as it comes. `arrived` is told of each, and sees what has come.
    pub async fn dump(
        &mut self,
        dial: &impl Dial,
        numbers: &[usize],
        request: &Request,
        mut arrived: impl FnMut(&str, &Store),
    ) {
        let reading = Semaphore::new(READING);
        let asked: Vec<(usize, Peer)> = numbers
            .iter()
            .filter_map(|number| Some((*number, self.peer(*number)?.clone())))
            .collect();
        let reading = &reading;
        // Each owns its peer: a future that borrows it is not known to be `Send` by those who hand it to another thread.
        let dumps = asked.into_iter().map(|(number, peer)| async move {
            let mut dump = Dump::default();
            let result = dump_one(dial, &peer, request, reading, &mut dump).await;
            (number, dump, result)
        });
        let mut dumps = stream::iter(dumps).buffer_unordered(request.concurrency.max(1));
        while let Some((number, dump, result)) = dumps.next().await {
            if let Some(peer) = self.peer(number) {
                arrived(&peer.name, &dump.store);
            }
            let collected = request.reset && self.is_good(number);
            self.take(number, &dump, result.is_ok(), request.reset);
            match result {
                Err(error) if collected => self.fail(number, &AgentError::NotReset(error.into())),
                Err(error) => self.fail(number, &error),
                Ok(()) => false,
            };
        }
    }

    fn is_good(&self, number: usize) -> bool {
        let pod = self.pods.get(number);
        pod.is_some_and(|pod| pod.failure.is_none())
    }

    /// Takes what has come from a peer; `whole` if that is all it had, and `reset` if it was told to begin anew.
    pub fn take(&mut self, number: usize, dump: &Dump, whole: bool, reset: bool) -> Growth {
        let jvm = self.jvm(number, &dump.store);
        let added = self.tally.add_dump(jvm, &dump.store);
        let whole = whole && added.is_ok();
        let Some(pod) = self.pods.get_mut(number) else {
            return Growth::default();
        };
        pod.jvm = jvm;
        let went_on = pod.has_session_of(&dump.store);
        let summary = dump.store.summary();
        // What breaks off says less than what came before.
        if whole || summary.hit > pod.latest.hit {
            let own = dump.taken.mismatches.iter().map(|it| it.mismatch.clone());
            pod.latest = PodDump {
                sessions: dump.store.sessions().cloned().collect(),
                classes: summary.classes,
                hit: summary.hit,
                alone: 0,
                mismatches: own.take(TOLD).collect(),
                mismatched: dump.taken.mismatches.len() as u64,
                same_as: None,
                reset: reset && whole,
            };
        }
        if whole && (went_on || !pod.is_lost()) {
            pod.failure = None;
        }
        match added {
            Ok(growth) => growth,
            Err(error) => {
                self.fail(number, &error);
                Growth::default()
            }
        }
    }

    /// Finds the same JVM at an address of the other family: a name may resolve to both. Replicas that are told their session's id have
    /// the same one, and perhaps, though hardly ever, the same start; so pods are never taken for one another.
    fn jvm(&self, number: usize, store: &Store) -> usize {
        let family = |peer: &Peer| match &peer.address {
            PeerAddress::Sockets(addresses) => addresses.first().map(|it| it.is_ipv6()),
            PeerAddress::Pod { .. } => None,
        };
        let Some(own) = self.peer(number).and_then(family) else {
            return number;
        };
        let session = |it: &SessionInfo| (it.id.clone(), it.start);
        let sessions: Vec<_> = store.sessions().map(session).collect();
        let same = |(other, pod): (usize, &Pod)| {
            let twin = family(&pod.peer).is_some_and(|family| family != own);
            let theirs = pod.latest.sessions.iter().map(session);
            let met =
                twin && other != number && theirs.into_iter().any(|it| sessions.contains(&it));
            met.then_some(pod.jvm)
        };
        let mut pods = self.pods.iter().enumerate();
        pods.find_map(same).unwrap_or(number)
    }

    /// Notes that a peer has not sent all that it had, and tells whether that is news.
    pub fn fail(&mut self, number: usize, error: &AgentError) -> bool {
        let failure = Some((error.reason(), error.to_string()));
        match self.pods.get_mut(number).filter(|pod| !pod.is_lost()) {
            Some(pod) => std::mem::replace(&mut pod.failure, failure.clone()) != failure,
            None => false,
        }
    }

    /// What has been collected so far.
    #[must_use]
    pub fn collected(&self) -> Collected {
        let mut union = self.tally.union(self.pods.len());
        let mut first: Vec<Option<usize>> = vec![None; self.pods.len()];
        let mut pods = Vec::new();
        for (number, pod) in self.pods.iter().enumerate() {
            let mut dump = pod.latest.clone();
            let share = union.shares.get_mut(pod.jvm).map(std::mem::take);
            let Share {
                alone,
                mismatches,
                mismatched,
            } = share.unwrap_or_default();
            dump.alone = alone;
            dump.mismatches.extend(mismatches);
            dump.mismatched += mismatched;
            if let Some(first) = first.get_mut(pod.jvm) {
                let same = first
                    .replace(first.unwrap_or(number))
                    .and_then(|it| self.peer(it));
                dump.same_as = same.map(|peer| peer.name.clone());
            }
            let outcome = match &pod.failure {
                None => Ok(dump),
                Some((reason, message)) => Err(PodFailure {
                    reason,
                    message: message.clone(),
                    kept: dump,
                }),
            };
            pods.push(PodResult {
                peer: pod.peer.name.clone(),
                outcome,
            });
        }
        Collected {
            union: union.store,
            unmerged: union.unmerged,
            pods,
        }
    }
}

async fn dump_one(
    dial: &impl Dial,
    peer: &Peer,
    request: &Request,
    reading: &Semaphore,
    into: &mut Dump,
) -> Result<(), AgentError> {
    let mut agent = connect(dial, peer, request).await?;
    let silence = request.read_timeout;
    agent.ask(request.reset, silence).await?;
    let began = timeout(silence, agent.wait()).await;
    if !began.map_err(|_| AgentError::Silent(silence))?? {
        return Err(AgentError::Closed);
    }
    // Nobody closes it. What waits here waits in the sockets, and takes no memory.
    let _permit = reading.acquire().await.ok();
    agent.read(into, silence, request.total_timeout).await
}

/// Connects in time.
pub(super) async fn connect<D: Dial>(
    dial: &D,
    peer: &Peer,
    request: &Request,
) -> Result<Agent<D::Stream>, AgentError> {
    let within = request.connect_timeout;
    match timeout(within, dial.dial(peer)).await {
        Ok(Ok(stream)) => Ok(Agent::new(stream, &request.limits)),
        Ok(Err(error)) => Err(AgentError::Connect(error)),
        Err(_) => Err(AgentError::ConnectLate(within)),
    }
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
