//! Types of what requests carry beside whole objects: orders to delete, evict and scale, and requests for tokens.

use std::sync::Arc;

use super::Registry;
use crate::merge::{NodeId, Schema};

/// Their definitions, whose last part is their kind.
pub const DEFINITIONS: &[&str] = &[
    "io.k8s.api.authentication.v1.TokenRequest",
    "io.k8s.api.autoscaling.v1.Scale",
    "io.k8s.api.policy.v1beta1.Eviction",
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
];

/// The type of such a kind, which is the same in all its versions.
pub fn find(kinds: &Registry, kind: &str) -> Option<(Arc<Schema>, NodeId)> {
    let name = DEFINITIONS
        .iter()
        .find(|name| name.rsplit('.').next() == Some(kind))?;
    let schema = &kinds.all().next()?.schema;
    let mut places = (0..).map_while(|number| {
        let place = Schema::place(number);
        ((number as usize) < schema.nodes().len()).then_some(place)
    });
    let place = places.find(|place| {
        schema
            .about(*place)
            .is_some_and(|about| &*about.name == *name)
    })?;
    Some((schema.clone(), place))
}
