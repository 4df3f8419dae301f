//! The task that keeps our Lease and follows those of the others.
//!
//! It lists them again and again instead of watching them: a watch tells of changes, but that nothing has changed until
//! a certain moment, on which both a gain and a death depend, only a list can tell. Three replicas with
//! Leases of 15 s make one list and one write a second between them.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::time::{sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{info, warn};

use super::machine::{Action, Machine};
use super::members::Members;
use super::now;
use super::ownership::Ownership;
use super::peers::Seen;
use super::record::Leases;
use super::shards::Shards;
use super::terms::Terms;
use crate::cluster::{Cluster, ClusterError};
use crate::web::Gate;

/// How a replica takes part.
#[derive(Clone, Debug)]
pub struct Options {
    /// The namespace of the Leases: that of the controller.
    pub namespace: String,
    /// Who we are: never used before, and fit to be part of a name (see [`super::identity()`]).
    pub identity: String,
    /// How long a Lease lasts, in whole seconds up to ten minutes. Takeover after a crash takes that long.
    pub duration: Duration,
}

/// Keeps our Lease until it is released, or dropped: then it runs out.
pub struct Keeper {
    stop: CancellationToken,
    task: AbortOnDropHandle<Driver>,
}

impl Keeper {
    /// Joins the replicas of a namespace, as soon as the server lets us. Keys become ours a little later, once everybody
    /// agrees. `held` is open while our Lease is renewed in time, and says otherwise why it is not.
    pub fn start(cluster: Cluster, options: Options, held: Gate) -> (Shards, Self) {
        let Options {
            namespace,
            identity,
            duration,
        } = options;
        let terms = Terms::new(duration);
        let shards = Shards::none();
        let driver = Driver {
            machine: Machine::new(identity.clone(), terms, now()),
            leases: Leases {
                cluster,
                namespace,
                identity,
                terms,
                acquired: Timestamp::now(),
            },
            shards: shards.clone(),
            holds: false,
            held,
            ailing: None,
        };
        let stop = CancellationToken::new();
        let task = AbortOnDropHandle::new(tokio::spawn(driver.run(stop.clone())));
        (shards, Self { stop, task })
    }

    /// Stops giving permits, waits for the writes in hand, and gives up the Lease, so that others take over at once.
    ///
    /// Should writes take longer than the Lease lasts, or the server not answer, it runs out by itself.
    pub async fn release(self) {
        self.stop.cancel();
        if let Ok(driver) = self.task.await {
            driver.release().await;
        }
    }
}

struct Driver {
    machine: Machine,
    leases: Leases,
    shards: Shards,
    /// Whether our Lease was held when we last looked.
    holds: bool,
    held: Gate,
    /// What failed last, and how: only the first failure in a row is worth a warning.
    ailing: Option<(&'static str, ClusterError)>,
}

impl Driver {
    async fn run(mut self, stop: CancellationToken) -> Self {
        while !stop.is_cancelled() {
            // It has been told, and the machine knows when to try again.
            let _ = self.step(&stop).await;
        }
        self
    }

    /// Does one thing. Nothing but waiting is cut short by `stop`, so that we know how every write ended.
    async fn step(&mut self, stop: &CancellationToken) -> Result<(), ClusterError> {
        let sent = now();
        let ownership = self.machine.ownership(sent);
        self.tell_whether_held(sent);
        self.shards.set(ownership, self.machine.members());
        let identity = &self.leases.identity;
        let left = |view: &Members| self.shards.are_left_to(identity, view);
        let patience = self.leases.terms.interval();
        match self.machine.next(sent, left) {
            Action::List => {
                let answer = within(patience, self.leases.list()).await;
                match self.told("Leases cannot be listed", answer) {
                    Ok(leases) => self.listed(sent, leases),
                    Err(error) => {
                        self.machine.not_listed(now());
                        return Err(error);
                    }
                }
            }
            Action::Write(write) => {
                let answer = within(patience, self.leases.write(&write)).await;
                match self.told("our Lease cannot be written", answer) {
                    Ok(version) => self.machine.wrote(sent, now(), write.view, version),
                    Err(error) => {
                        self.machine.not_written(now());
                        return Err(error);
                    }
                }
            }
            Action::Delete(seen) => {
                let answer = within(patience, self.leases.delete(&seen)).await;
                self.told("a dead replica's Lease cannot be deleted", answer)?;
            }
            Action::Wait(until) => {
                tokio::select! {
                    () = sleep_until(until.into()) => {}
                    () = self.shards.permit_ended() => {}
                    () = stop.cancelled() => {}
                }
            }
        }
        Ok(())
    }

    fn listed(&mut self, asked: Instant, leases: Vec<Seen>) {
        let before = self.machine.members().clone();
        self.machine.listed(asked, now(), leases);
        let members = self.machine.members();
        if *members != before {
            info!(%members, "the replicas are these now");
        }
    }

    fn tell_whether_held(&mut self, now: Instant) {
        let ends = self.machine.deadline();
        let holds = ends.is_some_and(|deadline| now < deadline);
        let lease = self.leases.name();
        match (self.holds, holds) {
            (false, true) => info!(lease, "our Lease is held"),
            (true, false) => warn!(lease, "our Lease has run out: nothing is written"),
            _ => {}
        }
        self.holds = holds;
        match &self.ailing {
            _ if holds => self.held.open(),
            Some((failure, error)) => self.held.shut(format!("{failure}: {error}")),
            None => self.held.shut("our Lease is not written yet"),
        }
    }

    fn told<T>(
        &mut self,
        failure: &'static str,
        answer: Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        match &answer {
            Ok(_) if self.ails_of(failure) => self.ailing = None,
            Ok(_) => {}
            Err(error) => {
                if !self.ails_of(failure) {
                    warn!(%error, lease = self.leases.name(), "{failure}");
                }
                self.ailing = Some((failure, error.clone()));
            }
        }
        answer
    }

    fn ails_of(&self, failure: &str) -> bool {
        self.ailing
            .as_ref()
            .is_some_and(|(what, _)| *what == failure)
    }

    async fn release(self) {
        self.shards.set(Ownership::nothing(), &Members::default());
        self.held.shut("it is given up");
        let lasts = self.leases.terms.duration();
        let lease = self.leases.name();
        if timeout(lasts, self.shards.idle()).await.is_err() {
            warn!(lease, "writes do not end: the Lease is left to run out");
        } else if let Err(error) = within(lasts, self.give_up()).await {
            warn!(%error, lease, "the Lease cannot be released, and is left to run out");
        }
    }

    async fn give_up(&self) -> Result<(), ClusterError> {
        if let Some(version) = self.machine.lease() {
            return self.leases.release(version).await;
        }
        let leases = self.leases.list().await?;
        match leases
            .iter()
            .find(|seen| seen.identity == self.leases.identity)
        {
            Some(seen) => self.leases.release(&seen.version).await,
            None => Ok(()),
        }
    }
}

/// A request that takes longer than this helps nobody: the next one may be faster.
async fn within<T>(
    patience: Duration,
    answer: impl Future<Output = Result<T, ClusterError>>,
) -> Result<T, ClusterError> {
    timeout(patience, answer).await.unwrap_or_else(|_| {
        let text = format!("no answer within {} ms", patience.as_millis());
        Err(ClusterError::Unavailable(text))
    })
}
