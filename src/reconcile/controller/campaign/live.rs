//! A Campaign as it is in the cluster.

use serde::Deserialize as _;
use serde_json::Value;

use crate::api::campaign::{CampaignPhase, CampaignSpec, CampaignStatus};
use crate::api::names::REQUESTED_AT;
use crate::api::read_spec;
use crate::reconcile::controller::name::Name;

/// A Campaign as it is in the cluster. Anybody may have written it, also past the schema.
#[derive(Clone, Debug)]
pub struct LiveCampaign {
    /// Which.
    pub name: Name,
    /// uid.
    pub uid: String,
    /// Generation of the spec.
    pub generation: Option<i64>,
    /// Whether it is being deleted.
    pub going: bool,
    /// The run that somebody asks for.
    pub requested_at: Option<String>,
    /// What is asked for, or why that cannot be read.
    pub spec: Result<CampaignSpec, String>,
    /// What was last said of it; one that cannot be read is written anew.
    pub status: CampaignStatus,
}

impl LiveCampaign {
    /// Reads a live object; nothing when it has no name, which no server gives.
    pub fn read(object: &Value) -> Option<Self> {
        let metadata = object.get("metadata")?;
        let text = |field: &str| metadata.get(field).and_then(Value::as_str);
        let request = metadata.pointer("/annotations");
        let request = request.and_then(|all| all.get(REQUESTED_AT)?.as_str());
        let status = object.get("status").map(CampaignStatus::deserialize);
        Some(Self {
            name: Name::of_object(object)?,
            uid: text("uid").unwrap_or_default().to_owned(),
            generation: metadata.get("generation").and_then(Value::as_i64),
            going: text("deletionTimestamp").is_some(),
            requested_at: request.map(str::to_owned),
            spec: read_spec(object.get("spec").unwrap_or(&Value::Null)),
            status: status.and_then(Result::ok).unwrap_or_default(),
        })
    }

    /// Tells whether somebody asks for a run that was not made yet.
    pub fn has_request(&self) -> bool {
        let handled = &self.status.last_handled_reconcile_at;
        self.requested_at.is_some() && self.requested_at != *handled
    }

    /// Tells whether its spec was not acted on yet, or could not be: what stood in the way may be gone.
    pub fn is_untried(&self) -> bool {
        let stuck = [CampaignPhase::Pending, CampaignPhase::Failed];
        self.status.observed_generation != self.generation
            || self.status.phase.is_some_and(|it| stuck.contains(&it))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_told_and_the_rest_is_read() {
        let live = LiveCampaign::read(&json!({
            "metadata": {
                "namespace": "ops", "name": "nightly", "uid": "u", "generation": 3,
                "annotations": { "reconcile.fluxcd.io/requestedAt": "now" },
            },
            "spec": { "targetRef": { "name": "pets" }, "storage": 7 },
            "status": { "runs": "many" },
        }));
        let live = live.unwrap();
        assert!(live.spec.as_ref().is_err_and(|why| why.contains("integer")));
        assert_eq!(live.status, CampaignStatus::default());
        assert!(live.has_request() && !live.going);
    }

    #[test]
    fn a_spec_is_tried_until_it_works() {
        let untried = |generation: i64, phase: &str| {
            let live = json!({
                "metadata": { "namespace": "ops", "name": "nightly", "generation": 3 },
                "status": { "observedGeneration": generation, "phase": phase },
            });
            LiveCampaign::read(&live).unwrap().is_untried()
        };
        assert!(untried(2, "Collecting"));
        assert!(untried(3, "Pending") && untried(3, "Failed"));
        assert!(!untried(3, "Collecting") && !untried(3, "Finished"));
    }
}
