//! `/healthz`, `/readyz` and `/metrics`.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::CONTENT_TYPE;

use super::Health;
use crate::metrics::Metrics;

/// OpenMetrics 1.0, section "Protocol Negotiation". Prometheus reads it since 2.5.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The pages for the kubelet and for Prometheus. None of them reads a request's body.
pub fn probes(health: Health, metrics: Metrics) -> Router {
    let health = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .with_state(health);
    let metrics = Router::new()
        .route("/metrics", get(page))
        .with_state(metrics);
    health.merge(metrics)
}

async fn healthz(State(health): State<Health>) -> Response {
    verdict(&health.not_alive())
}

async fn readyz(State(health): State<Health>) -> Response {
    verdict(&health.not_ready())
}

fn verdict(reasons: &[String]) -> Response {
    if reasons.is_empty() {
        return "ok\n".into_response();
    }
    let text = reasons.join("\n") + "\n";
    (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
}

async fn page(State(metrics): State<Metrics>) -> Response {
    match metrics.encode() {
        Ok(page) => ([(CONTENT_TYPE, OPEN_METRICS)], page).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}
