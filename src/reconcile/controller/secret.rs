//! Secrets that Syncs and Campaigns name, in their own namespaces.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::cluster::{Cluster, ClusterError};

/// What a Secret holds.
pub type Data = BTreeMap<String, Vec<u8>>;

/// Reads a Secret, as whoever the connection is for.
///
/// # Errors
/// Why it is not there; no value of it is told.
pub async fn read(cluster: &Cluster, namespace: &str, name: &str) -> Result<Data, String> {
    let secret = find(cluster, namespace, name).await;
    let secret = secret.map_err(|error| error.to_string())?;
    let secret = secret.ok_or("it does not exist")?;
    let data = secret.get("data").and_then(Value::as_object);
    Ok(data
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), STANDARD.decode(value.as_str()?).ok()?)))
        .collect())
}

async fn find(
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
