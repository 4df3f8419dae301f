//! What is wrong with a pod's spec.

use serde_json::Value;

use super::{affinity, container, scheduling, security, volume};
use crate::kinds::causes::{Causes, quoted, texts_shown};
use crate::kinds::labels;
use crate::kinds::spot::Spot;
use crate::words;

/// What is wrong with a template of pods.
pub(in super::super) fn check_template(causes: &mut Causes, template: &Spot<'_>) {
    check_template_metadata(causes, template);
    let spec = template.field("spec");
    check(causes, &spec);
    let ephemeral = spec.field("ephemeralContainers");
    if ephemeral.len() > 0 {
        causes.forbidden(
            &ephemeral,
            "ephemeral containers not allowed in pod template",
        );
    }
}

/// What is wrong with the labels and annotations of a template.
pub(in super::super) fn check_template_metadata(causes: &mut Causes, template: &Spot<'_>) {
    let metadata = template.field("metadata");
    // The API server leaves `metadata` out of these two paths.
    let said = template.named("labels", metadata.field("labels").value);
    labels::check(causes, &said);
    let said = template.named("annotations", metadata.field("annotations").value);
    labels::check_annotations(causes, &said);
}

/// What is wrong with a pod.
pub(in super::super) fn check_pod(causes: &mut Causes, pod: &Spot<'_>) {
    let spec = pod.field("spec");
    check(causes, &spec);
    container::check_images(causes, &spec);
    volume::check_tokens(causes, &spec);
}

/// What is wrong with a new pod besides.
pub(in super::super) fn check_new(causes: &mut Causes, pod: &Spot<'_>) {
    let spec = pod.field("spec");
    let ephemeral = spec.field("ephemeralContainers");
    if ephemeral.len() > 0 {
        causes.forbidden(&ephemeral, "cannot be set on create");
    }
}

/// What is wrong with a pod's spec, be it a pod's or a template's.
fn check(causes: &mut Causes, spec: &Spot<'_>) {
    let volumes = volume::check(causes, spec);
    container::check(causes, spec, &volumes);
    causes.one_of(
        &spec.field("restartPolicy"),
        &["Always", "OnFailure", "Never"],
    );
    let policy = spec.field("dnsPolicy");
    causes.one_of(
        &policy,
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
    labels::check(causes, &spec.field("nodeSelector"));
    security::check_pod(causes, spec);
    affinity::check(causes, &spec.field("affinity"));
    check_dns(causes, &spec.field("dnsConfig"), policy.text());
    let gates = spec.field("readinessGates");
    for gate in gates.items() {
        let condition = gate.field("conditionType");
        causes.text_invalid(
            &condition,
            condition.text(),
            &words::qualified(condition.text()),
        );
    }
    scheduling::check_spreading(causes, &spec.field("topologySpreadConstraints"));
    check_names(causes, spec);
    scheduling::check_tolerations(causes, &spec.field("tolerations"));
    check_aliases(causes, &spec.field("hostAliases"));
    for name in ["priorityClassName", "runtimeClassName"] {
        let name = spec.field(name);
        if name.present() && !name.text().is_empty() {
            causes.all_invalid(&name, &words::subdomain(name.text()));
        }
    }
}

fn check_names(causes: &mut Causes, spec: &Spot<'_>) {
    for name in ["serviceAccountName", "nodeName"] {
        let name = spec.field(name);
        if !name.text().is_empty() {
            causes.all_invalid(&name, &words::subdomain(name.text()));
        }
    }
    let deadline = spec.field("activeDeadlineSeconds");
    if let Some(seconds) = deadline.int() {
        causes.all_invalid(&deadline, &words::range(seconds, 1, i32::MAX.into()));
    }
    for name in ["hostname", "subdomain"] {
        let name = spec.field(name);
        if !name.text().is_empty() {
            causes.all_invalid(&name, &words::label(name.text()));
        }
    }
}

fn check_dns(causes: &mut Causes, config: &Spot<'_>, policy: &str) {
    let servers = config.field("nameservers");
    if policy == "None" {
        if config.absent() {
            causes.required(config, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if servers.len() == 0 {
            causes.required(
                &servers,
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            );
            return;
        }
    }
    if servers.len() > 3 {
        causes.invalid(&servers, "must not have more than 3 nameservers");
    }
    for server in servers.items() {
        if !is_address(server.text()) {
            causes.invalid(&server, "must be valid IP address");
        }
    }
    let searches = config.field("searches");
    let texts: Vec<&str> = searches.items().map(|search| search.text()).collect();
    if texts.len() > 6 {
        causes.invalid_as(
            &searches,
            &texts_shown(&texts),
            "must not have more than 6 search paths",
        );
    }
    for search in searches.items() {
        let name = search.text().strip_suffix('.').unwrap_or(search.text());
        causes.text_invalid(&search, name, &words::subdomain(name));
    }
    let options = config.field("options");
    for option in options.items() {
        if option.field("name").text().is_empty() {
            causes.required(&option, "must not be empty");
        }
    }
}

fn check_aliases(causes: &mut Causes, aliases: &Spot<'_>) {
    for alias in aliases.items() {
        let said = aliases.named("ip", alias.field("ip").value);
        if !is_address(said.text()) {
            causes.invalid_as(&said, &quoted(said.text()), "must be valid IP address");
        }
        let names: &Value = alias.field("hostnames").value;
        for name in names.as_array().into_iter().flatten() {
            let said = aliases.named("hostnames", name);
            causes.all_invalid(&said, &words::subdomain(said.text()));
        }
    }
}

fn is_address(text: &str) -> bool {
    text.parse::<std::net::IpAddr>().is_ok()
}
