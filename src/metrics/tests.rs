use super::*;
use crate::api::condition::ConditionStatus;

/// The lines of a page that start so.
fn lines(metrics: &Metrics, start: &str) -> Vec<String> {
    let page = metrics.encode().unwrap();
    let lines = page.lines().filter(|line| line.starts_with(start));
    lines.map(str::to_owned).collect()
}

fn info(revision: &str) -> SyncInfo<'_> {
    SyncInfo {
        ready: ConditionStatus::True,
        suspended: false,
        revision,
    }
}

#[test]
fn a_sync_has_one_series_however_often_it_changes() {
    let metrics = Metrics::default();
    metrics.set_sync("shop", "pets", &info("main@sha1:1"));
    metrics.set_sync("shop", "pets", &info("main@sha1:2"));
    assert_eq!(
        lines(&metrics, "covergence_sync_info"),
        [
            r#"covergence_sync_info{namespace="shop",name="pets",ready="True",suspended="false",revision="main@sha1:2"} 1"#
        ]
    );
}

#[test]
fn nothing_is_left_of_a_sync_that_is_gone() {
    let metrics = Metrics::default();
    for name in ["pets", "toys"] {
        metrics.set_sync("shop", name, &info("r"));
        metrics.sync_reconciled("shop", name, Duration::from_millis(30));
    }
    metrics.forget_sync("shop", "pets");
    let page = metrics.encode().unwrap();
    assert!(!page.contains(r#"name="pets""#), "{page}");
    assert!(page.contains(r#"name="toys""#), "{page}");
}

#[test]
fn text_from_outside_cannot_break_a_line() {
    let metrics = Metrics::default();
    metrics.set_sync("shop", "pets", &info("a\"} 9\nevil 1 \\ é"));
    let [line] = lines(&metrics, "covergence_sync_info{").try_into().unwrap();
    assert!(
        line.ends_with(r#"revision="a\"} 9\nevil 1 \\ é"} 1"#),
        "{line}"
    );
    assert_eq!(lines(&metrics, "evil"), Vec::<String>::new());
}

#[test]
fn targets_share_their_series() {
    let metrics = Metrics::default();
    metrics.target_reconciled(Duration::from_millis(30));
    metrics.target_reconciled(Duration::from_secs(400));
    assert_eq!(
        lines(&metrics, "covergence_reconcile_duration_seconds_count"),
        [r#"covergence_reconcile_duration_seconds_count{kind="ClosureJVMTarget"} 2"#]
    );
    let buckets = lines(&metrics, "covergence_reconcile_duration_seconds_bucket");
    assert!(buckets[1].ends_with(r#"le="0.02",kind="ClosureJVMTarget"} 0"#));
    assert!(buckets[2].ends_with(r#"le="0.05",kind="ClosureJVMTarget"} 1"#));
    assert!(buckets[11].ends_with(r#"le="+Inf",kind="ClosureJVMTarget"} 2"#));
}

/// The names are a promise: a line that changes here breaks somebody's alert.
#[test]
fn every_series_has_the_name_it_was_promised_under() {
    let metrics = Metrics::default();
    metrics.sync_reconciled("shop", "pets", Duration::ZERO);
    metrics.applied(Outcome::Configured);
    metrics.applied(Outcome::Configured);
    metrics.applied(Outcome::Refused);
    metrics.drifted(&GroupKind::new("apps", "Deployment"));
    metrics.pruned();
    metrics.git_fetched(FetchOutcome::Fetched, Duration::from_secs(2));
    metrics.git_checked(CheckOutcome::Unchanged);
    metrics.files_parsed(2000);
    metrics.files_parsed(1);
    metrics.campaign_reconciled(Duration::from_secs(2));
    metrics.campaign_run(CampaignRun::Partial);
    metrics.set_queue_depth(Queue::Targets, 7);
    metrics.set_queue_depth(Queue::Targets, 3);
    metrics.api_request(ApiVerb::Patch, Some(409));
    metrics.api_request(ApiVerb::Watch, None);
    metrics.webhook_request(Provider::GitHub, WebhookOutcome::Accepted);
    metrics.set_watches(WatchState::Synced, 4);
    metrics.set_watch_restarts(1);
    metrics.set_lease_members(3);
    let page = metrics.encode().unwrap();
    for line in [
        r#"covergence_reconcile_duration_seconds_count{kind="Sync",namespace="shop",name="pets"} 1"#,
        r#"covergence_apply_total{outcome="configured"} 2"#,
        r#"covergence_apply_total{outcome="refused"} 1"#,
        r#"covergence_drift_total{kind="Deployment.apps"} 1"#,
        "covergence_prune_total 1",
        r#"covergence_git_fetch_total{outcome="fetched"} 1"#,
        "covergence_git_fetch_duration_seconds_sum 2.0",
        r#"covergence_git_checks_total{outcome="unchanged"} 1"#,
        "covergence_files_parsed_total 2001",
        r#"covergence_reconcile_duration_seconds_count{kind="ClosureJVMCampaign"} 1"#,
        r#"covergence_campaign_runs_total{outcome="partial"} 1"#,
        r#"covergence_queue_depth{queue="targets"} 3"#,
        r#"covergence_api_requests_total{verb="patch",code="409"} 1"#,
        r#"covergence_api_requests_total{verb="watch",code="<error>"} 1"#,
        r#"covergence_webhook_requests_total{provider="github",outcome="accepted"} 1"#,
        r#"covergence_watches{state="synced"} 4"#,
        "covergence_watch_restarts_total 1",
        "covergence_lease_members 3",
        concat!(
            r#"covergence_build_info{version=""#,
            env!("CARGO_PKG_VERSION"),
            r#""} 1"#
        ),
    ] {
        assert!(page.lines().any(|it| it == line), "no {line} in\n{page}");
    }
    for start in [
        "process_cpu_seconds_total ",
        "process_resident_memory_bytes ",
        "process_start_time_seconds ",
        "process_open_fds ",
    ] {
        assert!(page.lines().any(|it| it.starts_with(start)), "no {start}");
    }
    assert!(page.ends_with("# EOF\n"));
}

#[test]
fn clones_count_together() {
    let metrics = Metrics::default();
    metrics.clone().pruned();
    metrics.pruned();
    assert_eq!(
        lines(&metrics, "covergence_prune_total"),
        ["covergence_prune_total 2"]
    );
}
