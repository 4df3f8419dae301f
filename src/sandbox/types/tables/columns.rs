//! The columns of each built-in kind.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age, cluster, network, text, workloads};

/// The cells of an object's row.
pub type Cells = fn(&Value, Timestamp) -> Vec<Value>;

/// The head of a column: its name, its type, and its priority (more than 0 for `-o wide`).
pub struct Head(pub &'static str, pub &'static str, pub u32);

impl Head {
    /// As in `columnDefinitions`.
    pub fn definition(&self) -> Value {
        let Self(name, r#type, priority) = self;
        let format = if *name == "Name" { "name" } else { "" };
        json!({ "name": name, "type": r#type, "format": format, "description": "", "priority": priority })
    }
}

const fn head(name: &'static str) -> Head {
    Head(name, "string", 0)
}

const fn count(name: &'static str) -> Head {
    Head(name, "integer", 0)
}

const fn flag(name: &'static str) -> Head {
    Head(name, "boolean", 0)
}

const fn wide(name: &'static str) -> Head {
    Head(name, "string", 1)
}

const NAME: Head = head("Name");
const AGE: Head = head("Age");

/// The columns of the kind that [`crate::types::Kind::resource`] names so.
pub fn of(resource: &str) -> (&'static [Head], Cells) {
    match resource {
        "pods" => (
            const {
                &[
                    NAME,
                    head("Ready"),
                    head("Status"),
                    count("Restarts"),
                    AGE,
                    wide("IP"),
                    wide("Node"),
                    wide("Nominated Node"),
                    wide("Readiness Gates"),
                ]
            },
            workloads::pod,
        ),
        "deployments.apps" => (
            const {
                &[
                    NAME,
                    head("Ready"),
                    head("Up-to-date"),
                    head("Available"),
                    AGE,
                    wide("Containers"),
                    wide("Images"),
                    wide("Selector"),
                ]
            },
            workloads::deployment,
        ),
        "replicasets.apps" | "replicationcontrollers" => (
            const {
                &[
                    NAME,
                    count("Desired"),
                    count("Current"),
                    count("Ready"),
                    AGE,
                    wide("Containers"),
                    wide("Images"),
                    wide("Selector"),
                ]
            },
            workloads::replica_set,
        ),
        "statefulsets.apps" => (
            const { &[NAME, head("Ready"), AGE, wide("Containers"), wide("Images")] },
            workloads::stateful_set,
        ),
        "daemonsets.apps" => (
            const {
                &[
                    NAME,
                    count("Desired"),
                    count("Current"),
                    count("Ready"),
                    count("Up-to-date"),
                    count("Available"),
                    head("Node Selector"),
                    AGE,
                    wide("Containers"),
                    wide("Images"),
                    wide("Selector"),
                ]
            },
            workloads::daemon_set,
        ),
        "jobs.batch" => (
            const {
                &[
                    NAME,
                    head("Completions"),
                    head("Duration"),
                    AGE,
                    wide("Containers"),
                    wide("Images"),
                    wide("Selector"),
                ]
            },
            workloads::job,
        ),
        "cronjobs.batch" => (
            const {
                &[
                    NAME,
                    head("Schedule"),
                    flag("Suspend"),
                    count("Active"),
                    head("Last Schedule"),
                    AGE,
                    wide("Containers"),
                    wide("Images"),
                    wide("Selector"),
                ]
            },
            workloads::cron_job,
        ),
        "controllerrevisions.apps" => (
            const { &[NAME, head("Controller"), head("Revision"), AGE] },
            workloads::controller_revision,
        ),
        "horizontalpodautoscalers.autoscaling" => (
            const {
                &[
                    NAME,
                    head("Reference"),
                    head("Targets"),
                    head("MinPods"),
                    head("MaxPods"),
                    head("Replicas"),
                    AGE,
                ]
            },
            workloads::autoscaler,
        ),
        "poddisruptionbudgets.policy" => (
            const {
                &[
                    NAME,
                    head("Min Available"),
                    head("Max Unavailable"),
                    count("Allowed Disruptions"),
                    AGE,
                ]
            },
            workloads::disruption_budget,
        ),
        "services" => (
            const {
                &[
                    NAME,
                    head("Type"),
                    head("Cluster-IP"),
                    head("External-IP"),
                    head("Port(s)"),
                    AGE,
                    wide("Selector"),
                ]
            },
            network::service,
        ),
        "endpoints" => (
            const { &[NAME, head("Endpoints"), AGE] },
            network::endpoints,
        ),
        "endpointslices.discovery.k8s.io" => (
            const {
                &[
                    NAME,
                    head("AddressType"),
                    head("Ports"),
                    head("Endpoints"),
                    AGE,
                ]
            },
            network::endpoint_slice,
        ),
        "ingresses.networking.k8s.io" => (
            const {
                &[
                    NAME,
                    head("Class"),
                    head("Hosts"),
                    head("Address"),
                    head("Ports"),
                    AGE,
                ]
            },
            network::ingress,
        ),
        "ingressclasses.networking.k8s.io" => (
            const { &[NAME, head("Controller"), head("Parameters"), AGE] },
            network::ingress_class,
        ),
        "networkpolicies.networking.k8s.io" => (
            const { &[NAME, head("Pod-Selector"), AGE] },
            network::policy,
        ),
        other => more(other),
    }
}

fn more(resource: &str) -> (&'static [Head], Cells) {
    match resource {
        "nodes" => (
            const {
                &[
                    NAME,
                    head("Status"),
                    head("Roles"),
                    AGE,
                    head("Version"),
                    wide("Internal-IP"),
                    wide("External-IP"),
                    wide("OS-Image"),
                    wide("Kernel-Version"),
                    wide("Container-Runtime"),
                ]
            },
            cluster::node,
        ),
        "namespaces" => (const { &[NAME, head("Status"), AGE] }, cluster::namespace),
        "configmaps" => (const { &[NAME, head("Data"), AGE] }, cluster::config_map),
        "secrets" => (
            const { &[NAME, head("Type"), head("Data"), AGE] },
            cluster::secret,
        ),
        "serviceaccounts" => (
            const { &[NAME, head("Secrets"), AGE] },
            cluster::service_account,
        ),
        "events" | "events.events.k8s.io" => (
            const {
                &[
                    head("Last Seen"),
                    head("Type"),
                    head("Reason"),
                    head("Object"),
                    wide("Subobject"),
                    wide("Source"),
                    head("Message"),
                    wide("First Seen"),
                    wide("Count"),
                    Head("Name", "string", 1),
                ]
            },
            cluster::event,
        ),
        "persistentvolumes" => (
            const {
                &[
                    NAME,
                    head("Capacity"),
                    head("Access Modes"),
                    head("Reclaim Policy"),
                    head("Status"),
                    head("Claim"),
                    head("StorageClass"),
                    head("Reason"),
                    AGE,
                    wide("VolumeMode"),
                ]
            },
            cluster::volume,
        ),
        "persistentvolumeclaims" => (
            const {
                &[
                    NAME,
                    head("Status"),
                    head("Volume"),
                    head("Capacity"),
                    head("Access Modes"),
                    head("StorageClass"),
                    AGE,
                    wide("VolumeMode"),
                ]
            },
            cluster::claim,
        ),
        "storageclasses.storage.k8s.io" => (
            const {
                &[
                    NAME,
                    head("Provisioner"),
                    head("ReclaimPolicy"),
                    head("VolumeBindingMode"),
                    head("AllowVolumeExpansion"),
                    AGE,
                ]
            },
            cluster::storage_class,
        ),
        "leases.coordination.k8s.io" => (const { &[NAME, head("Holder"), AGE] }, cluster::lease),
        "resourcequotas" => (
            const { &[NAME, AGE, head("Request"), head("Limit")] },
            cluster::quota,
        ),
        "priorityclasses.scheduling.k8s.io" => (
            const { &[NAME, count("Value"), flag("Global-Default"), AGE] },
            cluster::priority_class,
        ),
        "mutatingwebhookconfigurations.admissionregistration.k8s.io"
        | "validatingwebhookconfigurations.admissionregistration.k8s.io" => {
            (const { &[NAME, count("Webhooks"), AGE] }, cluster::webhooks)
        }
        "rolebindings.rbac.authorization.k8s.io"
        | "clusterrolebindings.rbac.authorization.k8s.io" => (
            const {
                &[
                    NAME,
                    head("Role"),
                    AGE,
                    wide("Users"),
                    wide("Groups"),
                    wide("ServiceAccounts"),
                ]
            },
            cluster::binding,
        ),
        "roles.rbac.authorization.k8s.io"
        | "clusterroles.rbac.authorization.k8s.io"
        | "customresourcedefinitions.apiextensions.k8s.io"
        | "limitranges" => (const { &[NAME, Head("Created At", "date", 0)] }, created),
        _ => (const { &[NAME, AGE] }, plain),
    }
}

fn plain(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![text::name(object), age::of(object, now)]
}

fn created(object: &Value, _now: Timestamp) -> Vec<Value> {
    vec![
        text::name(object),
        text::at(object, "/metadata/creationTimestamp").into(),
    ]
}
