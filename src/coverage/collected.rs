//! What came of collecting.

use super::{Mismatch, SessionInfo, Store};

/// What was collected.
#[derive(Debug)]
pub struct Collected {
    /// What ran anywhere.
    pub union: Store,
    /// What does not fit into the union, since peers say different things of a class: each has one more form of some classes.
    pub unmerged: Vec<Store>,
    /// What came of each peer, in the order in which they were given.
    pub pods: Vec<PodResult>,
}

impl Collected {
    /// Tells whether all of every peer is in the union.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let whole = |dump: &PodDump| dump.mismatched == 0;
        self.pods
            .iter()
            .all(|pod| pod.outcome.as_ref().is_ok_and(whole))
    }

    /// The numbers of the peers of which all is in the union, so that their agents can begin anew and nothing is lost.
    #[must_use]
    pub fn whole(&self) -> Vec<usize> {
        let whole = |pod: &PodResult| {
            let whole = |dump: &PodDump| dump.mismatched == 0 && dump.same_as.is_none();
            pod.outcome.as_ref().is_ok_and(whole)
        };
        let pods = self.pods.iter().enumerate();
        pods.filter(|(_, pod)| whole(pod))
            .map(|(number, _)| number)
            .collect()
    }
}

/// What came of a peer.
#[derive(Clone, Debug)]
pub struct PodResult {
    /// Its name.
    pub peer: String,
    /// What it has sent, or why that is not all.
    pub outcome: Result<PodDump, PodFailure>,
}

/// What a peer has sent.
#[derive(Clone, Debug, Default)]
pub struct PodDump {
    /// Its sessions.
    pub sessions: Vec<SessionInfo>,
    /// Classes of which something has run.
    pub classes: u64,
    /// Probes that were hit.
    pub hit: u64,
    /// Those of them that no other peer has hit.
    pub alone: u64,
    /// Classes that are not in the union, since others have the same id and another name or number of probes: the first of them.
    pub mismatches: Vec<Mismatch>,
    /// How many they are.
    pub mismatched: u64,
    /// The peer that is the same JVM at an address of the other family.
    pub same_as: Option<String>,
    /// Whether its agent has begun anew.
    pub reset: bool,
}

/// Why a peer's dump is not there, or not all of it.
#[derive(Clone, Debug)]
pub struct PodFailure {
    /// One word for it.
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// What came before, which is in the union.
    pub kept: PodDump,
}
