//! The library as the controller uses it: a cluster that is watched.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use covergence::cluster::{Change, Changes, Cluster, ClusterError, ConnectOptions};
use covergence::reconcile::{Planned, Report, Settings, make_plan, sync};
use covergence::source::{Limits, directory};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::lab;
use super::namespace::Namespace;
use super::source::Source;

/// A watched cluster, and a runtime that keeps the watches up.
pub struct Watcher {
    pub cluster: Cluster,
    changes: Changes,
    runtime: Runtime,
}

impl Watcher {
    /// Of the shared control plane, as somebody who may do everything.
    pub fn admin(user: &str) -> Self {
        Self::of(lab::shared(), user, &["system:masters"])
    }

    /// Of the control plane in a folder.
    pub fn of(lab: &Path, user: &str, groups: &[&str]) -> Self {
        Self::connect(&ConnectOptions {
            kubeconfig: Some(lab.join("kubeconfig")),
            as_user: Some(user.to_owned()),
            as_groups: groups.iter().map(|&group| group.to_owned()).collect(),
            ..ConnectOptions::default()
        })
    }

    pub fn connect(options: &ConnectOptions) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let watching = async { Cluster::connect(options).await?.watching() };
        let (cluster, changes) = runtime.block_on(watching).unwrap();
        Self {
            cluster,
            changes,
            runtime,
        }
    }

    pub fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Plans a source as the Sync `it` of a namespace.
    pub fn plan(&self, ns: &Namespace, source: &Source) -> Result<Planned, ClusterError> {
        self.plan_as(&self.cluster, ns, source)
    }

    /// The same with another user's rights.
    pub fn plan_as(
        &self,
        cluster: &Cluster,
        ns: &Namespace,
        source: &Source,
    ) -> Result<Planned, ClusterError> {
        let snapshot = directory::read(source.path(), &Limits::default()).unwrap();
        self.run(make_plan(cluster.into(), &snapshot, &settings(ns, source)))
    }

    /// Plans and syncs.
    pub fn sync(&self, ns: &Namespace, source: &Source) -> Report {
        let planned = self.plan(ns, source).unwrap();
        let settings = settings(ns, source);
        let now = "2026-01-01T00:00:00Z";
        let synced = sync((&self.cluster).into(), planned, &settings, now, &|_, _| {});
        self.run(synced).unwrap().1
    }

    /// Waits for a change of an object in a namespace, or in none; all that came there with it and before.
    pub fn change(&mut self, namespace: Option<&str>, name: &str) -> Vec<Change> {
        let mut seen = Vec::new();
        let wait = async {
            while !seen.iter().any(|change: &Change| change.id.name == name) {
                let changes = self.changes.next().await.into_iter();
                // Whoever may see the whole cluster sees what other tests do as well.
                seen.extend(changes.filter(|c| c.id.namespace.as_deref() == namespace));
            }
        };
        let waited = self
            .runtime
            .block_on(async { timeout(Duration::from_secs(60), wait).await });
        assert!(waited.is_ok(), "no change of {name}, but: {seen:#?}");
        seen
    }
}

/// What the one-shot commands say of themselves as well.
pub fn settings(ns: &Namespace, source: &Source) -> Settings {
    Settings {
        policies: Default::default(),
        user: None,
        name: "it".into(),
        named: true,
        source: source.path().display().to_string(),
        namespace: ns.name.clone(),
        prune: true,
        allow_empty: false,
        prune_limits: Vec::new(),
        approved_prune: None,
        home: None,
        kubectl: "kubectl".into(),
        remarks: Vec::new(),
        force_conflicts: false,
        wait: None,
        give_way: CancellationToken::new(),
        serve_targets: true,
        writes_status: true,
        compares: false,
        outlives_members: false,
        requested_at: None,
        generation: None,
        target_namespace: ns.name.clone(),
        cluster_domain: "cluster.local".into(),
        agent_image: covergence::render::AgentImage::default(),
        concurrency: 8,
        limits: covergence::load::Limits::default(),
    }
}

/// Kind and name of what has changed.
pub fn ids(changes: &[Change]) -> BTreeSet<String> {
    let ids = changes.iter().map(|change| &change.id);
    ids.map(|id| format!("{} {}", id.group_kind.kind, id.name))
        .collect()
}
