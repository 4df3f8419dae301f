//! `covergence render`.

use std::io::{self, Write};

use serde_json::Value;

use super::args::{Format, RenderArgs};
use super::error::CliError;
use super::offline::{definitions, prepare};
use super::{ERRORS, OK, diagnostics, json, settings};
use crate::load::to_yaml;
use crate::plan::{Body, Step};
use crate::render::stamp;

pub async fn run(args: &RenderArgs) -> Result<u8, CliError> {
    let RenderArgs {
        source,
        schema,
        set,
        output,
    } = args;
    let found = settings::read_source(source)?;
    let settings = settings::offline(source, set).await?;
    let definitions = definitions(schema)?;
    let snapshot = settings::built(found, source, &settings)?;
    let offline = prepare(&snapshot, &settings, &definitions, false)?;
    diagnostics::print(&mut anstream::stderr().lock(), &offline.diagnostics)?;
    let steps = offline.plan.steps.iter();
    let objects = steps.filter_map(|step| Some((step, sent(step)?)));
    match output {
        Format::Json => json::list(&objects.map(|(_, object)| object).collect::<Vec<_>>())?,
        Format::Yaml => {
            let mut out = io::stdout().lock();
            for (step, object) in objects {
                writeln!(out, "---\n# {}", comment(step))?;
                out.write_all(to_yaml(&object).as_bytes())?;
            }
        }
    }
    Ok(if offline.has_errors() { ERRORS } else { OK })
}

/// What would be sent. A Service's owner reference is left out: it needs the uid that its Target has in a cluster.
fn sent(step: &Step) -> Option<Value> {
    match &step.body {
        Body::Apply { object, .. } => Some(Value::clone(object)),
        Body::Child { object, .. } => {
            let mut object = object.clone();
            stamp(&mut object, None);
            Some(object)
        }
        Body::None | Body::Delete | Body::Prune | Body::Agent { .. } => None,
    }
}

fn comment(step: &Step) -> String {
    let origin = step
        .origin
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    // A file's name may hold a line break, which would end the comment.
    let origin = diagnostics::printable(&origin);
    match &step.body {
        Body::Child { target, .. } => format!("for {target}, {origin}"),
        _ => origin,
    }
}
