//! Names that are written into clusters. They are fixed for ever: objects in the field carry them.

/// API group of our kinds.
pub const GROUP: &str = "closurejvm.io";
/// API version of our kinds.
pub const VERSION: &str = "v1alpha1";
/// `apiVersion` of our kinds.
pub const API_VERSION: &str = "closurejvm.io/v1alpha1";

/// Kind of a source and its apply set.
pub const SYNC: &str = "Sync";
/// Kind of the controller's settings, which are in files only.
pub const CONFIG: &str = "Config";
/// Kind of a Deployment whose coverage is wanted.
pub const TARGET: &str = "ClosureJVMTarget";

/// Field manager of applied objects and rendered children.
pub const FIELD_MANAGER: &str = "covergence";
/// Field manager of what a Sync says of its apply set. A manager of its own, so that a Sync that is itself in the source
/// can be applied without taking that away.
pub const INVENTORY_MANAGER: &str = "covergence-inventory";
/// Field manager of the status of our kinds.
pub const STATUS_MANAGER: &str = "covergence-status";

/// Field manager of the agent in Deployments that no Sync composes it into.
pub const AGENT_MANAGER: &str = "covergence-agent";

/// Field manager of a request for a run that one replica passes on to another.
pub const REQUEST_MANAGER: &str = "covergence-request";
/// Field manager of the Leases of our replicas.
pub const LEASE_MANAGER: &str = "covergence-lease";

/// How the names of our replicas' Leases start; their identity follows.
pub const LEASE_PREFIX: &str = "covergence-";
/// Label and its value on the Leases of our replicas.
pub const LEASE_COMPONENT: (&str, &str) = ("app.kubernetes.io/component", "replica");
/// Annotation of a replica's Lease: sorted identities of the replicas that it shares the keys with, with commas.
pub const LEASE_MEMBERS: &str = "closurejvm.io/members";

/// Init container that brings the agent, and the volume that it is brought in.
pub const AGENT: &str = "covergence-agent";
/// Where the agent's volume is mounted.
pub const AGENT_DIRECTORY: &str = "/covergence-agent";
/// The agent, for the JVM.
pub const AGENT_JAR: &str = "/covergence-agent/jacocoagent.jar";
/// What the init container runs; an image of somebody else's must have that command too.
pub const AGENT_INSTALL: [&str; 4] = ["/usr/bin/covergence", "agent", "install", AGENT_DIRECTORY];
/// Name of the agent's port, in containers and in Services.
pub const COVERAGE_PORT_NAME: &str = "jacoco";
/// Label of pods that carry the agent: the port that it listens on.
pub const COVERAGE_PORT: &str = "closurejvm.io/coverage-port";
/// Annotation of a Deployment that no Sync composes the agent into: for whom it carries it, and what was there before; and
/// label of the same Deployments, by which they are found.
pub const AGENT_RECORD: &str = "closurejvm.io/agent";

/// Annotation: digest of the object as we last applied it, `sha256:<hex>`.
pub const APPLIED_DIGEST: &str = "closurejvm.io/applied-digest";
/// Annotation of a Sync: the source it was last written from.
pub const SOURCE: &str = "closurejvm.io/source";
/// Finalizer of a Sync whose members go with it: it stays until they are gone.
pub const MEMBERS_FINALIZER: &str = "closurejvm.io/members";
/// Annotation of a Sync that asks for a run; its value is answered in `status.lastHandledReconcileAt` (as in Flux).
pub const REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";
/// Annotation of a Sync: the revision whose prunes somebody approves, or [`DELETION`].
pub const APPROVE_PRUNE: &str = "closurejvm.io/approve-prune";
/// What approves that a Sync which is deleted takes along what goes only when that is approved.
pub const DELETION: &str = "deletion";
/// Annotation (or label) of an object: how it is pruned. `confirm` asks for an approval, `disabled` keeps it.
pub const PRUNE: &str = "closurejvm.io/prune";
/// Label and its value on every child that we render.
pub const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "covergence");
/// Label and its value on coverage Services.
pub const COMPONENT: (&str, &str) = ("app.kubernetes.io/component", "coverage");

/// Label of an ApplySet's parent: the set's id (kubectl `applyset.go`).
pub const APPLYSET_ID: &str = "applyset.kubernetes.io/id";
/// Label of an ApplySet's members: the id of the set they belong to.
pub const APPLYSET_PART_OF: &str = "applyset.kubernetes.io/part-of";
/// Annotation of the parent: which tool keeps the set, `<name>/<version>`.
pub const APPLYSET_TOOLING: &str = "applyset.kubernetes.io/tooling";
/// Annotation of the parent: sorted `Kind.group` list of what the set may hold.
pub const APPLYSET_GROUP_KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
/// Annotation of the parent: sorted namespaces, other than the parent's, that the set may reach.
pub const APPLYSET_NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";
/// Label of a CRD whose objects may be ApplySet parents.
pub const APPLYSET_PARENT_TYPE: &str = "applyset.kubernetes.io/is-parent-type";
