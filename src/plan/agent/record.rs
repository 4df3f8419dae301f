//! What a Deployment says of the agent that was put into it: for whom, and what was there before.

use serde::{Deserialize, Serialize};

use crate::api::names::AGENT_RECORD;
use crate::plan::Live;

/// The shape of records that this code writes and understands.
const VERSION: u32 = 1;

/// What a Deployment says of the agent that was put into it. It is written in the same request as the agent itself, so that
/// there is never one without the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRecord {
    version: u32,
    /// The Target that it is carried for.
    pub target: RecordedTarget,
    /// The container that runs the JVM.
    pub container: String,
    /// The value that `JAVA_TOOL_OPTIONS` had; absent when the variable was not there. (An empty value is one.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub java_tool_options: Option<String>,
    /// The manager that the value was taken from, if anybody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_from: Option<String>,
    /// Whether the container declared the agent's port already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub port_was_there: bool,
    /// Digest of what was put in. Whose field something is says nothing of its value.
    pub digest: String,
}

/// The Target that an agent is carried for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedTarget {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

impl AgentRecord {
    /// Makes one of the agent as it is put in now, over a variable that is not there.
    pub(super) fn new(target: RecordedTarget, container: String, digest: String) -> Self {
        Self {
            version: VERSION,
            target,
            container,
            java_tool_options: None,
            taken_from: None,
            port_was_there: false,
            digest,
        }
    }

    /// Reads the record of a Deployment. One that cannot be understood, since somebody has written into it, is none.
    pub fn of(live: &Live) -> Option<Self> {
        let record: Self = serde_json::from_str(live.annotations.get(AGENT_RECORD)?).ok()?;
        (record.version == VERSION).then_some(record)
    }

    /// As the annotation has it.
    pub(super) fn text(&self) -> String {
        // A struct of texts cannot fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_written_is_read_and_anything_else_is_no_record() {
        let target = RecordedTarget {
            name: "pet".into(),
            uid: "u".into(),
        };
        let record = AgentRecord {
            java_tool_options: Some(String::new()),
            ..AgentRecord::new(target, "app".into(), "sha256:0".into())
        };
        let text = r#"{"version":1,"target":{"name":"pet","uid":"u"},"container":"app","javaToolOptions":"","digest":"sha256:0"}"#;
        assert_eq!(record.text(), text);
        let read = |text: &str| {
            let annotations = json!({ AGENT_RECORD: text });
            let object = json!({ "metadata": { "annotations": annotations } });
            AgentRecord::of(&Live::from_object(&object).unwrap())
        };
        assert_eq!(read(text), Some(record));
        for other in [
            "",
            "{}",
            "mine",
            &text.replace("\"version\":1", "\"version\":2"),
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
