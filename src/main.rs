//! Starts the command line and hands its exit code on.

use std::process::ExitCode;

fn main() -> ExitCode {
    covergence::cli::run(std::env::args_os())
}
