//! What the arguments mean: defaults filled in, values checked, the source read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::args::{AccountRef, AdmissionArgs, ClusterArgs, PolicyArgs, SetArgs, SourceArgs};
use super::error::CliError;
use crate::api::sync::PruneLimit;
use crate::cluster::{Cluster, ClusterError, ConnectOptions, context_namespace};
use crate::load::{self, Snapshot};
use crate::overlay::{self, Builder, Failed, Values};
use crate::plan::{Limit, quoted};
use crate::policy;
use crate::reconcile::Settings;
use crate::render::AgentImage;
use crate::source::directory::{self, DirectorySource};
use crate::source::git::{Credentials, GitSource, RepositoryUrl, enclosing, fetch};
use crate::source::{Found, Limits};

/// Reads a limit of everything, `10` or `25%`, or of a kind, `Deployment.apps=2`.
pub fn prune_limit(text: &str) -> Result<Limit, String> {
    let Some((kind, most)) = text.split_once('=') else {
        return Ok(Limit::of_all(count_or_percentage(text)?));
    };
    let (kind, group) = match kind.split_once('.') {
        Some((kind, group)) => (kind, Some(group)),
        None => (kind, None),
    };
    // The name of a resource, such as `deployments`, would limit nothing.
    let is_kind = kind.starts_with(|c: char| c.is_ascii_uppercase())
        && kind.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_kind || !group.is_none_or(is_subdomain) {
        return Err("give a kind and its group, such as Deployment.apps=2 or Secret=50%".into());
    }
    Ok(Limit {
        kind: Some(kind.to_owned()),
        group: group.map(str::to_owned),
        most: count_or_percentage(most)?,
    })
}

fn count_or_percentage(text: &str) -> Result<PruneLimit, String> {
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

/// Reads a revision of the source that was named: of the repository, or of the one that the path is in.
pub fn read_revision(args: &SourceArgs, reference: &str) -> Result<Found, CliError> {
    let (url, path) = match (&args.source, &args.git) {
        (Some(path), _) => {
            let (root, within) = enclosing(path)?;
            let parts = [within.as_str(), args.path.as_deref().unwrap_or_default()];
            let parts = parts.map(|part| part.trim_matches('/'));
            let path: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            (RepositoryUrl::from(root.as_path()), path.join("/"))
        }
        (None, Some(url)) => (url.parse()?, args.path.clone().unwrap_or_default()),
        (None, None) => return Err(CliError::usage("name a directory or a git repository")),
    };
    let source = GitSource {
        url,
        reference: Some(reference.to_owned()),
        path: Some(path).filter(|path| !path.is_empty()),
        values_files: Vec::new(),
        credentials: Credentials::from_environment(),
    };
    Ok(fetch(&source, &cache_directory(), &Limits::default())?)
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

/// Reads the policies that were named. Those within the source are taken out of it; others are read from where they are.
pub fn policies(
    source: &SourceArgs,
    found: &Found,
    args: &AdmissionArgs,
) -> Result<policy::Asked, CliError> {
    // What is built has no policies among its files, and names are counted from the folder that is read.
    let folder = source
        .source
        .as_deref()
        .filter(|_| matches!(found, Found::Manifests(_)));
    let folder = folder.map(|it| it.join(source.path.as_deref().unwrap_or_default()));
    let root = folder.as_deref().map(canonical);
    let mut asked = policy::Asked::default();
    for path in &args.policies {
        let real = canonical(path);
        let within = root.as_ref().and_then(|root| real.strip_prefix(root).ok());
        if let Some(within) = within {
            let within = within.to_string_lossy();
            let all = if within.is_empty() { "." } else { &within };
            asked.inside.push(all.to_owned());
            continue;
        }
        let mut snapshot = directory::read(path, &Limits::default())?;
        let name = path.to_string_lossy().trim_end_matches('/').to_owned();
        // So that people find the file from where they stand.
        let named = |file: &str| -> Arc<str> {
            match real.is_dir() {
                true => format!("{name}/{file}").into(),
                false => name.as_str().into(),
            }
        };
        for file in &mut snapshot.files {
            file.path = named(&file.path);
        }
        for diagnostic in &mut snapshot.diagnostics {
            diagnostic.file = named(&diagnostic.file);
        }
        asked.others.push((name, snapshot));
    }
    Ok(asked)
}

/// Whom the requests are made as, when somebody is impersonated with all his groups.
fn user(args: &ClusterArgs) -> Option<policy::User> {
    let name = args.as_user.clone()?;
    let mut groups = args.as_groups.clone();
    groups.push("system:authenticated".into());
    Some(policy::User { name, groups })
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
        prune_limits: policy.prune_limit.clone(),
        approved_prune: policy.approve_prune.clone(),
        kubectl: kubectl(cluster),
        force_conflicts: policy.force_conflicts,
        user: user(cluster),
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
        prune_limits: Vec::new(),
        approved_prune: None,
        home: None,
        kubectl: "kubectl".to_owned(),
        remarks: Vec::new(),
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
        agent_image: AgentImage::new(set.agent_image.clone(), None),
        policies: Arc::default(),
        user: None,
        concurrency: 1,
        limits: load::Limits::default(),
    })
}

/// How kubectl is called for the same cluster.
fn kubectl(args: &ClusterArgs) -> String {
    let kubeconfig = args.kubeconfig.as_ref();
    let kubeconfig = kubeconfig.map(|path| ("--kubeconfig", path.display().to_string()));
    let context = args.context.clone().map(|context| ("--context", context));
    let flags = kubeconfig.into_iter().chain(context);
    flags.fold("kubectl".to_owned(), |command, (flag, value)| {
        format!("{command} {flag} {}", quoted(&value))
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

/// Checks the name of an image.
pub fn image(text: &str) -> Result<String, String> {
    if load::is_image(text) {
        Ok(text.to_owned())
    } else {
        Err("give an image such as registry.example/covergence:0.1.0".into())
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
    fn limits_are_counts_or_percentages_of_all_or_of_a_kind() {
        let (count, percent) = (PruneLimit::Count, |text: &str| {
            PruneLimit::Percent(text.into())
        });
        let of = |kind: &str, group: Option<&str>, most| Limit {
            kind: Some(kind.into()),
            group: group.map(str::to_owned),
            most,
        };
        for (text, limit) in [
            ("3", Limit::of_all(count(3))),
            ("25%", Limit::of_all(percent("25%"))),
            ("Secret=0", of("Secret", None, count(0))),
            (
                "Deployment.apps=50%",
                of("Deployment", Some("apps"), percent("50%")),
            ),
            (
                "Ingress.networking.k8s.io=1",
                of("Ingress", Some("networking.k8s.io"), count(1)),
            ),
        ] {
            assert_eq!(prune_limit(text), Ok(limit), "{text}");
        }
        for wrong in [
            "",
            "-1",
            "+1",
            "101%",
            "many",
            "1.5",
            "=1",
            "Secret=",
            "Secret=many",
            "secrets=1",
            "deployments.apps=1",
            "Deployment.=1",
            "Deployment/apps=1",
        ] {
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
