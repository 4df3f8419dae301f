//! What a build is told beside the files.

use std::time::Duration;

/// What a build is told beside the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Name of the Helm release.
    pub release: String,
    /// Namespace of the Helm release.
    pub namespace: String,
    /// Values for the chart; later ones win.
    pub values: Vec<Values>,
    /// Whether a kustomization may refer to places in the network; the build then has a network.
    pub allow_remote: bool,
    /// How long it may take, if not as long as the limits say.
    pub time: Option<Duration>,
}

/// Values for a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// A file of the source, from the chart's folder.
    OfSource(String),
    /// A file that was given with the command.
    Given(Vec<u8>),
}
