//! The table, with ratios and budgets.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use crate::merge::MergeReport;
use crate::reading::ReadingReport;
use crate::sandbox::SandboxReport;
use crate::scenario::{CONNECTIONS, Results, Work};
use crate::service::ServiceReport;
use crate::source::Size;
use crate::tools::Sample;

#[derive(Default)]
pub struct Report {
    machine: Vec<String>,
    repetitions: usize,
    sections: Vec<(Size, Results)>,
    starts: Option<(Vec<Sample>, Vec<Sample>)>,
    reading: Option<ReadingReport>,
    merge: Option<MergeReport>,
    sandbox: Option<SandboxReport>,
    service: Option<ServiceReport>,
}

/// One budget and what became of it.
struct Judged {
    text: String,
    missed: Option<String>,
}

impl Report {
    pub fn new(machine: Vec<String>, repetitions: usize) -> Self {
        Self {
            machine,
            repetitions,
            sections: Vec::new(),
            starts: None,
            reading: None,
            merge: None,
            sandbox: None,
            service: None,
        }
    }

    pub fn add(&mut self, size: Size, results: Results) {
        self.sections.push((size, results));
    }

    pub fn add_starts(&mut self, starts: (Vec<Sample>, Vec<Sample>)) {
        self.starts = Some(starts);
    }

    pub fn add_reading(&mut self, reading: ReadingReport) {
        self.reading = Some(reading);
    }

    pub fn add_merge(&mut self, merge: MergeReport) {
        self.merge = Some(merge);
    }

    pub fn add_sandbox(&mut self, sandbox: SandboxReport) {
        self.sandbox = Some(sandbox);
    }

    pub fn add_service(&mut self, service: ServiceReport) {
        self.service = Some(service);
    }

    pub fn problems(&self) -> Vec<String> {
        let sections = self.sections.iter();
        let commands = sections.flat_map(|(_, results)| results.problems.iter().cloned());
        let service = self.service.iter().flat_map(ServiceReport::problems);
        let reading = self.reading.iter().flat_map(ReadingReport::problems);
        let merge = self.merge.iter().flat_map(MergeReport::problems);
        commands
            .chain(reading)
            .chain(merge)
            .chain(service)
            .collect()
    }

    /// What stands above all sections.
    pub fn head(&self) -> String {
        let mut text = String::from(
            "# Benchmarks\n\nWritten by `make bench` (`cargo bench --bench side_by_side`).\n\n",
        );
        for line in &self.machine {
            let _ = writeln!(text, "- {line}");
        }
        if !self.sections.is_empty() {
            let _ = write!(text, "\n{}", method(self.repetitions));
        }
        text
    }

    /// The sections about commands.
    pub fn commands(&self) -> Vec<Section> {
        let mut sections = Vec::new();
        for (size, results) in &self.sections {
            let mut missed = Vec::new();
            let mut text = format!("\n## {}\n\n{HEAD}", title(*size));
            let medians: BTreeMap<Work, Duration> = results
                .samples
                .iter()
                .map(|(work, samples)| (*work, median_wall(samples)))
                .collect();
            for (work, samples) in &results.samples {
                let judged = judge(*work, &medians);
                let label = label(*work);
                text.push_str(&row(
                    label,
                    samples,
                    &judged
                        .iter()
                        .map(|j| j.text.as_str())
                        .collect::<Vec<_>>()
                        .join("; "),
                ));
                let misses = judged.into_iter().filter_map(|j| j.missed);
                missed.extend(misses.map(|miss| format!("{}: {label}: {miss}", title(*size))));
            }
            sections.push((text, missed));
        }
        if let Some((help, diff)) = &self.starts {
            let mut missed = Vec::new();
            let mut text = format!("\n## Start\n\n{HEAD}");
            for (label, samples, limit) in [
                ("`covergence --help`", help, 10),
                ("`covergence diff manifests/`, unchanged", diff, 300),
            ] {
                let wall = median_wall(samples);
                let met = wall < Duration::from_millis(limit);
                text.push_str(&row(
                    label,
                    samples,
                    &format!("budget {limit} ms {}", mark(met)),
                ));
                if !met {
                    missed.push(format!(
                        "Start: {label}: {} instead of {limit} ms",
                        time(wall)
                    ));
                }
            }
            sections.push((text, missed));
        }
        sections
    }

    pub fn text(&self) -> String {
        let mut text = self.head();
        let mut sections = self.commands();
        sections.extend(self.reading.iter().map(ReadingReport::text));
        sections.extend(self.merge.iter().map(MergeReport::text));
        sections.extend(self.sandbox.iter().map(SandboxReport::text));
        sections.extend(self.service.iter().map(ServiceReport::text));
        let (sections, missed): (Vec<_>, Vec<_>) = sections.into_iter().unzip();
        text.extend(sections);
        let missed = missed.concat();
        text.push_str(MISSED);
        if missed.is_empty() {
            let _ = writeln!(text, "{NONE}");
        }
        for miss in missed {
            let _ = writeln!(text, "- {miss}");
        }
        if !self.sections.is_empty() {
            text.push_str(WHERE);
        }
        text
    }
}

/// A part of the report under a title, and the budgets that it misses, each behind that title.
pub type Section = (String, Vec<String>);

const MISSED: &str = "\n## Budgets that are missed\n\n";

/// A report with a section in place of the one of the same title, or in front of what comes after the commands; so are the
/// budgets that it misses.
pub fn with_section(report: &str, (section, missed): &Section) -> String {
    let title = section.trim_start().lines().next().unwrap_or_default();
    let report = &with_misses(report, title.trim_start_matches("## "), missed);
    let next = |text: &str| text.find("\n## ");
    let (before, after) = match report.find(&format!("\n{title}\n")) {
        Some(at) => {
            let (before, rest) = report.split_at(at);
            let end = rest.get(1..).and_then(next).map_or(rest.len(), |at| at + 1);
            (before, rest.get(end..).unwrap_or_default())
        }
        None => {
            let later = ["\n## The service\n", "\n## Budgets"];
            let at = later.iter().filter_map(|it| report.find(it)).min();
            report.split_at(at.unwrap_or(report.len()))
        }
    };
    format!("{before}{section}{after}")
}

/// A report with these missed budgets in the place of those that the section of a title missed before.
fn with_misses(report: &str, title: &str, missed: &[String]) -> String {
    let Some((before, rest)) = report.split_once(MISSED) else {
        return report.to_owned();
    };
    let end = rest.find("\n## ").unwrap_or(rest.len());
    let (list, after) = rest.split_at(end);
    let old = format!("- {title}: ");
    let others = list
        .lines()
        .filter(|line| !line.starts_with(&old) && *line != NONE);
    let lines: Vec<String> = others
        .map(str::to_owned)
        .chain(missed.iter().map(|miss| format!("- {miss}")))
        .collect();
    let list = match lines.is_empty() {
        true => NONE.to_owned(),
        false => lines.join("\n"),
    };
    format!("{before}{MISSED}{list}\n{after}")
}

/// What is said where no budget is missed.
const NONE: &str = "None.";

/// What a preview of a thousand objects may take; of twice as many as well.
const PREVIEW: Duration = Duration::from_secs(1);

const HEAD: &str = "\
| work | median | range | requests | writes | dry runs | gets | lists | other | peak memory | compared |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
";

/// From profiles of the release build on the two cores of the figures' first edition.
const WHERE: &str = "
## Where the time goes

- A first sync waits for the API server: 32 requests are in flight from the first object to the last. What is on top of the generator's time
  is the start, the survey and the plan. With Targets, kubectl has half the writes: it makes neither their Services nor their status.
- Nothing changed, without Targets: about 30 ms are the server's. The rest is ours: OpenSSL reads all certificates of the system (22 ms, also when
  the kubeconfig brings its own), the files are read with a dozen system calls each, then YAML and metadata are parsed.
- Nothing changed, 1,000 Targets: the server needs 300 ms to list them (v1.20 decodes custom resources one by one; metadata alone is no
  faster); all other lists come in that time. Parsing and planning take us about as long again.
- Merging: a quarter of our processor time is the kernel's (`time`), which copies the files. Files are read by as many threads as there are
  processors.
";

fn method(repetitions: usize) -> String {
    format!(
        "\
Everything in one run, medians of {repetitions}; kubectl, covergence and the generator take turns, each starting from a cluster without these
objects (the namespaces are deleted in between, the CRDs stay) and each command once the controllers are at rest. Only times are
reported; wrong numbers of requests fail the run (an unchanged sync or diff writes nothing and asks for no single object; one changed file
touches only its object).

- kubectl: `kubectl apply --server-side -R -f DIR` twice, then `kubectl diff --server-side -R -f DIR`; its discovery cache is warm.
- covergence: `covergence sync --name bench DIR` twice, then `covergence diff`, then the same against a file of `covergence snapshot`, then
  sync and diff with one file changed. `--full` dry-runs every object, as kubectl does.
- generator: the applies that a first sync sends (recorded bodies, same query and `Accept`), over {CONNECTIONS} open connections without a pause: what
  this API server takes at most. Namespaces come before what is in them, Targets before their Services, and these before the status.
- requests: the measured user's, from the API server's audit log, which alone tells them from the controllers'; every run is checked
  against the server's own `apiserver_request_total{{verb=\"APPLY\"}}`. \"gets\" are reads of one object, \"other\" is discovery.
- peak memory: `ru_maxrss` of the process (for `kubectl diff`, of it or of the `diff` that it starts).
"
    )
}

fn title(size: Size) -> String {
    let mut text = format!(
        "{} objects: {} Namespaces, {} ConfigMaps, {} headless Services",
        size.objects(),
        size.namespaces,
        size.config_maps,
        size.services
    );
    if size.targets > 0 {
        let _ = write!(
            text,
            ", {} Targets and {} Deployments (0 replicas)",
            size.targets,
            size.deployments()
        );
    }
    text
}

fn label(work: Work) -> &'static str {
    match work {
        Work::KubectlFirst => "`kubectl apply`, first",
        Work::Generator => "generator, the same as the first sync",
        Work::SyncFirst => "`covergence sync`, first",
        Work::KubectlUnchanged => "`kubectl apply`, unchanged",
        Work::SyncUnchanged => "`covergence sync`, unchanged",
        Work::KubectlDiff => "`kubectl diff`, unchanged",
        Work::DiffUnchanged => "`covergence diff`, unchanged",
        Work::Snapshot => "`covergence snapshot`",
        Work::PreviewUnchanged => "`covergence diff --snapshot`, unchanged, without a cluster",
        Work::PreviewFull => "`covergence diff --snapshot --full`, unchanged, without a cluster",
        Work::DiffConfigMap => "`covergence diff`, one ConfigMap changed",
        Work::SyncConfigMap => "`covergence sync`, one ConfigMap changed",
        Work::DiffTarget => "`covergence diff`, one Target changed",
        Work::SyncTarget => "`covergence sync`, one Target changed",
    }
}

fn judge(work: Work, medians: &BTreeMap<Work, Duration>) -> Vec<Judged> {
    let Some(own) = medians.get(&work) else {
        return Vec::new();
    };
    let against = |other: Work, budget: f64| {
        let ratio = medians
            .get(&other)
            .map(|other| other.as_secs_f64() / own.as_secs_f64())?;
        let met = ratio >= budget;
        let (shown, wanted) = if other == Work::Generator {
            (
                format!("{:.0} % of the generator's rate", ratio * 100.0),
                format!("{:.0} %", budget * 100.0),
            )
        } else {
            (
                format!("{ratio:.1}x faster than {}", label(other)),
                format!("{budget:.0}x"),
            )
        };
        // Whoever sends the same requests cannot be faster than the generator.
        let limit = medians.get(&Work::Generator).zip(medians.get(&other));
        let limit = limit.filter(|_| work == Work::SyncFirst && other != Work::Generator);
        let limit = limit.map_or_else(String::new, |(generator, other)| {
            let limit = other.as_secs_f64() / generator.as_secs_f64();
            format!("; the API server itself takes them {limit:.1}x faster")
        });
        Some(Judged {
            text: format!("{shown} (budget {wanted} {})", mark(met)),
            missed: (!met).then(|| format!("{shown}, the budget is {wanted}{limit}")),
        })
    };
    let budgets: &[(Work, f64)] = match work {
        Work::SyncFirst => &[(Work::KubectlFirst, 7.0), (Work::Generator, 0.8)],
        Work::SyncUnchanged => &[(Work::KubectlUnchanged, 40.0)],
        Work::DiffUnchanged => &[(Work::KubectlDiff, 40.0)],
        Work::PreviewFull => &[(Work::KubectlDiff, 10.0)],
        _ => &[],
    };
    let within = match work {
        Work::PreviewUnchanged | Work::PreviewFull => Some(PREVIEW),
        _ => None,
    };
    let within = within.map(|limit| {
        let (met, limit) = (*own < limit, time(limit));
        Judged {
            text: format!("budget {limit} {}", mark(met)),
            missed: (!met).then(|| format!("{} instead of {limit}", time(*own))),
        }
    });
    let against = budgets
        .iter()
        .filter_map(|(other, budget)| against(*other, *budget));
    within.into_iter().chain(against).collect()
}

fn row(label: &str, samples: &[Sample], compared: &str) -> String {
    let walls = || samples.iter().map(|sample| sample.wall);
    let (least, most) = (
        walls().min().unwrap_or_default(),
        walls().max().unwrap_or_default(),
    );
    let peak = samples.iter().filter_map(|sample| sample.peak_kib).max();
    let peak = peak.map_or_else(|| "-".to_owned(), |kib| format!("{} MiB", kib / 1024));
    let requests = samples
        .first()
        .map(|sample| sample.requests)
        .unwrap_or_default();
    format!(
        "| {label} | {} | {} to {} | {} | {} | {} | {} | {} | {} | {peak} | {compared} |\n",
        time(median_wall(samples)),
        time(least),
        time(most),
        requests.total(),
        requests.writes,
        requests.dry_runs,
        requests.gets,
        requests.lists,
        requests.other,
    )
}

fn median_wall(samples: &[Sample]) -> Duration {
    let walls: Vec<Duration> = samples.iter().map(|sample| sample.wall).collect();
    median(&walls)
}

pub fn median(walls: &[Duration]) -> Duration {
    let mut walls = walls.to_vec();
    walls.sort_unstable();
    walls.get(walls.len() / 2).copied().unwrap_or_default()
}

pub fn time(wall: Duration) -> String {
    let ms = wall.as_secs_f64() * 1000.0;
    match ms {
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.2} s", ms / 1000.0),
    }
}

pub fn mark(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}
