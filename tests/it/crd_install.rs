//! A cluster that does not know our kinds yet.

use serde_json::json;

use crate::support::audit::Audit;
use crate::support::covergence::Run;
use crate::support::lab::OwnLab;
use crate::support::manifest::{config_map, deployment, own_agent};
use crate::support::source::Source;

#[test]
fn diff_plans_without_our_kinds_and_never_writes_and_sync_installs_them_and_says_so() {
    let lab = OwnLab::new();
    let api = lab.api();
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let source = Source::new().with(
        "pet.yaml",
        &[deployment("pet"), own_agent("pet"), config_map("a", "1")],
    );
    let audit = Audit::on(lab.dir(), &api, "install");
    let run = |command: &str| {
        Run::new(&[command, "--name", "it", "-o", "json"])
            .on(lab.dir())
            .admin(&audit.user)
            .arg(source.path())
    };

    for dry in [run("diff"), run("sync").arg("--dry-run")] {
        let plan = dry.code(1);
        assert_eq!(plan.json()["diagnostics"], json!([]));
        for (kind, name) in [
            ("ClosureJVMTarget", "pet"),
            ("Service", "pet-coverage"),
            ("Deployment", "pet"),
        ] {
            assert_eq!(plan.action(kind, name), "create", "{kind}");
        }
        assert!(
            plan.reason("ClosureJVMTarget", "pet")
                .contains("after the CRD")
        );
    }
    assert!(audit.events().len() > 3, "the log is not of these plans");
    let writes: Vec<_> = audit.writes();
    assert!(writes.is_empty(), "{writes:#?}");
    assert!(api.list(crds).is_empty());

    let report = run("sync").ok();
    let names = ["closurejvmtargets.closurejvm.io", "syncs.closurejvm.io"];
    assert_eq!(report.json()["installed"], json!(names));
    for name in names {
        assert!(report.stderr.contains(name), "{report:?}");
        let crd = api.get(&format!("{crds}/{name}"));
        assert_eq!(crd["metadata"]["managedFields"][0]["manager"], "covergence");
    }
    let service = api.get("/api/v1/namespaces/default/services/pet-coverage");
    assert_eq!(service["spec"]["clusterIP"], "None");

    // Once is enough.
    let again = run("sync").ok();
    assert_eq!(again.json()["installed"], json!([]));
    again.nothing_to_do();
}
