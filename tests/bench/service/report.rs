//! The service's tables: how each figure grows, and its budgets.

use std::fmt::Write;
use std::time::Duration;

use super::changes::Changes;
use super::content::What;
use super::{Figures, Idle, Restart};
use crate::audit::Requests;
use crate::report::{Section, mark, median, time};

/// From a change to the converged cluster, beyond what the API server itself takes.
const BEYOND: Duration = Duration::from_millis(100);
/// From a deleted Service to its successor.
const BACK: Duration = Duration::from_millis(100);
/// Of the process, with up to 10,000 members.
const RESIDENT_MIB: u64 = 100;

const METHOD: &str = "\
`covergence run` on a control plane of its own for each kind of content, without leases, as a user of its own, whose requests the audit log
tells from all others. A content grows: it is written while no controller runs, a controller applies it (\"first sync\", from its start until
everything is ready), it is killed, and another one is started, which is what all other figures are of. Wrong numbers of requests fail the
run: a restart writes nothing, an idle controller asks for nothing, a change writes its objects and status, each once.

- ready: from the start of the process to `200` of `/readyz`, asked every 5 ms. looked at: until its metrics say so of every Sync and Target, asked
  every 50 ms. The requests are those until 2 s later.
- resident, peak: `VmRSS` and `VmHWM` of `/proc/PID/status` at the end of the idle time; after changes: `VmRSS` when the files have been changed.
  processor: `utime` and `stime` of `/proc/PID/stat`.
- change: one file is written, or `git update-ref` moves the branch of a local repository to a commit that was made before; the time is from
  when that returned to when a watch tells of the changed object (of a Target: also of its Service), and of the Sync's status. The
  controller waits 50 ms for the end of a save.
- API's own: the same applies to copies that nobody looks after, sent one after the other, each until a watch tells of it.
- deleted Service: from the answer to `DELETE` to when a watch tells of the new one.
";

/// All that was measured of the service.
#[derive(Default)]
pub struct ServiceReport(Vec<Figures>);

impl ServiceReport {
    pub(super) fn add(&mut self, figures: Figures) {
        self.0.push(figures);
    }

    /// What was wrong with the requests.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for figures in &self.0 {
            let content = figures.title();
            let Requests { writes, events, .. } = figures.restart.requests;
            if writes + events > 0 {
                problems.push(format!(
                    "{content}: a restart writes {writes} objects and {events} Events"
                ));
            }
            if figures.idle.requests.total() > 0 {
                let requests = figures.idle.requests;
                problems.push(format!("{content}: an idle controller sends {requests:?}"));
            }
            let changes = figures.changes().map(|(_, changes)| changes);
            problems.extend(changes.filter_map(|changes| changes.problem.clone()));
        }
        problems
    }

    /// The section, and the budgets that are missed.
    pub fn text(&self) -> Section {
        let mut text = format!("\n## The service\n\n{METHOD}");
        let mut missed = Vec::new();
        for what in [What::Members, What::Targets, What::Syncs] {
            let all: Vec<&Figures> = self.0.iter().filter(|f| f.what == what).collect();
            let _ = write!(text, "\n### {}\n\n{REST_HEAD}", heading(what));
            for figures in &all {
                text.push_str(&figures.rest(&mut missed));
            }
            if let (Some(least), Some(most)) = (all.first(), all.last()) {
                text.push_str(&growth(least, most));
            }
            let _ = write!(text, "\n{CHANGE_HEAD}");
            for figures in &all {
                for (how, changes) in figures.changes() {
                    text.push_str(&figures.change(how, changes, &mut missed));
                }
                if !figures.deletions.is_empty() {
                    text.push_str(&figures.deleted(&mut missed));
                }
            }
        }
        (text, missed)
    }
}

const REST_HEAD: &str = "\
| | first sync | restart: ready | looked at | lists | watches | gets | other | writes | resident | peak | after changes | idle: processor | requests | budget |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
";

const CHANGE_HEAD: &str = "\
| one of | changed by | API's own | to the objects | range | beyond the API's own | to the Sync's status | writes | events | other requests | budget |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
";

fn heading(what: What) -> &'static str {
    match what {
        What::Members => "Members: ConfigMaps of one Sync in 10 Namespaces",
        What::Targets => {
            "Targets of one Sync, in 10 Namespaces with a Deployment (0 replicas) each"
        }
        What::Syncs => "Syncs, of a directory with one ConfigMap each",
    }
}

impl Figures {
    fn title(&self) -> String {
        format!(
            "{} {}",
            self.size,
            format!("{:?}", self.what).to_lowercase()
        )
    }

    fn changes(&self) -> impl Iterator<Item = (&'static str, &Changes)> {
        let by_commit = self.by_commit.iter().map(|changes| ("commit", changes));
        [("file", &self.by_file)].into_iter().chain(by_commit)
    }

    fn rest(&self, missed: &mut Vec<String>) -> String {
        let Restart {
            ready,
            looked_at,
            requests,
        } = &self.restart;
        let Idle {
            resident_kib,
            peak_kib,
            window,
            processor,
            requests: idle,
        } = &self.idle;
        let mut budget = String::new();
        if self.what == What::Members {
            let met = *resident_kib < RESIDENT_MIB * 1024;
            budget = format!("{RESIDENT_MIB} MiB {}", mark(met));
            if !met {
                let (title, mib) = (self.title(), resident_kib / 1024);
                missed.push(format!(
                    "{title}: {mib} MiB are resident, the budget is {RESIDENT_MIB} MiB"
                ));
            }
        }
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} MiB | {:.1} MiB | {:.1} MiB | {} of {} s | {} | {budget} |\n",
            self.size,
            time(self.first),
            time(*ready),
            time(*looked_at),
            requests.lists,
            requests.watches,
            requests.gets,
            requests.other,
            requests.writes + requests.events,
            mib(*resident_kib),
            mib(*peak_kib),
            mib(self.resident_after_kib),
            time(*processor),
            window.as_secs(),
            idle.total(),
        )
    }

    fn change(&self, how: &str, changes: &Changes, missed: &mut Vec<String>) -> String {
        let Changes {
            objects,
            status,
            requests,
            problem: _,
        } = changes;
        let own = median(&self.directly);
        let beyond = median(objects).saturating_sub(own);
        let met = beyond < BEYOND;
        if !met {
            missed.push(format!(
                "one of {} changed by a {how}: {} beyond the API's own time, the budget is {}",
                self.title(),
                time(beyond),
                time(BEYOND)
            ));
        }
        let reads = requests.total() - requests.writes - requests.events;
        let each = |count: usize| count as f64 / objects.len().max(1) as f64;
        format!(
            "| {} | {how} | {} | {} | {} | {} | {} | {:.1} | {:.1} | {:.1} | {} beyond {} |\n",
            self.size,
            time(own),
            time(median(objects)),
            range(objects),
            time(beyond),
            time(median(status)),
            each(requests.writes),
            each(requests.events),
            each(reads),
            time(BEYOND),
            mark(met),
        )
    }

    fn deleted(&self, missed: &mut Vec<String>) -> String {
        let back = median(&self.deletions);
        let met = back < BACK;
        if !met {
            missed.push(format!(
                "{}: a deleted Service is back after {}, the budget is {}",
                self.title(),
                time(back),
                time(BACK)
            ));
        }
        format!(
            "| {} | deleted Service | | {} | {} | | | | | | {} {} |\n",
            self.size,
            time(back),
            range(&self.deletions),
            time(BACK),
            mark(met),
        )
    }
}

/// How many times as much the largest content takes as the smallest.
fn growth(least: &Figures, most: &Figures) -> String {
    let times = |of: &dyn Fn(&Figures) -> f64| {
        let (least, most) = (of(least), of(most));
        if least > 0.0 {
            format!("x{:.1}", most / least)
        } else {
            "-".to_owned()
        }
    };
    let objects = (most.size - least.size).max(1) as f64;
    let each = most
        .idle
        .resident_kib
        .saturating_sub(least.idle.resident_kib) as f64
        / objects;
    let columns = [
        times(&|f| f.size as f64),
        times(&|f| f.first.as_secs_f64()),
        times(&|f| f.restart.ready.as_secs_f64()),
        times(&|f| f.restart.looked_at.as_secs_f64()),
        times(&|f| f.restart.requests.lists as f64),
        times(&|f| f.restart.requests.watches as f64),
        times(&|f| f.restart.requests.gets as f64),
        times(&|f| f.restart.requests.other as f64),
        "-".to_owned(),
        format!("{each:.1} KiB each"),
        times(&|f| f.idle.peak_kib as f64),
        times(&|f| f.resident_after_kib as f64),
        times(&|f| f.idle.processor.as_secs_f64() / f.idle.window.as_secs_f64()),
        "-".to_owned(),
        String::new(),
    ];
    format!("| {} |\n", columns.join(" | "))
}

fn range(walls: &[Duration]) -> String {
    let (least, most) = (walls.iter().min(), walls.iter().max());
    let shown = |wall: Option<&Duration>| time(wall.copied().unwrap_or_default());
    format!("{} to {}", shown(least), shown(most))
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
