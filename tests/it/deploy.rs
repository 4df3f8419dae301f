//! What `deploy/` holds: an installation that is complete, that an API server takes, and whose rights are as it says.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::covergence::Run;
use crate::support::deploy::{folder, read};
use crate::support::kubectl::kubectl;
use crate::support::lab::{api, shared};
use crate::support::namespace::Namespace;
use crate::support::rights::Right;
use crate::support::shipped::{ACCOUNT, Account, NAMESPACE, may};
use crate::support::source::Source;

/// The objects of a file or folder, as Covergence reads them.
fn objects(at: &Path) -> Vec<Value> {
    let list = Run::new(&["render", "-o", "json"]).arg(at).ok().json();
    list["items"].as_array().unwrap().clone()
}

fn object(kind: &str) -> Value {
    let found = objects(&folder()).into_iter().find(|o| o["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in deploy/"))
}

/// Kind and name, sorted.
fn names(objects: &[Value]) -> Vec<String> {
    let name = |o: &Value| format!("{} {}", o["kind"], o["metadata"]["name"]);
    let mut names: Vec<String> = objects.iter().map(name).collect();
    names.sort_unstable();
    names
}

/// The manifests that a kustomization names, and those that stand beside it.
fn named_and_there(folder: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let text = fs::read_to_string(folder.join("kustomization.yaml")).unwrap();
    let named = text.lines().filter_map(|line| line.strip_prefix("- "));
    let entries = folder.read_dir().unwrap();
    let files = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there = files.filter(|name| name.ends_with(".yaml") && name != "kustomization.yaml");
    (named.map(str::to_owned).collect(), there.collect())
}

#[test]
fn the_kustomizations_name_every_file_and_build() {
    for folder in [folder(), folder().join("cluster-admin")] {
        let (named, there) = named_and_there(&folder);
        assert_eq!(named, there, "{}", folder.display());
    }
    let built = kubectl(&["kustomize", folder().to_str().unwrap()], &[]);
    let built = Source::new().file("built.yaml", &built);
    assert_eq!(names(&objects(built.path())), names(&objects(&folder())));
}

#[test]
fn a_volume_for_the_files_of_campaigns_is_mounted_as_the_readme_says() {
    let readme = read("README.md");
    let (_, section) = readme.split_once("## Files of Campaigns\n").unwrap();
    let (_, block) = section.split_once("```yaml\n").unwrap();
    let (patches, _) = block.split_once("```").unwrap();
    let work = tempfile::tempdir().unwrap();
    let copied = Command::new("cp")
        .arg("-r")
        .arg(folder())
        .arg(work.path())
        .status();
    assert!(copied.unwrap().success());
    let overlay = work.path().join("overlay");
    fs::create_dir(&overlay).unwrap();
    let text = format!("resources: [../deploy]\n{patches}");
    fs::write(overlay.join("kustomization.yaml"), text).unwrap();
    let built = kubectl(&["kustomize", overlay.to_str().unwrap()], &[]);
    let built = Source::new().file("built.yaml", &built);
    let deployment = objects(built.path())
        .into_iter()
        .find(|o| o["kind"] == "Deployment");
    let pod = deployment.unwrap()["spec"]["template"]["spec"].take();
    let mounts = pod["containers"][0]["volumeMounts"].as_array().unwrap();
    let mount = mounts
        .iter()
        .find(|mount| mount["name"] == "campaigns")
        .unwrap();
    let root = mount["mountPath"].as_str().unwrap();
    assert!(
        section.contains(&format!("`campaigns: {{root: {root}}}`")),
        "{root}"
    );
    let volumes = pod["volumes"].as_array().unwrap();
    let volume = volumes
        .iter()
        .find(|volume| volume["name"] == "campaigns")
        .unwrap();
    assert!(
        volume["persistentVolumeClaim"]["claimName"].is_string(),
        "{volume}"
    );
    // What was mounted before still is.
    assert!(mounts.len() > 2 && volumes.len() > 2, "{pod}");
}

#[test]
fn its_own_validation_finds_nothing_wrong() {
    let output = Run::new(&["validate", "-o", "json"]).arg(folder()).ok();
    assert_eq!(output.json()["diagnostics"], json!([]));
}

/// What stands in several files is the same in each.
#[test]
fn the_files_agree() {
    let deployment = object("Deployment");
    let pod = &deployment["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(container["image"], format!("covergence:{version}"));
    let config = &object("ConfigMap")["data"]["config.yaml"];
    let agent = format!("\n  agentImage: covergence:{version}\n");
    assert!(config.as_str().unwrap().contains(&agent), "{config}");
    let user = &pod["securityContext"]["runAsUser"];
    assert!(read("Dockerfile").contains(&format!("USER {user}:{user}\n")));
    assert!(read("build-image-root").contains(&format!("\nUID_GID={user} ")));

    let port_names = |ports: &Value, key: &str| -> BTreeSet<String> {
        let ports = ports.as_array().unwrap().iter();
        ports
            .map(|port| port[key].as_str().unwrap().to_owned())
            .collect()
    };
    let ports = port_names(&container["ports"], "name");
    assert_eq!(
        port_names(&object("Service")["spec"]["ports"], "targetPort"),
        ports
    );
    let ingress = &object("NetworkPolicy")["spec"]["ingress"][0]["ports"];
    assert_eq!(port_names(ingress, "port"), ports);

    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    assert_eq!(&deployment["spec"]["selector"]["matchLabels"], labels);
    for (kind, pointer) in [
        ("Service", "/spec/selector"),
        ("PodDisruptionBudget", "/spec/selector/matchLabels"),
        ("NetworkPolicy", "/spec/podSelector/matchLabels"),
    ] {
        assert_eq!(object(kind).pointer(pointer), Some(labels), "{kind}");
    }
    assert_eq!(
        pod["serviceAccountName"],
        object("ServiceAccount")["metadata"]["name"]
    );
    assert_eq!(
        pod["priorityClassName"],
        object("PriorityClass")["metadata"]["name"]
    );
    assert_eq!(
        pod["volumes"][0]["configMap"]["name"],
        object("ConfigMap")["metadata"]["name"]
    );
}

/// The controller reads what it serves, and writes its own kinds and Services; nothing else, and for no tenant who did not
/// let it in.
#[test]
fn its_own_account_reaches_no_further_than_it_says() {
    let ns = Namespace::new("strangers");
    let account = Account::new(shared(), api(), ACCOUNT);
    account.await_rights(NAMESPACE);
    for (group, resource, verb) in [
        ("", "secrets", "get"),
        ("", "secrets", "list"),
        ("", "configmaps", "create"),
        ("", "serviceaccounts", "impersonate"),
        ("", "users", "impersonate"),
        ("", "groups", "impersonate"),
        ("apps", "deployments", "create"),
        ("apps", "deployments", "delete"),
        ("apps", "statefulsets", "patch"),
        ("", "pods", "delete"),
        ("coordination.k8s.io", "leases", "patch"),
        ("rbac.authorization.k8s.io", "clusterroles", "bind"),
    ] {
        let right = Right {
            namespace: ns.name.clone(),
            group: group.into(),
            resource: resource.into(),
            name: String::new(),
            verb: verb.into(),
        };
        assert!(!may(api(), &account.user(), &right), "{right:?}");
    }
}

/// As a pod has it: with what the ConfigMap holds.
#[test]
fn its_configuration_is_understood() {
    let map = object("ConfigMap");
    let folder = TempDir::new().unwrap();
    for (file, text) in map["data"].as_object().unwrap() {
        fs::write(folder.path().join(file), text.as_str().unwrap()).unwrap();
    }
    let read = covergence::reconcile::configuration::read(folder.path(), Some(NAMESPACE));
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    assert_eq!(
        read.config.default_service_account.as_deref(),
        Some("default")
    );
    // Where the probes look.
    let deployment = object("Deployment");
    let port = &deployment["spec"]["template"]["spec"]["containers"][0]["ports"][0];
    assert_eq!(port["name"], "http");
    assert_eq!(
        port["containerPort"],
        read.config.listen.web.unwrap().port()
    );
}

#[test]
fn the_power_over_the_whole_cluster_goes_to_the_same_account() {
    let bindings = objects(&folder().join("cluster-admin"));
    assert_eq!(
        names(&bindings),
        [r#""ClusterRoleBinding" "covergence-cluster-admin""#]
    );
    let account = object("ServiceAccount")["metadata"].clone();
    let subject = json!([{ "kind": "ServiceAccount", "name": account["name"], "namespace": account["namespace"] }]);
    assert_eq!(bindings[0]["subjects"], subject);
    assert_eq!(bindings[0]["roleRef"]["name"], "cluster-admin");
}

/// Runs in the image's root, read-only, with a folder of manifests mounted: as `nonroot` when the test may change users.
const IN_ROOT: &str = r#"
root=$1 folder=$2; shift 2
mount --bind "$root" "$root"
mount --bind "$folder" "$root/etc/covergence"
mount -o remount,ro,bind "$root"
exec unshare --root="$root" --wd=/ $AS "$@"
"#;

fn in_root(root: &Path, folder: &Path, arguments: &[&str]) -> String {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut command = Command::new("unshare");
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap());
    if is_root {
        command.env("AS", "--setuid=65532 --setgid=65532");
    } else {
        command.env("AS", "").args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "sh", "-euc", IN_ROOT.trim(), "sh"]);
    command
        .arg(root)
        .arg(folder)
        .arg("/usr/bin/covergence")
        .args(arguments);
    let output = command.output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
    assert!(output.status.success(), "{arguments:?}: {stdout}{stderr}");
    stdout
}

#[test]
fn the_image_holds_all_that_the_binary_needs() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("root");
    let built = Command::new(folder().join("build-image-root"))
        .arg(&root)
        .arg(env!("CARGO_BIN_EXE_covergence"))
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests");
    let version = format!("covergence {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(in_root(&root, &manifests, &["--version"]), version);
    let valid = in_root(&root, &manifests, &["validate", "/etc/covergence"]);
    assert!(valid.contains("10 objects, 0 errors"), "{valid}");
    assert_eq!(in_root(&root, &manifests, &["crd"]), read("crds.yaml"));

    // As the init container of an instrumented pod: only the volume can be written to.
    let volume = dir.path().join("volume");
    fs::create_dir(&volume).unwrap();
    fs::set_permissions(&volume, fs::Permissions::from_mode(0o777)).unwrap();
    let installed = in_root(&root, &volume, &["agent", "install", "/etc/covergence"]);
    assert!(installed.contains(r#""agent":"JaCoCo""#), "{installed}");
    let jar = fs::read(volume.join("jacocoagent.jar")).unwrap();
    assert_eq!(
        jar,
        fs::read(root.join("usr/share/covergence/jacocoagent.jar")).unwrap()
    );
    assert!(root.join("usr/share/covergence/NOTICE").is_file());

    // What the pod mounts has its place, since nothing can be made in a root that is read-only.
    let deployment = object("Deployment");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    for mount in container["volumeMounts"].as_array().unwrap() {
        let at = mount["mountPath"].as_str().unwrap();
        assert!(root.join(at.trim_start_matches('/')).is_dir(), "{at}");
    }
    let certificates = fs::read_to_string(root.join("etc/ssl/certs/ca-certificates.crt")).unwrap();
    assert!(certificates.contains("BEGIN CERTIFICATE"));
}
