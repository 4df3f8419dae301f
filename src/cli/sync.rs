//! `covergence sync`.

use std::io::Write;
use std::sync::Arc;

use serde_json::Value;

use super::args::{Output, SyncArgs};
use super::diagnostics::printable;
use super::diff::{self, Show};
use super::error::CliError;
use super::progress::Progress;
use super::steps::{outcomes, print_waiting};
use super::{ERRORS, OK, diagnostics, json, settings};
use crate::cluster::Kind;
use crate::reconcile::{Planned, Report, Settings, install_kinds, is_good, make_plan, now, sync};

pub async fn run(args: &SyncArgs) -> Result<u8, CliError> {
    let SyncArgs {
        source,
        set,
        admission,
        policy,
        cluster,
        dry_run,
        wait,
        timeout,
        all,
        output,
    } = args;
    if *dry_run {
        let show = Show {
            full: false,
            all: *all,
            verbose: admission.verbose,
            output: (*output).into(),
        };
        return diff::show(source, set, (admission, policy), cluster, &show).await;
    }
    let (found, connection) = settings::open(source, cluster).await?;
    let settings = Settings {
        wait: wait.then_some(*timeout),
        policies: Arc::new(settings::policies(source, &found, admission)?),
        ..settings::online(source, set, policy, cluster, connection.default_namespace())?
    };
    let snapshot = settings::built(found, source, &settings)?;
    let mut planned = make_plan((&connection).into(), &snapshot, &settings).await?;
    refuse_followed(&planned, &settings)?;
    let mut installed = Vec::new();
    if !planned.survey.has_our_kinds() {
        installed = install_kinds(&connection).await?;
        planned = make_plan((&connection).into(), &snapshot, &settings).await?;
    }
    let mut err = anstream::stderr();
    for name in &installed {
        writeln!(err, "installed CustomResourceDefinition {name}")?;
    }
    let mut err = err.lock();
    diagnostics::print(&mut err, &planned.diagnostics)?;
    if admission.verbose {
        diagnostics::print_notes(&mut err, &planned.policies)?;
    }
    drop(err);

    let progress = Progress::new(planned.plan.steps.len(), *output == Output::Text, *all);
    let ended = sync(
        (&connection).into(),
        planned,
        &settings,
        &now().to_string(),
        &|step, done| progress.step(step, done),
    )
    .await;
    progress.finish();
    let (planned, report) = ended?;
    match output {
        Output::Json => json::report(&planned, &report, &settings, &installed)?,
        Output::Text => print(&planned, &report, &settings)?,
    }
    Ok(if is_good(&planned, &report) {
        OK
    } else {
        ERRORS
    })
}

/// A Sync with a source is the controller's, which would undo at once what comes from elsewhere. A source that holds its
/// own Sync is how people begin.
fn refuse_followed(planned: &Planned, settings: &Settings) -> Result<(), CliError> {
    let parent = planned.survey.parent.as_ref();
    let source = parent.and_then(|parent| parent.pointer("/spec/source"));
    let Settings {
        namespace, name, ..
    } = settings;
    let itself = planned.survey.desired.iter().any(|desired| {
        let id = &desired.id;
        id.group_kind == Kind::sync().group_kind()
            && id.namespace.as_ref() == Some(namespace)
            && id.name == *name
    });
    if itself || source.is_none_or(Value::is_null) {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "Sync {namespace}/{name} has a source of its own, which a controller follows: change that, or choose another --name"
    )))
}

fn print(planned: &Planned, report: &Report, settings: &Settings) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    let Settings {
        namespace, name, ..
    } = settings;
    for target in &report.targets {
        let phase = target
            .status
            .phase
            .map_or_else(String::new, |phase| format!("{phase:?}"));
        let what = target
            .status
            .coverage_endpoint
            .as_deref()
            .unwrap_or("no endpoint");
        writeln!(
            out,
            "target     {}/{}  {phase}  {}",
            target.namespace,
            target.name,
            printable(what)
        )?;
    }
    for (id, why) in &planned.plan.unreadable {
        writeln!(
            out,
            "{}",
            printable(&format!("{id} gets no Service: {why}"))
        )?;
    }
    for unhealthy in &report.unhealthy {
        let text = format!("not healthy: {}, {}", unhealthy.id, unhealthy.health);
        writeln!(out, "{}", printable(&text))?;
    }
    for trouble in &report.trouble {
        writeln!(out, "{}", printable(trouble))?;
    }
    writeln!(
        out,
        "Sync {namespace}/{name} at {}: {}",
        planned.revision,
        outcomes(&report.done)
    )?;
    Ok(print_waiting(&mut out, planned)?)
}
