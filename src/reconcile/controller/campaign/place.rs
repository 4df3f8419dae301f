//! Where a Campaign's file is kept, and with which keys.

use crate::api::campaign::{CampaignSpec, S3};
use crate::cluster::Cluster;
use crate::reconcile::controller::name::Name;
use crate::reconcile::controller::problem::Problem;
use crate::reconcile::controller::secret::read;
use crate::reconcile::controller::sync::Defaults;
use crate::storage::s3::{Endpoint, Keys, Place};
use crate::storage::{Bucket, Folder, Storage, StorageError};

/// The region that requests are signed for when nobody says: the one that servers which have none take.
const REGION: &str = "us-east-1";

/// Finds the place of the file. Only what lies in S3 reads a Secret.
///
/// # Errors
/// Why there is none; no value of the Secret is told.
pub async fn storage(
    cluster: &Cluster,
    name: &Name,
    spec: &CampaignSpec,
    defaults: &Defaults,
) -> Result<Storage, Problem> {
    let file = format!("{}.exec", name.name);
    match (&spec.storage.path, &spec.storage.s3) {
        (Some(path), None) => {
            let Some(root) = &defaults.campaigns.root else {
                let message = "spec.storage.path: the controller has no folder for Campaigns (campaigns.root of its Config)";
                return Err(Problem::stalled("StorageNotAllowed", message));
            };
            let folder = Folder::new(root, &name.namespace, path, &file);
            Ok(Storage::Folder(folder.map_err(refused)?))
        }
        (None, Some(s3)) => {
            let region = s3.region.as_deref().unwrap_or(REGION);
            let place = place(s3, region, &file, &defaults.campaigns.endpoints).map_err(refused)?;
            let keys = keys(cluster, &name.namespace, &s3.secret_ref.name).await?;
            Ok(Storage::Bucket(
                Bucket::new(&place, &keys).map_err(refused)?,
            ))
        }
        _ => {
            let message = "spec.storage names neither or both of path and s3";
            Err(Problem::stalled("InvalidSpec", message))
        }
    }
}

fn place(s3: &S3, region: &str, file: &str, trusted: &[String]) -> Result<Place, StorageError> {
    let is_region = region
        .bytes()
        .all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if region.is_empty() || !is_region {
        let message = "spec.storage.s3.region: it takes letters, digits and dashes";
        return Err(StorageError::NotAllowed(message.to_owned()));
    }
    let endpoint = match &s3.endpoint {
        Some(text) => Endpoint::new(text, trusted)?,
        None => Endpoint::of_aws(region),
    };
    Place::new(&s3.url, file, region, endpoint)
}

fn refused(error: StorageError) -> Problem {
    Problem::stalled(error.reason(), error.to_string())
}

/// Reads the keys, as the controller itself: it may do so where `covergence-credentials` is bound to it.
async fn keys(cluster: &Cluster, namespace: &str, name: &str) -> Result<Keys, Problem> {
    let failed = |why: String| {
        let message = format!("spec.storage.s3.secretRef: Secret {namespace}/{name}: {why}");
        Problem::passing("CredentialsUnavailable", message)
    };
    let mut data = read(cluster, namespace, name).await.map_err(failed)?;
    let mut text = |key: &str| {
        let text = data.remove(key).and_then(|it| String::from_utf8(it).ok());
        // A line break at the end is in every Secret that was made of a file by hand.
        let text = text.map(|text| text.trim().to_owned());
        let is_key =
            |text: &String| !text.is_empty() && text.bytes().all(|it| it.is_ascii_graphic());
        let text = text.filter(is_key);
        text.ok_or_else(|| failed(format!("it has no {key} that could be one")))
    };
    let (access_key, secret_key) = (text("accesskey")?, text("secretkey")?);
    Ok(Keys {
        access_key,
        secret_key,
        authorities: data.remove("ca.crt"),
    })
}
