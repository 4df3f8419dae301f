//! What is wrong with what a volume is made of.

use serde_json::Value;

use super::env;
use crate::kinds::causes::{Causes, quoted};
use crate::kinds::quantity;
use crate::kinds::spot::Spot;
use crate::words;

/// What volumes may be made of, in the order in which the API server looks.
const SOURCES: [&str; 28] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
    "projected",
    "csi",
    "ephemeral",
];

/// Fields of a pod that a file may have.
const FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

const HOST_PATHS: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// What is wrong with a volume, but for its name.
pub(super) fn check(causes: &mut Causes, volume: &Spot<'_>) {
    check_one_source(
        causes,
        volume,
        &SOURCES,
        |causes, source, name| match name {
            "emptyDir" => check_empty(causes, source),
            "projected" => check_projected(causes, source),
            "downwardAPI" => {
                check_mode(causes, &source.field("defaultMode"));
                check_fields(causes, source);
            }
            "secret" => check_files(causes, source, "secretName"),
            "configMap" => check_files(causes, source, "name"),
            "persistentVolumeClaim" => require(causes, &source.field("claimName")),
            "csi" => check_driver(causes, &source.field("driver")),
            name => check_shared(causes, source, name),
        },
    );
}

/// Whether a volume has one of the sources that there are, and what is wrong with it.
pub(in super::super) fn check_one_source(
    causes: &mut Causes,
    volume: &Spot<'_>,
    sources: &[&str],
    check: impl Fn(&mut Causes, &Spot<'_>, &str),
) {
    let mut is_first = true;
    for name in sources {
        let source = volume.field(name);
        if source.absent() {
            continue;
        }
        if is_first {
            check(causes, &source, name);
        } else {
            causes.forbidden(&source, "may not specify more than 1 volume type");
        }
        is_first = false;
    }
    if is_first {
        causes.required(volume, "must specify a volume type");
    }
}

/// What is wrong with sources that PersistentVolumes have as well.
pub(in super::super) fn check_shared(causes: &mut Causes, source: &Spot<'_>, name: &str) {
    match name {
        "hostPath" => {
            let path = source.field("path");
            require(causes, &path);
            check_no_way_up(causes, &path);
            causes.one_of(&source.field("type"), &HOST_PATHS);
        }
        "nfs" => {
            require(causes, &source.field("server"));
            let path = source.field("path");
            require(causes, &path);
            if !path.text().is_empty() && !path.text().starts_with('/') {
                causes.invalid(&path, "must be an absolute path");
            }
        }
        _ => {}
    }
}

fn check_empty(causes: &mut Causes, source: &Spot<'_>) {
    let limit = source.field("sizeLimit");
    if quantity::billionths(limit.value).is_some_and(|size| size < 0) {
        causes.forbidden(&limit, "SizeLimit field must be a valid resource quantity");
    }
}

/// What is wrong with the name of a CSI driver.
pub(in super::super) fn check_driver(causes: &mut Causes, driver: &Spot<'_>) {
    require(causes, driver);
    causes.text_invalid(driver, driver.text(), &words::subdomain(driver.text()));
}

fn check_files(causes: &mut Causes, source: &Spot<'_>, name: &str) {
    require(causes, &source.field(name));
    check_mode(causes, &source.field("defaultMode"));
    let items = source.field("items");
    for item in items.items() {
        check_file(causes, &item);
    }
}

fn check_file(causes: &mut Causes, item: &Spot<'_>) {
    require(causes, &item.field("key"));
    let path = item.field("path");
    require(causes, &path);
    check_local_path(causes, &path);
    check_mode(causes, &item.field("mode"));
}

/// What is wrong with the files of fields; the API server does not say which of them is.
fn check_fields(causes: &mut Causes, source: &Spot<'_>) {
    let items = source.field("items");
    for item in items.value.as_array().into_iter().flatten() {
        let spot = |name| source.named(name, item.get(name).unwrap_or(&Value::Null));
        let (path, field) = (spot("path"), spot("fieldRef"));
        require(causes, &path);
        check_local_path(causes, &path);
        let resource = spot("resourceFieldRef");
        if field.present() {
            env::check_field(causes, &field, &FIELDS);
            if resource.present() {
                causes.invalid_as(
                    source,
                    "\"resource\"",
                    "fieldRef and resourceFieldRef can not be specified simultaneously",
                );
            }
        } else if resource.present() {
            env::check_resource(causes, &resource, true);
        } else {
            causes.required(source, "one of fieldRef and resourceFieldRef is required");
        }
        check_mode(causes, &spot("mode"));
    }
}

fn check_projected(causes: &mut Causes, projected: &Spot<'_>) {
    check_mode(causes, &projected.field("defaultMode"));
    let sources = projected.field("sources");
    let mut paths: Vec<String> = Vec::new();
    for source in sources.items() {
        let parts = ["secret", "configMap", "downwardAPI", "serviceAccountToken"];
        if parts
            .iter()
            .filter(|part| source.field(part).present())
            .count()
            > 1
        {
            causes.forbidden(&source, "may not specify more than 1 volume type");
        }
        for name in ["secret", "configMap"] {
            let spot = source.field(name);
            if spot.absent() {
                continue;
            }
            require(causes, &spot.field("name"));
            let items = spot.field("items");
            let owner = spot.field("name");
            for item in items.items() {
                check_file(causes, &item);
                let path = item.field("path").text().to_owned();
                if paths.contains(&path) {
                    causes.invalid_as(
                        projected,
                        &quoted(owner.text()),
                        "conflicting duplicate paths",
                    );
                } else if !path.is_empty() {
                    paths.push(path);
                }
            }
        }
        let fields = source.field("downwardAPI");
        if fields.present() {
            check_fields(causes, &fields);
        }
        let token = source.field("serviceAccountToken");
        if token.present() {
            check_token(causes, projected, &token);
        }
    }
}

fn check_token(causes: &mut Causes, projected: &Spot<'_>, token: &Spot<'_>) {
    let seconds = token.field("expirationSeconds");
    if seconds.int().is_some_and(|seconds| seconds < 600) {
        causes.invalid(&seconds, "may not specify a duration less than 10 minutes");
    }
    require(causes, &projected.named("path", token.field("path").value));
}

fn check_mode(causes: &mut Causes, mode: &Spot<'_>) {
    if mode.int().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        causes.invalid(
            mode,
            "must be a number between 0 and 0777 (octal), both inclusive",
        );
    }
}

/// What is wrong with a path below another.
pub(super) fn check_local_path(causes: &mut Causes, path: &Spot<'_>) {
    if path.text().starts_with('/') {
        causes.invalid(path, "must be a relative path");
    }
    check_no_way_up(causes, path);
}

/// Says that a path leads upwards.
pub(in super::super) fn check_no_way_up(causes: &mut Causes, path: &Spot<'_>) {
    if path.text().split('/').any(|part| part == "..") {
        causes.invalid(path, "must not contain '..'");
    }
}

fn require(causes: &mut Causes, text: &Spot<'_>) {
    if text.text().is_empty() {
        causes.required(text, "");
    }
}
