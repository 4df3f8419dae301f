//! The command line: arguments -> settings -> a command -> output and an exit code.

mod agent;
mod args;
mod branches;
mod collect;
mod compare;
mod crd;
mod demo;
mod diagnostics;
mod diff;
mod error;
mod folder;
mod follow;
mod json;
pub mod logging;
mod markdown;
mod offline;
mod progress;
mod rbac;
mod render;
mod run;
mod sandbox;
mod settings;
mod signals;
mod snapshot;
mod status;
mod steps;
mod sync;
mod table;
mod time;
mod tree;
mod validate;
mod view;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::{CommandFactory, Parser};

use self::args::{Cli, Command};
use self::error::CliError;
use crate::overlay::confine;

/// Nothing to do, or done.
pub(crate) const OK: u8 = 0;
/// Differences, violations, or problems.
pub(crate) const DIFFERENCES: u8 = 1;
/// Errors.
pub(crate) const ERRORS: u8 = 2;

/// Runs the command that the arguments name, and gives the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter().peekable();
    let program = arguments.next();
    if arguments
        .next_if(|first| first == confine::ARGUMENT)
        .is_some()
    {
        return confine::run(arguments);
    }
    let cli = match Cli::try_parse_from(program.into_iter().chain(arguments)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap knows the code for each.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(ERRORS));
        }
    };
    let json = cli.command.prints_json();
    let code = match dispatch(cli.command) {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => OK,
        Err(error) => {
            report(&error, json);
            ERRORS
        }
    };
    ExitCode::from(code)
}

/// Tells an error to people, and to a program that asked for JSON.
fn report(error: &CliError, json: bool) {
    let style: Style = AnsiColor::Red.on_default().bold();
    let mut out = anstream::stderr().lock();
    // Nobody is left to tell when this fails.
    let _ = writeln!(
        out,
        "{style}error{style:#}: {}",
        diagnostics::printable(&error.to_string())
    );
    if let Some(hint) = error.hint() {
        let _ = writeln!(out, "  {}", diagnostics::printable(&hint));
    }
    if json {
        let _ = json::error(&error.to_string(), error.hint().as_deref());
    }
}

fn dispatch(command: Command) -> Result<u8, CliError> {
    match command {
        Command::Agent(args) => agent::run(&args),
        Command::Crd(args) => crd::run(&args),
        Command::Completions { shell } => completions(shell),
        Command::Collect(args) => collect::run(&args),
        Command::Rbac(args) => runtime()?.block_on(rbac::run(&args)),
        Command::Render(args) => runtime()?.block_on(render::run(&args)),
        Command::Validate(args) => runtime()?.block_on(validate::run(&args)),
        Command::Demo(args) => runtime()?.block_on(demo::run(&args)),
        Command::Sandbox(args) => runtime()?.block_on(sandbox::run(&args)),
        Command::Diff(args) => runtime()?.block_on(diff::run(&args)),
        Command::Snapshot(args) => runtime()?.block_on(snapshot::run(&args)),
        Command::Sync(args) => runtime()?.block_on(sync::run(&args)),
        Command::Status(args) => runtime()?.block_on(status::run(&args)),
        Command::Tree(args) => runtime()?.block_on(tree::run(&args)),
        Command::Run(args) => {
            let runtime = runtime()?;
            let code = runtime.block_on(run::run(&args));
            // A fetch that hangs has a thread of its own, which would be waited for.
            runtime.shutdown_background();
            code
        }
    }
}

/// Threads for what blocks: few sources are read at once, and each thread that was ever used keeps memory of its own.
const BLOCKING_THREADS: usize = 32;

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
}

fn completions(shell: clap_complete::Shell) -> Result<u8, CliError> {
    // Generated whole first: the generator panics when a pipe breaks.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "covergence", &mut script);
    io::stdout().write_all(&script)?;
    Ok(OK)
}
