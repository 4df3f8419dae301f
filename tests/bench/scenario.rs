//! One source: kubectl, covergence and the load generator in turn, each on an empty cluster.

use std::collections::{BTreeMap, BTreeSet};

use covergence::render::service_name;

use crate::Res;
use crate::audit::{Event, objects};
use crate::generator::Script;
use crate::source::Source;
use crate::tools::{RECORDED, Sample, Tools};

/// As many as covergence has in flight by default. The server takes no more with 16 or 64.
pub const CONNECTIONS: usize = 32;

/// Name of the Sync.
const SYNC: &str = "bench";
/// The object of each kind that is edited.
const EDITED: usize = 7;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    KubectlFirst,
    Generator,
    SyncFirst,
    KubectlUnchanged,
    SyncUnchanged,
    KubectlDiff,
    DiffUnchanged,
    Snapshot,
    PreviewUnchanged,
    PreviewFull,
    DiffConfigMap,
    SyncConfigMap,
    DiffTarget,
    SyncTarget,
}

/// The samples of each work, and what was wrong with their requests.
#[derive(Default)]
pub struct Results {
    pub samples: BTreeMap<Work, Vec<Sample>>,
    pub problems: BTreeSet<String>,
}

pub struct Scenario<'a> {
    tools: &'a mut Tools,
    source: &'a Source,
    path: String,
    repetitions: usize,
    script: Option<Script>,
    results: Results,
}

impl<'a> Scenario<'a> {
    /// Installs the CRDs and records what a first sync sends.
    pub fn new(tools: &'a mut Tools, source: &'a Source, repetitions: usize) -> Res<Self> {
        let path = source.path();
        let sync = tools.covergence(&["sync", "--name", SYNC, "--context", RECORDED, &path]);
        let ((), events) = tools.watch(RECORDED, |tools| tools.run(&sync, 0).map(drop))?;
        tools.clean(&source.namespaces(), SYNC)?;
        // kubectl keeps what it has discovered for ten minutes; that is not what is compared.
        tools.run(&tools.kubectl(&["api-resources"]), 0)?;
        Ok(Self {
            tools,
            source,
            path,
            repetitions,
            script: Some(Script::from_recording(events)),
            results: Results::default(),
        })
    }

    pub fn run(mut self) -> Res<Results> {
        for repetition in 0..self.repetitions {
            eprintln!(
                "{} objects, run {} of {}",
                self.source.size.objects(),
                repetition + 1,
                self.repetitions
            );
            for turn in 0..3 {
                match (repetition + turn) % 3 {
                    0 => self.kubectl()?,
                    1 => self.covergence(repetition + 1)?,
                    _ => self.generator()?,
                }
                self.tools.clean(&self.source.namespaces(), SYNC)?;
            }
        }
        Ok(self.results)
    }

    fn kubectl(&mut self) -> Res<()> {
        for (work, verb) in [
            (Work::KubectlFirst, "apply"),
            (Work::KubectlUnchanged, "apply"),
            (Work::KubectlDiff, "diff"),
        ] {
            let command =
                self.tools
                    .kubectl(&[verb, "--server-side", "--recursive", "-f", &self.path]);
            let sample = self.tools.measure(&command, 0)?;
            self.results.add(work, sample);
        }
        Ok(())
    }

    fn generator(&mut self) -> Res<()> {
        let script = self.script.take().ok_or("there is no recording")?;
        let expected = script.len();
        let (script, sample) = self.tools.measure_generator(script, CONNECTIONS)?;
        self.script = Some(script);
        self.results.check(
            sample.requests.writes == expected,
            "the generator sends what was recorded",
            &sample.events,
        );
        self.results.add(Work::Generator, sample);
        Ok(())
    }

    fn covergence(&mut self, edit: usize) -> Res<()> {
        let sync = format!("default/syncs/{SYNC}");
        let status = format!("{sync}/status");
        self.measure(Work::SyncFirst, "sync", 0)?;
        for (work, verb) in [(Work::SyncUnchanged, "sync"), (Work::DiffUnchanged, "diff")] {
            let sample = self.measure(work, verb, 0)?;
            self.results.expect(work, &sample, &[], &[&sync]);
        }
        self.previews()?;

        self.source.config_map(EDITED, edit)?;
        let namespace = self.source.namespace_of(EDITED);
        let config_map = format!("{namespace}/configmaps/config-{EDITED:04}");
        let sample = self.measure(Work::DiffConfigMap, "diff", 1)?;
        self.results
            .expect(Work::DiffConfigMap, &sample, &[], &[&sync, &config_map]);
        let sample = self.measure(Work::SyncConfigMap, "sync", 0)?;
        self.results.expect(
            Work::SyncConfigMap,
            &sample,
            &[&config_map, &status],
            &[&sync],
        );

        if self.source.size.targets > 0 {
            self.source.target(EDITED, edit)?;
            let name = format!("target-{EDITED:04}");
            let target = format!("{namespace}/closurejvmtargets/{name}");
            let service = format!("{namespace}/services/{}", service_name(&name));
            let target_status = format!("{target}/status");
            let sample = self.measure(Work::DiffTarget, "diff", 1)?;
            self.results
                .expect(Work::DiffTarget, &sample, &[], &[&sync, &target, &service]);
            let sample = self.measure(Work::SyncTarget, "sync", 0)?;
            let written = [&*target, &service, &target_status, &status];
            self.results
                .expect(Work::SyncTarget, &sample, &written, &[&sync]);
        }
        Ok(())
    }

    /// The same diff without the cluster: only what has changed is dry-run, and then everything, as kubectl does it.
    fn previews(&mut self) -> Res<()> {
        let file = self.tools.folder().join("bench.snapshot");
        let file = file.to_string_lossy();
        let (path, name) = (self.path.as_str(), ["--name", SYNC]);
        let snapshot = [&["snapshot", path, "-o", &file], &name[..]].concat();
        let command = self.tools.covergence(&snapshot);
        let sample = self.tools.measure(&command, 0)?;
        self.results.add(Work::Snapshot, sample);
        for (work, more) in [
            (Work::PreviewUnchanged, &[][..]),
            (Work::PreviewFull, &["--full"][..]),
        ] {
            let diff = ["diff", path, "--snapshot", &file];
            let command = [&diff[..], &name, more].concat();
            let command = self.tools.covergence(&command);
            let sample = self.tools.measure(&command, 0)?;
            let silent = sample.events.is_empty();
            let what = format!("{work:?} asks no API server");
            self.results.check(silent, &what, &sample.events);
            self.results.add(work, sample);
        }
        Ok(())
    }

    fn measure(&mut self, work: Work, verb: &str, code: i32) -> Res<Sample> {
        let command = self.tools.covergence(&[verb, "--name", SYNC, &self.path]);
        let sample = self.tools.measure(&command, code)?;
        self.results.add(work, sample.clone());
        Ok(sample)
    }
}

impl Results {
    fn add(&mut self, work: Work, sample: Sample) {
        self.samples.entry(work).or_default().push(sample);
    }

    /// Just these objects are written, each once, and no others but `touched` are asked for one by one.
    fn expect(&mut self, work: Work, sample: &Sample, written: &[&str], touched: &[&str]) {
        let set = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<BTreeSet<_>>()
        };
        let writes = objects(sample.events.iter().filter(|event| event.is_write()));
        let once = sample.requests.writes == writes.len();
        self.check(
            once && writes == set(written),
            &format!("{work:?} writes {written:?} and nothing else"),
            &sample.events,
        );
        let all: BTreeSet<String> = objects(&sample.events);
        let allowed = &set(written) | &set(touched);
        self.check(
            all.is_subset(&allowed),
            &format!("{work:?} touches no object but {allowed:?}"),
            &sample.events,
        );
    }

    fn check(&mut self, right: bool, what: &str, events: &[Event]) {
        if !right {
            let some: Vec<String> = events
                .iter()
                .filter_map(|event| Some(format!("{} {}", event.verb, event.object()?)))
                .take(10)
                .collect();
            self.problems
                .insert(format!("{what}; it was: {}", some.join(", ")));
        }
    }
}
