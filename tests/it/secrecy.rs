//! A Secret's values never leave by what is printed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::support::covergence::Output;
use crate::support::kubectl::kubectl;
use crate::support::manifest::{Change, config_map, secret};
use crate::support::namespace::{Namespace, condition_of};
use crate::support::source::Source;

const OLD: &str = "correct-horse-battery";
const NEW: &str = "staple-of-the-trade";

/// Neither value is there, in no spelling.
fn hidden(output: &Output) {
    for value in [OLD, NEW] {
        output.hides(value);
        output.hides(&STANDARD.encode(value));
    }
}

#[test]
fn in_no_plan_and_no_report() {
    let ns = Namespace::new("secret");
    let source = Source::new().with("a.yaml", &[secret("s", OLD)]);
    let both = |code: i32, flags: &[&str]| {
        for output in ["json", "text"] {
            hidden(
                &ns.text("diff", &source)
                    .args(&["-o", output])
                    .args(flags)
                    .code(code),
            );
        }
    };
    both(1, &[]);
    hidden(&ns.sync(&source).ok());
    both(0, &["--all", "--full"]);

    source.write("a.yaml", &[secret("s", NEW)]);
    both(1, &[]);
    let diff = ns.diff(&source).code(1);
    let shown = diff.step("Secret", "s")["diff"]
        .as_str()
        .unwrap()
        .to_owned();
    // That it changes is no secret.
    assert!(
        shown.contains("*** (before)") && shown.contains("*** (after)"),
        "{shown}"
    );
    hidden(&ns.text("sync", &source).arg("--all").ok());
    assert_eq!(
        ns.get("secrets", "s")["data"]["password"],
        STANDARD.encode(NEW)
    );

    ns.edit(
        "secrets",
        "s",
        &json!({ "data": { "password": STANDARD.encode(OLD) } }),
    );
    both(1, &[]);
    hidden(&ns.sync(&source).ok());
    source.write("a.yaml", &[config_map("rest", "")]);
    both(1, &["--prune"]);
    hidden(&ns.sync(&source).arg("--prune").ok());
    assert!(!ns.exists("secrets", "s"));
}

#[test]
fn an_edit_of_what_string_data_became_is_drift() {
    let ns = Namespace::new("string-data");
    let source = Source::new().with("a.yaml", &[secret("s", OLD)]);
    ns.sync(&source).ok();
    ns.sync(&source).ok().nothing_to_do();
    ns.edit(
        "secrets",
        "s",
        &json!({ "data": { "password": STANDARD.encode(NEW) } }),
    );
    hidden(&ns.diff(&source).code(1));
    ns.sync(&source).ok();
    assert_eq!(
        ns.get("secrets", "s")["data"]["password"],
        STANDARD.encode(OLD)
    );
}

#[test]
fn not_from_the_annotation_that_kubectl_apply_leaves() {
    let ns = Namespace::new("last-applied");
    kubectl(&["apply", "-f", "-"], &[secret("s", OLD).within(&ns.name)]);
    let live = ns.get("secrets", "s").to_string();
    assert!(live.contains("last-applied-configuration") && live.contains(OLD));
    let source = Source::new().with("a.yaml", &[secret("s", NEW)]);
    hidden(&ns.diff(&source).code(2));
    hidden(&ns.text("diff", &source).code(2));
    hidden(&ns.sync(&source).code(2));
    hidden(&ns.text("diff", &source).arg("--force-conflicts").code(1));
    hidden(&ns.sync(&source).arg("--force-conflicts").ok());
    assert_eq!(
        ns.get("secrets", "s")["data"]["password"],
        STANDARD.encode(NEW)
    );
    // Now as something that has left the source.
    source.write("a.yaml", &[config_map("rest", "")]);
    hidden(&ns.text("diff", &source).arg("--prune").code(1));
}

/// GHSA-274v-mgcv-cm8j: the server quotes what it refuses.
#[test]
fn not_from_what_the_server_says_of_an_invalid_one() {
    let ns = Namespace::new("invalid");
    let plain = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "plain" }, "data": { "password": OLD } });
    // A value that the server takes for the type's sake only.
    let dockercfg = secret("docker", OLD)
        .set("/type", "kubernetes.io/dockerconfigjson")
        .set("/stringData", json!({ ".dockerconfigjson": OLD }));
    let labelled =
        secret("labelled", OLD).set("/metadata/labels", json!({ "password": format!("{OLD}!") }));
    for object in [plain, dockercfg, labelled] {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let source = Source::new().with("a.yaml", &[object]);
        for command in ["diff", "sync"] {
            for output in ["json", "text"] {
                let run = ns.text(command, &source).args(&["-o", output]);
                let output = run.code(2);
                hidden(&output);
            }
        }
        assert!(!ns.exists("secrets", &name), "{name} was valid after all");
        let ready = condition_of(&ns.get("syncs", "it"), "Ready");
        assert_eq!(ready["status"], "False");
        assert!(!ready.to_string().contains(OLD), "{ready}");
    }
}

#[test]
fn not_from_a_file_that_cannot_be_read() {
    let ns = Namespace::new("broken");
    let text = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  a: b\n  a: {OLD}\n  c: [{OLD}\n"
    );
    let source = Source::new().file("s.yaml", &text);
    for command in ["diff", "sync", "render", "validate"] {
        let run = if matches!(command, "diff" | "sync") {
            ns.text(command, &source)
        } else {
            crate::support::covergence::Run::new(&[command])
                .arg(source.path())
                .args(&["--name", "it"])
        };
        let output = run.args(&["-o", "json"]);
        let output = output.run();
        assert_ne!(output.code, Some(0), "{output:?}");
        hidden(&output);
    }
}

#[test]
fn not_from_the_status_of_the_sync() {
    let ns = Namespace::new("status");
    let source = Source::new().with("a.yaml", &[secret("s", OLD)]);
    ns.sync(&source).ok();
    let parent = ns.get("syncs", "it").to_string();
    assert!(
        !parent.contains(OLD) && !parent.contains(&STANDARD.encode(OLD)),
        "{parent}"
    );
}
