//! Our own kinds, checked offline with the CRDs we ship.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::Arc;

use covergence::api;
use covergence::load::{Limits, Schemas, Snapshot, SourceFile, add_excerpts, load};

#[test]
fn a_misspelt_field_of_a_target_is_shown_with_its_line() {
    let text = "\
apiVersion: closurejvm.io/v1alpha1
kind: ClosureJVMTarget
metadata: {name: pet, namespace: shop}
spec:
  deploymentRef: {name: pet}
  coverageServise: true
  agents:
    coverage: {enabled: true, port: \"6300\"}
";
    let snapshot = Snapshot {
        revision: "sha256:0".to_owned(),
        files: vec![SourceFile {
            path: Arc::from("pet.yaml"),
            bytes: text.as_bytes().to_vec(),
        }],
        diagnostics: Vec::new(),
    };
    let loaded = load(&snapshot, &Limits::default());
    assert_eq!(loaded.diagnostics, []);
    let crds = api::crds().expect("our CRDs");
    let schemas = Schemas::new(&crds);
    let mut found = schemas.check(&loaded.documents[0]);
    add_excerpts(&mut found, &snapshot);
    let shown: Vec<_> = found
        .iter()
        .map(|d| {
            (
                d.position.unwrap().line,
                d.message.as_str(),
                d.hint.as_deref(),
                d.excerpt.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (
                6,
                "unknown field `spec.coverageServise`",
                Some("did you mean `coverageService`?"),
                Some("  coverageServise: true"),
            ),
            (
                8,
                "`spec.agents.coverage.port` must be an integer, not a string",
                Some("write the value without quotes"),
                Some("    coverage: {enabled: true, port: \"6300\"}"),
            ),
        ]
    );
}
