//! `covergence collect merge`.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::args::MergeArgs;
use super::read::read_all;
use super::summary_text;
use crate::cli::diagnostics::printable;
use crate::cli::error::CliError;
use crate::cli::steps::{BAD, CHANGE};
use crate::cli::{DIFFERENCES, OK};
use crate::coverage::{Limits, Store, Summary, write_exec};
use crate::durable::write_durably;

pub fn run(args: &MergeArgs) -> Result<u8, CliError> {
    let MergeArgs { files, output } = args;
    let to_stdout = output == Path::new("-");
    if to_stdout && io::stdout().is_terminal() {
        return Err(CliError::usage(
            "the union is not for a terminal: name a file with -o, or let a program read it",
        ));
    }
    let (union, readings) = read_all(files, &Limits::default());
    let mut err = anstream::stderr().lock();
    for (path, reading) in files.iter().zip(&readings) {
        for problem in reading.problems() {
            let text = printable(&format!("{}: {problem}", path.display()));
            writeln!(err, "{BAD}error{BAD:#}: {text}")?;
        }
    }
    let summary = union.summary();
    if summary == Summary::default() && readings.iter().all(|it| it.failure.is_some()) {
        return Err(CliError::usage(
            "nothing could be read: no union is written",
        ));
    }
    write(&union, output, to_stdout)?;
    let summary = summary_text(summary);
    let line = printable(&format!("{}: {summary}", output.display()));
    if to_stdout {
        writeln!(err, "{summary}")?;
    } else {
        writeln!(anstream::stdout().lock(), "{line}")?;
    }
    let partial = readings.iter().filter(|it| !it.is_whole()).count();
    if partial == 0 {
        return Ok(OK);
    }
    let text = format!(
        "the union is partial: {partial} of {} files are not wholly in it",
        files.len()
    );
    writeln!(err, "{CHANGE}{text}{CHANGE:#}")?;
    Ok(DIFFERENCES)
}

fn write(union: &Store, output: &Path, to_stdout: bool) -> Result<(), CliError> {
    if to_stdout {
        return Ok(write_exec(union, io::stdout().lock())?);
    }
    let written = write_durably(output, |out| write_exec(union, out));
    written.map_err(|error| CliError::usage(format!("cannot write {}: {error}", output.display())))
}
