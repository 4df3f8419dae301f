//! Claims, volumes, and what makes them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::causes::{Causes, quoted};
use super::defaults::{
    Default::{Flag, Text},
    Table, add, has, put, text,
};
use super::labels;
use super::pod;
use super::quantity;
use super::spot::Spot;
use crate::state::State;
use crate::words;

const MODES: [&str; 3] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"];
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// What a StorageClass gets.
pub(super) const CLASS: &Table = &[
    ("reclaimPolicy", Text("Delete")),
    ("volumeBindingMode", Text("Immediate")),
];

/// What a CSIDriver gets.
pub(super) const DRIVER: &Table = &[
    ("spec+.attachRequired", Flag(true)),
    ("spec.podInfoOnMount", Flag(false)),
    ("spec.fsGroupPolicy", Text("ReadWriteOnceWithFSType")),
];

/// Adds defaults to a claim.
pub(super) fn default_claim(claim: &mut Value) {
    add(
        claim,
        &[
            ("spec+.volumeMode", Text("Filesystem")),
            ("status+.phase", Text("Pending")),
        ],
    );
}

/// Adds defaults to a volume.
pub(super) fn default_volume(volume: &mut Value) {
    add(
        volume,
        &[
            ("spec+.persistentVolumeReclaimPolicy", Text("Retain")),
            ("spec.volumeMode", Text("Filesystem")),
            ("status+.phase", Text("Pending")),
        ],
    );
    if let Some(spec) = volume.get_mut("spec") {
        pod::default_source(spec);
    }
}

/// Adds defaults to a CSIDriver.
pub(super) fn default_driver(driver: &mut Value) {
    add(driver, DRIVER);
    let modes = driver
        .pointer("/spec/volumeLifecycleModes")
        .and_then(Value::as_array);
    if modes.is_none_or(Vec::is_empty)
        && let Some(spec) = driver.get_mut("spec")
    {
        put(spec, "volumeLifecycleModes", json!(["Persistent"]));
    }
}

/// Lets a new claim or volume wait, and stay while it is used.
pub(super) fn create(state: &State, object: &mut Value, claim: bool) {
    put(object, "status", json!({ "phase": "Pending" }));
    let finalizer = if claim {
        "kubernetes.io/pvc-protection"
    } else {
        "kubernetes.io/pv-protection"
    };
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        let finalizers = metadata.entry("finalizers").or_insert(Value::Null);
        if finalizers.is_null() {
            *finalizers = json!([]);
        }
        if let Some(finalizers) = finalizers.as_array_mut()
            && !finalizers.iter().any(|said| said == finalizer)
        {
            finalizers.push(finalizer.into());
        }
    }
    if claim
        && let Some(spec) = object.get_mut("spec")
        && !has(spec, "storageClassName")
        && let Some(class) = default_class(state)
    {
        put(spec, "storageClassName", class);
    }
}

fn default_class(state: &State) -> Option<String> {
    let classes: Arc<str> = "storageclasses.storage.k8s.io".into();
    state.store.list(&classes, None).find_map(|(key, class)| {
        let annotations = class.get("metadata")?.get("annotations")?;
        (text(annotations, DEFAULT_CLASS) == "true").then(|| key.name.clone())
    })
}

/// What is wrong with a claim.
pub(super) fn check_claim(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let modes = spec.field("accessModes");
    if modes.len() == 0 {
        causes.required(&modes, "at least 1 access mode is required");
    }
    labels::check_selector(causes, &spec.field("selector"));
    check_modes(causes, &modes);
    let resources = spec.field("resources");
    let requests = resources.field("requests");
    let size = requests.field("storage");
    let said = resources.key("storage");
    match quantity::billionths(size.value) {
        None => causes.required(&said, ""),
        Some(bytes) if bytes <= 0 => {
            causes.invalid_as(&said, &quoted(size.text()), "must be greater than zero")
        }
        Some(_) => {}
    }
    check_class_name(causes, &spec.field("storageClassName"));
    causes.one_of(&spec.field("volumeMode"), &["Block", "Filesystem"]);
}

fn check_modes(causes: &mut Causes, modes: &Spot<'_>) {
    for mode in modes.value.as_array().into_iter().flatten() {
        let name = mode.as_str().unwrap_or_default();
        if !MODES.contains(&name) && name != "ReadWriteOncePod" {
            causes.unsupported_as(modes, &quoted(name), &MODES);
        }
    }
}

fn check_class_name(causes: &mut Causes, name: &Spot<'_>) {
    if !name.text().is_empty() {
        causes.all_invalid(name, &words::subdomain(name.text()));
    }
}

/// What may not change of a claim.
pub(super) fn check_claim_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    let nothing = Value::Null;
    let before = old.get("spec").unwrap_or(&nothing);
    let bound = text(old.get("status").unwrap_or(&nothing), "phase") == "Bound";
    let mut kept = spec.value.clone();
    if text(before, "volumeName").is_empty()
        && let (Some(fields), Some(name)) = (kept.as_object_mut(), before.get("volumeName"))
    {
        fields.insert("volumeName".to_owned(), name.clone());
    } else if text(before, "volumeName").is_empty()
        && let Some(fields) = kept.as_object_mut()
    {
        fields.remove("volumeName");
    }
    if bound
        && let (Some(resources), Some(said)) = (
            kept.get_mut("resources"),
            before.pointer("/resources/requests"),
        )
    {
        put(resources, "requests", said.clone());
    }
    if kept != *before {
        causes.forbidden(
            &spec,
            "spec is immutable after creation except resources.requests for bound claims",
        );
    }
    let mode = new.named("volumeMode", spec.field("volumeMode").value);
    causes.unchanged(&mode, before.get("volumeMode").unwrap_or(&Value::Null));
}

/// What is wrong with a volume.
pub(super) fn check_volume(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let modes = spec.field("accessModes");
    if modes.len() == 0 {
        causes.required(&modes, "");
    }
    check_modes(causes, &modes);
    let capacity = spec.field("capacity");
    if capacity.len() == 0 {
        causes.required(&capacity, "");
    }
    if capacity.field("storage").absent() || capacity.len() > 1 {
        causes.unsupported_as(&capacity, &capacity.value.to_string(), &["storage"]);
    }
    for (_, size) in capacity.entries() {
        if quantity::billionths(size.value).is_some_and(|bytes| bytes <= 0) {
            causes.invalid(&size, "must be greater than zero");
        }
    }
    causes.one_of(
        &spec.field("persistentVolumeReclaimPolicy"),
        &["Delete", "Recycle", "Retain"],
    );
    check_class_name(causes, &spec.field("storageClassName"));
    causes.one_of(&spec.field("volumeMode"), &["Block", "Filesystem"]);
    check_source(causes, &spec);
}

/// What volumes may be made of.
const SOURCES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

fn check_source(causes: &mut Causes, spec: &Spot<'_>) {
    pod::check_one_source(causes, spec, &SOURCES, |causes, source, name| match name {
        "local" => {
            let path = source.field("path");
            if path.text().is_empty() {
                causes.required(&path, "");
            }
            let affinity = spec.field("nodeAffinity");
            if affinity.absent() {
                causes.required(&affinity, "Local volume requires node affinity");
            }
        }
        "csi" => {
            pod::check_driver(causes, &source.field("driver"));
            let handle = source.field("volumeHandle");
            if handle.text().is_empty() {
                causes.required(&handle, "");
            }
        }
        name => pod::check_shared(causes, source, name),
    });
    let affinity = spec.field("nodeAffinity");
    pod::check_node_selector(causes, &affinity.field("required"));
}

/// What may not change of a volume.
pub(super) fn check_volume_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    let nothing = Value::Null;
    let before = old.get("spec").unwrap_or(&nothing);
    let source = |spec: &Value| -> Vec<Value> {
        SOURCES
            .iter()
            .map(|name| spec.get(name).cloned().unwrap_or(Value::Null))
            .collect()
    };
    if source(spec.value) != source(before) {
        let said = spec.field("persistentvolumesource");
        causes.forbidden(
            &said,
            "spec.persistentvolumesource is immutable after creation",
        );
    }
    let mode = new.named("volumeMode", spec.field("volumeMode").value);
    causes.unchanged(&mode, before.get("volumeMode").unwrap_or(&Value::Null));
}

/// What is wrong with a StorageClass.
pub(super) fn check_class(causes: &mut Causes, object: &Spot<'_>) {
    let provisioner = object.field("provisioner");
    if provisioner.text().is_empty() {
        causes.required(&provisioner, "");
    } else {
        causes.all_invalid(
            &provisioner,
            &words::qualified(&provisioner.text().to_lowercase())
                .iter()
                .map(Clone::clone)
                .collect::<Vec<_>>(),
        );
    }
    let parameters = object.field("parameters");
    if parameters.entries().any(|(name, _)| name.is_empty()) {
        causes.invalid_as(&parameters, "\"\"", "field can not be empty.");
    }
    causes.one_of(&object.field("reclaimPolicy"), &["Delete", "Retain"]);
    causes.one_of(
        &object.field("volumeBindingMode"),
        &["Immediate", "WaitForFirstConsumer"],
    );
    let topologies = object.field("allowedTopologies");
    for topology in topologies.items() {
        let expressions = topology.field("matchLabelExpressions");
        for expression in expressions.items() {
            let values = expression.field("values");
            if values.len() == 0 {
                causes.required(&values, "");
            }
        }
    }
}

/// What may not change of a StorageClass.
pub(super) fn check_class_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    for field in ["parameters", "provisioner", "reclaimPolicy"] {
        let before = old.get(field).unwrap_or(&Value::Null);
        let spot = new.field(field);
        if spot.value != before {
            causes.forbidden(&spot, &format!("updates to {field} are forbidden."));
        }
    }
    let before = old.get("volumeBindingMode").unwrap_or(&Value::Null);
    causes.unchanged(&new.field("volumeBindingMode"), before);
}

/// What is wrong with a CSIDriver.
pub(super) fn check_csi_driver(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let modes = spec.field("volumeLifecycleModes");
    for mode in modes.value.as_array().into_iter().flatten() {
        let said = spec.named("volumeLifecycleModes", mode);
        causes.one_of(&said, &["Persistent", "Ephemeral"]);
    }
    let policy = spec.field("fsGroupPolicy");
    causes.one_of(&policy, &["File", "None", "ReadWriteOnceWithFSType"]);
}
