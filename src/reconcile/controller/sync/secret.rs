//! The credentials of a git source, from a Secret in the Sync's own namespace.

use crate::cluster::Cluster;
use crate::reconcile::controller::problem::Problem;
use crate::reconcile::controller::secret::read;
use crate::source::git::Credentials;

/// Reads a Secret, as whoever reads the members.
///
/// # Errors
/// Why there are no credentials; no value of the Secret is told.
pub async fn credentials(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
) -> Result<Credentials, Problem> {
    let failed = |why: String| {
        let message = format!("spec.source.git.secretRef: Secret {namespace}/{name}: {why}");
        Problem::passing("CredentialsUnavailable", message)
    };
    let data = read(cluster, namespace, name).await.map_err(failed)?;
    Credentials::from_secret(&data).map_err(failed)
}
