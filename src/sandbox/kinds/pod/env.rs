//! What is wrong with a container's environment.

use super::resources;
use crate::kinds::causes::{Causes, quoted};
use crate::kinds::spot::Spot;
use crate::words;

/// Where a variable's value may be from.
const SOURCES: [&str; 4] = [
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
];

/// Fields of a pod that a variable may have.
const FIELDS: [&str; 8] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.podIP",
    "status.podIPs",
];

/// Fields of a pod that the API server knows, though not every place can have them.
const KNOWN: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
];

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// What is wrong with `env` and `envFrom`.
pub(super) fn check(causes: &mut Causes, container: &Spot<'_>) {
    let env = container.field("env");
    for variable in env.items() {
        let name = variable.field("name");
        if name.text().is_empty() {
            causes.required(&name, "");
        } else {
            causes.all_invalid(&name, &words::variable(name.text()));
        }
        let from = variable.field("valueFrom");
        if from.present() {
            let said = !variable.field("value").text().is_empty();
            check_source(causes, &from, said);
        }
    }
    let from = container.field("envFrom");
    for source in from.items() {
        check_all_from(causes, &source, &from);
    }
}

fn check_source(causes: &mut Causes, from: &Spot<'_>, said: bool) {
    let sources = SOURCES.iter().filter(|source| from.field(source).present());
    let count = sources.count();
    let field = from.field("fieldRef");
    if field.present() {
        check_field(causes, &field, &FIELDS);
    }
    let resource = from.field("resourceFieldRef");
    if resource.present() {
        check_resource(causes, &resource, false);
    }
    for source in ["configMapKeyRef", "secretKeyRef"] {
        let source = from.field(source);
        if source.present() {
            check_key(causes, &source);
        }
    }
    let why = match count {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        }
        _ if said => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    causes.invalid_as(from, "\"\"", why);
}

/// What is wrong with a reference to a field of the pod.
pub(super) fn check_field(causes: &mut Causes, reference: &Spot<'_>, fields: &[&str]) {
    let version = reference.field("apiVersion");
    let path = reference.field("fieldPath");
    let text = path.text();
    if version.text().is_empty() {
        causes.required(&version, "");
        return;
    }
    if text.is_empty() {
        causes.required(&path, "");
        return;
    }
    if let Some((field, key)) = text
        .strip_suffix("']")
        .and_then(|text| text.split_once("['"))
    {
        match field {
            "metadata.annotations" => {
                causes.text_invalid(reference, key, &words::qualified(&key.to_lowercase()));
            }
            "metadata.labels" => causes.text_invalid(reference, key, &words::qualified(key)),
            _ => causes.invalid(
                &path,
                &format!(
                    "error converting fieldPath: field label does not support subscript: {text}"
                ),
            ),
        }
        return;
    }
    if version.text() != "v1" {
        let why = format!(
            "error converting fieldPath: unsupported pod version: {}",
            version.text()
        );
        causes.invalid(&path, &why);
        return;
    }
    if !FIELDS.contains(&text) && !KNOWN.contains(&text) {
        let why = format!("error converting fieldPath: field label not supported: {text}");
        causes.invalid(&path, &why);
        return;
    }
    causes.one_of(&path, fields);
}

/// What is wrong with a reference to a container's resource; in volumes it names the container.
pub(super) fn check_resource(causes: &mut Causes, reference: &Spot<'_>, volume: bool) {
    let container = reference.field("containerName");
    let resource = reference.field("resource");
    if volume && container.text().is_empty() {
        causes.required(&container, "");
    } else if resource.text().is_empty() {
        causes.required(&resource, "");
    } else if !RESOURCES.contains(&resource.text()) && !resource.text().contains(".hugepages-") {
        causes.one_of(&resource, &RESOURCES);
    }
    let divisor = reference.field("divisor");
    if let Some(wanted) = resources::divisors(resource.text(), divisor.value) {
        causes.invalid_as(&divisor, &quoted(resource.text()), &wanted);
    }
}

fn check_key(causes: &mut Causes, source: &Spot<'_>) {
    let (name, key) = (source.field("name"), source.field("key"));
    causes.text_invalid(&name, name.text(), &words::subdomain(name.text()));
    if key.text().is_empty() {
        causes.required(&key, "");
    } else {
        causes.all_invalid(&key, &words::config_key(key.text()));
    }
}

fn check_all_from(causes: &mut Causes, source: &Spot<'_>, all: &Spot<'_>) {
    let prefix = source.field("prefix");
    if !prefix.text().is_empty() {
        causes.all_invalid(&prefix, &words::variable(prefix.text()));
    }
    let mut count = 0;
    for reference in ["configMapRef", "secretRef"] {
        let reference = source.field(reference);
        if reference.absent() {
            continue;
        }
        count += 1;
        let name = reference.field("name");
        if name.text().is_empty() {
            causes.required(&name, "");
        } else {
            causes.all_invalid(&name, &words::subdomain(name.text()));
        }
    }
    match count {
        0 => causes.invalid_as(
            all,
            "\"\"",
            "must specify one of: `configMapRef` or `secretRef`",
        ),
        1 => {}
        _ => causes.invalid_as(
            all,
            "\"\"",
            "may not have more than one field specified at a time",
        ),
    }
}
