//! The credentials of a git source, from a Secret in the Sync's own namespace.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::problem::Problem;
use crate::cluster::{Cluster, ClusterError};
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
    let secret = read(cluster, namespace, name).await;
    let secret = secret.map_err(|error| failed(error.to_string()))?;
    let secret = secret.ok_or_else(|| failed("it does not exist".into()))?;
    let data = secret.get("data").and_then(Value::as_object);
    let data: BTreeMap<String, Vec<u8>> = data
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), STANDARD.decode(value.as_str()?).ok()?)))
        .collect();
    Credentials::from_secret(&data).map_err(failed)
}

async fn read(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
) -> Result<Option<Value>, ClusterError> {
    let kinds = cluster.kinds(&BTreeSet::from(["v1".to_owned()])).await?;
    match kinds.get("v1", "Secret") {
        Some(kind) => cluster.get(kind, Some(namespace), name).await,
        None => Ok(None),
    }
}
