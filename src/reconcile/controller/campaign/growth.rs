//! How a union grew, in few points.

use jiff::Timestamp;

use crate::api::campaign::GrowthPoint;

/// The most points that a status keeps: enough for a curve, and 4 kB at most.
const MOST: usize = 64;

/// Adds a point where the number changed. Of too many points that one goes which has the nearest neighbours in time, so that the
/// rest stay spread over all of it; the first and the last one stay.
pub fn note(series: &mut Vec<GrowthPoint>, time: Timestamp, probes_hit: i64) {
    if series
        .last()
        .is_some_and(|last| last.probes_hit == probes_hit)
    {
        return;
    }
    series.push(GrowthPoint {
        time: time.to_string(),
        probes_hit,
    });
    while series.len() > MOST {
        let Some(at) = densest(series) else { return };
        series.remove(at);
    }
}

/// The inner point whose neighbours are nearest to one another.
fn densest(series: &[GrowthPoint]) -> Option<usize> {
    let seconds = |point: &GrowthPoint| {
        let time: Result<Timestamp, _> = point.time.parse();
        time.map_or(0, Timestamp::as_second)
    };
    let inner = series
        .windows(3)
        .enumerate()
        .filter_map(|(at, window)| match window {
            [before, _, after] => Some((seconds(after) - seconds(before), at + 1)),
            _ => None,
        });
    inner.min().map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn of(points: &[(i64, i64)]) -> Vec<GrowthPoint> {
        let mut series = Vec::new();
        for (second, hit) in points {
            note(&mut series, at(*second), *hit);
        }
        series
    }

    #[test]
    fn only_changes_are_points() {
        let series = of(&[(0, 0), (10, 0), (20, 7), (30, 7), (40, 9), (50, 3)]);
        let hits: Vec<i64> = series.iter().map(|point| point.probes_hit).collect();
        assert_eq!(hits, [0, 7, 9, 3]);
        assert_eq!(series[1].time, at(20).to_string());
    }

    #[test]
    fn a_long_series_is_thinned_evenly_and_keeps_its_ends() {
        let points: Vec<(i64, i64)> = (0..5000).map(|i| (i * 60, i)).collect();
        let series = of(&points);
        assert_eq!(series.len(), MOST);
        assert_eq!(series[0].time, at(0).to_string());
        assert_eq!(series.last().unwrap().probes_hit, 4999);
        assert!(
            series
                .windows(2)
                .all(|pair| pair[0].probes_hit < pair[1].probes_hit)
        );
        // The whole time is covered: no gap is longer than an eighth of it.
        let gaps = series
            .windows(2)
            .map(|pair| pair[1].probes_hit - pair[0].probes_hit);
        assert!(gaps.max().unwrap() < 5000 / 8, "{series:?}");
        let text = serde_json::to_string(&series).unwrap();
        assert!(text.len() < 4096, "{} bytes", text.len());
    }
}
