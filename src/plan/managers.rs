//! Who else speaks for an object, for people.

use super::fields::Fields;
use super::live::Live;
use crate::api::names::{AGENT_MANAGER, FIELD_MANAGER, INVENTORY_MANAGER, STATUS_MANAGER};

/// What the Deployment controller writes beside the status.
const REVISION: &str = "f:deployment.kubernetes.io/revision";

/// Names the field managers other than ours that own fields of an object, sorted. Who only reports its status, as the
/// controller of every kind does, is left out.
pub fn other_managers(live: &Live) -> Vec<String> {
    let ours = [
        FIELD_MANAGER,
        INVENTORY_MANAGER,
        STATUS_MANAGER,
        AGENT_MANAGER,
    ];
    let mut managers: Vec<String> = live
        .managed_fields
        .iter()
        .filter(|entry| !ours.contains(&entry.manager.as_str()))
        .filter(|entry| holds_more_than_status(&entry.fields))
        .map(|entry| entry.manager.clone())
        .collect();
    managers.sort_unstable();
    managers.dedup();
    managers
}

/// Looks at the fields, since v1.20 does not tell the subresource that was written.
fn holds_more_than_status(fields: &Fields) -> bool {
    fields.iter().any(|(top, under)| match top {
        "f:status" => false,
        "f:metadata" => under.iter().any(|(map, keys)| {
            let mut keys = keys.iter().map(|(key, _)| key);
            map != "f:annotations" || keys.any(|key| key != "." && key != REVISION)
        }),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn managers(entries: &[(&str, Value)]) -> Vec<String> {
        let entries: Vec<Value> = entries
            .iter()
            .map(|(manager, fields)| json!({ "manager": manager, "operation": "Update", "fieldsV1": fields }))
            .collect();
        let object = json!({ "metadata": { "name": "a", "managedFields": entries } });
        other_managers(&Live::from_object(&object).unwrap())
    }

    #[test]
    fn who_only_reports_is_no_owner() {
        let report = json!({
            "f:metadata": { "f:annotations": { ".": {}, "f:deployment.kubernetes.io/revision": {} } },
            "f:status": { "f:replicas": {} },
        });
        assert_eq!(managers(&[("kube-controller-manager", report)]), [""; 0]);
        assert_eq!(managers(&[("x", json!({}))]), [""; 0]);
    }

    #[test]
    fn who_owns_a_field_is_named_once_and_we_are_not() {
        let replicas = json!({ "f:spec": { "f:replicas": {} } });
        let found = managers(&[
            ("scaler", replicas.clone()),
            ("covergence", replicas.clone()),
            ("covergence-status", replicas.clone()),
            ("covergence-agent", replicas.clone()),
            (
                "edit",
                json!({ "f:metadata": { "f:labels": { "f:team": {} } } }),
            ),
            ("edit", json!({ "f:data": {} })),
            ("owner", json!({ "f:metadata": { "f:finalizers": {} } })),
        ]);
        assert_eq!(found, ["edit", "owner", "scaler"]);
    }
}
