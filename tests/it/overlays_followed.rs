//! `covergence run`: sources that have to be built.

use serde_json::json;

use crate::support::controller::{Setup, directory_sync, sync};
use crate::support::git::Work;
use crate::support::namespace::Namespace;
use crate::support::overlay::{counting_kustomize, map, program, runs};
use crate::support::source::Source;

/// A base, and an overlay of it with a file that is no manifest.
fn shop() -> Source {
    Source::new()
        .file("base/kustomization.yaml", "resources: [a.yaml]\n")
        .file("base/a.yaml", &map("a", "one"))
        .file(
            "overlay/kustomization.yaml",
            "resources: [../base]\ngeneratorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n- name: b\n  files: [key=b.txt]\n",
        )
        .file("overlay/b.txt", "one")
}

#[test]
fn an_overlay_is_followed_with_all_that_it_refers_to_and_built_once() {
    let ns = Namespace::new("overlay");
    let (source, kustomize) = (shop(), counting_kustomize());
    let spec = json!({ "source": { "directory": { "subPath": "overlay" } } });
    let path = kustomize.path().to_str().unwrap();
    let _controller = Setup {
        syncs: &[directory_sync(&ns.name, "it", &source, spec)],
        env: &[("PATH", path)],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_for_value("b", "one");
    ns.wait_until_ready("it");
    assert_eq!(runs(&kustomize), 1);
    // Nothing is new: nothing is built.
    ns.ask_for_a_run("it", "once");
    ns.ask_for_a_run("it", "twice");
    assert_eq!(runs(&kustomize), 1);

    source.write_text("overlay/b.txt", "two");
    ns.wait_for_value("b", "two");
    source.write_text("base/a.yaml", &map("a", "two"));
    ns.wait_for_value("a", "two");
    assert_eq!(runs(&kustomize), 3);

    source.write_text("base/a.yaml", "kind: [");
    let message = ns.wait_until_not_ready("it", "BuildFailed");
    assert!(
        message.starts_with("overlay/kustomization.yaml: kustomize build failed: "),
        "{message}"
    );
    assert_eq!(ns.members(), ["a", "b"]);
    // It is looked at again and again, and would fail again.
    ns.ask_for_a_run("it", "thrice");
    assert_eq!(runs(&kustomize), 4);
    source.write_text("overlay/kustomization.yaml", "resources: [../base]\n");
    source.write_text("base/a.yaml", &map("a", "three"));
    ns.wait_for_value("a", "three");
    ns.wait_for_members(&["a"]);
    ns.wait_until_ready("it");
}

#[test]
fn a_chart_of_a_repository_is_rendered_with_values_files_of_it() {
    let ns = Namespace::new("chart");
    let work = Work::new();
    work.write(
        "charts/shop/Chart.yaml",
        "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
    );
    work.write("charts/shop/values.yaml", "key: default\n");
    work.write(
        "charts/shop/templates/a.yaml",
        &map("{{ .Release.Name }}", "{{ .Values.key }}"),
    );
    work.write("env/prod.yaml", "key: production\n");
    work.commit("one");
    let spec = |values: &str| {
        json!({
            "source": {
                "git": { "url": work.path(), "path": "charts/shop" },
                "helm": { "releaseName": "a", "valuesFiles": [values] },
            },
        })
    };
    let helm = program("helm");
    let controller = Setup {
        syncs: &[sync(&ns.name, "it", spec("../../env/prod.yaml"))],
        env: &[("PATH", helm.parent().unwrap().to_str().unwrap())],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_for_value("a", "production");
    ns.wait_until_ready("it");
    work.write("env/prod.yaml", "key: renewed\n");
    work.commit("two");
    ns.wait_for_value("a", "renewed");
    controller.write_syncs(&[sync(&ns.name, "it", spec("../../../outside.yaml"))]);
    let message = ns.wait_until_not_ready("it", "BuildFailed");
    assert_eq!(
        message,
        "charts/shop/Chart.yaml: its values file \"../../../outside.yaml\" is not in the source"
    );
    assert_eq!(ns.members(), ["a"]);
}
