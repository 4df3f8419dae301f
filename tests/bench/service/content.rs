//! What the service looks after: manifests in a directory, of which there are more and more.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::watch::Seen;
use crate::Res;
use crate::source::{Size, Source};

/// Namespace of the Syncs.
pub const SYNCS: &str = "default";
/// The Sync of most contents.
const SYNC: &str = "bench";
/// The one of many objects that is edited.
const EDITED: usize = 7;

/// Of what there are more and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// ConfigMaps of one Sync.
    Members,
    /// Targets of one Sync.
    Targets,
    /// Syncs of one ConfigMap each.
    Syncs,
}

/// Manifests and the Syncs that follow them.
pub struct Content {
    pub what: What,
    pub size: usize,
    folder: PathBuf,
    /// Of the one Sync.
    source: Source,
}

/// An object that an edit changes, and where.
pub struct Edited {
    /// Such as `/api/v1`.
    group: &'static str,
    resource: &'static str,
    namespace: String,
    pub name: String,
    pointer: &'static str,
    value: fn(usize) -> Value,
}

impl Content {
    /// Writes manifests below a folder, in place of a smaller content.
    pub fn write(folder: &Path, what: What, size: usize) -> Res<Self> {
        let (config_maps, targets) = match what {
            What::Members => (size, 0),
            What::Targets => (0, size),
            What::Syncs => (0, 0),
        };
        let size_of_source = Size {
            namespaces: if what == What::Syncs { 0 } else { 10 },
            config_maps,
            services: 0,
            targets,
        };
        let content = Self {
            what,
            size,
            folder: folder.to_owned(),
            source: Source::write(folder.join("all"), size_of_source)?,
        };
        if what == What::Syncs {
            for i in 0..size {
                fs::create_dir_all(folder.join(sync_of(i)))?;
                content.write_config_map(i, 0)?;
            }
        }
        Ok(content)
    }

    /// The directory of the one Sync.
    pub fn directory(&self) -> PathBuf {
        PathBuf::from(self.source.path())
    }

    /// Those that are looked after.
    pub fn namespaces(&self) -> Vec<String> {
        let mut namespaces = self.source.namespaces();
        namespaces.push(SYNCS.to_owned());
        namespaces
    }

    /// Syncs of the directories.
    pub fn syncs(&self) -> Vec<Value> {
        let of = |name: &str, path: &Path| sync(name, &json!({ "directory": { "path": path } }));
        match self.what {
            What::Members | What::Targets => vec![of(SYNC, &self.directory())],
            What::Syncs => (0..self.size)
                .map(|i| of(&sync_of(i), &self.folder.join(sync_of(i))))
                .collect(),
        }
    }

    /// The one Sync, of a repository.
    pub fn sync_of_repository(repository: &Path) -> Vec<Value> {
        let git = json!({ "url": repository, "ref": "main" });
        vec![sync(SYNC, &json!({ "git": git }))]
    }

    /// How many Targets there are.
    pub fn targets(&self) -> usize {
        self.source.size.targets
    }

    /// Name of the Sync whose file is edited.
    pub fn edited_sync(&self) -> String {
        match self.what {
            What::Members | What::Targets => SYNC.to_owned(),
            What::Syncs => sync_of(EDITED),
        }
    }

    /// Edits a file; another edit is another value.
    pub fn edit(&self, edit: usize) -> Res<()> {
        match self.what {
            What::Members => self.source.config_map(EDITED, edit),
            What::Targets => self.source.target(EDITED, edit),
            What::Syncs => self.write_config_map(EDITED, edit),
        }
    }

    /// The objects that an edit changes, in this order.
    pub fn edited(&self) -> Vec<Edited> {
        match self.what {
            What::Members => {
                let namespace = self.source.namespace_of(EDITED);
                vec![Edited::config_map(&namespace)]
            }
            What::Targets => self.target(EDITED),
            What::Syncs => vec![Edited::config_map(SYNCS)],
        }
    }

    /// A Target and its Service.
    pub fn target(&self, i: usize) -> Vec<Edited> {
        let (namespace, name) = (self.source.namespace_of(i), format!("target-{i:04}"));
        let service = Edited {
            group: "/api/v1",
            resource: "services",
            namespace: namespace.clone(),
            name: covergence::render::service_name(&name),
            pointer: "/spec/ports/0/port",
            value: port,
        };
        let target = Edited {
            group: "/apis/closurejvm.io/v1alpha1",
            resource: "closurejvmtargets",
            namespace,
            name,
            pointer: "/spec/agents/coverage/port",
            value: port,
        };
        vec![target, service]
    }

    /// What an edit writes, as the audit log names it.
    pub fn written(&self) -> Vec<String> {
        let named = |edited: &Edited| {
            let Edited {
                namespace,
                resource,
                name,
                ..
            } = edited;
            format!("{namespace}/{resource}/{name}")
        };
        let mut written: Vec<String> = self.edited().iter().map(named).collect();
        let status = written.first().map(|target| format!("{target}/status"));
        written.extend(status.filter(|_| self.what == What::Targets));
        written.push(format!("{SYNCS}/syncs/{}/status", self.edited_sync()));
        written
    }

    /// The ConfigMap of a Sync of its own.
    fn write_config_map(&self, i: usize, edit: usize) -> Res<()> {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-{i:04}\n  namespace: {SYNCS}\ndata:\n  mode: \"{edit}\"\n"
        );
        Ok(fs::write(
            self.folder.join(sync_of(i)).join("config.yaml"),
            text,
        )?)
    }
}

impl Edited {
    fn config_map(namespace: &str) -> Self {
        Self {
            group: "/api/v1",
            resource: "configmaps",
            namespace: namespace.to_owned(),
            name: format!("config-{EDITED:04}"),
            pointer: "/data/mode",
            value: |edit| Value::String(edit.to_string()),
        }
    }

    /// Whether an edit has arrived.
    pub fn is_edited(&self, seen: &Seen, edit: usize) -> bool {
        seen.object.pointer(self.pointer) == Some(&(self.value)(edit))
    }

    /// The path of the objects of its kind in its namespace.
    pub fn collection(&self) -> String {
        format!(
            "{}/namespaces/{}/{}",
            self.group, self.namespace, self.resource
        )
    }

    pub fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.name)
    }

    /// Its like in another namespace.
    pub fn moved(self, namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            ..self
        }
    }

    /// A live object as it would be here with an edit: as it was written, and nobody's.
    pub fn copy(&self, object: &Value, edit: usize) -> Value {
        let mut copy = object.clone();
        if let Some(fields) = copy.as_object_mut() {
            fields.remove("status");
            let metadata = json!({ "name": self.name, "namespace": self.namespace });
            fields.insert("metadata".into(), metadata);
        }
        if let Some(value) = copy.pointer_mut(self.pointer) {
            *value = (self.value)(edit);
        }
        copy
    }
}

fn sync_of(i: usize) -> String {
    format!("sync-{i:04}")
}

fn port(edit: usize) -> Value {
    Value::from(6300 + edit)
}

fn sync(name: &str, source: &Value) -> Value {
    json!({
        "apiVersion": "closurejvm.io/v1alpha1",
        "kind": "Sync",
        "metadata": { "namespace": SYNCS, "name": name },
        "spec": { "source": source, "prune": true },
    })
}
