//! `covergence run` as a process of a test's own, with the rights that `deploy/` gives it, and no others.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::api::{Api, path};
use super::covergence::Run;
use super::lab::{eventually, shared};
use super::server::free_port;
use super::shipped::{ACCOUNT, Account, TENANT};
use super::source::{Source, documents};

/// A controller and its configuration. It looks after some namespaces only, since others share the control plane.
pub struct Controller {
    child: Child,
    folder: TempDir,
    config: Mutex<Value>,
    log: Arc<Mutex<Vec<String>>>,
    port: u16,
    _home: TempDir,
    _account: Option<TempDir>,
}

/// What a controller is started with.
pub struct Setup<'a> {
    /// The lab's folder.
    pub lab: &'a Path,
    /// Namespaces to look after; the first one holds its Leases.
    pub namespaces: &'a [&'a str],
    /// An account that stands in for the shipped one, for tests that count requests; the shipped one when absent.
    pub user: Option<&'a str>,
    /// Whether it is the control plane's admin instead: for tests that take away rights, or the API server.
    pub admin: bool,
    /// Directories that Syncs may read.
    pub directories: &'a [&'a Path],
    /// More of the Config's spec.
    pub config: Value,
    /// Syncs of its configuration.
    pub syncs: &'a [Value],
    /// More arguments.
    pub args: &'a [&'a str],
    /// Its environment.
    pub env: &'a [(&'a str, &'a str)],
    /// A program and its first arguments that become the controller in the end, such as `env A=B`.
    pub by: &'a [&'a str],
}

impl<'a> Setup<'a> {
    /// For one namespace of the shared control plane, and sources anywhere below the directory of temporary files.
    pub fn new(namespaces: &'a [&'a str]) -> Self {
        Self {
            lab: shared(),
            namespaces,
            user: None,
            admin: false,
            directories: &[],
            config: json!({}),
            syncs: &[],
            args: &[],
            env: &[],
            by: &[],
        }
    }

    /// Starts it and waits until it is ready.
    pub fn start(&self) -> Controller {
        let controller = self.launch();
        controller.wait_until_ready();
        controller
    }

    /// Starts it.
    pub fn launch(&self) -> Controller {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let temporary = std::env::temp_dir();
        let mut directories: Vec<&Path> = self.directories.to_vec();
        directories.push(&temporary);
        let mut config = json!({
            "apiVersion": "closurejvm.io/v1alpha1",
            "kind": "Config",
            "metadata": { "name": "it" },
            "spec": {
                "namespaces": self.namespaces,
                "directories": directories,
                "listen": { "web": format!("127.0.0.1:{port}") },
                "leases": { "namespace": self.namespaces[0], "duration": "3s" },
                "log": { "format": "Json", "level": "info,covergence=trace" },
            },
        });
        if !self.admin {
            config["spec"]["defaultServiceAccount"] = TENANT.into();
        }
        merge(&mut config["spec"], &self.config);
        write_config(folder.path(), &config);
        fs::write(folder.path().join("syncs.yaml"), documents(self.syncs)).unwrap();
        let account = (!self.admin).then(|| self.account());
        let kubeconfig = account
            .as_ref()
            .map_or(self.lab, TempDir::path)
            .join("kubeconfig");
        let mut run = Run::new(&["run", "--kubeconfig"])
            .arg(kubeconfig)
            .arg("--config")
            .arg(folder.path());
        if let Some(user) = self.user.filter(|_| self.admin) {
            run = run.admin(user);
        }
        let (mut command, home) = run.args(self.args).into_parts();
        command.envs(self.env.iter().copied());
        let mut command = started_by(self.by, command);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (sink, stderr) = (log.clone(), child.stderr.take().unwrap());
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                // Shown by the test runner when the test fails.
                println!("{line}");
                sink.lock().unwrap().push(line);
            }
        });
        Controller {
            child,
            folder,
            config: Mutex::new(config),
            log,
            port,
            _home: home,
            _account: account,
        }
    }

    /// Gives the controller its account; the folder holds the kubeconfig.
    fn account(&self) -> TempDir {
        let api = Api::connect(&self.lab.join("kubeconfig"));
        // With the shipped rights it cannot install them.
        for crd in covergence::api::crds().unwrap() {
            let name = crd["metadata"]["name"].as_str();
            let path = path("customresourcedefinitions", None, name);
            if api.find(&path).is_none() {
                api.apply(&path, "kubectl", &crd);
            }
        }
        let account = Account::new(self.lab, &api, self.user.unwrap_or(ACCOUNT));
        account.keep_leases_in(self.namespaces[0]);
        for namespace in self.namespaces {
            account.serve(namespace);
        }
        account.await_rights(self.namespaces[0]);
        account.into_folder()
    }
}

impl Controller {
    pub fn wait_until_ready(&self) {
        eventually("the controller is ready", || {
            let (code, _) = self.http("/readyz")?;
            (code == 200).then_some(())
        });
    }

    /// The folder of its configuration.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes its Config anew, with these changes of the spec.
    pub fn configure(&self, change: &Value) {
        let mut config = self.config.lock().unwrap();
        merge(&mut config["spec"], change);
        write_config(self.folder(), &config);
    }

    /// Writes the Syncs of its configuration anew.
    pub fn write_syncs(&self, syncs: &[Value]) {
        replace(&self.folder().join("syncs.yaml"), &documents(syncs));
    }

    /// GET: code and body, if it answers.
    pub fn http(&self, path: &str) -> Option<(u16, String)> {
        get(self.port, path)
    }

    /// The sum of all series of a metric whose labels hold all these texts.
    pub fn metric(&self, name: &str, labels: &[&str]) -> f64 {
        let (_, text) = self.http("/metrics").expect("metrics");
        let lines = text.lines().filter(|line| {
            let series = line.split(' ').next().unwrap_or_default();
            let is_it = series == name || series.starts_with(&format!("{name}{{"));
            is_it && labels.iter().all(|label| series.contains(label))
        });
        lines
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }

    /// Lines of its log that hold a text.
    pub fn logged(&self, text: &str) -> Vec<String> {
        let log = self.log.lock().unwrap();
        log.iter()
            .filter(|line| line.contains(text))
            .cloned()
            .collect()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Sends a signal.
    pub fn signal(&self, signal: i32) {
        let pid = i32::try_from(self.child.id()).unwrap();
        // SAFETY: only a number goes in; the child was not waited for, so that the id is still its own.
        #[allow(unsafe_code)]
        let sent = unsafe { libc::kill(pid, signal) };
        assert_eq!(sent, 0);
    }

    /// Tells whether it has ended, and how.
    pub fn ended(&mut self) -> Option<i32> {
        let status = self.child.try_wait().unwrap()?;
        Some(status.code().unwrap_or(-1))
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// GET from this machine: code and body, if there is an answer.
pub fn get(port: u16, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    std::io::Write::write_all(&mut stream, request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let code = answer.split(' ').nth(1)?.parse().ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    Some((code, body.to_owned()))
}

/// A Sync of a directory.
pub fn directory_sync(namespace: &str, name: &str, source: &Source, spec: Value) -> Value {
    let mut all = json!({ "source": { "directory": { "path": source.path() } }, "prune": true });
    merge(&mut all, &spec);
    sync(namespace, name, all)
}

/// A Sync.
pub fn sync(namespace: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "closurejvm.io/v1alpha1",
        "kind": "Sync",
        "metadata": { "namespace": namespace, "name": name },
        "spec": spec,
    })
}

fn write_config(folder: &Path, config: &Value) {
    let text = documents(std::slice::from_ref(config));
    replace(&folder.join("config.yaml"), &text);
}

/// Replaces a file as a whole, as editors do.
pub fn replace(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, file).unwrap();
}

/// The same command, started by another program.
fn started_by(by: &[&str], command: Command) -> Command {
    let [program, arguments @ ..] = by else {
        return command;
    };
    let mut started = Command::new(program);
    started
        .args(arguments)
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    started
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}
