//! Covergence on a real API server (`make bench`): its commands side by side with kubectl and with a load generator, and its
//! service with more and more to look after.
//!
//! `cargo bench --bench side_by_side` writes `BENCHMARKS.md`; with `-- --quick` it is one run with few objects that writes
//! nothing, with `-- --service` only the service's part, with `-- --commands` only the commands', and with `-- --reading`, `-- --merge` or `-- --sandbox` only one of the
//! parts without a cluster, which takes the place of the one in `BENCHMARKS.md`. Times are only reported. What fails this program is a wrong
//! number of requests, or a wrong union.

mod audit;
mod child;
mod generator;
mod http;
mod lab;
mod machine;
mod merge;
mod reading;
mod report;
mod sandbox;
mod scenario;
mod service;
mod source;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::report::{Report, Section};
use self::scenario::Scenario;
use self::source::{Size, Source};
use self::tools::Tools;

/// Errors end the bench; nobody handles them.
pub type Res<T> = Result<T, Box<dyn std::error::Error>>;

/// Runs of which the median is taken.
const REPETITIONS: usize = 5;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let result = if arguments.next_if(|first| first == child::MEASURE).is_some() {
        child::measure(arguments).map(|()| true)
    } else {
        // `cargo bench` adds `--bench`.
        let arguments: Vec<_> = arguments.collect();
        let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
        if has("--commands") {
            commands_only(has("--quick"))
        } else if has("--reading") {
            reading(has("--quick"))
        } else if has("--merge") {
            merge(has("--quick"))
        } else if has("--sandbox") {
            sandbox(has("--quick"))
        } else {
            bench(has("--quick"), has("--service"))
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(quick: bool, service_only: bool) -> Res<bool> {
    let folder = tempfile::Builder::new()
        .prefix("covergence-bench-")
        .tempdir()?;
    let mut report = if service_only {
        Report::default()
    } else {
        commands(folder.path(), quick)?
    };
    if !service_only {
        report.add_reading(reading::measure(folder.path(), quick)?);
        report.add_merge(merge::measure(folder.path(), quick)?);
        report.add_sandbox(sandbox::measure(folder.path(), quick)?);
    }
    report.add_service(service::measure(folder.path(), quick)?);
    print!("{}", report.text());
    let problems = report.problems();
    for problem in &problems {
        eprintln!("WRONG: {problem}");
    }
    if problems.is_empty() && !quick && !service_only {
        write(&report.text())?;
    }
    Ok(problems.is_empty())
}

/// Measures the commands anew and leaves the other sections as they are.
fn commands_only(quick: bool) -> Res<bool> {
    let folder = tempfile::Builder::new()
        .prefix("covergence-bench-")
        .tempdir()?;
    let report = commands(folder.path(), quick)?;
    let (head, sections) = (report.head(), report.commands());
    renew(Some(&head), &sections, &report.problems(), quick)
}

/// Measures the reading anew and leaves the other sections as they are.
fn reading(quick: bool) -> Res<bool> {
    let folder = tempfile::tempdir()?;
    let reading = reading::measure(folder.path(), quick)?;
    renew(None, &[reading.text()], &reading.problems(), quick)
}

/// Measures the merging anew and leaves the other sections as they are.
fn merge(quick: bool) -> Res<bool> {
    let folder = tempfile::tempdir()?;
    let merge = merge::measure(folder.path(), quick)?;
    renew(None, &[merge.text()], &merge.problems(), quick)
}

/// Measures the sandbox anew and leaves the other sections as they are.
fn sandbox(quick: bool) -> Res<bool> {
    let folder = tempfile::tempdir()?;
    let sandbox = sandbox::measure(folder.path(), quick)?;
    renew(None, &[sandbox.text()], &[], quick)
}

/// Writes what stands above all sections, and sections with the budgets that they miss, in the place of those of before.
fn renew(head: Option<&str>, sections: &[Section], problems: &[String], quick: bool) -> Res<bool> {
    print!("{}", head.unwrap_or_default());
    for (section, _) in sections {
        print!("{section}");
    }
    for miss in sections.iter().flat_map(|(_, missed)| missed) {
        println!("missed: {miss}");
    }
    for problem in problems {
        eprintln!("WRONG: {problem}");
    }
    if problems.is_empty() && !quick {
        let mut whole = std::fs::read_to_string(path())?;
        if let Some(head) = head {
            let rest = whole.find("\n## ").and_then(|at| whole.get(at..));
            whole = format!("{head}{}", rest.unwrap_or_default());
        }
        write(&sections.iter().fold(whole, |whole, section| {
            report::with_section(&whole, section)
        }))?;
    }
    Ok(problems.is_empty())
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("BENCHMARKS.md")
}

fn write(text: &str) -> Res<()> {
    let path = path();
    std::fs::write(&path, text)?;
    eprintln!("written to {}", path.display());
    Ok(())
}

fn commands(folder: &Path, quick: bool) -> Res<Report> {
    let (size, targets, repetitions) = if quick {
        (Size::QUICK, 100, 1)
    } else {
        (Size::PLAIN, 1000, REPETITIONS)
    };
    let plain = Source::write(folder.join("a"), size)?;
    let with_targets = Source::write(folder.join("b"), size.with_targets(targets))?;
    let mut tools = Tools::start(folder)?;
    let mut report = Report::new(machine::describe(&tools)?, repetitions);
    for source in [&plain, &with_targets] {
        let scenario = Scenario::new(&mut tools, source, repetitions)?;
        report.add(source.size, scenario.run()?);
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests");
    report.add_starts(tools.starts(&sample, repetitions)?);
    Ok(report)
}
