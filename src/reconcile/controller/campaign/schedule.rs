//! When a Campaign runs next: from its terms, its status and the time, and nothing else.

use jiff::{SignedDuration, Timestamp};

use super::terms::Terms;
use crate::api::campaign::CampaignStatus;

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing, until somebody says otherwise.
    Suspended,
    /// Nothing any more, and why.
    Finished(&'static str),
    /// A run.
    Now,
    /// A run at a later time.
    At(Timestamp),
}

/// Its time has come.
pub const OVER: &str = "its time is over";

/// There was nothing new for long enough.
pub const QUIET: &str = "there was no new probe for as long as it says";

/// Says what is to be done. A run that somebody asks for is made even when it was the end.
///
/// `is_untried` tells that the spec was not acted on yet, or could not be: it is tried at once.
pub fn next(
    terms: &Terms,
    status: &CampaignStatus,
    (is_requested, is_untried): (bool, bool),
    now: Timestamp,
) -> Next {
    if terms.suspended {
        return Next::Suspended;
    }
    if is_requested {
        return Next::Now;
    }
    // A run in the future was by another clock, and says nothing.
    let Some(last) = time(status.last_run.as_ref()).filter(|last| *last <= now) else {
        return Next::Now;
    };
    if terms.end.is_some_and(|end| last >= end) {
        return Next::Finished(OVER);
    }
    if is_quiet(terms, status, last) {
        return Next::Finished(QUIET);
    }
    if is_untried {
        return Next::Now;
    }
    let due = later(last, terms.interval);
    let due = terms.end.map_or(due, |end| due.min(end));
    if due <= now { Next::Now } else { Next::At(due) }
}

/// Tells whether runs have found nothing new for so long. Only a run that reached all pods can tell.
fn is_quiet(terms: &Terms, status: &CampaignStatus, last: Timestamp) -> bool {
    let Some(quiet) = terms.quiet else {
        return false;
    };
    let complete = status
        .pods
        .is_some_and(|pods| pods.total > 0 && pods.reached == pods.total);
    let first = status.growth.first().map(|point| &point.time);
    let since = time(status.last_growth.as_ref().or(first));
    complete && since.is_some_and(|since| later(since, quiet) <= last)
}

fn time(text: Option<&String>) -> Option<Timestamp> {
    text?.parse().ok()
}

fn later(time: Timestamp, by: std::time::Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    time.saturating_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn at(time: &str) -> Timestamp {
        format!("2026-03-01T{time}Z").parse().unwrap()
    }

    fn decide(spec: Value, status: Value, now: &str) -> Next {
        let mut whole = json!({ "targetRef": { "name": "pets" }, "storage": { "path": "a" }, "interval": "10m" });
        for (key, value) in spec.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let terms = Terms::read(&serde_json::from_value(whole).unwrap()).unwrap();
        let status = serde_json::from_value(status).unwrap();
        next(&terms, &status, (false, false), at(now))
    }

    fn ran(last: &str) -> Value {
        json!({ "runs": 3, "lastRun": format!("2026-03-01T{last}Z"), "pods": { "reached": 2, "total": 2 } })
    }

    #[test]
    fn runs_come_at_the_interval_from_the_first_look_on() {
        assert_eq!(decide(json!({}), json!({}), "10:00:00"), Next::Now);
        let later = decide(json!({}), ran("10:00:00"), "10:03:00");
        assert_eq!(later, Next::At(at("10:10:00")));
        for late in ["10:10:00", "10:10:01", "17:00:00"] {
            assert_eq!(
                decide(json!({}), ran("10:00:00"), late),
                Next::Now,
                "{late}"
            );
        }
        let often = json!({ "interval": "5s" });
        assert_eq!(
            decide(often, ran("10:00:00"), "10:00:01"),
            Next::At(at("10:00:05"))
        );
    }

    #[test]
    fn a_clock_that_was_set_back_stops_nothing() {
        assert_eq!(decide(json!({}), ran("11:00:00"), "10:00:00"), Next::Now);
        let broken = json!({ "lastRun": "yesterday" });
        assert_eq!(decide(json!({}), broken, "10:00:00"), Next::Now);
    }

    #[test]
    fn its_time_ends_it_after_a_last_run() {
        let until = || json!({ "until": { "time": "2026-03-01T11:00:00+00:00" } });
        assert_eq!(
            decide(until(), ran("10:40:00"), "10:45:00"),
            Next::At(at("10:50:00"))
        );
        assert_eq!(
            decide(until(), ran("10:55:00"), "10:56:00"),
            Next::At(at("11:00:00"))
        );
        assert_eq!(decide(until(), ran("10:55:00"), "11:00:00"), Next::Now);
        assert_eq!(
            decide(until(), ran("11:00:00"), "11:00:00"),
            Next::Finished(OVER)
        );
        // One that is made too late runs once.
        assert_eq!(decide(until(), json!({}), "12:00:00"), Next::Now);
        assert_eq!(
            decide(until(), ran("12:00:00"), "12:00:00"),
            Next::Finished(OVER)
        );
    }

    #[test]
    fn quiet_ends_it_but_only_when_all_pods_are_quiet() {
        let until = || json!({ "until": { "noNewProbesFor": "1h" } });
        let status = |last: &str, grown: Option<&str>, reached: i32| {
            let mut status = ran(last);
            status["growth"] = json!([{ "time": "2026-03-01T08:00:00Z", "probesHit": 0 }]);
            if let Some(grown) = grown {
                status["lastGrowth"] = json!(format!("2026-03-01T{grown}Z"));
            }
            status["pods"]["reached"] = json!(reached);
            status
        };
        let finished = Next::Finished(QUIET);
        let grown = Some("09:30:00");
        assert_eq!(
            decide(until(), status("10:29:59", grown, 2), "10:29:59"),
            Next::At(at("10:39:59"))
        );
        assert_eq!(
            decide(until(), status("10:30:00", grown, 2), "10:30:00"),
            finished
        );
        // A pod that did not answer may know something new.
        assert_eq!(
            decide(until(), status("10:30:00", grown, 1), "10:30:00"),
            Next::At(at("10:40:00"))
        );
        // Time without a run tells nothing.
        assert_eq!(
            decide(until(), status("10:20:00", grown, 2), "17:00:00"),
            Next::Now
        );
        // Nothing was ever hit.
        assert_eq!(
            decide(until(), status("09:00:00", None, 2), "09:00:00"),
            finished
        );
        assert_eq!(
            decide(until(), status("08:50:00", None, 2), "08:50:00"),
            Next::At(at("09:00:00"))
        );
    }

    #[test]
    fn a_request_is_answered_unless_it_is_suspended() {
        let read = |spec: Value| Terms::read(&serde_json::from_value(spec).unwrap()).unwrap();
        let mut spec = json!({ "targetRef": { "name": "pets" }, "storage": { "path": "a" },
            "until": { "time": "2026-03-01T09:00:00Z" } });
        let status: CampaignStatus = serde_json::from_value(ran("10:00:00")).unwrap();
        let terms = read(spec.clone());
        assert_eq!(
            next(&terms, &status, (true, false), at("10:01:00")),
            Next::Now
        );
        assert_eq!(
            next(&terms, &status, (false, true), at("10:01:00")),
            Next::Finished(OVER)
        );
        spec["suspend"] = json!(true);
        assert_eq!(
            next(&read(spec), &status, (true, true), at("10:01:00")),
            Next::Suspended
        );
    }

    #[test]
    fn a_spec_that_was_not_tried_is_tried_at_once() {
        let spec = json!({ "targetRef": { "name": "pets" }, "storage": { "path": "a" } });
        let terms = Terms::read(&serde_json::from_value(spec).unwrap()).unwrap();
        let status: CampaignStatus = serde_json::from_value(ran("10:00:00")).unwrap();
        let soon = at("10:00:10");
        assert_eq!(next(&terms, &status, (false, true), soon), Next::Now);
        assert_eq!(
            next(&terms, &status, (false, false), soon),
            Next::At(at("10:05:00"))
        );
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let read = |spec: Value| {
            let mut whole = json!({ "targetRef": { "name": "pets" }, "storage": { "path": "a" } });
            for (key, value) in spec.as_object().unwrap() {
                whole[key] = value.clone();
            }
            Terms::read(&serde_json::from_value(whole).unwrap())
        };
        for wrong in [
            json!({ "interval": "4s" }),
            json!({ "interval": "soon" }),
            json!({ "until": { "time": "tomorrow" } }),
            json!({ "until": { "noNewProbesFor": "a while" } }),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        assert_eq!(
            read(json!({})).unwrap().interval,
            std::time::Duration::from_secs(300)
        );
        // As the longest that can be said.
        let long = read(json!({ "interval": "8760h" })).unwrap();
        assert_eq!(later(Timestamp::MAX, long.interval), Timestamp::MAX);
    }
}
