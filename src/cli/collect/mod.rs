//! `covergence collect`.

mod args;
mod dump;
mod dump_args;
mod files;
mod follow;
mod info;
mod merge;
mod places;
mod read;
mod report;
mod report_json;

pub use self::args::CollectArgs;
use self::args::CollectCommand;
use super::error::CliError;
use super::runtime;
use crate::coverage::Summary;

pub fn run(args: &CollectArgs) -> Result<u8, CliError> {
    match &args.command {
        None => runtime()?.block_on(dump::run(&args.dump)),
        Some(CollectCommand::Merge(args)) => merge::run(args),
        Some(CollectCommand::Info(args)) => info::run(args),
    }
}

/// `2 sessions, 12 classes, 340 of 512 probes hit`.
fn summary_text(summary: Summary) -> String {
    let Summary {
        sessions,
        classes,
        probes,
        hit,
    } = summary;
    format!(
        "{}, {}, {hit} of {} hit",
        plural(sessions, "session", "sessions"),
        plural(classes, "class", "classes"),
        plural(probes, "probe", "probes"),
    )
}

fn plural(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}
