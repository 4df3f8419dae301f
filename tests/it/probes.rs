//! `/healthz`, `/readyz` and `/metrics`, as the kubelet and Prometheus ask for them.

use std::io::ErrorKind;
use std::net::TcpStream;

use covergence::metrics::Metrics;
use covergence::web::{Health, probes};

use crate::support::site::Site;

#[test]
fn the_process_is_alive_while_its_loops_run() {
    let health = Health::default();
    let running = health.running("reconcile");
    let site = Site::start(probes(health, Metrics::default()));
    let alive = site.get("/healthz");
    assert_eq!((alive.status, alive.body.as_str()), (200, "ok\n"));
    drop(running);
    let dead = site.get("/healthz");
    assert_eq!(
        (dead.status, dead.body.as_str()),
        (503, "reconcile: has ended\n")
    );
}

#[test]
fn it_is_ready_once_nothing_is_waited_for() {
    let health = Health::default();
    let (lease, watches) = (health.gate("lease"), health.gate("watches"));
    lease.shut("held by another replica");
    let site = Site::start(probes(health, Metrics::default()));
    let waiting = site.get("/readyz");
    assert_eq!(
        (waiting.status, waiting.body.as_str()),
        (503, "lease: held by another replica\nwatches: starting\n")
    );
    assert_eq!(site.get("/healthz").status, 200);
    lease.open();
    watches.open();
    assert_eq!(site.get("/readyz").status, 200);
}

#[test]
fn metrics_are_open_metrics() {
    let metrics = Metrics::default();
    let site = Site::start(probes(Health::default(), metrics.clone()));
    metrics.pruned();
    let page = site.get("/metrics");
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    assert!(page.body.contains("\ncovergence_prune_total 1\n"));
    assert!(page.body.ends_with("# EOF\n"));
}

#[test]
fn other_methods_and_pages_are_refused() {
    let site = Site::start(probes(Health::default(), Metrics::default()));
    for path in ["/healthz", "/readyz", "/metrics"] {
        let answer = site.ask("POST", path, &[], b"ignored");
        assert_eq!(answer.status, 405, "{path}");
        assert_eq!(answer.header("allow"), Some("GET,HEAD"), "{path}");
    }
    assert_eq!(site.get("/hook").status, 404);
    assert_eq!(site.get("/healthz/../metrics").status, 404);
}

#[test]
fn a_server_that_was_told_to_stop_is_gone() {
    let site = Site::start(probes(Health::default(), Metrics::default()));
    let address = site.address;
    // A connection that is open, and idle, does not hold it up.
    let _idle = TcpStream::connect(address).unwrap();
    site.stop();
    let error = TcpStream::connect(address).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}
