//! A control plane of this bench's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kube::config::Kubeconfig;
use serde_json::Value;

use crate::Res;
use crate::http::{Connection, Server};

/// A running lab; it ends with this value, or with this process.
pub struct Lab {
    script: PathBuf,
    pub dir: PathBuf,
    pub server: Server,
}

impl Lab {
    pub fn up(dir: PathBuf) -> Res<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let script = root.join("tests/lab/lab");
        let policy = root.join("tests/bench/audit-policy.yaml");
        let log = dir.with_file_name("audit.log");
        let status = Command::new(&script)
            .args(["up", "--dir"])
            .arg(&dir)
            .args(["--parent", &std::process::id().to_string(), "--purge"])
            .arg(format!(
                "--apiserver-flag=--audit-policy-file={}",
                policy.display()
            ))
            .arg(format!(
                "--apiserver-flag=--audit-log-path={}",
                log.display()
            ))
            // One file: it is read by position.
            .arg("--apiserver-flag=--audit-log-maxsize=10000")
            .stdout(std::process::Stdio::null())
            .status()?;
        if !status.success() {
            return Err("the lab did not start".into());
        }
        let server = server(&dir)?;
        Ok(Self {
            script,
            dir,
            server,
        })
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.dir.join("kubeconfig")
    }

    pub fn audit_log(&self) -> PathBuf {
        self.dir.with_file_name("audit.log")
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = Command::new(&self.script)
            .args(["down", "--purge", "--dir"])
            .arg(&self.dir)
            .status();
    }
}

fn server(dir: &Path) -> Res<Server> {
    let config = Kubeconfig::read_from(dir.join("kubeconfig"))?;
    let cluster = config.clusters.into_iter().next().and_then(|c| c.cluster);
    let cluster = cluster.ok_or("the kubeconfig has no cluster")?;
    let url = cluster.server.ok_or("the kubeconfig has no server")?;
    // Not by way of the kubeconfig: its token is kept from being printed, and from being read.
    let tokens = fs::read_to_string(dir.join("tokens.csv"))?;
    let admin = tokens.lines().find(|line| line.contains(",admin,"));
    let token = admin.and_then(|line| line.split(',').next());
    Ok(Server {
        address: url.trim_start_matches("https://").to_owned(),
        ca: dir.join("pki/ca.crt"),
        token: token.ok_or("the lab has no admin")?.to_owned(),
    })
}

/// What the API server has counted.
pub struct Counters {
    /// Server-side applies that were no dry runs; nothing but kubectl, covergence and the generator applies here.
    pub applies: u64,
    /// All that changes something, whoever asked.
    pub changes: u64,
}

/// Reads `/metrics`.
pub fn counters(connection: &mut Connection) -> Res<Counters> {
    let text = connection.get_text("/metrics")?;
    let mut counters = Counters {
        applies: 0,
        changes: 0,
    };
    for line in text
        .lines()
        .filter(|l| l.starts_with("apiserver_request_total{"))
    {
        let Some((labels, count)) = line.rsplit_once(' ') else {
            continue;
        };
        let count = count.parse::<f64>()? as u64;
        let has = |label: &str| labels.contains(label);
        if has("dry_run=\"\"") && has("verb=\"APPLY\"") {
            counters.applies += count;
        }
        if ["POST", "PUT", "PATCH", "DELETE", "APPLY"]
            .iter()
            .any(|verb| has(&format!("verb=\"{verb}\"")))
        {
            counters.changes += count;
        }
    }
    Ok(counters)
}

/// Reads an object as JSON, if it is there.
pub fn get(connection: &mut Connection, path: &str) -> Res<Option<Value>> {
    let answer = connection.send("GET", path, "application/json", b"")?;
    match answer.status {
        200 => Ok(Some(serde_json::from_slice(&answer.body)?)),
        404 => Ok(None),
        status => Err(format!("GET {path}: {status}").into()),
    }
}
