//! `covergence sandbox`: an API that kubectl finds no fault with, and that leaves nothing behind.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::api::{Api, path};
use crate::support::covergence::Run;
use crate::support::kubectl;
use crate::support::started::Started;

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: { name: pet }
spec:
  replicas: 2
  selector: { matchLabels: { app: pet } }
  template:
    metadata: { labels: { app: pet } }
    spec: { containers: [{ name: web, image: pet:1 }] }
";

/// What kubectl prints, of a call that must succeed.
fn said(lab: &Path, arguments: &[&str]) -> String {
    let output = kubectl::on(lab, arguments);
    let [said, complaints] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{arguments:?}: {complaints}");
    said.trim_end().to_owned()
}

#[test]
fn it_serves_kubectl_until_it_is_told_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let lab = folder.path().join("api");
    let mut sandbox = Started::new(Run::new(&["sandbox", "--dir"]).arg(&lab));
    sandbox.until("export KUBECONFIG=");
    let kubeconfig = lab.join("kubeconfig");
    assert_eq!(
        kubeconfig.metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    let manifest = folder.path().join("pet.yaml");
    fs::write(&manifest, DEPLOYMENT).unwrap();
    let manifest = manifest.to_str().unwrap();
    for (arguments, expected) in [
        (
            &["create", "namespace", "shop"][..],
            "namespace/shop created",
        ),
        (
            &["apply", "-n", "shop", "-f", manifest],
            "deployment.apps/pet created",
        ),
        (
            &["apply", "-n", "shop", "-f", manifest],
            "deployment.apps/pet unchanged",
        ),
        (
            &[
                "rollout",
                "status",
                "-n",
                "shop",
                "deployment/pet",
                "--timeout=60s",
            ],
            "deployment \"pet\" successfully rolled out",
        ),
        (
            &["scale", "-n", "shop", "deployment/pet", "--replicas=3"],
            "deployment.apps/pet scaled",
        ),
        (
            &[
                "wait",
                "-n",
                "shop",
                "deployment/pet",
                "--for=jsonpath={.status.readyReplicas}=3",
                "--timeout=60s",
            ],
            "deployment.apps/pet condition met",
        ),
        (
            &["label", "-n", "shop", "deployment/pet", "tier=web"],
            "deployment.apps/pet labeled",
        ),
        (
            &[
                "get",
                "-n",
                "shop",
                "deployments",
                "-l",
                "tier=web",
                "-o",
                "name",
            ],
            "deployment.apps/pet",
        ),
        (&["auth", "can-i", "delete", "namespaces"], "yes"),
        (
            &["delete", "namespace", "shop", "--timeout=60s"],
            "namespace \"shop\" deleted",
        ),
    ] {
        let said = said(&lab, arguments);
        assert!(said.ends_with(expected), "{arguments:?}: {said}");
    }
    let table = said(&lab, &["get", "namespaces"]);
    let heads: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(heads, ["NAME", "STATUS", "AGE"]);
    let api = Api::connect(&kubeconfig);
    assert!(
        api.find(&path("namespaces", None, Some("default")))
            .is_some()
    );
    assert!(api.find(&path("namespaces", None, Some("shop"))).is_none());

    sandbox.signal("TERM");
    let (status, _) = sandbox.wait();
    assert!(status.success(), "{status}");
    assert!(!kubeconfig.exists());
    let log = fs::read_to_string(lab.join("audit.log")).unwrap();
    assert!(log.contains("\"/api/v1/namespaces/shop\""), "{log}");
}

#[test]
fn a_folder_is_one_sandboxes_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kubeconfig"), "of somebody else").unwrap();
    let output = Run::new(&["sandbox", "--dir"]).arg(folder.path()).code(2);
    assert!(
        output.stderr.contains("is there already"),
        "{}",
        output.stderr
    );
    let kept = fs::read_to_string(folder.path().join("kubeconfig")).unwrap();
    assert_eq!(kept, "of somebody else");
}
