//! What a Deployment does not say of its rollout: why its pods do not start, and which agent they have.
//!
//! Pods are read only when there is something new to tell of them: when a rollout has failed, and when one is through.

use std::time::Duration;

use crate::api::target::{AgentStatus, Phase};
use crate::cluster::{Cluster, ClusterError};
use crate::render::{
    Case, Deployment, Diagnosis, Finding, PodFacts, Target, installed, pod_selector,
};

/// So often the pods of a rollout that has failed are looked at, when they do not yet say why: some images take long.
const LOOKS: u32 = 6;

/// Before the second look; each next one takes twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// What was found out of a rollout. It may be lost at any time, and holds as long as its Deployment is as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Insight {
    /// Why the rollout does not go on.
    failure: Option<(Deployment, Diagnosis)>,
    /// How often pods were looked at for that.
    looks: u32,
    /// Which agent the pods of a ReplicaSet have.
    agent: Option<(String, AgentStatus)>,
}

impl Insight {
    /// Finds out what is not known yet.
    ///
    /// # Errors
    /// When the server cannot be asked. What may not be read is not told.
    pub async fn of(
        self,
        cluster: &Cluster,
        target: &Target,
        deployment: Option<&Deployment>,
    ) -> Result<Self, ClusterError> {
        let enabled = target.spec.agents.coverage.enabled;
        let Some(deployment) = deployment.filter(|_| enabled) else {
            return Ok(Self::default());
        };
        let (failure, looks) = self.failure(cluster, target, deployment).await?;
        Ok(Self {
            failure,
            looks,
            agent: self.agent(cluster, target, deployment).await?,
        })
    }

    /// Why the rollout of this very Deployment does not go on, if it does not.
    pub fn diagnosis(&self, deployment: &Deployment) -> Option<&Diagnosis> {
        let (of, diagnosis) = self.failure.as_ref()?;
        (of == deployment).then_some(diagnosis)
    }

    /// Which agent the pods of this Deployment have.
    pub fn agent_of(&self, deployment: &Deployment) -> Option<&AgentStatus> {
        let (of, agent) = self.agent.as_ref()?;
        (*of == template(deployment)?).then_some(agent)
    }

    /// When to look again at pods that do not say yet why they do not start.
    pub fn next_look(&self) -> Option<Duration> {
        let (_, diagnosis) = self.failure.as_ref()?;
        let goes_on = !diagnosis.settled && self.looks < LOOKS;
        goes_on.then(|| FIRST_PAUSE * 2_u32.pow(self.looks.saturating_sub(1)))
    }

    async fn failure(
        &self,
        cluster: &Cluster,
        target: &Target,
        deployment: &Deployment,
    ) -> Result<(Option<(Deployment, Diagnosis)>, u32), ClusterError> {
        if deployment.rollout.stalled.is_none() {
            return Ok((None, 0));
        }
        let known = self.diagnosis(deployment);
        if known.is_some_and(|known| known.settled || self.looks >= LOOKS) {
            return Ok((self.failure.clone(), self.looks));
        }
        let looks = known.map_or(0, |_| self.looks) + 1;
        let diagnosis = match Case::refused(&deployment.rollout) {
            Some(diagnosis) => Some(diagnosis),
            None => diagnose(cluster, target, deployment).await?,
        };
        let failure = diagnosis.map(|diagnosis| (deployment.clone(), diagnosis));
        Ok((failure, looks))
    }

    /// Asks one pod which agent it has, once for each template, when the rollout is through.
    async fn agent(
        &self,
        cluster: &Cluster,
        target: &Target,
        deployment: &Deployment,
    ) -> Result<Option<(String, AgentStatus)>, ClusterError> {
        let (Some(template), Some(image)) = (template(deployment), image(deployment)) else {
            return Ok(None);
        };
        if let Some(known) = self.agent.clone().filter(|(of, _)| *of == template) {
            return Ok(Some(known));
        }
        let status = target.live.as_ref().map(|live| &live.status);
        let told = status.and_then(|status| status.agent.clone());
        let told = told.filter(|told| told.image == image);
        let rollout = &deployment.rollout;
        if !rollout.is_complete() || rollout.wanted == 0 {
            return Ok(None);
        }
        // After a start nothing is remembered, and status says what was read before.
        let was_through = status.is_some_and(|it| it.phase == Some(Phase::Instrumented));
        let agent = match told.filter(|_| was_through && self.agent.is_none()) {
            Some(told) => told,
            None => {
                let pods = pods(cluster, target, deployment).await?;
                installed(&image, &pods.unwrap_or_default())
            }
        };
        Ok(Some((template, agent)))
    }
}

/// What stands for the present template of a Deployment.
fn template(deployment: &Deployment) -> Option<String> {
    deployment.rollout.replica_set.clone()
}

/// The image that brings the agent, if we put it there.
fn image(deployment: &Deployment) -> Option<String> {
    deployment.agent(None).map(|agent| agent.image)
}

async fn diagnose(
    cluster: &Cluster,
    target: &Target,
    deployment: &Deployment,
) -> Result<Option<Diagnosis>, ClusterError> {
    let Some(pods) = pods(cluster, target, deployment).await? else {
        return Ok(None);
    };
    let case = Case::new(target, deployment);
    let wanted = match case.judge(&pods) {
        Finding::Told(diagnosis) => return Ok(Some(diagnosis)),
        Finding::Log(wanted) => wanted,
    };
    let (pod, container) = (&wanted.pod, &wanted.container);
    let log = cluster
        .log_end(&target.namespace, pod, container, wanted.previous)
        .await;
    // Without it there is still something to tell.
    Ok(Some(case.judge_log(&wanted, log.ok().as_deref())))
}

/// Reads the pods of the present template; `None` when that is not possible.
async fn pods(
    cluster: &Cluster,
    target: &Target,
    deployment: &Deployment,
) -> Result<Option<Vec<PodFacts>>, ClusterError> {
    let Some(selector) = pod_selector(deployment) else {
        return Ok(None);
    };
    match cluster.pod_states(&target.namespace, &selector).await {
        Ok(pods) => Ok(Some(pods)),
        Err(ClusterError::Forbidden(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
