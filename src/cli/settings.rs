//! What the arguments mean: defaults filled in, values checked, the source read.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::args::{AccountRef, ClusterArgs, PolicyArgs, SetArgs, SourceArgs};
use super::error::CliError;
use crate::api::sync::PruneLimit;
use crate::cluster::{Cluster, ClusterError, ConnectOptions, context_namespace};
use crate::load::Snapshot;
use crate::overlay::{self, Builder, Failed, Values};
use crate::reconcile::Settings;
use crate::source::directory::{self, DirectorySource};
use crate::source::git::{Credentials, GitSource, RepositoryUrl, fetch};
use crate::source::{Found, Limits};

/// Reads a count or a percentage.
pub fn prune_limit(text: &str) -> Result<PruneLimit, String> {
    if let Some(count) = text.parse().ok().filter(|_| !text.starts_with('+')) {
        return Ok(PruneLimit::Count(count));
    }
    let percent = text
        .strip_suffix('%')
        .and_then(|digits| digits.parse::<u8>().ok());
    match percent.filter(|percent| *percent <= 100) {
        Some(_) => Ok(PruneLimit::Percent(text.to_owned())),
        None => Err("give a count, such as 10, or a percentage, such as 25%".into()),
    }
}

/// Reads the source while another thread makes the connection: reading the system's certificates alone takes 20 ms.
pub async fn open(
    source: &SourceArgs,
    cluster: &ClusterArgs,
) -> Result<(Found, Cluster), CliError> {
    let options = connect_options(cluster);
    let connection = tokio::spawn(async move { Cluster::connect(&options).await });
    let found = read_source(source)?;
    let connection = connection
        .await
        .map_err(|error| ClusterError::Config(format!("cannot connect: {error}")))??;
    Ok((found, connection))
}

/// Connects, for commands that read no source.
pub async fn connect(cluster: &ClusterArgs) -> Result<Cluster, CliError> {
    Ok(Cluster::connect(&connect_options(cluster)).await?)
}

/// Reads the source that was named.
pub fn read_source(args: &SourceArgs) -> Result<Found, CliError> {
    let limits = Limits::default();
    let found = match (&args.source, &args.git) {
        (Some(path), _) => {
            let source = DirectorySource {
                path: path.clone(),
                folder: args.path.clone(),
                values_files: Vec::new(),
            };
            directory::find(&source, &limits)?
        }
        (None, Some(url)) => {
            let source = GitSource {
                url: url.parse()?,
                reference: args.reference.clone(),
                path: args.path.clone(),
                values_files: Vec::new(),
                credentials: Credentials::from_environment(),
            };
            fetch(&source, &cache_directory(), &limits)?
        }
        (None, None) => return Err(CliError::usage("name a directory or a git repository")),
    };
    Ok(found)
}

/// Gives the manifests of a source, built where they have to be. One that cannot be built has no manifests, and a diagnostic
/// that says why.
pub fn built(found: Found, args: &SourceArgs, settings: &Settings) -> Result<Snapshot, CliError> {
    let read = |path: &PathBuf| {
        let bytes = std::fs::read(path).map_err(|error| {
            CliError::usage(format!("read the values of {}: {error}", path.display()))
        })?;
        Ok(Values::Given(bytes))
    };
    let options = overlay::Options {
        release: args.release_name.as_ref().unwrap_or(&settings.name).clone(),
        namespace: settings.target_namespace.clone(),
        values: args
            .values
            .iter()
            .map(read)
            .collect::<Result<_, CliError>>()?,
        allow_remote: args.allow_remote_bases,
        time: None,
    };
    let built = Builder::new(std::env::temp_dir()).build(found, &options);
    Ok(built.unwrap_or_else(Failed::into_snapshot))
}

/// `$XDG_CACHE_HOME/covergence/git`, below the home directory by default.
pub fn cache_directory() -> PathBuf {
    let from = |variable| {
        std::env::var_os(variable)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let base = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")));
    base.unwrap_or_else(std::env::temp_dir)
        .join("covergence")
        .join("git")
}

/// How to connect.
pub fn connect_options(args: &ClusterArgs) -> ConnectOptions {
    ConnectOptions {
        kubeconfig: args.kubeconfig.clone(),
        context: args.context.clone(),
        as_user: args.as_user.clone(),
        as_groups: args.as_groups.clone(),
    }
}

/// Settings for commands that need no cluster; the namespace is that of the current context, as it would be used.
pub async fn offline(source: &SourceArgs, set: &SetArgs) -> Result<Settings, CliError> {
    let namespace = match &set.namespace {
        Some(namespace) => namespace.clone(),
        None => context_namespace(&ConnectOptions::default())
            .await
            .unwrap_or_else(|| "default".into()),
    };
    settings(source, set, namespace)
}

/// Settings for commands that talk to a cluster.
pub fn online(
    source: &SourceArgs,
    set: &SetArgs,
    policy: &PolicyArgs,
    cluster: &ClusterArgs,
    context_namespace: &str,
) -> Result<Settings, CliError> {
    let namespace = set
        .namespace
        .clone()
        .unwrap_or_else(|| context_namespace.to_owned());
    Ok(Settings {
        prune: policy.prune,
        allow_empty: policy.allow_empty,
        prune_limit: policy.prune_limit.clone(),
        force_conflicts: policy.force_conflicts,
        concurrency: cluster.requests_in_flight(None),
        ..settings(source, set, namespace)?
    })
}

fn settings(source: &SourceArgs, set: &SetArgs, namespace: String) -> Result<Settings, CliError> {
    let name = match &set.name {
        Some(name) => name.clone(),
        None => default_name(source),
    };
    if !is_label(&name) {
        let hint = "give it with --name: lower-case letters, digits and dashes, up to 63";
        return Err(CliError::usage(format!(
            "{name:?} cannot be the name of a Sync; {hint}"
        )));
    }
    Ok(Settings {
        name,
        named: set.name.is_some(),
        source: shown_source(source)?,
        target_namespace: namespace.clone(),
        namespace,
        prune: false,
        allow_empty: false,
        prune_limit: None,
        force_conflicts: false,
        wait: None,
        give_way: CancellationToken::new(),
        serve_targets: true,
        writes_status: true,
        compares: false,
        outlives_members: false,
        requested_at: None,
        generation: None,
        cluster_domain: set.cluster_domain.clone(),
        concurrency: 1,
    })
}

/// The source, as the Sync remembers it: without credentials.
fn shown_source(source: &SourceArgs) -> Result<String, CliError> {
    match (&source.source, &source.git) {
        (Some(path), _) => {
            let path = canonical(path).join(source.path.as_deref().unwrap_or_default());
            Ok(path.components().as_path().display().to_string())
        }
        (None, Some(url)) => {
            let url: RepositoryUrl = url.parse()?;
            let path = source.path.as_deref().unwrap_or_default();
            Ok(format!("{url}//{}", path.trim_matches('/')))
        }
        (None, None) => Ok(String::new()),
    }
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The folder's or the file's name, or the repository's with the path in it; what a name cannot hold is replaced.
fn default_name(source: &SourceArgs) -> String {
    let last = match (&source.source, &source.git) {
        (Some(path), _) => {
            let path = canonical(path);
            let name = if path.is_file() {
                path.file_stem()
            } else {
                Path::new(&path).file_name()
            };
            let name = name.unwrap_or_default().to_string_lossy();
            format!("{name}-{}", folder(source))
        }
        (None, Some(url)) => {
            let url = url
                .trim_end_matches('/')
                .trim_end_matches(".git")
                .trim_end_matches('/');
            let repository = url.rsplit(['/', ':']).next().unwrap_or_default();
            // Two folders of a repository are two sets.
            format!("{repository}-{}", folder(source))
        }
        (None, None) => String::new(),
    };
    let name: String = last
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(63)
        .collect();
    name.trim_matches('-').to_owned()
}

fn folder(source: &SourceArgs) -> &str {
    source.path.as_deref().unwrap_or_default().trim_matches('/')
}

/// Checks a namespace.
pub fn namespace(text: &str) -> Result<String, String> {
    if is_label(text) {
        Ok(text.to_owned())
    } else {
        Err("a namespace has lower-case letters, digits and dashes, up to 63".into())
    }
}

/// Reads a ServiceAccount, `NAME` or `NAMESPACE/NAME`.
pub fn account(text: &str) -> Result<AccountRef, String> {
    let (space, account) = match text.split_once('/') {
        Some((space, account)) => (Some(namespace(space)?), account),
        None => (None, text),
    };
    Ok(AccountRef {
        namespace: space,
        name: object_name(account)?,
    })
}

/// Checks the name of an object.
pub fn object_name(text: &str) -> Result<String, String> {
    if is_subdomain(text) {
        Ok(text.to_owned())
    } else {
        Err("a name has lower-case letters, digits, dashes and dots, up to 253".into())
    }
}

/// Checks a domain.
pub fn domain(text: &str) -> Result<String, String> {
    if is_subdomain(text) {
        Ok(text.to_owned())
    } else {
        Err("give a domain such as cluster.local".into())
    }
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=63).contains(&name.len())
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_counts_or_percentages() {
        assert_eq!(prune_limit("3"), Ok(PruneLimit::Count(3)));
        assert_eq!(prune_limit("25%"), Ok(PruneLimit::Percent("25%".into())));
        for wrong in ["", "-1", "101%", "many", "1.5"] {
            assert!(prune_limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_name_comes_from_the_source() {
        let name = |source: Option<&str>, git: Option<&str>| {
            default_name(&SourceArgs {
                source: source.map(PathBuf::from),
                git: git.map(str::to_owned),
                reference: None,
                path: None,
                values: Vec::new(),
                release_name: None,
                allow_remote_bases: false,
            })
        };
        assert_eq!(name(Some("/nowhere/My_Shop"), None), "my-shop");
        assert_eq!(
            name(None, Some("https://git.example/team/shop.git/")),
            "shop"
        );
        assert_eq!(name(None, Some("git@git.example:shop.git")), "shop");
    }
}
