//! How membership is written into Leases.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::machine::Write;
use super::members::Members;
use super::peers::Seen;
use super::terms::Terms;
use crate::api::names::{LEASE_COMPONENT, LEASE_MEMBERS, LEASE_PREFIX, MANAGED_BY};
use crate::cluster::{Cluster, ClusterError};
use crate::plan::{Expected, Live};

/// The Leases of a namespace, and which of them is ours.
pub(super) struct Leases {
    pub cluster: Cluster,
    pub namespace: String,
    pub identity: String,
    pub terms: Terms,
    /// When we created ours.
    pub acquired: Timestamp,
}

impl Leases {
    /// The name of ours.
    pub fn name(&self) -> String {
        name(&self.identity)
    }

    /// Lists them.
    pub async fn list(&self) -> Result<Vec<Seen>, ClusterError> {
        let ((managed, by), (component, replica)) = (MANAGED_BY, LEASE_COMPONENT);
        let selector = format!("{managed}={by},{component}={replica}");
        let leases = self.cluster.leases(&self.namespace, &selector).await?;
        // What is not written like ours tells of no replica.
        Ok(leases.iter().filter_map(read).collect())
    }

    /// Writes ours, and gives its new version.
    pub async fn write(&mut self, write: &Write) -> Result<Expected, ClusterError> {
        let now = Timestamp::now();
        if write.over.is_none() {
            self.acquired = now;
        }
        let lease = self.lease(Some(&self.identity), &write.view, write.over.as_ref(), now);
        Ok(self.cluster.apply_lease(&lease).await?.expected())
    }

    /// Gives ours up: without a holder, it belongs to nobody.
    pub async fn release(&self, over: &Expected) -> Result<(), ClusterError> {
        let lease = self.lease(None, &Members::default(), Some(over), Timestamp::now());
        self.cluster.apply_lease(&lease).await?;
        Ok(())
    }

    /// Deletes another's.
    pub async fn delete(&self, seen: &Seen) -> Result<(), ClusterError> {
        let name = name(&seen.identity);
        let delete = self
            .cluster
            .delete_lease(&self.namespace, &name, &seen.version);
        delete.await
    }

    fn lease(
        &self,
        holder: Option<&str>,
        view: &Members,
        over: Option<&Expected>,
        now: Timestamp,
    ) -> Value {
        // As MicroTime has it. Others see that it changes, and do not read it.
        let time = |time: Timestamp| format!("{time:.6}");
        let mut metadata = json!({
            "name": self.name(),
            "namespace": self.namespace,
            "labels": { MANAGED_BY.0: MANAGED_BY.1, LEASE_COMPONENT.0: LEASE_COMPONENT.1 },
            "annotations": { LEASE_MEMBERS: view.to_string() },
        });
        if let (Some(over), Some(metadata)) = (over, metadata.as_object_mut()) {
            metadata.insert("uid".into(), json!(over.uid));
            metadata.insert("resourceVersion".into(), json!(over.resource_version));
        }
        let mut spec = json!({
            "leaseDurationSeconds": self.terms.duration().as_secs(),
            "acquireTime": time(self.acquired),
            "renewTime": time(now),
        });
        // Left out, it goes: nobody else applies it.
        if let (Some(holder), Some(spec)) = (holder, spec.as_object_mut()) {
            spec.insert("holderIdentity".into(), json!(holder));
        }
        json!({ "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec })
    }
}

fn name(identity: &str) -> String {
    format!("{LEASE_PREFIX}{identity}")
}

fn read(lease: &Value) -> Option<Seen> {
    let live = Live::from_object(lease).ok()?;
    let spec = |field: &str| lease.get("spec")?.get(field);
    let identity = live.name.strip_prefix(LEASE_PREFIX)?;
    let holder = spec("holderIdentity").and_then(Value::as_str);
    let seconds = spec("leaseDurationSeconds").and_then(Value::as_u64);
    let view = live.annotations.get(LEASE_MEMBERS);
    Some(Seen {
        identity: identity.to_owned(),
        version: live.expected(),
        held: holder == Some(identity),
        terms: Terms::from_seconds(seconds.unwrap_or_default()),
        view: view.map(Members::parse).unwrap_or_default(),
    })
}
