//! An answer, and what one side has told so far.

use serde_json::Value;

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    pub code: u16,
    pub body: Value,
}

/// What one side has told of itself in the course of a sequence: values that it makes up, in the order of their first
/// appearance. They must appear and stay alike on both sides, whatever they are.
#[derive(Debug, Default)]
pub struct Memory {
    pub uids: Vec<String>,
    pub versions: Vec<String>,
}

impl Memory {
    pub fn uid(&mut self, uid: &str) -> String {
        format!("uid {}", place(&mut self.uids, uid))
    }

    pub fn version(&mut self, version: &str) -> String {
        format!("version {}", place(&mut self.versions, version))
    }

    /// What a placeholder stands for.
    pub fn value(&self, placeholder: &str) -> Option<String> {
        let value = match placeholder {
            "$VERSION" => self.versions.last(),
            "$STALE" => self.versions.first(),
            "$UID" => self.uids.last(),
            _ => return None,
        };
        Some(value.cloned().unwrap_or_default())
    }
}

fn place(seen: &mut Vec<String>, value: &str) -> usize {
    if let Some(at) = seen.iter().position(|other| other == value) {
        return at;
    }
    seen.push(value.to_owned());
    seen.len() - 1
}
