//! What is wrong with probes and hooks.

use serde_json::Value;

use crate::kinds::causes::{Causes, quoted};
use crate::kinds::spot::Spot;
use crate::words;

const HEADER: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for \
    validation is '[-A-Za-z0-9]+')";

/// What is wrong with a probe.
pub(super) fn check(causes: &mut Causes, probe: &Spot<'_>) {
    if probe.absent() {
        return;
    }
    check_handler(causes, probe, &["exec", "httpGet", "tcpSocket", "grpc"]);
    for number in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        causes.not_negative(&probe.field(number));
    }
}

/// What is wrong with a container's hooks.
pub(super) fn check_lifecycle(causes: &mut Causes, lifecycle: &Spot<'_>) {
    for hook in ["postStart", "preStop"] {
        let hook = lifecycle.field(hook);
        if hook.present() {
            check_handler(causes, &hook, &["exec", "httpGet", "tcpSocket", "sleep"]);
        }
    }
}

fn check_handler(causes: &mut Causes, handler: &Spot<'_>, kinds: &[&str]) {
    let mut count = 0;
    for &kind in kinds {
        let spot = handler.field(kind);
        if spot.absent() {
            continue;
        }
        count += 1;
        if count > 1 {
            causes.forbidden(&spot, "may not specify more than 1 handler type");
            continue;
        }
        match kind {
            "exec" => {
                let command = spot.field("command");
                if command.len() == 0 {
                    causes.required(&command, "");
                }
            }
            "httpGet" => check_http(causes, &spot),
            "tcpSocket" => check_port(causes, &spot.field("port")),
            _ => {}
        }
    }
    if count == 0 {
        causes.required(handler, "must specify a handler type");
    }
}

fn check_http(causes: &mut Causes, http: &Spot<'_>) {
    let path = http.field("path");
    if path.text().is_empty() {
        causes.required(&path, "");
    }
    check_port(causes, &http.field("port"));
    causes.one_of(&http.field("scheme"), &["HTTP", "HTTPS"]);
    let headers = http.field("httpHeaders");
    for header in headers.items() {
        let name = header.field("name");
        let within = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if name.text().is_empty() || !name.text().chars().all(within) {
            causes.invalid_as(&headers, &quoted(name.text()), HEADER);
        }
    }
}

/// What is wrong with a port's number or name.
pub(in super::super) fn check_port(causes: &mut Causes, port: &Spot<'_>) {
    match port.value {
        Value::String(name) => causes.all_invalid(port, &words::port_name(name)),
        Value::Number(number) => {
            causes.all_invalid(port, &words::port(number.as_i64().unwrap_or(0)));
        }
        _ => {
            for why in words::port(0) {
                causes.invalid_as(port, "0", &why);
            }
        }
    }
}
