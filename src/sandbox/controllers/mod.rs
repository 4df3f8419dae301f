//! As many of Kubernetes' controllers as the story needs: garbage collection, namespaces, Deployments, EndpointSlices.

use super::state::State;

/// Which controllers run, and what they do with pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pods {
    /// They are ready at once, with an address.
    Ready,
    /// They are made and wait for ever, as without a node.
    Pending,
}

/// Does what is to be done at this moment; tells whether anything was.
pub fn step(_state: &mut State, _pods: Pods) -> bool {
    false
}
