//! What a Sync's spec asks for, in the pipeline's terms.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::live::LiveSync;
use super::problem::Problem;
use super::source::Followed;
use crate::api::parse_duration;
use crate::api::sync::{self, HelmSource, SHORTEST_INTERVAL, SyncSpec};
use crate::overlay::{Options, Values};
use crate::plan::{AgentImages, Limit};
use crate::policy::{Asked, User};
use crate::reconcile::{Limits, Settings};
use crate::source::directory::{DirectorySource, is_within};
use crate::source::git::{Credentials, GitSource, RepositoryUrl};

/// How often a repository is asked for news when nobody says: what Flux's and Argo CD's users are used to, or less.
const INTERVAL: Duration = Duration::from_secs(60);

/// How often a repository of this machine is asked: that takes a few small files.
const LOCAL_INTERVAL: Duration = Duration::from_secs(1);

/// How long a run may wait when nobody says.
const TIMEOUT: Duration = Duration::from_secs(300);

/// What the configuration says for all Syncs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// Domain of the cluster's Services.
    pub cluster_domain: String,
    /// What may bring the agent.
    pub agent_images: AgentImages,
    /// The most requests of one run in flight.
    pub concurrency: usize,
    /// Directories that Syncs may read, and all below them.
    pub directories: Vec<PathBuf>,
    /// Whether kustomizations may refer to places in the network.
    pub allow_remote_bases: bool,
    /// The ServiceAccount of Syncs that name none.
    pub service_account: Option<String>,
    /// Namespace of the controller itself.
    pub home: String,
    /// How much of a source is read.
    pub limits: Limits,
}

/// Gives the settings of a run.
///
/// # Errors
/// What is wrong with the spec.
pub fn settings(
    sync: &LiveSync,
    spec: &SyncSpec,
    defaults: &Defaults,
    give_way: &CancellationToken,
) -> Result<Settings, Problem> {
    let timeout = time("timeout", spec.timeout.as_ref(), TIMEOUT)?;
    let account = spec.service_account_name.as_ref();
    let account = account.or(defaults.service_account.as_ref());
    Ok(Settings {
        name: sync.name.name.clone(),
        named: true,
        source: spec.source.as_ref().map(shown).unwrap_or_default(),
        namespace: sync.name.namespace.clone(),
        target_namespace: match &spec.target_namespace {
            Some(namespace) => namespace.clone(),
            None => sync.name.namespace.clone(),
        },
        prune: spec.prune,
        allow_empty: spec.allow_empty,
        prune_limits: Limit::of_spec(spec),
        approved_prune: None,
        home: Some(defaults.home.clone()),
        kubectl: "kubectl".to_owned(),
        remarks: remarks(spec),
        force_conflicts: false,
        wait: spec.wait.then_some(timeout),
        give_way: give_way.clone(),
        serve_targets: false,
        writes_status: true,
        compares: true,
        outlives_members: sync.takes_members_along(),
        requested_at: sync.open_request().map(str::to_owned),
        generation: sync.generation,
        cluster_domain: defaults.cluster_domain.clone(),
        agent_image: defaults.agent_images.default.clone(),
        policies: Arc::new(Asked {
            inside: spec.policies.clone(),
            others: Vec::new(),
        }),
        user: account.map(|account| User::service_account(&sync.name.namespace, account)),
        concurrency: defaults.concurrency,
        limits: defaults.limits.load.clone(),
    })
}

/// How long a Sync's deletion may take.
pub fn timeout(spec: &SyncSpec) -> Duration {
    time("timeout", spec.timeout.as_ref(), TIMEOUT).unwrap_or(TIMEOUT)
}

/// What is done otherwise than the spec says it.
pub fn remarks(spec: &SyncSpec) -> Vec<String> {
    let remote = |url: &RepositoryUrl| url.local_path().is_none();
    let git = spec.source.as_ref().and_then(|source| source.git.as_ref());
    let url = git.and_then(|git| git.url.parse().ok()).filter(remote);
    let asked = spec.interval.as_ref().filter(|_| url.is_some());
    let short = asked.filter(|asked| {
        parse_duration(&asked.0).is_ok_and(|interval| interval < SHORTEST_INTERVAL)
    });
    let told = short.map(|sync::Duration(text)| {
        let shortest = SHORTEST_INTERVAL.as_secs();
        format!("spec.interval: {text} is too short, the server is asked every {shortest}s")
    });
    told.into_iter().collect()
}

/// Gives what is to be followed; looks at the file system, and blocks. `credentials` are what the Sync's Secret holds.
///
/// # Errors
/// What is wrong with the spec, or not allowed.
pub fn followed(
    spec: &SyncSpec,
    credentials: Credentials,
    defaults: &Defaults,
) -> Result<Followed, Problem> {
    let interval = time("interval", spec.interval.as_ref(), INTERVAL)?.max(SHORTEST_INTERVAL);
    match &spec.source {
        Some(sync::Source {
            git: Some(git),
            directory: None,
            helm,
        }) => {
            if git.verify.is_some() {
                let message = "spec.source.git.verify: signatures of commits cannot be checked yet, so nothing is applied";
                return Err(Problem::stalled("InvalidSource", message));
            }
            let url: RepositoryUrl = git.url.parse().map_err(|error| {
                Problem::stalled("InvalidURL", format!("spec.source.git.url: {error}"))
            })?;
            let interval = match url.local_path() {
                Some(path) => {
                    allowed("spec.source.git.url", path, &defaults.directories)?;
                    LOCAL_INTERVAL
                }
                None => interval,
            };
            let source = GitSource {
                url,
                reference: git.reference.clone(),
                path: git.path.clone(),
                values_files: values_files(helm.as_ref()).to_vec(),
                credentials,
            };
            Ok(Followed::Git(Box::new(source), interval))
        }
        Some(sync::Source {
            git: None,
            directory: Some(sync::DirectorySource { path, sub_path }),
            helm,
        }) => {
            let path = Path::new(path);
            allowed("spec.source.directory.path", path, &defaults.directories)?;
            Ok(Followed::Directory(DirectorySource {
                path: path.to_owned(),
                folder: sub_path.clone(),
                values_files: values_files(helm.as_ref()).to_vec(),
            }))
        }
        _ => Err(Problem::stalled(
            "InvalidSource",
            "spec.source names neither or both of git and directory",
        )),
    }
}

/// Gives what a source is built with, if it has to be.
///
/// # Errors
/// What is wrong with the spec.
pub fn options(sync: &LiveSync, spec: &SyncSpec, defaults: &Defaults) -> Result<Options, Problem> {
    let helm = spec.source.as_ref().and_then(|source| source.helm.as_ref());
    let release = helm.and_then(|helm| helm.release_name.as_ref());
    let timeout = spec.timeout.as_ref();
    Ok(Options {
        release: release.unwrap_or(&sync.name.name).clone(),
        namespace: spec
            .target_namespace
            .as_ref()
            .unwrap_or(&sync.name.namespace)
            .clone(),
        values: values_files(helm)
            .iter()
            .cloned()
            .map(Values::OfSource)
            .collect(),
        allow_remote: defaults.allow_remote_bases,
        time: match timeout {
            Some(_) => Some(time("timeout", timeout, TIMEOUT)?),
            None => None,
        },
    })
}

fn values_files(helm: Option<&HelmSource>) -> &[String] {
    helm.map_or(&[], |helm| helm.values_files.as_slice())
}

/// A Sync is written by whoever may write Syncs, who must not read files of this machine by that.
fn allowed(field: &str, path: &Path, directories: &[PathBuf]) -> Result<(), Problem> {
    let dotted = path.components().any(|part| part.as_os_str() == "..");
    if path.is_absolute() && !dotted && is_within(path, directories) {
        return Ok(());
    }
    Err(Problem::stalled(
        "InvalidPath",
        format!(
            "{field}: {} is not below one of the directories that the controller's Config allows (directories)",
            path.display()
        ),
    ))
}

fn time(
    field: &str,
    text: Option<&sync::Duration>,
    default: Duration,
) -> Result<Duration, Problem> {
    let Some(sync::Duration(text)) = text else {
        return Ok(default);
    };
    parse_duration(text)
        .map_err(|why| Problem::stalled("InvalidSpec", format!("spec.{field}: {text:?}: {why}")))
}

/// The source as the Sync remembers it: without credentials.
fn shown(source: &sync::Source) -> String {
    if let Some(directory) = &source.directory {
        return directory.location();
    }
    let Some(git) = &source.git else {
        return String::new();
    };
    let path = git.path.as_deref().unwrap_or_default();
    match git.url.parse::<RepositoryUrl>() {
        Ok(url) => format!("{url}//{}", path.trim_matches('/')),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_interval_that_is_too_short_for_a_server_is_remarked() {
        let told = |url: &str, interval: &str| {
            let spec = json!({ "source": { "git": { "url": url } }, "interval": interval });
            remarks(&serde_json::from_value(spec).unwrap())
        };
        let remote = "https://git.example/shop.git";
        assert_eq!(
            told(remote, "1s"),
            ["spec.interval: 1s is too short, the server is asked every 5s"]
        );
        assert!(told(remote, "5s").is_empty());
        // Those are watched.
        assert!(told("/srv/shop", "1s").is_empty());
        assert!(told(remote, "soon").is_empty());
    }
}
