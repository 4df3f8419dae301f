//! `covergence run`.

use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::args::RunArgs;
use super::error::CliError;
use super::logging::{self, LogFilter, LogFormat, LogHandle, log_filter};
use super::{OK, settings};
use crate::api::{Config, config, parse_duration};
use crate::cluster::Cluster;
use crate::lease::{Keeper, Options, Shards, identity};
use crate::load::Severity;
use crate::metrics::Metrics;
use crate::overlay::Builder;
use crate::reconcile::configuration::{Configuration, Following};
use crate::reconcile::controller::{
    Configured, Defaults, KnownSyncs, Name, Reading, Said, Service,
};
use crate::source::watch::Timing;
use crate::web::{self, Auth, Health, HookTarget, Receiver};

/// Sources that are read at once: each takes a thread, and memory for all its files.
const SOURCES_AT_ONCE: usize = 4;

/// The writes in hand end within this, so that with [`RELEASE_WITHIN`] all is over in 5 s; a pod is killed after 30 s.
const END_WITHIN: Duration = Duration::from_millis(3500);

/// Our Lease is given up within this, or runs out by itself.
const RELEASE_WITHIN: Duration = Duration::from_secs(1);

/// How long a lost replica's work waits for another one, when nobody says: as Kubernetes' own controllers have it.
const LEASE: Duration = Duration::from_secs(15);

pub async fn run(args: &RunArgs) -> Result<u8, CliError> {
    if let Err(error) = std::fs::metadata(&args.config) {
        let path = args.config.display();
        return Err(CliError::usage(format!(
            "read the configuration {path}: {error}"
        )));
    }
    let stop = CancellationToken::new();
    end_on_signals(&stop)?;
    let options = settings::connect_options(&args.cluster);
    let cluster = Cluster::connect(&options).await?;
    let own_namespace = std::env::var("POD_NAMESPACE")
        .ok()
        .filter(|name| !name.is_empty());
    let own_namespace = own_namespace.unwrap_or_else(|| cluster.default_namespace().to_owned());
    let mut following =
        Following::start(args.config.clone(), Some(&own_namespace), Timing::default());
    let first = following.next().await;
    let log = start_log(args, &first.config)?;
    tell(&first);
    if first.config_is_refused {
        return Err(CliError::usage("the Config is not in force; see above"));
    }

    let metrics = Metrics::default();
    let observed = metrics.clone();
    let concurrency = args.cluster.requests_in_flight(first.config.concurrency);
    let cluster = cluster
        .observed(Arc::new(move |verb, status| {
            observed.api_request(verb, status);
        }))
        .limited(concurrency);
    let health = Health::default();
    let config = &first.config;
    let (triggers, hooks) = mpsc::channel(64);
    let known = KnownSyncs::default();
    let hooks_for = (triggers, known.clone());
    listen(config, args, &health, &metrics, hooks_for, &stop).await?;
    let (shards, keeper) = take_part(config, &cluster, &own_namespace, &health)?;
    let (readings, news) = mpsc::channel(1);
    let cache_dir = match &config.cache_directory {
        Some(directory) => directory.clone(),
        None => settings::cache_directory(),
    };
    let reading = Reading {
        // Where the root file system is read-only, this is where files can be written.
        builder: Arc::new(Builder::new(cache_dir.join("builds"))),
        cache_dir,
        at_once: Arc::new(Semaphore::new(SOURCES_AT_ONCE)),
        metrics: metrics.clone(),
    };
    let agent_image = args.agent_image.clone();
    let said = move |configuration: &Configuration| {
        let mut config = configuration.config.clone();
        config.agent_image = agent_image.clone().or(config.agent_image);
        let defaults = Defaults::of(&config, concurrency, &own_namespace);
        said(configuration, defaults)
    };
    let service = Service {
        cluster,
        shards,
        configured: Configured::new(said(&first)),
        reading,
        metrics,
        health,
        readings: news,
        known,
        hooks,
    };
    tokio::spawn(follow(following, log, said, readings));
    let ended = tokio::select! {
        ended = service.run(stop.clone()) => ended,
        () = end_in_time(&stop) => Ok(()),
    };
    if let Some(keeper) = keeper {
        // Nothing more can be done when this fails.
        let _ = timeout(RELEASE_WITHIN, keeper.release()).await;
    }
    ended?;
    Ok(OK)
}

/// SIGTERM and SIGINT end the run.
fn end_on_signals(stop: &CancellationToken) -> Result<(), CliError> {
    let (mut term, mut int) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    let stop = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        tracing::info!("asked to end");
        stop.cancel();
    });
    Ok(())
}

async fn end_in_time(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(END_WITHIN).await;
    tracing::warn!("some requests are still in hand; they are left to end by themselves");
}

fn start_log(args: &RunArgs, config: &Config) -> Result<Log, CliError> {
    let format = args.log_format.unwrap_or(match config.log.format {
        Some(config::LogFormat::Json) => LogFormat::Json,
        Some(config::LogFormat::Text) | None => LogFormat::Text,
    });
    let filter = filter(args.log_level.as_ref(), config)?;
    Ok(Log {
        handle: logging::init(format, filter)?,
        fixed: args.log_level.is_some(),
    })
}

/// The log, and whether its level is the command line's.
struct Log {
    handle: LogHandle,
    fixed: bool,
}

fn filter(given: Option<&LogFilter>, config: &Config) -> Result<LogFilter, CliError> {
    match (given, &config.log.level) {
        (Some(given), _) => Ok(given.clone()),
        (None, Some(level)) => log_filter(level).map_err(CliError::usage),
        (None, None) => log_filter("info").map_err(CliError::usage),
    }
}

/// Tells what is wrong with the configuration.
fn tell(configuration: &Configuration) {
    for diagnostic in &configuration.diagnostics {
        let place = diagnostic
            .position
            .map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
        let (file, message) = (&diagnostic.file, &diagnostic.message);
        let hint = match &diagnostic.hint {
            Some(hint) => format!(" ({hint})"),
            None => String::new(),
        };
        match diagnostic.severity {
            Severity::Error => tracing::error!("{file}{place}: {message}{hint}"),
            Severity::Warning => tracing::warn!("{file}{place}: {message}{hint}"),
        }
    }
}

/// Serves health and metrics, and the webhook where it is wanted.
async fn listen(
    config: &Config,
    args: &RunArgs,
    health: &Health,
    metrics: &Metrics,
    (triggers, known): (mpsc::Sender<HookTarget>, KnownSyncs),
    stop: &CancellationToken,
) -> Result<(), CliError> {
    if let Some(address) = args.listen.or(config.listen.web) {
        let listener = web::bind(address).await?;
        let address = listener.local_addr()?;
        tracing::info!(%address, "health and metrics are served");
        let pages = web::probes(health.clone(), metrics.clone());
        tokio::spawn(web::serve(listener, pages, stop.clone()));
    }
    if let (Some(address), Some(webhook)) = (config.listen.webhook, &config.webhook) {
        let auth = match &webhook.secret_file {
            Some(file) => Auth::Secret(file.clone()),
            None => Auth::Insecure,
        };
        let listener = web::bind(address).await?;
        let address = listener.local_addr()?;
        tracing::info!(%address, "webhooks are taken");
        let is_known = move |namespace: &str, name: &str| {
            known.contains(&Name {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            })
        };
        let receiver = Receiver::new(auth, Box::new(is_known), triggers, metrics.clone());
        tokio::spawn(web::serve(listener, receiver.pages(), stop.clone()));
    }
    Ok(())
}

/// Joins the other replicas, unless there are none by what the configuration says.
fn take_part(
    config: &Config,
    cluster: &Cluster,
    own_namespace: &str,
    health: &Health,
) -> Result<(Shards, Option<Keeper>), CliError> {
    let leases = &config.leases;
    if !leases.enabled {
        return Ok((Shards::alone(), None));
    }
    let duration = match &leases.duration {
        Some(duration) => parse_duration(&duration.0).map_err(CliError::usage)?,
        None => LEASE,
    };
    let host = std::env::var("POD_NAME").or_else(|_| std::env::var("HOSTNAME"));
    let options = Options {
        namespace: leases
            .namespace
            .clone()
            .unwrap_or_else(|| own_namespace.to_owned()),
        identity: identity(&host.unwrap_or_else(|_| "covergence".into())),
        duration,
    };
    let (shards, keeper) = Keeper::start(cluster.clone(), options, health.gate("lease"));
    Ok((shards, Some(keeper)))
}

/// Hands on new readings of the configuration, for ever.
async fn follow(
    mut following: Following,
    log: Log,
    said: impl Fn(&Configuration) -> Said,
    readings: mpsc::Sender<Said>,
) {
    loop {
        let configuration = following.next().await;
        tell(&configuration);
        if !log.fixed
            && let Ok(filter) = filter(None, &configuration.config)
        {
            // Nothing is logged any more when this fails.
            let _ = log.handle.set(filter);
        }
        if readings.send(said(&configuration)).await.is_err() {
            return;
        }
    }
}

fn said(configuration: &Configuration, defaults: Defaults) -> Said {
    let Configuration {
        config,
        syncs,
        removed,
        ..
    } = configuration;
    Said {
        defaults,
        namespaces: config.namespaces.iter().cloned().collect(),
        syncs: syncs
            .iter()
            .filter_map(|sync| Some((Name::of(&sync.id)?, sync.object.clone())))
            .collect(),
        left: removed.iter().filter_map(Name::of).collect(),
    }
}
