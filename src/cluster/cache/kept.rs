//! What is kept of the objects of a watch.

use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Cache;
use super::keeper::Keeper;
use super::shelf::Shelf;
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
    fn keep(wire: Self::Wire, keeper: &Keeper) -> Option<Self>;

    /// Keeps what is needed of what a write was answered with; `None` when that is not enough.
    fn keep_written(answer: &Written, keeper: &Keeper) -> Option<Self>;

    /// What it is found by together with others: its apply set, unless its kind has something else.
    fn group(live: &Live) -> Option<&str> {
        live.applyset()
    }

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
    fn new(metadata: Live, keeper: &Keeper) -> Self {
        Self {
            metadata: keeper.metadata(metadata),
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

    fn keep(wire: MetadataOnly, keeper: &Keeper) -> Option<Self> {
        Some(Self::new(wire.metadata, keeper))
    }

    fn keep_written(answer: &Written, keeper: &Keeper) -> Option<Self> {
        Some(Self::new(answer.metadata.clone(), keeper))
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

    fn keep(wire: Parts, keeper: &Keeper) -> Option<Self> {
        Some(Self::read(wire, |live| keeper.metadata(live)))
    }

    fn keep_written(answer: &Written, keeper: &Keeper) -> Option<Self> {
        let object = answer.object.as_ref()?;
        let parts = Parts {
            metadata: answer.metadata.clone(),
            spec: object.get("spec").cloned(),
            status: object.get("status").cloned(),
        };
        Self::keep(parts, keeper)
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
    fn new(metadata: Live, mut object: Value, keeper: &Keeper) -> Self {
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        Self {
            metadata: keeper.metadata(metadata),
            object: Arc::new(object),
        }
    }
}

impl Kept for Whole {
    type Wire = Value;
    const METADATA_ONLY: bool = false;

    fn shelf(cache: &Cache) -> &Shelf<Self> {
        &cache.whole
    }

    fn keep(wire: Value, keeper: &Keeper) -> Option<Self> {
        Some(Self::new(Live::from_object(&wire).ok()?, wire, keeper))
    }

    fn keep_written(answer: &Written, keeper: &Keeper) -> Option<Self> {
        let object = answer.object.clone()?;
        Some(Self::new(answer.metadata.clone(), object, keeper))
    }

    fn metadata(&self) -> &Arc<Live> {
        &self.metadata
    }
}

impl Kept for Slice {
    type Wire = WireSlice;
    const METADATA_ONLY: bool = false;

    /// Its Service.
    fn group(live: &Live) -> Option<&str> {
        live.labels.get(SERVICE_NAME)
    }

    fn shelf(cache: &Cache) -> &Shelf<Self> {
        &cache.slices
    }

    fn keep(wire: WireSlice, keeper: &Keeper) -> Option<Self> {
        Some(Self::read(wire, |live| keeper.metadata(live)))
    }

    /// They are the controller manager's to write.
    fn keep_written(_: &Written, _: &Keeper) -> Option<Self> {
        None
    }

    fn metadata(&self) -> &Arc<Live> {
        &self.metadata
    }
}
