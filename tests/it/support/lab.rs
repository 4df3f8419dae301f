//! The control plane of this run, and ones that a test has to itself.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::api::{Api, path};
use super::namespace::{condition_of, unique};

/// The folder of the lab that all tests share.
///
/// A test without one fails: skipping would let a run without a cluster look like a good one.
pub fn shared() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| match env::var_os("COVERGENCE_LAB") {
        Some(dir) => dir.into(),
        None => panic!(
            "this test needs a control plane: run it with `tests/run` (which takes nextest's arguments), \
             or set COVERGENCE_LAB to the folder of a lab started with --audit"
        ),
    })
}

/// The shared API server, as its admin.
pub fn api() -> &'static Api {
    static API: OnceLock<Api> = OnceLock::new();
    API.get_or_init(|| Api::connect(&shared().join("kubeconfig")))
}

/// Tells whether the control planes of this run are sandboxes (`tests/run --sandbox`).
pub fn is_sandbox() -> bool {
    env::var_os("COVERGENCE_SANDBOX").is_some()
}

/// A control plane that one test has to itself: a lab, or a sandbox where the run is on one.
pub struct OwnLab {
    dir: TempDir,
    sandbox: Option<Child>,
}

impl OwnLab {
    /// Starts a sandbox, whatever the run is on.
    pub fn sandbox() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let sandbox = Some(sandbox(dir.path()));
        Self { dir, sandbox }
    }

    /// Starts one without controllers: API server and etcd.
    pub fn new() -> Self {
        Self::start(&["--without-controller-manager"])
    }

    /// Starts one with Kubernetes' own controllers.
    pub fn whole() -> Self {
        Self::start(&[])
    }

    fn start(flags: &[&str]) -> Self {
        if is_sandbox() {
            return Self::sandbox();
        }
        let dir = tempfile::tempdir().unwrap();
        let parent = std::process::id().to_string();
        let lab = Self { dir, sandbox: None };
        lab.run(&[&["up", "--audit", "--parent", &parent], flags].concat());
        lab
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn api(&self) -> Api {
        Api::connect(&self.dir().join("kubeconfig"))
    }

    /// Makes our kinds known, whatever was there in their place.
    pub fn install_kinds(&self) {
        let api = self.api();
        for crd in covergence::api::crds().unwrap() {
            replace_definition(&api, &crd);
        }
    }

    /// SIGKILL for the API server, at once.
    pub fn kill_apiserver(&self) {
        let pid = fs::read_to_string(self.dir().join("run/kube-apiserver.pid")).unwrap();
        let kill = Command::new("kill").args(["-KILL", pid.trim()]).status();
        assert!(kill.unwrap().success());
    }

    /// Kills the API server and starts it again; also one that is dead already.
    pub fn restart_apiserver(&self) {
        self.run(&["restart-apiserver"]);
    }

    pub fn stop_etcd(&self) {
        self.run(&["stop-etcd"]);
    }

    pub fn start_etcd(&self) {
        self.run(&["start-etcd"]);
    }

    fn run(&self, args: &[&str]) {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/lab");
        let output = Command::new(lab)
            .args(args)
            .arg("--dir")
            .arg(self.dir())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "lab {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Starts a sandbox, which ends with this thread at the latest.
fn sandbox(dir: &Path) -> Child {
    let child = Command::new("setpriv")
        .args(["--pdeathsig", "KILL", env!("CARGO_BIN_EXE_covergence")])
        .args(["sandbox", "--pods", "pending", "--dir"])
        .arg(dir)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the sandbox says how to reach it", || {
        dir.join("kubeconfig").exists().then_some(())
    });
    child
}

impl Drop for OwnLab {
    fn drop(&mut self) {
        if let Some(sandbox) = &mut self.sandbox {
            sandbox.kill().unwrap();
            sandbox.wait().unwrap();
            return;
        }
        self.run(&["down"]);
        // What was asked of it counts as what was asked of the shared one (tests/rights).
        if let Some(logs) = env::var_os("COVERGENCE_AUDIT_LOGS") {
            let log = Path::new(&logs).join(unique("audit"));
            std::fs::copy(self.dir().join("audit.log"), log).unwrap();
        }
    }
}

/// Creates a CRD or puts it in the place of another one, and waits until its kind is served.
fn replace_definition(api: &Api, crd: &Value) {
    let name = crd["metadata"]["name"].as_str().unwrap();
    let own = path("customresourcedefinitions", None, Some(name));
    match api.find(&own) {
        None => {
            api.create(&path("customresourcedefinitions", None, None), crd);
        }
        Some(live) => {
            let mut crd = crd.clone();
            crd["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
            let replaced = api.send("PUT", &own, "application/json", &crd);
            replaced.expect("the definition is replaced");
        }
    }
    let (plural, _) = name.split_once('.').unwrap();
    eventually(&format!("{name} is served"), || {
        let established = condition_of(&api.get(&own), "Established");
        let list = path(plural, Some("default"), None);
        (established["status"] == "True" && api.find(&list).is_some()).then_some(())
    });
}

/// In which almost everything happens; the garbage collector alone takes half a minute to learn of a new kind.
pub const USUAL: Duration = Duration::from_secs(90);

/// Looks again until there is something to see, and fails when there is nothing in time.
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    eventually_within(USUAL, what, look)
}

/// The same for as long as that may take.
pub fn eventually_within<T>(time: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + time;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "not in time: {what}");
        sleep(Duration::from_millis(50));
    }
}
