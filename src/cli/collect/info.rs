//! `covergence collect info`.

use std::io::Write;

use super::args::InfoArgs;
use super::read::Reading;
use super::summary_text;
use crate::cli::diagnostics::printable;
use crate::cli::error::CliError;
use crate::cli::{DIFFERENCES, OK};
use crate::coverage::{Limits, Store};

pub fn run(args: &InfoArgs) -> Result<u8, CliError> {
    let InfoArgs {
        files,
        classes: _,
        output: _,
    } = args;
    let limits = Limits::default();
    let mut out = anstream::stdout().lock();
    let mut good = true;
    for path in files {
        let mut store = Store::new();
        let reading = Reading::of(path, &mut store, &limits);
        good &= reading.is_whole();
        let line = format!("{}: {}", path.display(), summary_text(store.summary()));
        writeln!(out, "{}", printable(&line))?;
    }
    Ok(if good { OK } else { DIFFERENCES })
}
