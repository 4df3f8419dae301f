//! As whom a run talks to the API server.

use crate::cluster::Cluster;

/// The connections of a run. The Sync itself is the controller's business; its members are that of the account which the
/// Sync names, if it names one.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// For everything that the source asks for.
    pub members: &'a Cluster,
    /// For the Sync.
    pub sync: &'a Cluster,
}

impl<'a> From<&'a Cluster> for Access<'a> {
    fn from(cluster: &'a Cluster) -> Self {
        Self {
            members: cluster,
            sync: cluster,
        }
    }
}
