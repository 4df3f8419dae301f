//! A lab with a node, on which pods run. The node tests of a run share it.

use std::env;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::api::{Api, path};
use super::kubectl;
use super::lab::{eventually, shared};
use super::namespace::unique;

/// The image of the service in `tests/lab/node/app`.
pub const APP: &str = "covergence-lab/app:1";
/// Ours, of the binary under test.
pub const COVERGENCE: &str = concat!("covergence:", env!("CARGO_PKG_VERSION"));

/// The folder of the lab, which the first test that asks for it starts. It ends with the run.
pub fn node() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let lock = File::create(shared().join("node.lock")).unwrap();
        lock.lock().unwrap();
        let dir = match env::var_os("COVERGENCE_NODE_LAB") {
            Some(dir) => dir.into(),
            None => start(),
        };
        install_kinds(&dir);
        import(&dir, "app-image", &[APP]);
        import(
            &dir,
            "covergence-image",
            &[COVERGENCE, env!("CARGO_BIN_EXE_covergence")],
        );
        dir
    })
}

/// Starts it, unless another test of this run has.
fn start() -> PathBuf {
    // Whoever runs the tests: `tests/run`, or else the process that has started this one.
    let run = env::var("COVERGENCE_RUN")
        .unwrap_or_else(|_| std::os::unix::process::parent_id().to_string());
    let mut dir = shared().as_os_str().to_owned();
    dir.push(format!(".node-{run}"));
    let dir = PathBuf::from(dir);
    if !lab(&dir, &["status"]).status.success() {
        let up = lab(
            &dir,
            &["up", "--node", "--audit", "--purge", "--parent", &run],
        );
        assert!(
            up.status.success(),
            "{}",
            String::from_utf8_lossy(&up.stderr)
        );
    }
    dir
}

fn lab(dir: &Path, arguments: &[&str]) -> Output {
    let (command, options) = arguments.split_first().unwrap();
    Command::new(scripts().join("lab"))
        .args([command, "--dir"])
        .arg(dir)
        .args(options)
        .output()
        .unwrap()
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab")
}

fn install_kinds(dir: &Path) {
    let api = Api::connect(&dir.join("kubeconfig"));
    for crd in covergence::api::crds().unwrap() {
        let at = path(
            "customresourcedefinitions",
            None,
            crd["metadata"]["name"].as_str(),
        );
        api.apply(&at, "kubectl", &crd);
        eventually(&format!("{at} is established"), || {
            let conditions = api.get(&at)["status"]["conditions"].clone();
            let mut conditions = conditions.as_array()?.iter();
            conditions
                .any(|it| it["type"] == "Established" && it["status"] == "True")
                .then_some(())
        });
    }
}

/// Gives the node an image that a script makes, once.
fn import(dir: &Path, script: &str, arguments: &[&str]) {
    let made = Command::new(scripts().join("node").join(script))
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{script}: {}",
        String::from_utf8_lossy(&made.stderr)
    );
    let archive = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let imported = dir
        .join("imported")
        .join(Path::new(&archive).file_name().unwrap());
    if !imported.exists() {
        let output = lab(dir, &["import", &archive]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        fs::create_dir_all(imported.parent().unwrap()).unwrap();
        fs::write(imported, "").unwrap();
    }
}

/// A namespace on the node's lab. It goes with the test, and its pods with it.
pub struct Place {
    pub name: String,
    pub api: Api,
}

impl Place {
    pub fn new(prefix: &str) -> Self {
        let place = Self {
            name: unique(prefix),
            api: Api::connect(&node().join("kubeconfig")),
        };
        let object = json!({ "metadata": { "name": place.name } });
        place.api.create("/api/v1/namespaces", &object);
        place
    }

    pub fn path(&self, resource: &str, name: &str) -> String {
        path(resource, Some(&self.name), Some(name))
    }

    pub fn find(&self, resource: &str, name: &str) -> Option<Value> {
        self.api.find(&self.path(resource, name))
    }

    pub fn get(&self, resource: &str, name: &str) -> Value {
        self.api.get(&self.path(resource, name))
    }

    pub fn create(&self, resource: &str, object: &Value) -> Value {
        self.api
            .create(&path(resource, Some(&self.name), None), object)
    }

    /// What has a label, `name=value`.
    pub fn labelled(&self, resource: &str, label: &str) -> Vec<Value> {
        let label = label.replace('=', "%3D").replace('/', "%2F");
        let all = path(resource, Some(&self.name), None);
        self.api.list(&format!("{all}?labelSelector={label}"))
    }

    /// Waits until a Deployment is what its spec says, without pods of another template; gives its pods, the oldest first.
    pub fn settled(&self, deployment: &str) -> Vec<Pod> {
        eventually(&format!("{deployment} is rolled out"), || {
            let live = self.get("deployments", deployment);
            let (status, wanted) = (&live["status"], &live["spec"]["replicas"]);
            let seen = status["observedGeneration"] == live["metadata"]["generation"];
            let counts = ["replicas", "updatedReplicas", "availableReplicas"];
            if !seen || counts.iter().any(|count| status[count] != *wanted) {
                return None;
            }
            let mut pods = self.labelled("pods", &format!("app={deployment}"));
            pods.sort_by_key(|pod| {
                pod["metadata"]["creationTimestamp"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            });
            let all = wanted.as_u64() == Some(pods.len() as u64);
            all.then(|| pods.iter().map(|pod| Pod::of(self, pod)).collect())
        })
    }

    /// Runs kubectl here, to a good end.
    pub fn kubectl(&self, arguments: &[&str]) -> String {
        let output = kubectl::on(node(), &[&["--namespace", &self.name], arguments].concat());
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        assert!(output.status.success(), "kubectl {arguments:?}: {stderr}");
        stdout
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let at = path("namespaces", None, Some(&self.name));
        let _ = self.api.send("DELETE", &at, "", &Value::Null);
    }
}

/// A pod of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    namespace: String,
    pub name: String,
    pub address: String,
}

impl Pod {
    fn of(place: &Place, pod: &Value) -> Self {
        Self {
            namespace: place.name.clone(),
            name: pod["metadata"]["name"].as_str().unwrap().to_owned(),
            address: pod["status"]["podIP"].as_str().unwrap().to_owned(),
        }
    }

    /// Asks the service in this very pod, at its address.
    pub fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect((self.address.as_str(), 8080)).unwrap();
        let head = format!("GET {request} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        body.trim().to_owned()
    }

    /// The addresses that a name has for the JVM in this pod, sorted.
    pub fn resolve(&self, name: &str) -> Vec<String> {
        let mut found: Vec<String> = self
            .ask(&format!("/names?host={name}"))
            .split(' ')
            .map(str::to_owned)
            .collect();
        found.sort();
        found
    }

    /// The command line and the environment of its first process.
    pub fn process(&self) -> String {
        let script = "cat /proc/1/cmdline /proc/1/environ | tr '\\0' '\\n'";
        let arguments = [
            "--namespace",
            &self.namespace,
            "exec",
            &self.name,
            "--",
            "sh",
            "-c",
            script,
        ];
        let output = kubectl::on(node(), &arguments);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }
}
