//! The sandbox: how many applies it answers in a second.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::Res;
use crate::http::Server;
use crate::report::{Section, mark};

/// Applies a second.
const BUDGET: f64 = 5000.0;
/// Connections that are open at once.
const CONNECTIONS: usize = 8;
/// How long a sandbox may take until it listens.
const UP_WITHIN: Duration = Duration::from_secs(10);
const KINDS: [&str; 2] = ["ConfigMap", "Deployment"];
const ROUNDS: [&str; 3] = ["new", "unchanged", "one field changed"];

/// What was measured.
pub struct SandboxReport {
    objects: usize,
    rows: Vec<Row>,
}

/// The runs of a kind and a round.
struct Row {
    kind: &'static str,
    round: &'static str,
    /// Applies a second.
    rates: Vec<f64>,
    /// Seconds that the controllers needed after that.
    settled: Vec<f64>,
}

/// Measures sandboxes that are started for it.
pub fn measure(folder: &Path, quick: bool) -> Res<SandboxReport> {
    let (objects, repetitions) = if quick { (200, 1) } else { (5000, 5) };
    let mut rows = Vec::new();
    for kind in KINDS {
        rows.extend(ROUNDS.map(|round| Row {
            kind,
            round,
            rates: Vec::new(),
            settled: Vec::new(),
        }));
    }
    for repetition in 0..repetitions {
        let sandbox = Sandbox::start(&folder.join(format!("sandbox-{repetition}")))?;
        for row in &mut rows {
            let wall = play(&sandbox.server, row.kind, row.round, objects)?;
            row.rates.push(objects as f64 / wall.as_secs_f64());
            let settled = settle(&sandbox.server, row.kind)?;
            row.settled.push(settled.as_secs_f64());
        }
    }
    Ok(SandboxReport { objects, rows })
}

/// A sandbox, which ends with this.
struct Sandbox {
    child: Child,
    server: Server,
}

impl Sandbox {
    fn start(folder: &Path) -> Res<Self> {
        let child = Command::new(env!("CARGO_BIN_EXE_covergence"))
            .args(["sandbox", "--dir"])
            .arg(folder)
            .stdout(Stdio::null())
            .spawn()?;
        let mut sandbox = Self {
            child,
            server: Server {
                address: String::new(),
                ca: folder.join("ca.crt"),
                token: String::new(),
            },
        };
        let kubeconfig = folder.join("kubeconfig");
        let begun = Instant::now();
        while !kubeconfig.exists() {
            if begun.elapsed() > UP_WITHIN {
                return Err("the sandbox does not listen".into());
            }
            sleep(Duration::from_millis(5));
        }
        let config: Value = serde_json::from_slice(&std::fs::read(kubeconfig)?)?;
        let text = |pointer| config.pointer(pointer).and_then(Value::as_str);
        let text = |pointer| text(pointer).ok_or("the kubeconfig is another one");
        let trusted = text("/clusters/0/cluster/certificate-authority-data")?;
        std::fs::write(&sandbox.server.ca, STANDARD.decode(trusted)?)?;
        let address = text("/clusters/0/cluster/server")?;
        address
            .trim_start_matches("https://")
            .clone_into(&mut sandbox.server.address);
        text("/users/0/user/token")?.clone_into(&mut sandbox.server.token);
        Ok(sandbox)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // It keeps nothing that would have to be put away.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Applies all objects once; says how long it took with all connections open.
fn play(server: &Server, kind: &str, round: &str, objects: usize) -> Res<Duration> {
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut connection = server.connect()?;
        connection.get_text("/version")?;
        open.push(connection);
    }
    let requests: Vec<(String, Vec<u8>)> = (0..objects)
        .map(|n| {
            let (path, object) = object(kind, n, round == ROUNDS[2]);
            let path = format!("{path}?fieldManager=bench&force=true");
            (path, object.to_string().into_bytes())
        })
        .collect();
    let next = AtomicUsize::new(0);
    let problem = Mutex::new(None);
    let begun = Instant::now();
    scope(|scope| {
        for connection in &mut open {
            scope.spawn(|| {
                while let Some((path, body)) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let said = match connection.send("PATCH", path, "application/json", body) {
                        Ok(answer) if answer.status < 300 => continue,
                        Ok(answer) => String::from_utf8_lossy(&answer.body).into_owned(),
                        Err(error) => error.to_string(),
                    };
                    if let Ok(mut problem) = problem.lock() {
                        *problem = Some(format!("{path}: {said}"));
                    }
                    return;
                }
            });
        }
    });
    let wall = begun.elapsed();
    match problem.into_inner() {
        Ok(None) => Ok(wall),
        Ok(Some(problem)) => Err(problem.into()),
        Err(_) => Err("a thread panicked".into()),
    }
}

/// Waits until the controllers have seen to all Deployments; says how long that took.
fn settle(server: &Server, kind: &str) -> Res<Duration> {
    let begun = Instant::now();
    if kind != "Deployment" {
        return Ok(Duration::ZERO);
    }
    let mut connection = server.connect()?;
    loop {
        let list = connection.get_text("/apis/apps/v1/namespaces/default/deployments")?;
        let list: Value = serde_json::from_str(&list)?;
        let items = list.pointer("/items").and_then(Value::as_array);
        if items.ok_or("a list has items")?.iter().all(is_seen) {
            return Ok(begun.elapsed());
        }
        sleep(Duration::from_millis(200));
    }
}

/// Whether a Deployment's ReplicaSet is there, and its status tells so.
fn is_seen(deployment: &Value) -> bool {
    let conditions = deployment.pointer("/status/conditions");
    let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
    let is_done =
        |condition: &Value| condition.get("reason") == Some(&Value::from("NewReplicaSetAvailable"));
    deployment.pointer("/status/observedGeneration") == deployment.pointer("/metadata/generation")
        && conditions.any(is_done)
}

/// An object as people write it, and its path.
fn object(kind: &str, n: usize, changed: bool) -> (String, Value) {
    let name = format!("shop-{n}");
    let labels = json!({ "app": name });
    let metadata = json!({ "name": name, "namespace": "default", "labels": labels });
    let version = if changed { "2" } else { "1" };
    if kind == "ConfigMap" {
        let data = json!({ "greeting": "Welcome to the pet shop", "version": version });
        let object =
            json!({ "apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data });
        return (
            format!("/api/v1/namespaces/default/configmaps/{name}"),
            object,
        );
    }
    let container = json!({
        "name": "web",
        "image": format!("shop:{version}"),
        "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": "-Xmx256m" }, { "name": "MODE", "value": "live" }],
        "ports": [{ "name": "http", "containerPort": 8080 }],
        "resources": { "limits": { "cpu": "1", "memory": "512Mi" } },
        "volumeMounts": [{ "name": "work", "mountPath": "/work" }],
    });
    let object = json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": metadata,
        "spec": {
            "replicas": 0,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [container], "volumes": [{ "name": "work", "emptyDir": {} }] },
            },
        },
    });
    (
        format!("/apis/apps/v1/namespaces/default/deployments/{name}"),
        object,
    )
}

impl SandboxReport {
    /// The section, and the budgets that are missed.
    pub fn text(&self) -> Section {
        let mut text = format!(
            "\n## The sandbox\n\n\
            {} server-side applies of one object each, as fast as `covergence sandbox` answers them over {CONNECTIONS} connections from the same \
            machine (`cargo bench\n--locked --bench side_by_side -- --sandbox`). It keeps its audit log and runs its controllers meanwhile: each \
            Deployment, of no replicas,\ngets a ReplicaSet and its status. As on a cluster they come after requests; how long they then still need is \
            the last column.\n\n\
            | kind | round | applies a second, median | range | compared | controllers done after |\n\
            | --- | --- | ---: | ---: | --- | ---: |\n",
            self.objects
        );
        let mut missed = Vec::new();
        for row in &self.rows {
            let Row { kind, round, .. } = row;
            let [least, median, most] = spread(&row.rates);
            let [_, settled, _] = spread(&row.settled);
            let met = median >= BUDGET;
            text += &format!(
                "| {kind} | {round} | {median:.0} | {least:.0} to {most:.0} | budget {BUDGET:.0} {} | {settled:.1} s |\n",
                mark(met)
            );
            if !met {
                missed.push(format!(
                    "The sandbox: {median:.0} applies a second ({kind}, {round}) instead of {BUDGET:.0}"
                ));
            }
        }
        (text, missed)
    }
}

/// The least, the median and the most.
fn spread(numbers: &[f64]) -> [f64; 3] {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    [
        at(0),
        at(sorted.len() / 2),
        at(sorted.len().saturating_sub(1)),
    ]
}
