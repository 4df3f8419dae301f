//! Cases from the field about what a source must not hold, seen from the cluster.

use serde_json::json;

use crate::support::audit::Audit;
use crate::support::manifest::config_map;
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// argo-cd#1639, kubernetes#88998.
#[test]
fn c13_an_object_without_a_name_is_rejected_before_anything_is_asked() {
    for (what, metadata) in [("generateName", "generateName: a-"), ("name", "name: \"\"")] {
        let ns = Namespace::new("c13");
        let text = format!("# comment\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  {metadata}\n");
        let source = Source::new().file("conf/nameless.yaml", &text);
        let audit = Audit::new("c13");
        for command in ["diff", "sync"] {
            let output = ns.run(command, &source).admin(&audit.user).code(2);
            let diagnostics = output.json()["diagnostics"].clone();
            let found = &diagnostics[0];
            assert_eq!(found["file"], "conf/nameless.yaml", "{diagnostics}");
            assert_eq!(found["position"]["line"], 5, "{diagnostics}");
            assert!(
                found["message"].as_str().unwrap().contains(what),
                "{diagnostics}"
            );
            assert!(output.stderr.contains("conf/nameless.yaml:5:"));
        }
        let asked: Vec<_> = audit
            .events()
            .into_iter()
            .filter(|e| e.resource == "configmaps")
            .collect();
        assert!(asked.is_empty(), "{asked:?}");
    }
}

/// argo-cd#1070, #15467.
#[test]
fn c14_an_object_that_is_there_twice_is_left_as_it_is() {
    let ns = Namespace::new("c14");
    let source = Source::new().with("a.yaml", &[config_map("twice", "first")]);
    ns.sync(&source).ok();
    let before = ns.get("configmaps", "twice");

    // Once with the namespace and once without it: only who knows the default sees that they are one.
    let named = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: twice\n  namespace: {}\ndata:\n  key: named\n",
        ns.name
    );
    source.write_text("b.yaml", &named);
    source.write("c.yaml", &[config_map("other", "1")]);
    for command in ["diff", "sync"] {
        let output = ns.run(command, &source).code(2);
        let diagnostics = output.json()["diagnostics"].clone();
        let told: Vec<_> = diagnostics
            .as_array()
            .unwrap()
            .iter()
            .map(|d| (&d["file"], &d["message"]))
            .collect();
        assert_eq!(told.len(), 2, "{diagnostics}");
        assert_eq!(told[0].0, "a.yaml");
        assert!(
            told[0].1.as_str().unwrap().contains("b.yaml:1"),
            "{diagnostics}"
        );
        assert_eq!(told[1].0, "b.yaml");
        assert!(
            told[1].1.as_str().unwrap().contains("a.yaml:2"),
            "{diagnostics}"
        );
    }
    assert_eq!(ns.get("configmaps", "twice"), before);
    assert!(ns.exists("configmaps", "other"));

    // Nor is it pruned: it has not left the source.
    ns.sync(&source).arg("--prune").code(2);
    assert_eq!(ns.get("configmaps", "twice"), before);
}

/// argo-cd#1070: the same file twice.
#[test]
fn c14_twice_in_one_namespace_by_two_files_of_the_same_text() {
    let ns = Namespace::new("c14b");
    let source = Source::new()
        .with("a.yaml", &[config_map("twice", "1")])
        .with("b.yaml", &[config_map("twice", "1")]);
    let report = ns.sync(&source).code(2);
    assert_eq!(report.json()["steps"], json!([]));
    assert!(!ns.exists("configmaps", "twice"));
}
