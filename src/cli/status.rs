//! `covergence status`.

use std::io::Write;

use anstyle::Style;
use jiff::Timestamp;

use super::args::{Output, StatusArgs};
use super::error::CliError;
use super::follow::{Lines, follow, print_changes};
use super::steps::PLAIN;
use super::table::{Row, Table};
use super::time::{age, wait};
use super::view::{counted, print_unseen, ready_style, short, why_not};
use super::{DIFFERENCES, OK, json, settings};
use crate::api::campaign::PodCount;
use crate::api::sync::ObjectCount;
use crate::api::target::{EndpointCount, Phase};
use crate::reconcile::now;
use crate::reconcile::{
    CampaignView, Overview, Readiness, Ready, Scope, SyncView, TargetView, overview,
};

pub async fn run(args: &StatusArgs) -> Result<u8, CliError> {
    let StatusArgs {
        syncs,
        namespace,
        all_namespaces,
        watch,
        cluster,
        output,
    } = args;
    let connection = settings::connect(cluster).await?;
    let namespace = match namespace {
        Some(namespace) => namespace,
        None => connection.default_namespace(),
    };
    let scope = if *all_namespaces {
        Scope::Cluster
    } else if syncs.is_empty() {
        Scope::Namespace(namespace.to_owned())
    } else {
        Scope::Syncs {
            namespace: namespace.to_owned(),
            names: syncs.iter().cloned().collect(),
        }
    };
    let look = async || {
        let found = overview(&connection, &scope).await?;
        found.ok_or(CliError::NotInstalled)
    };
    let first = look().await?;
    match output {
        Output::Text => print(&first, &scope)?,
        Output::Json => json::overview(&first, *watch)?,
    }
    let good = first.is_good();
    if *watch {
        let show = |before: &Overview, after: &Overview| {
            match output {
                Output::Text => print_changes(&lines(before), &lines(after))?,
                Output::Json => json::overview(after, true)?,
            }
            Ok(())
        };
        match follow(first, look, show).await? {}
    }
    Ok(if good { OK } else { DIFFERENCES })
}

fn print(overview: &Overview, scope: &Scope) -> Result<(), CliError> {
    let Overview {
        syncs,
        targets,
        campaigns,
        unseen,
    } = overview;
    let mut out = anstream::stdout().lock();
    let now = now();
    let head = [
        "SYNC", "READY", "REVISION", "OBJECTS", "CHANGED", "AGE", "SOURCE",
    ];
    Table::new(head, syncs.iter().map(|sync| sync_row(sync, now))).print(&mut out)?;
    if !syncs.is_empty() && !targets.is_empty() {
        writeln!(out)?;
    }
    let head = [
        "TARGET",
        "READY",
        "DEPLOYMENT",
        "PHASE",
        "INSTRUMENTED",
        "ENDPOINTS",
        "AGE",
        "COVERAGE",
    ];
    Table::new(head, targets.iter().map(|target| target_row(target, now))).print(&mut out)?;
    let nothing = syncs.is_empty() && targets.is_empty();
    if !nothing && !campaigns.is_empty() {
        writeln!(out)?;
    }
    let head = [
        "CAMPAIGN", "READY", "TARGET", "PHASE", "RUNS", "PODS", "PROBES", "GREW", "NEXT", "FILE",
    ];
    Table::new(head, campaigns.iter().map(|it| campaign_row(it, now))).print(&mut out)?;
    let nothing = nothing && campaigns.is_empty();
    match scope {
        Scope::Namespace(namespace) if nothing => {
            let text = "no Sync, no Target and no Campaign in namespace";
            writeln!(out, "{text} {namespace} (-A looks at all)")?;
        }
        Scope::Cluster if nothing => {
            writeln!(out, "no Sync, no Target and no Campaign")?;
        }
        _ => writeln!(out, "\n{}", summary(overview))?,
    }
    print_unseen(&mut out, unseen)?;
    Ok(())
}

fn sync_row(sync: &SyncView, now: Timestamp) -> Row<7> {
    let SyncView {
        namespace,
        name,
        readiness,
        source,
        last_applied_revision,
        last_attempted_revision: _,
        objects,
        drift,
        prune_waits,
        last_change,
        creation_timestamp,
    } = sync;
    let why = why_not(readiness).or(drift.as_deref());
    let notes: Vec<&str> = why.into_iter().chain(prune_waits.as_deref()).collect();
    Row {
        cells: [
            (format!("{namespace}/{name}"), PLAIN),
            ready_cell(readiness),
            (
                last_applied_revision.as_deref().map_or_else(absent, short),
                PLAIN,
            ),
            (objects.map_or_else(absent, objects_cell), PLAIN),
            (age(last_change.as_deref(), now), PLAIN),
            (age(creation_timestamp.as_deref(), now), PLAIN),
            (source.kind.word().to_owned(), PLAIN),
        ],
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

fn target_row(target: &TargetView, now: Timestamp) -> Row<8> {
    let TargetView {
        namespace,
        name,
        readiness,
        deployment,
        phase,
        instrumented_replicas,
        endpoints,
        coverage_endpoint,
        drift,
        creation_timestamp,
    } = target;
    let plain = |text: Option<String>| (text.unwrap_or_else(absent), PLAIN);
    Row {
        cells: [
            (format!("{namespace}/{name}"), PLAIN),
            ready_cell(readiness),
            plain(deployment.clone()),
            plain(phase.map(phase_cell)),
            plain(instrumented_replicas.map(|count| count.to_string())),
            plain(endpoints.map(endpoints_cell)),
            (age(creation_timestamp.as_deref(), now), PLAIN),
            plain(coverage_endpoint.clone()),
        ],
        note: why_not(readiness).or(drift.as_deref()).map(str::to_owned),
    }
}

fn campaign_row(campaign: &CampaignView, now: Timestamp) -> Row<10> {
    let CampaignView {
        namespace,
        name,
        readiness,
        target,
        phase,
        runs,
        last_run: _,
        next_run,
        pods,
        classes: _,
        probes_hit,
        probes_total,
        growth: _,
        last_growth,
        file,
        mismatch,
        creation_timestamp: _,
    } = campaign;
    let plain = |text: Option<String>| (text.unwrap_or_else(absent), PLAIN);
    Row {
        cells: [
            (format!("{namespace}/{name}"), PLAIN),
            ready_cell(readiness),
            plain(target.clone()),
            plain(phase.map(|phase| format!("{phase:?}"))),
            (runs.to_string(), PLAIN),
            plain(pods.map(pods_cell)),
            plain(probes_cell(*probes_hit, *probes_total)),
            (age(last_growth.as_deref(), now), PLAIN),
            (wait(next_run.as_deref(), now), PLAIN),
            plain(file.clone()),
        ],
        note: why_not(readiness)
            .or(mismatch.as_deref())
            .map(str::to_owned),
    }
}

fn ready_cell(readiness: &Readiness) -> (String, Style) {
    (
        readiness.ready.word().to_owned(),
        ready_style(readiness.ready),
    )
}

fn objects_cell(count: ObjectCount) -> String {
    let ObjectCount { total, failed } = count;
    match failed {
        0 => total.to_string(),
        _ => format!("{total}, {failed} failed"),
    }
}

fn phase_cell(phase: Phase) -> String {
    format!("{phase:?}")
}

fn endpoints_cell(count: EndpointCount) -> String {
    format!("{}/{}", count.ready, count.total)
}

fn pods_cell(count: PodCount) -> String {
    format!("{}/{}", count.reached, count.total)
}

fn probes_cell(hit: Option<i64>, total: Option<i64>) -> Option<String> {
    Some(format!("{}/{}", hit?, total?))
}

fn absent() -> String {
    "-".into()
}

/// `12 Syncs, 1 not ready; 30 Targets, 2 not ready`, and Campaigns where there are any.
fn summary(overview: &Overview) -> String {
    fn count<'a>(word: &str, all: impl ExactSizeIterator<Item = &'a Readiness> + Clone) -> String {
        let bad = all.clone().filter(|readiness| !readiness.is_good()).count();
        let suspended = all
            .clone()
            .filter(|readiness| readiness.ready == Ready::Suspended);
        let parts = [(bad, "not ready"), (suspended.count(), "suspended")];
        counted(all.len(), word, &parts)
    }
    let syncs = count("Sync", overview.syncs.iter().map(|sync| &sync.readiness));
    let targets = count(
        "Target",
        overview.targets.iter().map(|target| &target.readiness),
    );
    if overview.campaigns.is_empty() {
        return format!("{syncs}; {targets}");
    }
    let campaigns = overview.campaigns.iter().map(|it| &it.readiness);
    format!("{syncs}; {targets}; {}", count("Campaign", campaigns))
}

/// A line for each Sync, Target and Campaign, without ages: as time goes by, nothing changes.
fn lines(overview: &Overview) -> Lines {
    let syncs = overview.syncs.iter().map(|sync| {
        let revision = sync
            .last_applied_revision
            .as_deref()
            .map_or_else(absent, short);
        let objects = sync.objects.map_or_else(absent, objects_cell);
        let line = line(&sync.readiness, &[revision, objects]);
        (format!("Sync {}/{}", sync.namespace, sync.name), line)
    });
    let targets = overview.targets.iter().map(|target| {
        let phase = target.phase.map_or_else(absent, phase_cell);
        let endpoints = target.endpoints.map_or_else(absent, endpoints_cell);
        let line = line(&target.readiness, &[phase, endpoints]);
        (format!("Target {}/{}", target.namespace, target.name), line)
    });
    let campaigns = overview.campaigns.iter().map(|campaign| {
        let phase = campaign.phase.map(|phase| format!("{phase:?}"));
        let probes = probes_cell(campaign.probes_hit, campaign.probes_total);
        let cells = [phase, probes].map(|cell| cell.unwrap_or_else(absent));
        let line = line(&campaign.readiness, &cells);
        (
            format!("Campaign {}/{}", campaign.namespace, campaign.name),
            line,
        )
    });
    syncs.chain(targets).chain(campaigns).collect()
}

fn line(readiness: &Readiness, cells: &[String]) -> String {
    let mut line = readiness.ready.word().to_owned();
    for part in cells.iter().map(String::as_str).chain(why_not(readiness)) {
        line += "  ";
        line += part;
    }
    line
}
