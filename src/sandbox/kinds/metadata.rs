//! Names, labels and annotations, by the rules of the kind.

use super::causes::Causes;
use super::labels;
use super::spot::Spot;
use super::words::{self, Wrong};

/// What is wrong with an object's metadata; `old` ones keep their names.
pub(super) fn check(causes: &mut Causes, resource: &str, object: &Spot<'_>) {
    let metadata = object.field("metadata");
    let name = metadata.field("name");
    if !name.text().is_empty() {
        causes.all_invalid(&name, &name_rule(resource)(name.text()));
    }
    labels::check(causes, &metadata.field("labels"));
    labels::check_annotations(causes, &metadata.field("annotations"));
}

/// What a kind's names must be.
fn name_rule(resource: &str) -> fn(&str) -> Wrong {
    match resource {
        "services" => words::label_1035,
        "namespaces" => words::label,
        "apiservices.apiregistration.k8s.io" => words::path_segment,
        resource if resource.ends_with(".rbac.authorization.k8s.io") => words::path_segment,
        _ => words::subdomain,
    }
}
