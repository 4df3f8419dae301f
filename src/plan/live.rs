//! What the API server's metadata tells of a live object.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::Fields;
use super::step::Expected;
use super::string_map::StringMap;
use crate::api::names::{APPLIED_DIGEST, APPLYSET_PART_OF, FIELD_MANAGER};

/// A live object's metadata.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Live {
    /// Name.
    pub name: String,
    /// Namespace, if its kind has them.
    pub namespace: Option<String>,
    /// uid.
    pub uid: String,
    /// Generation of the spec, if its kind counts them.
    pub generation: Option<i64>,
    /// Version, for preconditions.
    pub resource_version: String,
    /// Labels.
    pub labels: StringMap,
    /// Annotations.
    pub annotations: StringMap,
    /// Owners.
    pub owner_references: Vec<Owner>,
    /// When deletion was asked for, if it was.
    pub deletion_timestamp: Option<String>,
    /// Who owns which fields; objects with the same history may share them.
    pub managed_fields: Arc<Vec<ManagedFields>>,
}

/// An entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Owner {
    /// Kind.
    pub kind: String,
    /// `apiVersion`.
    pub api_version: String,
    /// Name.
    pub name: String,
    /// uid.
    pub uid: String,
    /// Whether it is the one controller.
    #[serde(skip_serializing_if = "is_false")]
    pub controller: bool,
    /// Whether it waits, when it goes in the foreground, for this to go first.
    #[serde(skip_serializing_if = "is_false")]
    pub block_owner_deletion: bool,
}

// serde calls it with a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// An entry of `metadata.managedFields`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedFields {
    /// Field manager.
    pub manager: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// The version that `fields_v1` speaks of.
    pub api_version: String,
    /// Subresource that was written; v1.20 does not say.
    pub subresource: String,
    /// The fields, as a tree of `f:`, `k:`, `v:` and `i:` keys.
    #[serde(rename = "fieldsV1")]
    pub fields: Fields,
}

impl Live {
    /// Reads the metadata of a whole object or of a `PartialObjectMetadata`.
    ///
    /// # Errors
    /// When the server sent something that is not metadata.
    pub fn from_object(object: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(object.get("metadata").unwrap_or(&Value::Null))
    }

    /// The apply set it is a member of.
    pub fn applyset(&self) -> Option<&str> {
        self.labels.get(APPLYSET_PART_OF)
    }

    /// The digest of what we last applied.
    pub fn applied_digest(&self) -> Option<&str> {
        self.annotations.get(APPLIED_DIGEST)
    }

    /// The owner that controls it.
    pub fn controller(&self) -> Option<&Owner> {
        self.owner_references.iter().find(|owner| owner.controller)
    }

    /// Tells whether the label of an apply set came from us. Labels get copied: by the controllers of Endpoints and
    /// EndpointSlices, by `kubectl expose`, and with every `kubectl get -o yaml | kubectl create -f -`.
    pub fn shows_that_we_labelled_it(&self) -> bool {
        let label = format!("f:{APPLYSET_PART_OF}");
        self.ours()
            .and_then(|entry| entry.fields.get("f:metadata")?.get("f:labels")?.get(&label))
            .is_some()
    }

    /// Tells whether some controller made it and copied the labels of something else onto it, as Endpoints and
    /// EndpointSlices get those of their Service.
    pub fn is_copy(&self) -> bool {
        self.ours().is_none() && (self.applied_digest().is_none() || self.controller().is_some())
    }

    /// What a write that was planned for this very object may expect.
    pub fn expected(&self) -> Expected {
        Expected {
            uid: self.uid.clone(),
            resource_version: self.resource_version.clone(),
        }
    }

    /// The entry of what we applied.
    pub fn ours(&self) -> Option<&ManagedFields> {
        self.managed_fields.iter().find(|entry| entry.is_ours())
    }
}

impl ManagedFields {
    /// Tells whether this is what `covergence` applied to the object itself.
    pub fn is_ours(&self) -> bool {
        self.manager == FIELD_MANAGER && self.operation == "Apply" && self.subresource.is_empty()
    }
}
