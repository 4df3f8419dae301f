//! CustomResourceDefinitions.

use super::finding::Finding;
use super::read::{field, is_true, items, text};
use super::rules::{Rule, apply};
use super::syntax::{label_1035, subdomain};
use crate::load::Document;

/// Checks a CustomResourceDefinition of `apiextensions.k8s.io/v1`.
pub(super) fn check<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let root = &document.root;
    let Some(spec) =
        field(root, "spec").filter(|_| document.api_version == "apiextensions.k8s.io/v1")
    else {
        return;
    };
    let rules = [
        ("scope", Rule::OneOf(&["Cluster", "Namespaced"])),
        ("group", Rule::Text(subdomain)),
        ("versions[].name", Rule::Text(label_1035)),
        ("names.plural", Rule::Text(label_1035)),
        ("names.singular", Rule::Text(label_1035)),
    ];
    apply(spec, &rules, out);
    let plural = field(spec, "names").and_then(|names| text(names, "plural"));
    if let (Some(group), Some(plural)) = (text(spec, "group"), plural) {
        let wanted = format!("{plural}.{group}");
        let name = root.at(&["metadata", "name"]);
        if let Some(name) = name.filter(|name| name.as_str() != Some(wanted.as_str())) {
            out.push(Finding::error(
                name,
                format!("must be `{wanted}`: plural and group"),
            ));
        }
    }
    let versions = items(spec, "versions");
    let stored = versions
        .iter()
        .filter(|version| is_true(version, "storage"))
        .count();
    if let Some(at) = field(spec, "versions").filter(|_| !versions.is_empty() && stored != 1) {
        let says = format!("must have one version with `storage: true`, not {stored}");
        out.push(Finding::error(at, says));
    }
    let mut names = Vec::new();
    for version in versions {
        if let Some(name) = field(version, "name") {
            if names.contains(&name.as_str()) {
                out.push(Finding::error(name, "is the name of another version"));
            }
            names.push(name.as_str());
        }
        if version.at(&["schema", "openAPIV3Schema"]).is_none() {
            let says = "must have a schema: `schema.openAPIV3Schema`";
            out.push(Finding::error(version, says));
        }
    }
}
