//! ReplicaSets of earlier templates, kept for going back.

use std::sync::Arc;

use serde_json::{Value, json};

use super::sets::Sets;
use super::{revision, wanted};
use crate::controllers::client;
use crate::controllers::object::{beside, is_leaving, meta, number};
use crate::state::State;
use crate::store::Key;

/// Deletes the oldest of those that are not used any more, above the limit of their Deployment.
pub(super) fn clean(state: &mut State, deployment: &Value, sets: &Sets) {
    let limit = number(deployment, "/spec/revisionHistoryLimit", 10);
    let old = sets.old.iter().map(Arc::as_ref);
    let mut unused: Vec<&Value> = old.filter(|set| !is_leaving(set)).collect();
    let Ok(above) = usize::try_from(unused.len() as i64 - limit) else {
        return;
    };
    unused.sort_by_key(|set| revision(set));
    let place = Key {
        resource: "replicasets.apps".into(),
        namespace: meta(deployment, "namespace").to_owned(),
        name: String::new(),
    };
    for set in unused.into_iter().take(above) {
        let idle = wanted(set) == 0
            && number(set, "/status/replicas", 0) == 0
            && number(set, "/status/observedGeneration", 0)
                >= number(set, "/metadata/generation", 0);
        if idle {
            let key = beside(&place, "replicasets.apps", meta(set, "name"));
            client::delete(
                state,
                &key,
                set,
                json!({ "propagationPolicy": "Background" }),
            );
        }
    }
}
