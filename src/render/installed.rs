//! Which agent a pod says it has.

use serde::Deserialize;

use super::diagnosis::PodFacts;
use crate::api::names::AGENT;
use crate::api::target::AgentStatus;

/// As much of a version as is told.
const LONGEST_VERSION: usize = 64;

/// The last words of `covergence agent install`.
#[derive(Deserialize)]
struct Installed {
    agent: String,
    version: String,
    digest: String,
}

/// Reads which agent one of these pods has: what the init container of the first one that is ready has said at its end.
///
/// Whatever image it is may say anything there: what is not ours is ignored.
pub fn installed(image: &str, pods: &[PodFacts]) -> AgentStatus {
    let mut ready = pods.iter().filter(|pod| pod.ready);
    let said = ready.find_map(|pod| {
        let mut init = pod.init.iter();
        let ours = init.find(|it| it.name == AGENT && it.image == image)?;
        read(ours.said()?)
    });
    let image = image.to_owned();
    match said {
        Some(Installed {
            version, digest, ..
        }) => AgentStatus {
            image,
            version: Some(version),
            digest: Some(digest),
        },
        None => AgentStatus {
            image,
            ..AgentStatus::default()
        },
    }
}

fn read(message: &str) -> Option<Installed> {
    let installed: Installed = serde_json::from_str(message.trim()).ok()?;
    let Installed {
        agent,
        version,
        digest,
    } = &installed;
    let of_version = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let is_version =
        (1..=LONGEST_VERSION).contains(&version.len()) && version.chars().all(of_version);
    let of_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let is_digest = digest
        .strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.chars().all(of_hex));
    (agent == "JaCoCo" && is_version && is_digest).then_some(installed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pods(message: &str, ready: &str) -> Vec<PodFacts> {
        let ended = json!({ "exitCode": 0, "message": message });
        let pod = json!({
            "metadata": { "name": "pet" },
            "spec": { "initContainers": [{ "name": AGENT, "image": "agents:1" }] },
            "status": {
                "conditions": [{ "type": "Ready", "status": ready }],
                "initContainerStatuses": [{ "name": AGENT, "state": { "terminated": ended } }],
            },
        });
        PodFacts::read(&pod).into_iter().collect()
    }

    #[test]
    fn the_agent_is_what_its_init_container_says() {
        let digest = format!("sha256:{}", "0f".repeat(32));
        let message = format!(
            "{}\n",
            json!({ "agent": "JaCoCo", "version": "0.8.6.202009150832", "digest": digest })
        );
        let told = installed("agents:1", &pods(&message, "True"));
        assert_eq!(told.version.as_deref(), Some("0.8.6.202009150832"));
        assert_eq!(told.digest, Some(digest));
        // Of a pod that is not ready, or of another template, nothing is taken.
        assert_eq!(
            installed("agents:1", &pods(&message, "False")).version,
            None
        );
        assert_eq!(installed("agents:2", &pods(&message, "True")).version, None);
    }

    #[test]
    fn what_is_not_ours_is_ignored() {
        let digest = format!("sha256:{}", "0f".repeat(32));
        let with = |agent: &str, version: &str, digest: &str| {
            json!({ "agent": agent, "version": version, "digest": digest }).to_string()
        };
        for message in [
            "copied".to_owned(),
            String::new(),
            "{}".to_owned(),
            with("Other", "1", &digest),
            with("JaCoCo", "", &digest),
            with("JaCoCo", &"1".repeat(65), &digest),
            with("JaCoCo", "\u{1b}[31m", &digest),
            with("JaCoCo", "1", "sha256:0f"),
            with("JaCoCo", "1", &digest.to_uppercase()),
        ] {
            let told = installed("agents:1", &pods(&message, "True"));
            let nothing = AgentStatus {
                image: "agents:1".into(),
                ..AgentStatus::default()
            };
            assert_eq!(told, nothing, "{message}");
        }
    }
}
