//! Generated files are current.

use std::path::Path;
use std::process::Command;

use covergence::sandbox::types::generate;

use crate::support::lab::api;

#[test]
fn deploy_crds_yaml_is_what_the_types_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/crds.yaml");
    let generated = Command::new(env!("CARGO_BIN_EXE_covergence"))
        .arg("crd")
        .output()
        .unwrap();
    assert!(generated.status.success());
    let committed = std::fs::read(&file).unwrap_or_default();
    assert!(
        committed == generated.stdout,
        "deploy/crds.yaml is not what `covergence crd` prints: run `make generate` and commit the result"
    );
}

/// What the server of the lab says of itself is what the table is made of, so this takes a real one, of the lab's version.
#[test]
fn the_kinds_of_the_sandbox_are_those_of_the_api_server() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sandbox/types/built_in.json");
    let groups = api().get("/apis");
    let versions = groups["groups"].as_array().unwrap().iter().flat_map(|it| {
        let versions = it["versions"].as_array().unwrap().iter();
        versions.map(|it| format!("/apis/{}", it["groupVersion"].as_str().unwrap()))
    });
    // Groups of CustomResourceDefinitions come and go while other tests run.
    let lists: Vec<_> = std::iter::once("/api/v1".to_owned())
        .chain(versions)
        .filter_map(|path| api().find(&path))
        .collect();
    let generated = generate::table(&api().get("/openapi/v2"), &lists);
    assert!(
        std::fs::read(&file).unwrap() == generated,
        "{} is not what `src/sandbox/types/generate` makes of the lab: run it and commit the result",
        file.display()
    );
}
