//! `covergence collect`: dumps of all pods, and their union.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::dump_args::DumpArgs;
use super::files::Files;
use super::follow;
use super::places::Places;
use super::report::Report;
use crate::cli::diagnostics::printable;
use crate::cli::error::CliError;
use crate::coverage::{Collected, Collection, Dial, Direct, Peer, PodResult, Request, Store};

pub async fn run(args: &DumpArgs) -> Result<u8, CliError> {
    let (files, earlier) = Files::open(args)?;
    let mut collection = Collection::default();
    if let Some(earlier) = earlier {
        let added = collection.add_earlier(&earlier);
        added.map_err(|error| CliError::usage(format!("{}: {error}", files.output().display())))?;
    }
    let places = Places::read(args).await?;
    match places.forwarding() {
        Some(cluster) => go(cluster.port_forward()?, places, args, files, collection).await,
        None => go(Direct, places, args, files, collection).await,
    }
}

async fn go<D: Dial + 'static>(
    dial: D,
    places: Places,
    args: &DumpArgs,
    files: Files,
    collection: Collection,
) -> Result<u8, CliError> {
    if args.follow {
        return follow::run(dial, places, args, files, collection).await;
    }
    let peers = places.look().await?;
    if peers.is_empty() {
        return Err(places.nobody());
    }
    once(&dial, peers, args, files, collection).await
}

/// What agents are asked.
pub fn request(args: &DumpArgs) -> Request {
    let default = Request::default();
    Request {
        connect_timeout: args.connect_timeout,
        read_timeout: args.read_timeout,
        total_timeout: args.timeout,
        concurrency: args
            .cluster
            .concurrency
            .map_or(default.concurrency, usize::from),
        ..default
    }
}

/// Dumps all of them once. Where agents are to begin anew, they do so only after what they had is written, in the moment of another
/// dump, and only those of which all fits into the union: whatever fails and whenever we are killed, what is lost has run in between.
async fn once(
    dial: &impl Dial,
    peers: Vec<Peer>,
    args: &DumpArgs,
    mut files: Files,
    mut collection: Collection,
) -> Result<u8, CliError> {
    let all: Vec<usize> = peers.into_iter().map(|peer| collection.add(peer)).collect();
    let mut request = request(args);
    let bar = Bar::new(all.len());
    let keep = |pod: &str, store: &Store| {
        files.keep(pod, store);
        bar.arrived(pod);
    };
    collection.dump(dial, &all, &request, keep).await;
    let mut collected = collection.collected();
    if let Some(error) = nothing(&collected.pods) {
        bar.finish();
        return Err(error);
    }
    files.write_union(&collected.union)?;
    let mut unmerged = Vec::new();
    if args.reset {
        request.reset = true;
        let whole = collected.whole();
        bar.again(whole.len());
        let keep = |pod: &str, store: &Store| {
            files.keep(pod, store);
            bar.arrived(pod);
        };
        collection.dump(dial, &whole, &request, keep).await;
        collected = collection.collected();
        files.write_union(&collected.union)?;
        if is_only_here(&collected) {
            unmerged = files.write_unmerged(&collected.unmerged)?;
        }
    }
    bar.finish();
    let report = Report {
        collected: &collected,
        output: files.output(),
        unmerged: &unmerged,
        reset: args.reset,
        problems: &files.problems,
    };
    report.end(args.format, false)
}

/// Why nothing was collected at all, if so.
pub fn nothing(pods: &[PodResult]) -> Option<CliError> {
    let reason = |pod: &PodResult| {
        let failure = pod.outcome.as_ref().err()?;
        let nothing = failure.kept.sessions.is_empty() && failure.kept.classes == 0;
        nothing.then(|| format!("{}: {}", pod.peer, failure.message))
    };
    let reasons: Vec<String> = pods.iter().map(reason).collect::<Option<_>>()?;
    let mut text = "nothing could be collected, and nothing is written".to_owned();
    for (at, reason) in reasons.iter().take(REASONS).enumerate() {
        text += if at == 0 { ": " } else { "; " };
        text += reason;
    }
    if reasons.len() > REASONS {
        text += &format!("; and {} more", reasons.len() - REASONS);
    }
    Some(CliError::usage(text))
}

/// The most pods whose failures are told, where that is all there is to tell.
const REASONS: usize = 10;

/// Tells whether an agent has begun anew, and not all that it had is in the union.
pub fn is_only_here(collected: &Collected) -> bool {
    let outcomes = collected
        .pods
        .iter()
        .filter_map(|pod| pod.outcome.as_ref().ok());
    outcomes
        .into_iter()
        .any(|dump| dump.reset && dump.mismatched > 0)
}

/// How many pods have answered, on a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new(pods: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(pods as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn arrived(&self, pod: &str) {
        self.0.inc(1);
        self.0.set_message(printable(pod));
    }

    fn again(&self, pods: usize) {
        self.0.reset();
        self.0.set_length(pods as u64);
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}
