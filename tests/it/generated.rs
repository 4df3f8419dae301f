//! Generated files are current.

use std::path::Path;
use std::process::Command;

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
