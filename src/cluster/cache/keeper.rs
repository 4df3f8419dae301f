//! Keeps as little of metadata as will do.

use std::sync::Arc;

use super::shared::Shared;
use super::topic::Selection;
use crate::api::names::APPLYSET_PART_OF;
use crate::cluster::endpoints::SERVICE_NAME;
use crate::plan::{Live, StringMap};

/// kubectl's copy of the whole object. No decision reads it, and a Secret's holds its values.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What is kept of the objects of one watch.
#[derive(Clone)]
pub(in crate::cluster) struct Keeper {
    pub selection: Selection,
    pub shared: Arc<Shared>,
}

impl Keeper {
    /// Drops what no decision reads, and shares what others have as well.
    pub fn metadata(&self, mut live: Live) -> Arc<Live> {
        match self.selection {
            Selection::Presence | Selection::Managed => {
                let whose = |key: &str| key == APPLYSET_PART_OF || key == SERVICE_NAME;
                live.labels = live.labels.only(whose);
                live.annotations = StringMap::default();
                live.managed_fields = Arc::default();
                live.owner_references = Vec::new();
            }
            Selection::Members
            | Selection::CoverageServices
            | Selection::Carriers
            | Selection::All => {
                if live.annotations.contains_key(LAST_APPLIED) {
                    live.annotations = live.annotations.only(|key| key != LAST_APPLIED);
                }
            }
        }
        self.shared.share(&mut live);
        Arc::new(live)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_no_decision_reads_is_not_kept() {
        let live = json!({
            "name": "a",
            "labels": { APPLYSET_PART_OF: "x", "app": "y" },
            "annotations": { LAST_APPLIED: "{\"data\":{\"password\":\"c2VjcmV0\"}}", "helm.sh/resource-policy": "keep" },
            "managedFields": [{ "manager": "m", "fieldsV1": { "f:data": {} } }],
        });
        let keep = |selection| {
            let shared = Arc::default();
            let live = serde_json::from_value(live.clone()).unwrap();
            Keeper { selection, shared }.metadata(live)
        };
        let member = keep(Selection::Members);
        assert_eq!(member.annotations.iter().count(), 1);
        assert_eq!(member.labels.iter().count(), 2);
        assert_eq!(member.managed_fields.len(), 1);
        let present = keep(Selection::Presence);
        assert_eq!(present.applyset(), Some("x"));
        let rest = (
            present.labels.iter().count(),
            present.annotations.iter().count(),
        );
        assert_eq!((rest, present.managed_fields.len()), ((1, 0), 0));
    }
}
