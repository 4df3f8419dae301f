//! `covergence validate`.

use std::io::Write;
use std::sync::Arc;

use super::args::{Output, ValidateArgs};
use super::error::CliError;
use super::offline::{definitions, prepare};
use super::{DIFFERENCES, OK, diagnostics, json, settings};
use crate::load::Severity;
use crate::reconcile::Settings;

pub async fn run(args: &ValidateArgs) -> Result<u8, CliError> {
    let ValidateArgs {
        source,
        schema,
        set,
        admission,
        output,
    } = args;
    let found = settings::read_source(source)?;
    let settings = Settings {
        policies: Arc::new(settings::policies(source, &found, admission)?),
        ..settings::offline(source, set).await?
    };
    let definitions = definitions(schema)?;
    let snapshot = settings::built(found, source, &settings)?;
    let offline = prepare(&snapshot, &settings, &definitions, true)?;
    match output {
        Output::Json => json::validation(
            &snapshot.revision,
            offline.desired.len(),
            &offline.diagnostics,
            &offline.policies,
        )?,
        Output::Text => {
            let mut out = anstream::stdout().lock();
            diagnostics::print(&mut out, &offline.diagnostics)?;
            if admission.verbose {
                diagnostics::print_notes(&mut out, &offline.policies)?;
            }
            let count = |severity| {
                offline
                    .diagnostics
                    .iter()
                    .filter(|d| d.severity == severity)
                    .count()
            };
            let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
            writeln!(
                out,
                "{}, {}, {}",
                counted(offline.desired.len(), "object"),
                counted(errors, "error"),
                counted(warnings, "warning"),
            )?;
        }
    }
    Ok(if offline.has_errors() {
        DIFFERENCES
    } else {
        OK
    })
}

fn counted(n: usize, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}
