//! How Syncs and Targets are, as their own statuses say it: what `covergence status` shows.

mod readiness;
mod sync;
mod target;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::try_join;

pub use self::readiness::{Readiness, Ready};
pub use self::sync::{SourceView, SyncView};
pub use self::target::TargetView;
use super::reach::{named_sync, reach, selector};
use super::settings::applyset_id;
use super::survey::seen;
use crate::api::GroupKind;
use crate::api::names::{API_VERSION, APPLYSET_PART_OF, SYNC, TARGET};
use crate::cluster::{Cluster, ClusterError, Kind};

/// Which Syncs and Targets are looked at.
#[derive(Clone, Debug)]
pub enum Scope {
    /// All of the cluster.
    Cluster,
    /// All of a namespace.
    Namespace(String),
    /// Some Syncs of a namespace, and the Targets that are their members, wherever those are.
    Syncs {
        /// The namespace.
        namespace: String,
        /// Their names.
        names: BTreeSet<String>,
    },
}

/// Syncs and Targets, by namespace and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// Syncs.
    pub syncs: Vec<SyncView>,
    /// Targets.
    pub targets: Vec<TargetView>,
    /// Which of the two may not be listed, and why.
    pub unseen: BTreeMap<GroupKind, String>,
}

impl Overview {
    /// Tells whether nothing that is seen has a problem.
    pub fn is_good(&self) -> bool {
        let syncs = self.syncs.iter().map(|sync| &sync.readiness);
        let targets = self.targets.iter().map(|target| &target.readiness);
        syncs.chain(targets).all(Readiness::is_good)
    }
}

/// Reads the overview; `None` when our kinds are not installed.
///
/// # Errors
/// As the server answers, when neither kind may be listed, and when a Sync that was named is not there.
pub async fn overview(cluster: &Cluster, scope: &Scope) -> Result<Option<Overview>, ClusterError> {
    let kinds = cluster.kinds(&[API_VERSION.to_owned()].into()).await?;
    let (Some(syncs), Some(targets)) =
        (kinds.get(API_VERSION, SYNC), kinds.get(API_VERSION, TARGET))
    else {
        return Ok(None);
    };
    let overview = match scope {
        Scope::Cluster => listed(cluster, syncs, targets, None).await?,
        Scope::Namespace(namespace) => listed(cluster, syncs, targets, Some(namespace)).await?,
        Scope::Syncs { namespace, names } => {
            named(cluster, syncs, targets, namespace, names).await?
        }
    };
    Ok(Some(overview))
}

async fn listed(
    cluster: &Cluster,
    syncs: &Kind,
    targets: &Kind,
    namespace: Option<&str>,
) -> Result<Overview, ClusterError> {
    let list = |kind| async move {
        let (kind, items) = seen(kind, cluster.list_objects(kind, namespace, None).await)?;
        Ok::<_, ClusterError>((kind.group_kind(), items))
    };
    let (syncs, targets) = try_join!(list(syncs), list(targets))?;
    if let ((_, Err(why)), (_, Err(_))) = (&syncs, &targets) {
        return Err(ClusterError::Forbidden(why.clone()));
    }
    let mut unseen = BTreeMap::new();
    let [syncs, targets] = [syncs, targets].map(|(kind, items)| {
        items.unwrap_or_else(|why| {
            unseen.insert(kind, why);
            Vec::new()
        })
    });
    Ok(Overview {
        syncs: syncs.iter().map(SyncView::read).collect(),
        targets: targets.iter().map(TargetView::read).collect(),
        unseen,
    })
}

async fn named(
    cluster: &Cluster,
    syncs: &Kind,
    targets: &Kind,
    namespace: &str,
    names: &BTreeSet<String>,
) -> Result<Overview, ClusterError> {
    let found = names
        .iter()
        .map(|name| named_sync(cluster, syncs, namespace, name));
    let found = try_join_all(found).await?;
    let syncs: Vec<SyncView> = found.iter().map(SyncView::read).collect();
    let namespaces = reach(namespace, &found).namespaces;
    let selector = selector(&syncs);
    let members = cluster.objects_in(targets, &namespaces, Some(&selector));
    let (kind, members) = seen(targets, members.await)?;
    let sets: BTreeSet<String> = syncs.iter().map(SyncView::applyset).collect();
    let mut unseen = BTreeMap::new();
    let members = members.unwrap_or_else(|why| {
        unseen.insert(kind.group_kind(), why);
        Vec::new()
    });
    let members = members.iter().filter(|target| {
        let labels = target.pointer("/metadata/labels");
        let set = labels.and_then(|labels| labels.get(APPLYSET_PART_OF)?.as_str());
        set.is_some_and(|set| sets.contains(set))
    });
    let mut targets: Vec<TargetView> = members.map(TargetView::read).collect();
    targets.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    Ok(Overview {
        syncs,
        targets,
        unseen,
    })
}

/// Reads a text of a live object.
fn text(object: &Value, pointer: &str) -> Option<String> {
    object.pointer(pointer)?.as_str().map(str::to_owned)
}
