//! `covergence diff`, and `covergence sync --dry-run`.

use std::io::Write;
use std::sync::Arc;

use super::args::{AdmissionArgs, ClusterArgs, DiffArgs, Output, PolicyArgs, SetArgs, SourceArgs};
use super::error::CliError;
use super::steps::{print_step, print_waiting, summary};
use super::{DIFFERENCES, ERRORS, OK, diagnostics, json, settings};
use crate::plan::Action;
use crate::reconcile::{Planned, Settings, make_plan, preview};

/// How a preview is shown.
pub struct Show {
    pub full: bool,
    pub all: bool,
    pub verbose: bool,
    pub output: Output,
}

pub async fn run(args: &DiffArgs) -> Result<u8, CliError> {
    let DiffArgs {
        source,
        set,
        admission,
        policy,
        cluster,
        full,
        all,
        output,
    } = args;
    show(
        source,
        set,
        (admission, policy),
        cluster,
        &Show {
            full: *full,
            all: *all,
            verbose: admission.verbose,
            output: *output,
        },
    )
    .await
}

/// Plans, asks the server what would come of it, and prints that.
pub async fn show(
    source: &SourceArgs,
    set: &SetArgs,
    (admission, policy): (&AdmissionArgs, &PolicyArgs),
    cluster: &ClusterArgs,
    show: &Show,
) -> Result<u8, CliError> {
    let (found, connection) = settings::open(source, cluster).await?;
    let settings = Settings {
        policies: Arc::new(settings::policies(source, &found, admission)?),
        ..settings::online(source, set, policy, cluster, connection.default_namespace())?
    };
    let snapshot = settings::built(found, source, &settings)?;
    let mut planned = make_plan((&connection).into(), &snapshot, &settings).await?;
    let Planned { plan, survey, .. } = &mut planned;
    preview(&connection, plan, survey, show.full, settings.concurrency).await?;
    print(&planned, &settings, show)?;
    // A refusal is no pending change: sync would fail on it.
    Ok(
        if planned.has_errors() || planned.plan.count(Action::Refuse) > 0 {
            ERRORS
        } else if planned.plan.has_differences() {
            DIFFERENCES
        } else {
            OK
        },
    )
}

fn print(planned: &Planned, settings: &Settings, show: &Show) -> Result<(), CliError> {
    let mut err = anstream::stderr().lock();
    diagnostics::print(&mut err, &planned.diagnostics)?;
    if show.verbose {
        diagnostics::print_notes(&mut err, &planned.policies)?;
    }
    if show.output == Output::Json {
        return Ok(json::plan(planned, settings)?);
    }
    let plan = &planned.plan;
    let mut out = anstream::stdout().lock();
    for step in plan
        .steps
        .iter()
        .filter(|step| show.all || step.action != Action::Unchanged)
    {
        print_step(&mut out, step)?;
    }
    for (id, why) in &plan.unreadable {
        let text = format!("{id} gets no Service: {why}");
        writeln!(out, "{}", diagnostics::printable(&text))?;
    }
    writeln!(out, "{}", summary(plan))?;
    Ok(print_waiting(&mut out, planned)?)
}
