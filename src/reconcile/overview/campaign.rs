//! A Campaign in the overview.

use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use super::{Readiness, Ready, text};
use crate::api::campaign::{CampaignPhase, CampaignStatus, GrowthPoint, PodCount};

/// A Campaign, for people and programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CampaignView {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Whether it is ready, and why not.
    #[serde(flatten)]
    pub readiness: Readiness,
    /// Name of its Target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<CampaignPhase>,
    /// How often the pods were asked.
    pub runs: i64,
    /// When they were last asked (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<String>,
    /// When they are asked next (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_run: Option<String>,
    /// The pods of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodCount>,
    /// Classes of the union.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<i64>,
    /// Probes of the union that were hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes_hit: Option<i64>,
    /// Probes of the classes of the union.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes_total: Option<i64>,
    /// How the union grew.
    pub growth: Vec<GrowthPoint>,
    /// When a run last found a new probe (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_growth: Option<String>,
    /// Where the union is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Classes that are not in the union as some pod has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<String>,
    /// When it was made (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<String>,
}

impl CampaignView {
    /// Reads a live Campaign. What it cannot read it leaves out: one broken Campaign must not hide the others.
    pub fn read(campaign: &Value) -> Self {
        let status = campaign.get("status").map(CampaignStatus::deserialize);
        let status = status.and_then(Result::ok).unwrap_or_default();
        let mut readiness =
            Readiness::judge(campaign, &status.conditions, status.observed_generation);
        if campaign.pointer("/spec/suspend") == Some(&Value::Bool(true)) {
            readiness.ready = Ready::Suspended;
        }
        let mut conditions = status.conditions.into_iter();
        let mismatch = conditions.find(|c| c.type_ == "ClassMismatch");
        Self {
            namespace: text(campaign, "/metadata/namespace").unwrap_or_default(),
            name: text(campaign, "/metadata/name").unwrap_or_default(),
            readiness,
            target: text(campaign, "/spec/targetRef/name"),
            phase: status.phase,
            runs: status.runs,
            last_run: status.last_run,
            next_run: status.next_run,
            pods: status.pods,
            classes: status.classes,
            probes_hit: status.probes_hit,
            probes_total: status.probes_total,
            growth: status.growth,
            last_growth: status.last_growth,
            file: status.file,
            mismatch: mismatch.map(|condition| condition.message),
            creation_timestamp: text(campaign, "/metadata/creationTimestamp"),
        }
    }
}
