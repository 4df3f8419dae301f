//! `covergence_sync_info`: how each Sync is, as labels of a gauge that is always 1.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeMetric as _, LabelSetEncoder,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use super::labels::{SyncName, Text};
use crate::api::condition::ConditionStatus;

/// How a Sync is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncInfo<'a> {
    /// Its condition `Ready`.
    pub ready: ConditionStatus,
    /// Whether it is suspended.
    pub suspended: bool,
    /// The revision that was last applied; empty before the first.
    pub revision: &'a str,
}

#[derive(Clone, Debug, EncodeLabelSet)]
struct State {
    ready: &'static str,
    suspended: bool,
    revision: Text,
}

#[derive(Debug)]
struct Labels<'a>(&'a SyncName, &'a State);

impl EncodeLabelSet for Labels<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let Self(name, state) = self;
        name.encode(encoder)?;
        state.encode(encoder)
    }
}

/// What is known of each Sync. One entry is one series, so that none can be left over from an earlier revision.
#[derive(Debug, Default)]
pub(super) struct Syncs(Mutex<HashMap<SyncName, State>>);

impl Syncs {
    pub(super) fn set(&self, name: SyncName, info: &SyncInfo<'_>) {
        let SyncInfo {
            ready,
            suspended,
            revision,
        } = *info;
        let ready = match ready {
            ConditionStatus::True => "True",
            ConditionStatus::False => "False",
            ConditionStatus::Unknown => "Unknown",
        };
        let state = State {
            ready,
            suspended,
            revision: revision.into(),
        };
        self.known().insert(name, state);
    }

    pub(super) fn remove(&self, name: &SyncName) {
        self.known().remove(name);
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<SyncName, State>> {
        // Nothing can panic halfway through an insert or a removal.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collector for Syncs {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "How each Sync is; always 1.";
        let mut family = encoder.encode_descriptor("sync_info", help, None, MetricType::Gauge)?;
        for (name, state) in self.known().iter() {
            let labels = Labels(name, state);
            ConstGauge::new(1).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
