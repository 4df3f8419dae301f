//! The CustomResourceDefinitions of our kinds, generated from the types.

use kube::CustomResourceExt;
use serde_json::{Value, json};

use super::names::APPLYSET_PARENT_TYPE;
use super::{ClosureJVMCampaign, ClosureJVMTarget, Sync};

/// Gives the CRDs in the order in which they are applied, as they are sent to the API server.
///
/// # Errors
/// When a type cannot be expressed as a structural schema; the unit test here shows that ours can.
pub fn crds() -> Result<Vec<Value>, serde_json::Error> {
    let mut target = serde_json::to_value(ClosureJVMTarget::crd())?;
    let mut sync = serde_json::to_value(Sync::crd())?;
    let mut campaign = serde_json::to_value(ClosureJVMCampaign::crd())?;
    for crd in [&mut target, &mut sync, &mut campaign] {
        key_conditions_by_type(crd);
    }
    if let Some(metadata) = sync.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("labels".into(), json!({ APPLYSET_PARENT_TYPE: "true" }));
    }
    Ok(vec![target, sync, campaign])
}

/// Makes `status.conditions` a list map, so that several managers can keep conditions of their own.
fn key_conditions_by_type(crd: &mut Value) {
    let conditions = crd.pointer_mut(
        "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/conditions",
    );
    if let Some(conditions) = conditions.and_then(Value::as_object_mut) {
        conditions.insert("x-kubernetes-list-type".into(), json!("map"));
        conditions.insert("x-kubernetes-list-map-keys".into(), json!(["type"]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_keyed_and_sync_is_a_parent_type() {
        let crds = crds().unwrap();
        for crd in &crds {
            let conditions = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
                ["status"]["properties"]["conditions"];
            assert_eq!(conditions["x-kubernetes-list-map-keys"], json!(["type"]));
            assert_eq!(
                crd["spec"]["versions"][0]["subresources"],
                json!({ "status": {} })
            );
        }
        assert_eq!(crds[1]["metadata"]["labels"][APPLYSET_PARENT_TYPE], "true");
    }
}
