//! What is kept of the objects of a watch.

use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Cache;
use super::shelf::Shelf;
use super::topic::Selection;
use crate::api::names::APPLYSET_PART_OF;
use crate::cluster::endpoints::{SERVICE_NAME, Slice, WireSlice};
use crate::cluster::read::MetadataOnly;
use crate::cluster::targets::{Parts, SeenTarget};
use crate::cluster::workloads::Facts;
use crate::plan::Live;

/// What is kept of an object.
pub(in crate::cluster) trait Kept: Sized + Send + Sync + 'static {
    /// The object as the server sends it.
    type Wire: DeserializeOwned + Clone + Send + 'static;

    /// Whether the server is to send metadata only.
    const METADATA_ONLY: bool;

    /// The watches that keep it.
    fn shelf(cache: &Cache) -> &Shelf<Self>;

    /// Keeps what is needed; `None` when that cannot be read.
    fn keep(wire: Self::Wire, selection: Selection) -> Option<Self>;

    /// Keeps what is needed of what a write was answered with; `None` when that is not enough.
    fn keep_written(answer: &Written, selection: Selection) -> Option<Self>;

    /// Its metadata, to be shared.
    fn metadata(&self) -> &Arc<Live>;

    /// Its metadata.
    fn live(&self) -> &Live {
        self.metadata()
    }
}

/// What a write was answered with.
pub(in crate::cluster) struct Written {
    pub metadata: Live,
    /// The whole object, where that was asked for.
    pub object: Option<Value>,
}

/// An object of which metadata is watched.
#[derive(Debug)]
pub(in crate::cluster) struct Object {
    pub metadata: Arc<Live>,
    /// What was read of this very version beyond its metadata.
    pub facts: OnceLock<Facts>,
}

impl Object {
    fn new(mut metadata: Live, selection: Selection) -> Self {
        if selection == Selection::Presence {
            metadata.managed_fields = Vec::new();
            metadata.annotations.clear();
            metadata.labels.retain(|key, _| key == APPLYSET_PART_OF);
        }
        Self {
            metadata: Arc::new(metadata),
            facts: OnceLock::new(),
        }
    }
}

impl Kept for Object {
    type Wire = MetadataOnly;
    const METADATA_ONLY: bool = true;

    fn shelf(cache: &Cache) -> &Shelf<Self> {
        &cache.objects
    }

    fn keep(wire: MetadataOnly, selection: Selection) -> Option<Self> {
        Some(Self::new(wire.metadata, selection))
    }

    fn keep_written(answer: &Written, selection: Selection) -> Option<Self> {
        Some(Self::new(answer.metadata.clone(), selection))
    }

    fn metadata(&self) -> &Arc<Live> {
        &self.metadata
    }
}

impl Kept for SeenTarget {
    type Wire = Parts;
    const METADATA_ONLY: bool = false;

    fn shelf(cache: &Cache) -> &Shelf<Self> {
        &cache.targets
    }

    fn keep(wire: Parts, _: Selection) -> Option<Self> {
        Some(wire.into())
    }

    fn keep_written(answer: &Written, _: Selection) -> Option<Self> {
        let object = answer.object.as_ref()?;
        Some(Self::from(Parts {
            metadata: answer.metadata.clone(),
            spec: object.get("spec").cloned(),
            status: object.get("status").cloned(),
        }))
    }

    fn metadata(&self) -> &Arc<Live> {
        &self.metadata
    }
}

/// A whole object, but for `managedFields`: half of it, and nobody looks.
#[derive(Debug)]
pub(in crate::cluster) struct Whole {
    metadata: Arc<Live>,
    pub object: Arc<Value>,
}

impl Whole {
    fn new(metadata: Live, mut object: Value) -> Self {
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        Self {
            metadata: Arc::new(metadata),
            object: Arc::new(object),
        }
    }
}

impl Kept for Whole {
    type Wire = Value;
    const METADATA_ONLY: bool = false;

    fn shelf(cache: &Cache) -> &Shelf<Self> {
        &cache.syncs
    }

    fn keep(wire: Value, _: Selection) -> Option<Self> {
        Some(Self::new(Live::from_object(&wire).ok()?, wire))
    }

    fn keep_written(answer: &Written, _: Selection) -> Option<Self> {
        let object = answer.object.clone()?;
        Some(Self::new(answer.metadata.clone(), object))
    }

    fn metadata(&self) -> &Arc<Live> {
        &self.metadata
    }
}

impl Kept for Slice {
    type Wire = WireSlice;
    const METADATA_ONLY: bool = false;

    fn shelf(cache: &Cache) -> &Shelf<Self> {
        &cache.slices
    }

    fn keep(wire: WireSlice, _: Selection) -> Option<Self> {
        let mut slice = Self::from(wire);
        let metadata = Arc::make_mut(&mut slice.metadata);
        metadata.managed_fields = Vec::new();
        metadata.annotations.clear();
        metadata.labels.retain(|key, _| key == SERVICE_NAME);
        Some(slice)
    }

    /// They are the controller manager's to write.
    fn keep_written(_: &Written, _: Selection) -> Option<Self> {
        None
    }

    fn metadata(&self) -> &Arc<Live> {
        &self.metadata
    }
}
