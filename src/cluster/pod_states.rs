//! The pods of a Deployment whose rollout does not go on, and the ends of their logs.

use kube::core::Request;
use kube::core::params::ListParams;
use kube::core::subresource::LogParams;
use serde_json::Value;

use super::read::{List, invalid, request, segment};
use super::{Cluster, ClusterError, Kind};
use crate::metrics::ApiVerb;
use crate::render::PodFacts;

/// So many pods of a rollout are looked at: they fail alike.
const PODS: u32 = 50;

/// So many lines from the end of a log. A JVM that aborts writes some 60 (OpenJDK 17 with JaCoCo 0.8.6).
const LINES: i64 = 200;

/// So much of a log. The server counts it from the first of the lines.
const BYTES: i64 = 64 << 10;

impl Cluster {
    /// Reads the first pods that a selector matches, without those that are being deleted.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn pod_states(
        &self,
        namespace: &str,
        selector: &str,
    ) -> Result<Vec<PodFacts>, ClusterError> {
        let params = ListParams::default().labels(selector).limit(PODS);
        let request = request(&Kind::pod(), Some(namespace))
            .list(&params)
            .map_err(invalid)?;
        let list: List<Value> = self.read(ApiVerb::List, request).await?;
        let pods = list.items.unwrap_or_default();
        Ok(pods.iter().filter_map(PodFacts::read).collect())
    }

    /// Reads the end of a container's log: of its present run, or of the one before.
    ///
    /// # Errors
    /// As the server answers; [`ClusterError::Invalid`] when there is none.
    pub async fn log_end(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        previous: bool,
    ) -> Result<String, ClusterError> {
        let params = LogParams {
            container: Some(container.to_owned()),
            previous,
            tail_lines: Some(LINES),
            limit_bytes: Some(BYTES),
            ..LogParams::default()
        };
        let pods: Request = request(&Kind::pod(), Some(namespace));
        let request = pods.logs(&segment(pod), &params).map_err(invalid)?;
        let log = self.answer(ApiVerb::Get, request).await?;
        Ok(String::from_utf8_lossy(log.as_ref()).into_owned())
    }
}
