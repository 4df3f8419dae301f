//! The `process_*` series that every exporter has, read from `/proc` when they are asked for.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Ticks of `/proc` in a second (`USER_HZ`): 100 on every architecture that Kubernetes runs on, whatever the kernel's own.
const TICKS_PER_SECOND: f64 = 100.0;

/// What the kernel says of this process. What it does not say (`/proc` may be restricted) is left out.
#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let read = |file| fs::read_to_string(file).unwrap_or_default();
        let stat = read("/proc/self/stat");
        if let Some(seconds) = cpu_seconds(&stat) {
            let help = "User and system time spent, in seconds.";
            let metric = ConstCounter::new(seconds);
            write(&mut encoder, "process_cpu_seconds", help, &metric)?;
        }
        if let Some(bytes) = resident_bytes(&read("/proc/self/status")) {
            let help = "Resident memory, in bytes.";
            let metric = ConstGauge::new(bytes);
            write(&mut encoder, "process_resident_memory_bytes", help, &metric)?;
        }
        if let Some(seconds) = start_seconds(&stat, &read("/proc/stat")) {
            let help = "When the process started, in seconds since the epoch.";
            let metric = ConstGauge::new(seconds);
            write(&mut encoder, "process_start_time_seconds", help, &metric)?;
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            let help = "Open files and sockets.";
            let metric = ConstGauge::new(files.count());
            write(&mut encoder, "process_open_fds", help, &metric)?;
        }
        Ok(())
    }
}

fn write(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    metric: &dyn EncodeMetric,
) -> fmt::Result {
    metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    Some((field(stat, 14)? + field(stat, 15)?) / TICKS_PER_SECOND)
}

fn start_seconds(stat: &str, system: &str) -> Option<f64> {
    let boot: f64 = number(system, "btime ")?;
    Some(boot + field(stat, 22)? / TICKS_PER_SECOND)
}

fn resident_bytes(status: &str) -> Option<u64> {
    number(status, "VmRSS:").map(|kilobytes: u64| kilobytes.saturating_mul(1024))
}

/// A field of `/proc/self/stat`, counted from 1 as in proc(5).
fn field(stat: &str, number: usize) -> Option<f64> {
    // The second field, the program's name, may hold blanks and brackets of its own.
    let (_, rest) = stat.rsplit_once(')')?;
    let index = number.checked_sub(3)?;
    rest.split_ascii_whitespace().nth(index)?.parse().ok()
}

/// The number on the line that starts so.
fn number<T: std::str::FromStr>(text: &str, start: &str) -> Option<T> {
    let rest = text.lines().find_map(|line| line.strip_prefix(start))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "7 (a) b (c)) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 4 0 12345 1000 200 184467 1";

    #[test]
    fn a_programs_name_does_not_shift_the_fields() {
        assert_eq!(cpu_seconds(STAT), Some(3.0));
        let system = "cpu 1 2 3\nbtime 1000\nprocesses 5\n";
        assert_eq!(start_seconds(STAT, system), Some(1123.45));
    }

    #[test]
    fn memory_is_in_bytes() {
        let status = "Name:\tx\nVmRSS:\t    2048 kB\nThreads:\t4\n";
        assert_eq!(resident_bytes(status), Some(2_097_152));
    }

    #[test]
    fn what_is_not_said_is_left_out() {
        assert_eq!(cpu_seconds(""), None);
        assert_eq!(cpu_seconds("7 (a) S 1"), None);
        assert_eq!(start_seconds(STAT, ""), None);
        assert_eq!(resident_bytes("VmRSS: none"), None);
    }
}
