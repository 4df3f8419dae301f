//! What the API server adds to volumes, of pods and of their own.

use serde_json::{Map, Value};

use crate::kinds::defaults::{
    Default::{Flag, Int, Text},
    Table, add, has, items, put,
};

/// A volume's fields that are no source of it.
const NAME: &str = "name";

const VOLUME: &Table = &[
    ("secret.defaultMode", Int(0o644)),
    ("configMap.defaultMode", Int(0o644)),
    ("downwardAPI.defaultMode", Int(0o644)),
    ("downwardAPI.items[].fieldRef.apiVersion", Text("v1")),
    ("downwardAPI.items[].resourceFieldRef.divisor", Text("0")),
    ("projected.defaultMode", Int(0o644)),
    (
        "projected.sources[].downwardAPI.items[].fieldRef.apiVersion",
        Text("v1"),
    ),
    (
        "projected.sources[].downwardAPI.items[].resourceFieldRef.divisor",
        Text("0"),
    ),
    (
        "projected.sources[].serviceAccountToken.expirationSeconds",
        Int(3600),
    ),
    (
        "ephemeral.volumeClaimTemplate.spec.volumeMode",
        Text("Filesystem"),
    ),
];

/// What volumes of pods share with those of PersistentVolumes.
const SOURCE: &Table = &[
    ("iscsi.iscsiInterface", Text("default")),
    ("rbd.pool", Text("rbd")),
    ("rbd.user", Text("admin")),
    ("rbd.keyring", Text("/etc/ceph/keyring")),
    ("azureDisk.cachingMode", Text("ReadWrite")),
    ("azureDisk.kind", Text("Shared")),
    ("azureDisk.fsType", Text("ext4")),
    ("azureDisk.readOnly", Flag(false)),
    ("scaleIO.storageMode", Text("ThinProvisioned")),
    ("scaleIO.fsType", Text("xfs")),
];

/// Adds defaults to a pod's volumes.
pub(super) fn default_volumes(spec: &mut Value) {
    for volume in items(spec, "/volumes") {
        let bare = volume
            .as_object()
            .is_some_and(|fields| fields.keys().all(|field| field == NAME));
        if bare {
            put(volume, "emptyDir", Map::new());
        }
        add(volume, VOLUME);
        default_source(volume);
    }
}

/// Adds defaults to a volume, be it a pod's or one of its own.
pub(in super::super) fn default_source(volume: &mut Value) {
    add(volume, SOURCE);
    if let Some(path) = volume.get_mut("hostPath")
        && path.is_object()
        && !has(path, "type")
    {
        put(path, "type", "");
    }
}
