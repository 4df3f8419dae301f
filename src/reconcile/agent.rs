//! The agent goes into a Deployment, or out of it: judged once more by what is there at that moment.

use crate::api::ObjectId;
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::plan::{AgentVerdict, AgentWish, Live, judge_agent, take_out};
use crate::render::PodShape;

/// How often a Deployment that changes meanwhile is tried. Its status changes all the time while it rolls out.
const TRIES: u32 = 5;

/// Does what a Target wants of a Deployment, and gives the Deployment's metadata after it; nothing when that changed
/// nothing.
///
/// Each write is for the very version that was judged, so that the record says what was really replaced, and nothing is
/// taken from an applier who came in between.
///
/// # Errors
/// As the server answers.
pub(super) async fn send_agent(
    cluster: &Cluster,
    id: &ObjectId,
    wish: &AgentWish,
) -> Result<Option<Live>, ClusterError> {
    let kind = Kind::deployment();
    let mut tries = 1;
    loop {
        let Some(object) = cluster
            .get(&kind, id.namespace.as_deref(), &id.name)
            .await?
        else {
            return Ok(None);
        };
        let unreadable = |error: serde_json::Error| ClusterError::Unavailable(error.to_string());
        let live = Live::from_object(&object).map_err(unreadable)?;
        let answer = match judge_agent(wish, id, &live, &PodShape::read(&object)) {
            AgentVerdict::Nothing(_) => return Ok(None),
            AgentVerdict::Put { object, .. } => cluster.put_agent(object, &live.expected()).await,
            AgentVerdict::TakeOut { record, .. } => {
                let take_out = take_out(&object, &live, &record);
                cluster.take_out_agent(&live, &take_out).await
            }
            // Planned otherwise: the next look tells of it.
            AgentVerdict::Refuse { no, .. } => Err(ClusterError::Invalid(no.to_string())),
        };
        match answer {
            Err(ClusterError::Changed(_)) if tries < TRIES => tries += 1,
            answer => {
                let changed = |now: &Live| now.resource_version != live.resource_version;
                return answer.map(|now| Some(now).filter(changed));
            }
        }
    }
}
