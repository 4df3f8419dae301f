//! What was typed after `covergence collect`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::dump_args::{DumpArgs, HELP};
use crate::cli::args::Output;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = HELP)]
pub struct CollectArgs {
    #[command(subcommand)]
    pub command: Option<CollectCommand>,
    #[command(flatten)]
    pub dump: DumpArgs,
}

#[derive(Debug, Subcommand)]
pub enum CollectCommand {
    /// Put files of execution data together.
    #[command(after_help = MERGE_HELP)]
    Merge(MergeArgs),
    /// Show what is in files of execution data.
    #[command(after_help = INFO_HELP)]
    Info(InfoArgs),
}

impl CollectArgs {
    /// Tells whether a program reads the result.
    pub fn prints_json(&self) -> bool {
        match &self.command {
            None => self.dump.format == Output::Json,
            Some(CollectCommand::Merge(_)) => false,
            Some(CollectCommand::Info(args)) => args.output == Output::Json,
        }
    }
}

const MERGE_HELP: &str = "\
A probe that was hit in any of the files is hit in the union. The files are those that JaCoCo's
agent, jacococli and `covergence collect` write, and so is the union.

Examples:
  covergence collect merge pet-1.exec pet-2.exec -o union.exec
  covergence collect merge union.exec new.exec -o union.exec   adds to it: files are read first
  covergence collect merge *.exec -o - | ssh reports 'cat >union.exec'

A file that is damaged or cannot be read is named, with the byte where it is wrong, and what comes
before that byte goes into the union. Classes that do not match are named and left out: the same id
with another name or another number of probes, as agents of different releases write. In both cases
the union is partial, and the exit code says so.

Exit codes: 0 everything is in the union, 1 the union is partial, 2 errors: nothing was written.";

const INFO_HELP: &str = "\
Examples:
  covergence collect info union.exec
  covergence collect info pet-*.exec             each file, and all of them together
  covergence collect info union.exec --classes   which classes, and how many of their probes ran
  covergence collect info union.exec -o json | jq '.files[].sessions'

Exit codes: 0 all files are whole, 1 a file is not whole or does not match those before it, 2 errors.";

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Files of execution data.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Where the union goes: a file, which is replaced when it is complete, or - for the standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Files of execution data.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// List the classes too.
    #[arg(long)]
    pub classes: bool,
    /// How results are printed.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
}
