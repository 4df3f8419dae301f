//! How Syncs, Targets and Campaigns are, as their own statuses say it: what `covergence status` shows.

mod campaign;
mod readiness;
mod sync;
mod target;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::try_join;

pub use self::campaign::CampaignView;
pub use self::readiness::{Readiness, Ready};
pub use self::sync::{SourceView, SyncView};
pub use self::target::TargetView;
use super::reach::{named_sync, reach, selector};
use super::settings::applyset_id;
use super::survey::seen;
use crate::api::GroupKind;
use crate::api::names::{API_VERSION, APPLYSET_PART_OF, CAMPAIGN, SYNC, TARGET};
use crate::cluster::{Cluster, ClusterError, Kind};

/// Which Syncs, Targets and Campaigns are looked at.
#[derive(Clone, Debug)]
pub enum Scope {
    /// All of the cluster.
    Cluster,
    /// All of a namespace.
    Namespace(String),
    /// Some Syncs of a namespace, and the Targets and Campaigns that are their members, wherever those are.
    Syncs {
        /// The namespace.
        namespace: String,
        /// Their names.
        names: BTreeSet<String>,
    },
}

/// Syncs, Targets and Campaigns, by namespace and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// Syncs.
    pub syncs: Vec<SyncView>,
    /// Targets.
    pub targets: Vec<TargetView>,
    /// Campaigns.
    pub campaigns: Vec<CampaignView>,
    /// Which of them may not be listed, and why.
    pub unseen: BTreeMap<GroupKind, String>,
}

impl Overview {
    /// Tells whether nothing that is seen has a problem.
    pub fn is_good(&self) -> bool {
        let syncs = self.syncs.iter().map(|sync| &sync.readiness);
        let targets = self.targets.iter().map(|target| &target.readiness);
        let campaigns = self.campaigns.iter().map(|campaign| &campaign.readiness);
        let mut all = syncs.chain(targets).chain(campaigns);
        all.all(Readiness::is_good)
    }
}

/// The kinds that are looked at. Campaigns came later than the others, and may not be installed.
struct Looked<'a> {
    syncs: &'a Kind,
    targets: &'a Kind,
    campaigns: Option<&'a Kind>,
}

/// Reads the overview; `None` when our kinds are not installed.
///
/// # Errors
/// As the server answers, when none of the kinds may be listed, and when a Sync that was named is not there.
pub async fn overview(cluster: &Cluster, scope: &Scope) -> Result<Option<Overview>, ClusterError> {
    let kinds = cluster.kinds(&[API_VERSION.to_owned()].into()).await?;
    let (Some(syncs), Some(targets)) =
        (kinds.get(API_VERSION, SYNC), kinds.get(API_VERSION, TARGET))
    else {
        return Ok(None);
    };
    let kinds = Looked {
        syncs,
        targets,
        campaigns: kinds.get(API_VERSION, CAMPAIGN),
    };
    let overview = match scope {
        Scope::Cluster => listed(cluster, &kinds, None).await?,
        Scope::Namespace(namespace) => listed(cluster, &kinds, Some(namespace)).await?,
        Scope::Syncs { namespace, names } => named(cluster, &kinds, namespace, names).await?,
    };
    Ok(Some(overview))
}

async fn listed(
    cluster: &Cluster,
    kinds: &Looked<'_>,
    namespace: Option<&str>,
) -> Result<Overview, ClusterError> {
    let list = |kind| async move {
        let (kind, items) = seen(kind, cluster.list_objects(kind, namespace, None).await)?;
        Ok::<_, ClusterError>((kind.group_kind(), items))
    };
    let list_if_there = |kind: Option<_>| async move {
        match kind {
            Some(kind) => list(kind).await.map(Some),
            None => Ok(None),
        }
    };
    let (syncs, targets, campaigns) = try_join!(
        list(kinds.syncs),
        list(kinds.targets),
        list_if_there(kinds.campaigns)
    )?;
    let refused = campaigns.as_ref().is_none_or(|(_, items)| items.is_err());
    if let ((_, Err(why)), (_, Err(_)), true) = (&syncs, &targets, refused) {
        return Err(ClusterError::Forbidden(why.clone()));
    }
    let mut unseen = BTreeMap::new();
    let mut seen = |(kind, items): (GroupKind, Result<Vec<Value>, String>)| {
        items.unwrap_or_else(|why| {
            unseen.insert(kind, why);
            Vec::new()
        })
    };
    let (syncs, targets) = (seen(syncs), seen(targets));
    let campaigns = campaigns.map(seen).unwrap_or_default();
    Ok(Overview {
        syncs: syncs.iter().map(SyncView::read).collect(),
        targets: targets.iter().map(TargetView::read).collect(),
        campaigns: campaigns.iter().map(CampaignView::read).collect(),
        unseen,
    })
}

async fn named(
    cluster: &Cluster,
    kinds: &Looked<'_>,
    namespace: &str,
    names: &BTreeSet<String>,
) -> Result<Overview, ClusterError> {
    let found = names
        .iter()
        .map(|name| named_sync(cluster, kinds.syncs, namespace, name));
    let found = try_join_all(found).await?;
    let syncs: Vec<SyncView> = found.iter().map(SyncView::read).collect();
    let namespaces = reach(namespace, &found).namespaces;
    let selector = selector(&syncs);
    let sets: BTreeSet<String> = syncs.iter().map(SyncView::applyset).collect();
    let mut unseen = BTreeMap::new();
    let mut members = async |kind: &Kind| {
        let members = cluster.objects_in(kind, &namespaces, Some(&selector));
        let (kind, members) = seen(kind, members.await)?;
        let mut members = members.unwrap_or_else(|why| {
            unseen.insert(kind.group_kind(), why);
            Vec::new()
        });
        members.retain(|member| {
            let labels = member.pointer("/metadata/labels");
            let set = labels.and_then(|labels| labels.get(APPLYSET_PART_OF)?.as_str());
            set.is_some_and(|set| sets.contains(set))
        });
        Ok::<_, ClusterError>(members)
    };
    let targets = members(kinds.targets).await?;
    let campaigns = match kinds.campaigns {
        Some(kind) => members(kind).await?,
        None => Vec::new(),
    };
    let mut targets: Vec<TargetView> = targets.iter().map(TargetView::read).collect();
    targets.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    let mut campaigns: Vec<CampaignView> = campaigns.iter().map(CampaignView::read).collect();
    campaigns.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    Ok(Overview {
        syncs,
        targets,
        campaigns,
        unseen,
    })
}

/// Reads a text of a live object.
fn text(object: &Value, pointer: &str) -> Option<String> {
    object.pointer(pointer)?.as_str().map(str::to_owned)
}
