//! `covergence crd`.

use std::io::{self, Write};

use super::args::{CrdArgs, Format};
use super::error::CliError;
use super::{OK, json};
use crate::api::crds;
use crate::load::to_yaml;

pub fn run(args: &CrdArgs) -> Result<u8, CliError> {
    let crds = crds()?;
    match args.output {
        Format::Json => json::list(&crds)?,
        Format::Yaml => {
            let mut out = io::stdout().lock();
            for crd in &crds {
                write!(out, "---\n{}", to_yaml(crd))?;
            }
        }
    }
    Ok(OK)
}
