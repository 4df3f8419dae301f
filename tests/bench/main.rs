//! Covergence side by side with kubectl and with a load generator, on a real API server (`make bench`).
//!
//! `cargo bench --bench side_by_side` writes `BENCHMARKS.md`; with `-- --quick` it is one run with few objects that writes
//! nothing. Times are only reported. What fails this program is a wrong number of requests.

mod audit;
mod child;
mod generator;
mod http;
mod lab;
mod machine;
mod report;
mod scenario;
mod source;
mod tools;

use std::path::Path;
use std::process::ExitCode;

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
        bench(arguments.any(|argument| argument == "--quick"))
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

fn bench(quick: bool) -> Res<bool> {
    let folder = tempfile::Builder::new()
        .prefix("covergence-bench-")
        .tempdir()?;
    let (size, targets, repetitions) = if quick {
        (Size::QUICK, 100, 1)
    } else {
        (Size::PLAIN, 1000, REPETITIONS)
    };
    let plain = Source::write(folder.path().join("a"), size)?;
    let with_targets = Source::write(folder.path().join("b"), size.with_targets(targets))?;
    let mut tools = Tools::start(folder.path())?;
    let mut report = report::Report::new(machine::describe(&tools)?, repetitions);
    for source in [&plain, &with_targets] {
        let scenario = Scenario::new(&mut tools, source, repetitions)?;
        report.add(source.size, scenario.run()?);
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests");
    report.add_starts(tools.starts(&sample, repetitions)?);
    print!("{}", report.text());
    for problem in report.problems() {
        eprintln!("WRONG: {problem}");
    }
    let right = report.problems().next().is_none();
    if right && !quick {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("BENCHMARKS.md");
        std::fs::write(&path, report.text())?;
        eprintln!("written to {}", path.display());
    }
    Ok(right)
}
