//! What a Campaign's spec asks for, checked.

use std::time::Duration;

use jiff::Timestamp;

use crate::api::campaign::{COLLECTION, CampaignSpec, SHORTEST_COLLECTION, Until};
use crate::api::parse_duration;
use crate::api::sync;

/// When a Campaign runs and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Between two runs.
    pub interval: Duration,
    /// When it ends at the latest.
    pub end: Option<Timestamp>,
    /// How long there may be no new probe.
    pub quiet: Option<Duration>,
    /// Whether nothing is collected.
    pub suspended: bool,
}

impl Terms {
    /// Reads them.
    ///
    /// # Errors
    /// What is wrong with the spec.
    pub fn read(spec: &CampaignSpec) -> Result<Self, String> {
        let interval = match &spec.interval {
            Some(text) => time("interval", text)?,
            None => COLLECTION,
        };
        if interval < SHORTEST_COLLECTION {
            let shortest = SHORTEST_COLLECTION.as_secs();
            return Err(format!("spec.interval is shorter than {shortest}s"));
        }
        let Until {
            time: end,
            no_new_probes_for: quiet,
        } = spec.until.clone().unwrap_or_default();
        let end = end.map(|text| {
            let end: Result<Timestamp, _> = text.parse();
            end.map_err(|_| format!("spec.until.time: {text:?} is no time as RFC 3339 has it"))
        });
        let quiet = quiet.map(|text| time("until.noNewProbesFor", &text));
        Ok(Self {
            interval,
            end: end.transpose()?,
            quiet: quiet.transpose()?,
            suspended: spec.suspend,
        })
    }
}

fn time(field: &str, sync::Duration(text): &sync::Duration) -> Result<Duration, String> {
    parse_duration(text).map_err(|why| format!("spec.{field}: {text:?}: {why}"))
}
