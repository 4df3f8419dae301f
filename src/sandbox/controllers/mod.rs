//! As many of Kubernetes' controllers as the story needs: garbage collection, namespaces, Deployments, EndpointSlices.
//!
//! They act as the real ones do: they look at objects that have changed, and write through the same door as everybody else.

mod claims;
mod client;
mod daemon_sets;
mod deployments;
mod endpoints;
mod garbage;
mod jobs;
mod kubelet;
mod memory;
mod namespaces;
mod object;
mod pods;
mod replica_sets;
mod slices;
mod stateful_sets;
#[cfg(test)]
mod tests;
mod watch;

pub use self::memory::Controllers;

use self::watch::{Controller, Work};
use super::state::State;

/// Which controllers run, and what they do with pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pods {
    /// They are ready at once, with an address.
    Ready,
    /// They are made and wait for ever, as without a node.
    Pending,
}

/// Does one piece of what is to be done at this moment; tells whether there was any.
pub fn step(state: &mut State, pods: Pods) -> bool {
    watch::look(state);
    let work = state.controllers.next();
    if let Some(work) = &work {
        run(state, pods, work);
    }
    work.is_some()
}

fn run(state: &mut State, pods: Pods, work: &Work) {
    let key = &work.key;
    match work.controller {
        Controller::Garbage => garbage::collect(state, key),
        Controller::Namespaces => namespaces::sync(state, key),
        Controller::Claims => claims::sync_claim(state, key),
        Controller::Volumes => claims::sync_volume(state, key),
        Controller::Deployments => deployments::sync(state, key),
        Controller::ReplicaSets => replica_sets::sync(state, key),
        Controller::StatefulSets => stateful_sets::sync(state, key),
        Controller::DaemonSets => daemon_sets::sync(state, key, pods),
        Controller::Jobs => jobs::sync(state, key),
        Controller::Kubelet => kubelet::sync(state, key, pods),
        Controller::Endpoints => endpoints::sync(state, key),
        Controller::Slices => slices::sync(state, key),
    }
}
