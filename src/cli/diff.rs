//! `covergence diff`, and `covergence sync --dry-run`.

use std::io::Write;
use std::sync::Arc;

use super::args::{
    AdmissionArgs, ClusterArgs, DiffArgs, DiffOutput, PolicyArgs, SetArgs, SourceArgs,
};
use super::error::CliError;
use super::markdown::{self, Page};
use super::steps::{print_step, print_waiting, summary};
use super::{DIFFERENCES, ERRORS, OK, compare, diagnostics, json, settings};
use crate::plan::Action;
use crate::reconcile::{Planned, Settings, make_plan, preview};

/// How a preview is shown.
pub struct Show {
    pub full: bool,
    pub all: bool,
    pub verbose: bool,
    pub output: DiffOutput,
}

/// What a plan was made for.
pub enum Against {
    /// A cluster.
    Cluster,
    /// What was saved of one.
    Snapshot,
    /// Another revision, on an empty cluster or on what was saved.
    Revision(String),
}

pub async fn run(args: &DiffArgs) -> Result<u8, CliError> {
    let DiffArgs {
        source,
        set,
        admission,
        policy,
        cluster,
        against,
        full,
        all,
        output,
    } = args;
    let show = &Show {
        full: *full,
        all: *all,
        verbose: admission.verbose,
        output: *output,
    };
    if against.snapshot.is_some() || against.from.is_some() {
        return compare::run(args, show).await;
    }
    self::show(source, set, (admission, policy), cluster, show).await
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
    tell(&planned, &settings, show, &Against::Cluster)
}

/// Prints a plan, and gives the exit code that tells of it.
pub fn tell(
    planned: &Planned,
    settings: &Settings,
    show: &Show,
    against: &Against,
) -> Result<u8, CliError> {
    print(planned, settings, show, against)?;
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

fn print(
    planned: &Planned,
    settings: &Settings,
    show: &Show,
    against: &Against,
) -> Result<(), CliError> {
    let mut err = anstream::stderr().lock();
    diagnostics::print(&mut err, &planned.diagnostics)?;
    if show.verbose {
        diagnostics::print_notes(&mut err, &planned.policies)?;
    }
    let plan = &planned.plan;
    let mut out = anstream::stdout().lock();
    match show.output {
        DiffOutput::Json => {
            drop(out);
            return Ok(json::plan(planned, settings, against.revision())?);
        }
        DiffOutput::Markdown => {
            let page = Page {
                plan,
                diagnostics: &planned.diagnostics,
                set: &format!("{}/{}", settings.namespace, settings.name),
                revision: &planned.revision,
                against,
                approve: &planned.approval.command,
            };
            return Ok(out.write_all(markdown::page(&page).as_bytes())?);
        }
        DiffOutput::Text => {}
    }
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

impl Against {
    fn revision(&self) -> Option<&str> {
        match self {
            Self::Revision(revision) => Some(revision),
            Self::Cluster | Self::Snapshot => None,
        }
    }
}
