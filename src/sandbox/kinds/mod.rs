//! What the built-in kinds do to their objects: defaults, rules, and what may not change.

mod autoscaling;
mod causes;
mod cluster;
mod configuration;
mod cron;
mod defaults;
mod events;
mod ingress;
mod jobs;
mod labels;
mod network_policies;
mod pod;
mod quantity;
mod quotas;
mod rbac;
mod scaling;
mod services;
mod spot;
mod status;
mod storage;
#[cfg(test)]
mod tests;
mod webhooks;
mod workloads;

use serde_json::Value;

use self::causes::Causes;
pub use self::services::Taken;
use self::spot::Spot;
use super::error::{ApiError, Cause};
use super::state::State;
use super::types::Kind;

/// Adds defaults.
pub fn default(kind: &Kind, object: &mut Value) {
    match kind.resource().as_str() {
        "pods" => {
            if let Some(spec) = object.get_mut("spec") {
                pod::default_spec(spec);
            }
            pod::default_pod(object);
        }
        "podtemplates" => {
            if let Some(spec) = object.pointer_mut("/template/spec") {
                pod::default_spec(spec);
            }
        }
        "deployments.apps" => workloads::default_deployment(object),
        "replicasets.apps" => workloads::default_replica_set(object),
        "statefulsets.apps" => workloads::default_stateful_set(object),
        "daemonsets.apps" => workloads::default_daemon_set(object),
        "replicationcontrollers" => workloads::default_replication_controller(object),
        "jobs.batch" => jobs::default_job(object),
        "cronjobs.batch" => jobs::default_cron_job(object),
        "services" => services::default(object),
        "endpoints" => services::default_endpoints(object),
        "endpointslices.discovery.k8s.io" => services::default_slice(object),
        "secrets" => configuration::default_secret(object),
        "limitranges" => quotas::default_limits(object),
        "namespaces" => cluster::default_namespace(object),
        "nodes" => cluster::default_node(object),
        "priorityclasses.scheduling.k8s.io" => defaults::add(object, cluster::PRIORITY),
        "rolebindings.rbac.authorization.k8s.io"
        | "clusterrolebindings.rbac.authorization.k8s.io" => rbac::default_binding(object),
        "networkpolicies.networking.k8s.io" => network_policies::default(object),
        "horizontalpodautoscalers.autoscaling" => autoscaling::default(object),
        "validatingwebhookconfigurations.admissionregistration.k8s.io" => {
            defaults::add(object, webhooks::DEFAULTS);
        }
        "mutatingwebhookconfigurations.admissionregistration.k8s.io" => {
            webhooks::default_mutating(object);
        }
        "apiservices.apiregistration.k8s.io" => defaults::add(object, webhooks::SERVICE),
        "flowschemas.flowcontrol.apiserver.k8s.io" => defaults::add(object, cluster::FLOW),
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io" => {
            cluster::default_level(object);
        }
        "persistentvolumeclaims" => storage::default_claim(object),
        "persistentvolumes" => storage::default_volume(object),
        "storageclasses.storage.k8s.io" => defaults::add(object, storage::CLASS),
        "csidrivers.storage.k8s.io" => storage::default_driver(object),
        _ => {}
    }
}

/// Brings a new object into the form that it is kept in: no status, addresses given out, generated fields.
///
/// # Errors
/// Such as an address that is taken.
pub fn prepare_create(state: &mut State, kind: &Kind, object: &mut Value) -> Result<(), ApiError> {
    status::begin(kind, object);
    match kind.resource().as_str() {
        "pods" => pod::create(state, object)?,
        "daemonsets.apps" => workloads::create_daemon_set(object),
        "jobs.batch" => jobs::create(object),
        "services" => {
            services::prepare_create(object);
            // What is wrong otherwise is told first, and gets no address.
            if validate_create(kind, object).is_empty() {
                services::allocate(state, object)?;
            }
        }
        "namespaces" => cluster::create_namespace(object),
        "nodes" => cluster::create_node(object),
        "persistentvolumeclaims" => storage::create(state, object, true),
        "persistentvolumes" => storage::create(state, object, false),
        _ => {}
    }
    Ok(())
}

/// Whether new objects keep the status that they are sent with: kubelets make their nodes with one.
pub fn keeps_status(kind: &Kind) -> bool {
    kind.resource() == "nodes"
}

/// Carries over what an update may not touch, but for `metadata` and `status`, which all kinds treat alike.
pub fn prepare_update(kind: &Kind, new: &mut Value, old: &Value) {
    match kind.resource().as_str() {
        "pods" => pod::prepare_update(new, old),
        "daemonsets.apps" => workloads::prepare_daemon_set_update(new, old),
        "services" => services::prepare_update(new, old),
        "secrets" => configuration::prepare_secret_update(new, old),
        "namespaces" => cluster::prepare_namespace_update(new, old),
        _ => {}
    }
}

/// Gives a changed object what only its new form needs, such as the address of a Service that had none.
///
/// # Errors
/// Such as a port that is taken.
pub fn complete_update(
    state: &State,
    kind: &Kind,
    new: &mut Value,
    old: &Value,
) -> Result<(), ApiError> {
    match kind.resource().as_str() {
        "services" => services::allocate_update(state, new, old),
        _ => Ok(()),
    }
}

/// What is wrong with a new object.
pub fn validate_create(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut causes = Causes::default();
    let object = Spot::root(object);
    let resource = kind.resource();
    check(&mut causes, &resource, &object);
    match resource.as_str() {
        "ingresses.networking.k8s.io" => ingress::check_new(&mut causes, &object),
        "pods" => pod::check_new(&mut causes, &object),
        _ => {}
    }
    causes.0
}

/// What is wrong with a changed object.
pub fn validate_update(kind: &Kind, new: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = Causes::default();
    let object = Spot::root(new);
    let resource = kind.resource();
    check(&mut causes, &resource, &object);
    check_update(&mut causes, &resource, &object, old);
    causes.0
}

fn check(causes: &mut Causes, resource: &str, object: &Spot<'_>) {
    match resource {
        "pods" => pod::check_pod(causes, object),
        "podtemplates" => pod::check_template(causes, &object.field("template")),
        "deployments.apps" => workloads::check_deployment(causes, object),
        "replicasets.apps" => workloads::check_replica_set(causes, object),
        "statefulsets.apps" => workloads::check_stateful_set(causes, object),
        "daemonsets.apps" => workloads::check_daemon_set(causes, object),
        "replicationcontrollers" => workloads::check_replication_controller(causes, object),
        "controllerrevisions.apps" => events::check_revision(causes, object),
        "jobs.batch" => jobs::check_job(causes, object),
        "cronjobs.batch" => jobs::check_cron_job(causes, object),
        "services" => services::check(causes, object),
        "endpoints" => services::check_endpoints(causes, object),
        "endpointslices.discovery.k8s.io" => services::check_slice(causes, object),
        "configmaps" => configuration::check_config_map(causes, object),
        "secrets" => configuration::check_secret(causes, object),
        "resourcequotas" => quotas::check_quota(causes, object),
        "limitranges" => quotas::check_limits(causes, object),
        "namespaces" => cluster::check_namespace(causes, object),
        "nodes" => cluster::check_node(causes, object),
        "priorityclasses.scheduling.k8s.io" => cluster::check_priority(causes, object),
        "runtimeclasses.node.k8s.io" => cluster::check_runtime(causes, object),
        "events" => events::check_core(causes, object),
        "events.events.k8s.io" => events::check(causes, object),
        "leases.coordination.k8s.io" => events::check_lease(causes, object),
        "roles.rbac.authorization.k8s.io" => rbac::check_role(causes, object, true),
        "clusterroles.rbac.authorization.k8s.io" => rbac::check_role(causes, object, false),
        "rolebindings.rbac.authorization.k8s.io" => rbac::check_binding(causes, object, true),
        "clusterrolebindings.rbac.authorization.k8s.io" => {
            rbac::check_binding(causes, object, false);
        }
        "ingresses.networking.k8s.io" => ingress::check(causes, object),
        "ingressclasses.networking.k8s.io" => ingress::check_class(causes, object),
        "networkpolicies.networking.k8s.io" => network_policies::check(causes, object),
        "horizontalpodautoscalers.autoscaling" => autoscaling::check(causes, object),
        "poddisruptionbudgets.policy" => scaling::check_budget(causes, object),
        "validatingwebhookconfigurations.admissionregistration.k8s.io"
        | "mutatingwebhookconfigurations.admissionregistration.k8s.io" => {
            webhooks::check(causes, object);
        }
        "apiservices.apiregistration.k8s.io" => webhooks::check_api_service(causes, object),
        "persistentvolumeclaims" => storage::check_claim(causes, object),
        "persistentvolumes" => storage::check_volume(causes, object),
        "storageclasses.storage.k8s.io" => storage::check_class(causes, object),
        "csidrivers.storage.k8s.io" => storage::check_csi_driver(causes, object),
        _ => {}
    }
}

fn check_update(causes: &mut Causes, resource: &str, new: &Spot<'_>, old: &Value) {
    match resource {
        "pods" => pod::check_update(causes, new, old),
        "deployments.apps" | "replicasets.apps" | "daemonsets.apps" => {
            workloads::check_selector_update(causes, new, old);
        }
        "statefulsets.apps" => workloads::check_stateful_set_update(causes, new, old),
        "controllerrevisions.apps" => events::check_revision_update(causes, new, old),
        "jobs.batch" => jobs::check_job_update(causes, new, old),
        "services" => services::check_update(causes, new, old),
        "endpointslices.discovery.k8s.io" => services::check_slice_update(causes, new, old),
        "configmaps" => configuration::check_update(causes, new, old, false),
        "secrets" => configuration::check_update(causes, new, old, true),
        "resourcequotas" => quotas::check_quota_update(causes, new, old),
        "nodes" => cluster::check_node_update(causes, new, old),
        "priorityclasses.scheduling.k8s.io" => cluster::check_priority_update(causes, new, old),
        "runtimeclasses.node.k8s.io" => cluster::check_runtime_update(causes, new, old),
        "rolebindings.rbac.authorization.k8s.io"
        | "clusterrolebindings.rbac.authorization.k8s.io" => {
            rbac::check_binding_update(causes, new, old);
        }
        "ingressclasses.networking.k8s.io" => ingress::check_class_update(causes, new, old),
        "persistentvolumeclaims" => storage::check_claim_update(causes, new, old),
        "persistentvolumes" => storage::check_volume_update(causes, new, old),
        "storageclasses.storage.k8s.io" => storage::check_class_update(causes, new, old),
        _ => {}
    }
}
