//! Rows of all that is neither run nor reached.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::age;
use super::text::{self, at, items, name, number, or, scalar};

pub fn namespace(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        at(object, "/status/phase").into(),
        age::of(object, now),
    ]
}

pub fn node(object: &Value, now: Timestamp) -> Vec<Value> {
    let conditions = items(object, "/status/conditions");
    let ready = conditions.iter().find(|it| at(it, "/type") == "Ready");
    let mut status = match ready.map(|it| at(it, "/status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if object.pointer("/spec/unschedulable") == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let info = |field: &str| at(object, &format!("/status/nodeInfo/{field}"));
    let known = |field: &str| Value::from(or(info(field), "<unknown>"));
    let address = |wanted: &str| {
        let addresses = items(object, "/status/addresses");
        let found = addresses.iter().find(|it| at(it, "/type") == wanted);
        Value::from(found.map_or("<none>", |it| at(it, "/address")))
    };
    vec![
        name(object),
        status.into(),
        or(&roles(object), "<none>").into(),
        age::of(object, now),
        info("kubeletVersion").into(),
        address("InternalIP"),
        address("ExternalIP"),
        known("osImage"),
        known("kernelVersion"),
        known("containerRuntimeVersion"),
    ]
}

fn roles(node: &Value) -> String {
    let labels = text::map(node, "/metadata/labels").into_iter().flatten();
    let roles: BTreeSet<&str> = labels
        .filter_map(
            |(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
                None if key == "kubernetes.io/role" => value.as_str(),
                role => role,
            },
        )
        .filter(|role| !role.is_empty())
        .collect();
    roles.into_iter().collect::<Vec<_>>().join(",")
}

fn entries(object: &Value, pointer: &str) -> usize {
    text::map(object, pointer).map_or(0, serde_json::Map::len)
}

pub fn config_map(object: &Value, now: Timestamp) -> Vec<Value> {
    let count = entries(object, "/data") + entries(object, "/binaryData");
    vec![name(object), count.into(), age::of(object, now)]
}

pub fn secret(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        at(object, "/type").into(),
        entries(object, "/data").into(),
        age::of(object, now),
    ]
}

pub fn service_account(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        items(object, "/secrets").len().into(),
        age::of(object, now),
    ]
}

/// Both kinds of events are the same objects, with other names for some fields in the newer one.
pub fn event(object: &Value, now: Timestamp) -> Vec<Value> {
    let either =
        |old: &'static str, new: &'static str| or(at(object, old), at(object, new)).to_owned();
    let since = |time: &str| age::since(time, now);
    let first = match either("/firstTimestamp", "/deprecatedFirstTimestamp").as_str() {
        "" => since(at(object, "/eventTime")),
        time => since(time),
    };
    let series = object.pointer("/series");
    let last = match either("/lastTimestamp", "/deprecatedLastTimestamp").as_str() {
        "" => first.clone(),
        time => since(time),
    };
    let last = series.map_or(last, |it| since(at(it, "/lastObservedTime")));
    let count = match (
        series,
        number(object, "/count") + number(object, "/deprecatedCount"),
    ) {
        (Some(series), _) => number(series, "/count") + 1,
        (None, count) => count.max(1),
    };
    let kind = either("/involvedObject/kind", "/regarding/kind").to_lowercase();
    let about = match either("/involvedObject/name", "/regarding/name") {
        it if it.is_empty() => kind,
        it => format!("{kind}/{it}"),
    };
    let reporter = or(
        at(object, "/source/component"),
        at(object, "/deprecatedSource/component"),
    );
    let reporter = or(
        reporter,
        or(
            at(object, "/reportingComponent"),
            at(object, "/reportingController"),
        ),
    );
    let place = or(at(object, "/source/host"), at(object, "/reportingInstance"));
    let source = match place {
        "" => reporter.to_owned(),
        place => format!("{reporter}, {place}"),
    };
    vec![
        last.into(),
        at(object, "/type").into(),
        at(object, "/reason").into(),
        about.into(),
        either("/involvedObject/fieldPath", "/regarding/fieldPath").into(),
        source.into(),
        either("/message", "/note").trim().into(),
        first.into(),
        count.into(),
        name(object),
    ]
}

fn modes(object: &Value, pointer: &str) -> String {
    let has = |mode: &str| items(object, pointer).iter().any(|it| it == mode);
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let found: Vec<&str> = short
        .iter()
        .filter(|(mode, _)| has(mode))
        .map(|(_, short)| *short)
        .collect();
    found.join(",")
}

fn phase(object: &Value) -> Value {
    match object.pointer("/metadata/deletionTimestamp") {
        Some(_) => "Terminating".into(),
        None => at(object, "/status/phase").into(),
    }
}

fn class(object: &Value) -> Value {
    let annotation = "/metadata/annotations/volume.beta.kubernetes.io~1storage-class";
    match object.pointer(annotation).and_then(Value::as_str) {
        Some(class) => class.into(),
        None => at(object, "/spec/storageClassName").into(),
    }
}

pub fn volume(object: &Value, now: Timestamp) -> Vec<Value> {
    let claim = object.pointer("/spec/claimRef").map(|it| {
        let (namespace, name) = (at(it, "/namespace"), at(it, "/name"));
        format!("{namespace}/{name}")
    });
    vec![
        name(object),
        or(at(object, "/spec/capacity/storage"), "0").into(),
        modes(object, "/spec/accessModes").into(),
        at(object, "/spec/persistentVolumeReclaimPolicy").into(),
        phase(object),
        claim.unwrap_or_default().into(),
        class(object),
        at(object, "/status/reason").into(),
        age::of(object, now),
        or(at(object, "/spec/volumeMode"), "<unset>").into(),
    ]
}

pub fn claim(object: &Value, now: Timestamp) -> Vec<Value> {
    let volume = at(object, "/spec/volumeName");
    let (capacity, modes) = match volume {
        "" => (String::new(), String::new()),
        _ => (
            or(at(object, "/status/capacity/storage"), "0").to_owned(),
            modes(object, "/status/accessModes"),
        ),
    };
    vec![
        name(object),
        phase(object),
        volume.into(),
        capacity.into(),
        modes.into(),
        class(object),
        age::of(object, now),
        or(at(object, "/spec/volumeMode"), "<unset>").into(),
    ]
}

pub fn storage_class(object: &Value, now: Timestamp) -> Vec<Value> {
    let annotations = text::map(object, "/metadata/annotations");
    let is_default = annotations.is_some_and(|it| {
        it.get("storageclass.kubernetes.io/is-default-class")
            .is_some_and(|it| it == "true")
    });
    let title = match is_default {
        true => format!("{} (default)", at(object, "/metadata/name")),
        false => at(object, "/metadata/name").to_owned(),
    };
    vec![
        title.into(),
        at(object, "/provisioner").into(),
        or(at(object, "/reclaimPolicy"), "Delete").into(),
        or(at(object, "/volumeBindingMode"), "Immediate").into(),
        (object.get("allowVolumeExpansion") == Some(&Value::Bool(true))).into(),
        age::of(object, now),
    ]
}

pub fn lease(object: &Value, now: Timestamp) -> Vec<Value> {
    let holder = at(object, "/spec/holderIdentity");
    vec![name(object), holder.into(), age::of(object, now)]
}

pub fn quota(object: &Value, now: Timestamp) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let used = text::map(object, "/status/used");
    for (resource, hard) in text::map(object, "/status/hard").into_iter().flatten() {
        let used = scalar(used.and_then(|used| used.get(resource)), "0");
        let said = format!("{resource}: {used}/{}", scalar(Some(hard), "0"));
        match resource.starts_with("limits.") {
            true => limits.push(said),
            false => requests.push(said),
        }
    }
    vec![
        name(object),
        age::of(object, now),
        requests.join(", ").into(),
        limits.join(", ").into(),
    ]
}

pub fn priority_class(object: &Value, now: Timestamp) -> Vec<Value> {
    let is_default = object.get("globalDefault") == Some(&Value::Bool(true));
    vec![
        name(object),
        number(object, "/value").into(),
        is_default.into(),
        age::of(object, now),
    ]
}

pub fn webhooks(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        items(object, "/webhooks").len().into(),
        age::of(object, now),
    ]
}

pub fn binding(object: &Value, now: Timestamp) -> Vec<Value> {
    let role = format!(
        "{}/{}",
        at(object, "/roleRef/kind"),
        at(object, "/roleRef/name")
    );
    let subjects = |kind: &str| {
        let of_kind = items(object, "/subjects")
            .iter()
            .filter(|it| at(it, "/kind") == kind);
        let names: Vec<String> = of_kind
            .map(|it| match kind {
                "ServiceAccount" => format!("{}/{}", at(it, "/namespace"), at(it, "/name")),
                _ => at(it, "/name").to_owned(),
            })
            .collect();
        Value::from(names.join(", "))
    };
    vec![
        name(object),
        role.into(),
        age::of(object, now),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}
