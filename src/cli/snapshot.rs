//! `covergence snapshot`.

use super::args::{PolicyArgs, SnapshotArgs};
use super::error::CliError;
use super::{ERRORS, OK, diagnostics, settings};
use crate::reconcile::save;

pub async fn run(args: &SnapshotArgs) -> Result<u8, CliError> {
    let SnapshotArgs {
        source,
        set,
        cluster,
        output,
    } = args;
    let (found, connection) = settings::open(source, cluster).await?;
    let namespace = connection.default_namespace();
    let settings = settings::online(source, set, &PolicyArgs::default(), cluster, namespace)?;
    let snapshot = settings::built(found, source, &settings)?;
    let (saved, planned) = save(&connection, &snapshot, &settings).await?;
    diagnostics::print(&mut anstream::stderr().lock(), &planned.diagnostics)?;
    saved.write(output).map_err(|error| CliError::Saved {
        path: output.clone(),
        error,
    })?;
    Ok(if planned.has_errors() { ERRORS } else { OK })
}
