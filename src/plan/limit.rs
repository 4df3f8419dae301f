//! How much one run may prune: of everything, or of one kind.

use super::known::Known;
use crate::api::sync::{PruneLimit, SyncSpec};
use crate::api::{GroupKind, ObjectId};

/// The most that one run may prune, of everything or of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The kind; every kind when absent.
    pub kind: Option<String>,
    /// The kind's group, empty for the core group; whatever group when absent.
    pub group: Option<String>,
    /// So many, or such a part of the members of that kind.
    pub most: PruneLimit,
}

impl Limit {
    /// A limit of everything.
    pub fn of_all(most: PruneLimit) -> Self {
        Self {
            kind: None,
            group: None,
            most,
        }
    }

    /// The limits that a Sync sets.
    pub fn of_spec(spec: &SyncSpec) -> Vec<Self> {
        let all = spec.prune_limit.clone().map(Self::of_all);
        let of_kinds = spec.prune_limits.iter().map(|limit| Self {
            kind: Some(limit.kind.clone()),
            group: limit.group.clone(),
            most: limit.limit.clone(),
        });
        all.into_iter().chain(of_kinds).collect()
    }

    fn covers(&self, kind: &GroupKind) -> bool {
        let is_kind = self.kind.as_ref().is_none_or(|it| *it == kind.kind);
        is_kind && self.group.as_ref().is_none_or(|it| *it == kind.group)
    }

    /// How its objects are called.
    fn objects(&self) -> String {
        match (&self.kind, &self.group) {
            (Some(kind), Some(group)) => format!("objects of kind {}", GroupKind::new(group, kind)),
            (Some(kind), None) => format!("objects of kind {kind}"),
            (None, _) => "objects".to_owned(),
        }
    }
}

/// Says which limit is exceeded when these go, if one is.
pub(super) fn over_limit(limits: &[Limit], going: &[&ObjectId], known: &Known) -> Option<String> {
    limits.iter().find_map(|limit| {
        let covered = |id: &&ObjectId| limit.covers(&id.group_kind);
        let going = going.iter().filter(|id| covered(id)).count();
        let members = known.members.keys().filter(covered).count();
        let most = match most(&limit.most, members) {
            Ok(most) => most,
            Err(why) => return (going > 0).then_some(why),
        };
        (going > most).then(|| {
            let objects = limit.objects();
            format!("{going} of {members} {objects} would go, and the prune limit allows {most}")
        })
    })
}

fn most(limit: &PruneLimit, members: usize) -> Result<usize, String> {
    match limit {
        PruneLimit::Count(most) => Ok(*most as usize),
        PruneLimit::Percent(text) => {
            let percent = text.strip_suffix('%');
            let percent: Option<usize> = percent.and_then(|digits| digits.parse().ok());
            let wrong = || format!("the prune limit {text:?} is neither a count nor a percentage");
            Ok(members.saturating_mul(percent.ok_or_else(wrong)?) / 100)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::plan::Live;

    fn id(group: &str, kind: &str, name: usize) -> ObjectId {
        ObjectId {
            group_kind: GroupKind::new(group, kind),
            namespace: Some("n".into()),
            name: name.to_string(),
        }
    }

    /// Ten members: four Deployments, four ConfigMaps, and two Deployments of another group.
    fn members() -> Known {
        let kinds = [
            ("apps", "Deployment", 4),
            ("", "ConfigMap", 4),
            ("x.io", "Deployment", 2),
        ];
        let ids = kinds
            .into_iter()
            .flat_map(|(group, kind, count)| (0..count).map(move |i| id(group, kind, i)));
        Known {
            members: ids.map(|id| (id, Arc::new(Live::default()))).collect(),
            ..Known::default()
        }
    }

    fn limit(of: Option<(&str, Option<&str>)>, most: PruneLimit) -> Limit {
        Limit {
            kind: of.map(|(kind, _)| kind.to_owned()),
            group: of.and_then(|(_, group)| group.map(str::to_owned)),
            most,
        }
    }

    fn judge(
        limits: &[Limit],
        deployments: usize,
        config_maps: usize,
        others: usize,
    ) -> Option<String> {
        let going: Vec<ObjectId> = (0..deployments)
            .map(|i| id("apps", "Deployment", i))
            .chain((0..config_maps).map(|i| id("", "ConfigMap", i)))
            .chain((0..others).map(|i| id("x.io", "Deployment", i)))
            .collect();
        over_limit(limits, &going.iter().collect::<Vec<_>>(), &members())
    }

    #[test]
    fn a_limit_is_a_count_or_a_part_of_the_members() {
        let percent = |text: &str| PruneLimit::Percent(text.to_owned());
        for (most, going, allowed) in [
            (PruneLimit::Count(2), 2, true),
            (PruneLimit::Count(2), 3, false),
            (PruneLimit::Count(0), 1, false),
            (PruneLimit::Count(0), 0, true),
            (percent("25%"), 2, true),
            (percent("25%"), 3, false),
            (percent("many"), 1, false),
            (percent("many"), 0, true),
            (percent("99999999999999999999%"), 1, false),
        ] {
            let limits = [limit(None, most)];
            assert_eq!(
                judge(&limits, going, 0, 0).is_none(),
                allowed,
                "{limits:?} {going}"
            );
        }
    }

    #[test]
    fn a_limit_of_a_kind_counts_that_kind_only_and_all_limits_hold() {
        let half = || PruneLimit::Percent("50%".into());
        let apps = limit(Some(("Deployment", Some("apps"))), half());
        let only = std::slice::from_ref(&apps);
        assert_eq!(judge(only, 2, 4, 2), None);
        assert_eq!(
            judge(only, 3, 0, 0).as_deref(),
            Some("3 of 4 objects of kind Deployment.apps would go, and the prune limit allows 2")
        );
        // Whatever the group: three of six.
        let any = [limit(Some(("Deployment", None)), half())];
        assert_eq!(judge(&any, 2, 0, 1), None);
        assert_eq!(
            judge(&any, 2, 0, 2).as_deref(),
            Some("4 of 6 objects of kind Deployment would go, and the prune limit allows 3")
        );
        let core = limit(Some(("ConfigMap", Some(""))), PruneLimit::Count(1));
        let all = limit(None, PruneLimit::Count(4));
        let limits = [all, apps, core];
        assert_eq!(judge(&limits, 2, 1, 1), None);
        assert!(judge(&limits, 0, 2, 0).is_some_and(|why| why.contains("ConfigMap")));
        assert!(judge(&limits, 2, 1, 2).is_some_and(|why| why.contains("5 of 10 objects would")));
    }

    #[test]
    fn a_sync_may_set_both() {
        let spec = json!({ "pruneLimit": "10%", "pruneLimits": [{ "kind": "Service", "group": "", "limit": 0 }] });
        let spec: SyncSpec = serde_json::from_value(spec).unwrap();
        assert_eq!(
            Limit::of_spec(&spec),
            [
                limit(None, PruneLimit::Percent("10%".into())),
                limit(Some(("Service", Some(""))), PruneLimit::Count(0)),
            ]
        );
    }
}
