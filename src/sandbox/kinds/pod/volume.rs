//! What is wrong with a pod's volumes and their mounts.

use std::collections::BTreeSet;

use super::volume_source as source;
use crate::kinds::causes::{Causes, quoted};
use crate::kinds::spot::Spot;
use crate::words;

/// What is wrong with the volumes; gives the names of those with which nothing is.
pub(super) fn check(causes: &mut Causes, spec: &Spot<'_>) -> BTreeSet<String> {
    let volumes = spec.field("volumes");
    let mut names = BTreeSet::new();
    for volume in volumes.items() {
        let before = causes.0.len();
        source::check(causes, &volume);
        let name = volume.field("name");
        if name.text().is_empty() {
            causes.required(&name, "");
        } else {
            causes.all_invalid(&name, &words::label(name.text()));
            if names.contains(name.text()) {
                causes.duplicate(&name);
            }
        }
        if causes.0.len() == before {
            names.insert(name.text().to_owned());
        }
    }
    names
}

/// What is wrong with the tokens that a pod wants; templates are not looked at for that.
pub(super) fn check_tokens(causes: &mut Causes, spec: &Spot<'_>) {
    if !spec.field("serviceAccountName").text().is_empty() {
        return;
    }
    for volume in spec.field("volumes").items() {
        for source in volume.field("projected").field("sources").items() {
            let token = source.field("serviceAccountToken");
            if token.present() {
                causes.forbidden(
                    &token,
                    "must not be specified when serviceAccountName is not set",
                );
            }
        }
    }
}

/// What is wrong with where a container has volumes.
pub(super) fn check_mounts(causes: &mut Causes, container: &Spot<'_>, volumes: &BTreeSet<String>) {
    let context = container.field("securityContext");
    let privileged = context.field("privileged").is_true();
    let mounts = container.field("volumeMounts");
    let mut paths = BTreeSet::new();
    for mount in mounts.items() {
        let name = mount.field("name");
        if name.text().is_empty() {
            causes.required(&name, "");
        }
        if !volumes.contains(name.text()) {
            causes.not_found(&name);
        }
        let path = mount.field("mountPath");
        if path.text().is_empty() {
            causes.required(&path, "");
        }
        if !paths.insert(path.text().to_owned()) {
            causes.invalid_as(&path, &quoted(path.text()), "must be unique");
        }
        check_part(causes, &mounts, &mount, privileged);
    }
    let devices = container.field("volumeDevices");
    for device in devices.items() {
        let (name, path) = (device.field("name"), device.field("devicePath"));
        if name.text().is_empty() {
            causes.required(&name, "");
        }
        if path.text().is_empty() {
            causes.required(&path, "");
        }
        if !volumes.contains(name.text()) {
            causes.not_found(&name);
        }
    }
}

fn check_part(causes: &mut Causes, mounts: &Spot<'_>, mount: &Spot<'_>, privileged: bool) {
    let (path, expression) = (mount.field("subPath"), mount.field("subPathExpr"));
    if !path.text().is_empty() {
        source::check_local_path(causes, &mounts.named("subPath", path.value));
    }
    if !expression.text().is_empty() {
        if !path.text().is_empty() {
            causes.invalid(
                &expression,
                "subPathExpr and subPath are mutually exclusive",
            );
        }
        source::check_local_path(causes, &mounts.named("subPathExpr", expression.value));
    }
    let propagation = mount.field("mountPropagation");
    if propagation.present() {
        let said = mounts.named("mountPropagation", propagation.value);
        causes.one_of(&said, &["Bidirectional", "HostToContainer", "None"]);
        if said.text() == "Bidirectional" && !privileged {
            causes.forbidden(
                &said,
                "Bidirectional mount propagation is available only to privileged containers",
            );
        }
    }
}
