//! The labels of each family of series.

use std::fmt::{self, Write as _};

use prometheus_client::encoding::{
    EncodeLabelSet, EncodeLabelValue, LabelSetEncoder, LabelValueEncoder,
};

/// Text from outside. The encoder writes labels as they are; a quote or a line break in the name of a branch would make the
/// whole page unreadable (OpenMetrics 1.0, `escaped-string`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Text(String);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl EncodeLabelValue for Text {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\\' => encoder.write_str(r"\\")?,
                '"' => encoder.write_str(r#"\""#)?,
                '\n' => encoder.write_str(r"\n")?,
                other => encoder.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// Whose reconciliation was timed. Targets are up to 10,000, and would be a dozen series each: they share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reconciled {
    /// One Sync.
    Sync(SyncName),
    /// Any Target.
    Target,
    /// Any Campaign.
    Campaign,
}

impl EncodeLabelSet for Reconciled {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        match self {
            Self::Sync(name) => {
                Kind { kind: "Sync" }.encode(encoder)?;
                name.encode(encoder)
            }
            Self::Target => Kind {
                kind: "ClosureJVMTarget",
            }
            .encode(encoder),
            Self::Campaign => Kind {
                kind: "ClosureJVMCampaign",
            }
            .encode(encoder),
        }
    }
}

#[derive(EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

/// One Sync.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct SyncName {
    pub namespace: Text,
    pub name: Text,
}

impl SyncName {
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OfOutcome {
    pub outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OfKind {
    pub kind: Text,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OfQueue {
    pub queue: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OfRequest {
    pub verb: &'static str,
    pub code: Code,
}

/// The status of an answer; none where there was no answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Code(pub Option<u16>);

impl EncodeLabelValue for Code {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        match self.0 {
            Some(code) => EncodeLabelValue::encode(&code, encoder),
            // As client-go's `rest_client_requests_total` has it.
            None => encoder.write_str("<error>"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OfWebhook {
    pub provider: &'static str,
    pub outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OfState {
    pub state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OfVersion {
    pub version: &'static str,
}
