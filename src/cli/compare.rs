//! `covergence diff` without a cluster: against what was saved of one, against another revision, or both.

use std::path::Path;
use std::sync::Arc;

use super::args::{AgainstArgs, DiffArgs};
use super::diff::{Against, Show, tell};
use super::error::CliError;
use super::{diagnostics, settings};
use crate::cluster::context_namespace;
use crate::load::{Diagnostic, Loaded, Severity, Snapshot, load};
use crate::reconcile::{Planned, Saved, Settings, StandIn, deploy, plan_loaded, preview};

pub async fn run(args: &DiffArgs, show: &Show) -> Result<u8, CliError> {
    let AgainstArgs { snapshot, from, to } = &args.against;
    let source = &args.source;
    let saved = snapshot.as_deref().map(read).transpose()?;
    let earlier = match from {
        Some(from) => Some(settings::read_revision(source, from)?),
        None => None,
    };
    let found = match to {
        Some(to) => settings::read_revision(source, to)?,
        None => settings::read_source(source)?,
    };
    let settings = Settings {
        policies: Arc::new(settings::policies(source, &found, &args.admission)?),
        ..settings(args, saved.as_ref().map(|(_, saved)| saved)).await?
    };
    if let Some((path, saved)) = &saved {
        check_set(path, saved, &settings)?;
    }
    let later = settings::built(found, source, &settings)?;
    let later = Read::new(later, &settings);
    let earlier = earlier
        .map(|found| settings::built(found, source, &settings))
        .transpose()?;
    let earlier = earlier.map(|snapshot| Read::new(snapshot, &settings));

    let stand_in = match &saved {
        Some((path, saved)) => {
            let documents = later.loaded.documents.iter();
            let documents = documents.chain(earlier.iter().flat_map(|it| &it.loaded.documents));
            let documents: Vec<_> = documents.cloned().collect();
            StandIn::saved(saved, &documents, &settings).map_err(|error| unusable(path, error))?
        }
        None => StandIn::empty(&settings.namespace).await?,
    };
    let mut against = Against::Snapshot;
    let mut faulty = false;
    if let Some(earlier) = earlier {
        if saved.is_none() {
            stand_in.assume(&earlier.loaded.documents, &settings);
            stand_in.assume(&later.loaded.documents, &settings);
        }
        let revision = earlier.snapshot.revision.clone();
        let faults = deploy(&stand_in, &earlier.snapshot, earlier.loaded, &settings).await?;
        faulty = tell_faults(faults, &revision)?;
        against = Against::Revision(revision);
    }
    let Read { snapshot, loaded } = later;
    let cluster = &stand_in.cluster;
    let mut planned = plan_loaded(cluster.into(), &snapshot, loaded, &settings).await?;
    let Planned { plan, survey, .. } = &mut planned;
    preview(cluster, plan, survey, show.full, settings.concurrency).await?;
    if let Some((_, saved)) = &saved {
        let doubts = saved.doubts(&planned);
        planned.diagnostics.extend(doubts);
    }
    let code = tell(&planned, &settings, show, &against)?;
    Ok(if faulty { super::ERRORS } else { code })
}

/// A source that was read.
struct Read {
    snapshot: Snapshot,
    loaded: Loaded,
}

impl Read {
    fn new(snapshot: Snapshot, settings: &Settings) -> Self {
        let loaded = load(&snapshot, &settings.limits);
        Self { snapshot, loaded }
    }
}

fn read(path: &Path) -> Result<(&Path, Saved), CliError> {
    let saved = Saved::read(path).map_err(|error| unusable(path, error))?;
    Ok((path, saved))
}

fn unusable(path: &Path, error: crate::reconcile::SavedError) -> CliError {
    CliError::Saved {
        path: path.to_owned(),
        error,
    }
}

/// As with a cluster, but that its context is what was saved, or what commands without a cluster take for it.
async fn settings(args: &DiffArgs, saved: Option<&Saved>) -> Result<Settings, CliError> {
    let DiffArgs {
        source,
        set,
        policy,
        cluster,
        ..
    } = args;
    let namespace = match saved {
        Some(saved) => saved.default_namespace.clone(),
        None => context_namespace(&settings::connect_options(cluster))
            .await
            .unwrap_or_else(|| "default".into()),
    };
    let settings = settings::online(source, set, policy, cluster, &namespace)?;
    Ok(Settings {
        // What one revision has and the other has not is what this is about.
        prune: settings.prune || args.against.from.is_some(),
        ..settings
    })
}

fn check_set(path: &Path, saved: &Saved, settings: &Settings) -> Result<(), CliError> {
    let Saved {
        namespace, name, ..
    } = saved;
    if *namespace == settings.namespace && *name == settings.name {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{} was made for Sync {namespace}/{name}, and this is {}/{}: give --namespace {namespace} --name {name}, or make another one",
        path.display(),
        settings.namespace,
        settings.name
    )))
}

/// Tells what is wrong with the earlier revision, and whether that is an error.
fn tell_faults(mut faults: Vec<Diagnostic>, revision: &str) -> Result<bool, CliError> {
    for fault in &mut faults {
        fault.message = format!("in {revision}: {}", fault.message);
    }
    diagnostics::print(&mut anstream::stderr().lock(), &faults)?;
    Ok(faults.iter().any(|fault| fault.severity == Severity::Error))
}
