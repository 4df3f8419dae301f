//! Reading manifests without a cluster: side by side with kubectl, and again after one file has changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use covergence::load::{Limits, Readings, Snapshot, SourceFile};

use crate::Res;
use crate::child::{self, Run};
use crate::report::{Section, mark, median, time};

/// From the start of the process to its end, on one core.
const BUDGET: Duration = Duration::from_millis(250);

/// Five documents of about 400 bytes each, of the kinds that are most of what people have.
fn documents(i: usize) -> String {
    format!(
        "\
# Written for app {i}
apiVersion: v1
kind: ConfigMap
metadata:
  name: config-{i}
  namespace: shop
  labels: {{app.kubernetes.io/name: app-{i}, app.kubernetes.io/part-of: shop}}
data:
  LOG_LEVEL: info
  WORKERS: \"8\"
  application.properties: |
    server.port=8080
    server.shutdown=graceful
    spring.application.name=app-{i}
    spring.datasource.url=jdbc:postgresql://db:5432/app
    logging.level.root=INFO
---
apiVersion: v1
kind: Service
metadata:
  name: service-{i}
  namespace: shop
  labels:
    app.kubernetes.io/name: app-{i}
spec:
  clusterIP: None
  selector:
    app.kubernetes.io/name: app-{i}
  ports:
  - {{name: http, port: 8080, protocol: TCP, targetPort: http}}
  - {{name: coverage, port: 6300, protocol: TCP, targetPort: 6300}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: app-{i}, namespace: shop}}
spec:
  replicas: 2
  selector:
    matchLabels: {{app.kubernetes.io/name: app-{i}}}
  template:
    metadata:
      labels: {{app.kubernetes.io/name: app-{i}}}
    spec:
      containers:
      - name: app
        image: registry.example.com/shop/app:1.{i}
        args: [--config, /etc/app]
        ports:
        - containerPort: 8080
          name: http
        resources:
          requests: {{cpu: 100m, memory: 128Mi}}
          limits: {{memory: 256Mi}}
        readinessProbe:
          httpGet: {{path: /healthz, port: http}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: role-{i}
  namespace: shop
rules:
- apiGroups: [\"\"]
  resources: [configmaps, services]
  verbs: [get, list, watch]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get]
---
apiVersion: closurejvm.io/v1alpha1
kind: ClosureJVMTarget
metadata:
  name: target-{i}
  namespace: shop
spec:
  deploymentRef:
    name: app-{i}
  coverageService: true
  agents:
    coverage:
      enabled: true
      port: 6300
"
    )
}

/// What was measured.
pub struct ReadingReport {
    files: usize,
    bytes: usize,
    ours: Vec<Run>,
    kubectls: Vec<Run>,
    again: Again,
}

/// A source of 2,000 files that is read once more.
struct Again {
    first: Duration,
    again: Duration,
    parsed: usize,
}

/// Measures both programs in turn.
pub fn measure(folder: &Path, quick: bool) -> Res<ReadingReport> {
    let (files, repetitions) = if quick { (20, 1) } else { (1000, 11) };
    let source = folder.join("reading");
    fs::create_dir_all(&source)?;
    let mut bytes = 0;
    for i in 0..files {
        let text = documents(i);
        bytes += text.len();
        fs::write(source.join(format!("app-{i:04}.yaml")), text)?;
    }
    let kubectl = std::env::var_os("KUBECTL").map_or_else(|| "kubectl".into(), PathBuf::from);
    let covergence = PathBuf::from(env!("CARGO_BIN_EXE_covergence"));
    let on_one_core = |program: &Path, args: &[&str]| -> Res<Run> {
        let mut command = Command::new("taskset");
        command
            .args(["-c", "0"])
            .arg(program)
            .args(args)
            .arg(&source)
            .env("KUBECONFIG", "/dev/null")
            .env("HOME", folder);
        // kubectl takes what is set after the folder as well.
        if program == kubectl {
            command.arg("measured=1");
        }
        let run = child::run(&command, folder)?;
        match run.code {
            0 => Ok(run),
            code => Err(format!("{command:?} ended with {code}").into()),
        }
    };
    let (mut ours, mut kubectls) = (Vec::new(), Vec::new());
    for _ in 0..repetitions {
        ours.push(on_one_core(&covergence, &["validate"])?);
        let annotate = ["annotate", "--local", "-o", "json", "-R", "-f"];
        kubectls.push(on_one_core(&kubectl, &annotate)?);
    }
    Ok(ReadingReport {
        files,
        bytes,
        ours,
        kubectls,
        again: again(),
    })
}

fn again() -> Again {
    // One document each.
    let file = |i| {
        let text = documents(i);
        let document = text.split("---\n").nth(i % 5).unwrap_or_default();
        SourceFile {
            path: Arc::from(format!("app-{i:04}.yaml")),
            bytes: document.as_bytes().to_vec(),
        }
    };
    let mut snapshot = Snapshot {
        revision: String::new(),
        files: (0..2000).map(file).collect(),
        diagnostics: Vec::new(),
    };
    let limits = Limits::default();
    let mut readings = Readings::default();
    let start = Instant::now();
    readings.load(&snapshot, &limits);
    let first = start.elapsed();
    if let Some(changed) = snapshot.files.get_mut(1234) {
        changed.bytes.extend(b"# more\n");
    }
    let start = Instant::now();
    let parsed = readings.load(&snapshot, &limits).parsed;
    Again {
        first,
        again: start.elapsed(),
        parsed,
    }
}

const HEAD: &str = "\
| work | median | range | peak memory | compared |
| --- | ---: | ---: | ---: | --- |
";

impl ReadingReport {
    /// What must not be.
    pub fn problems(&self) -> Vec<String> {
        let Again { parsed, .. } = self.again;
        let wrong =
            (parsed != 1).then(|| format!("{parsed} files are parsed after one has changed"));
        wrong.into_iter().collect()
    }

    /// The section, and the budget if it is missed.
    pub fn text(&self) -> Section {
        let Self {
            files,
            bytes,
            ours,
            kubectls,
            again,
        } = self;
        let walls = |runs: &[Run]| -> Vec<Duration> { runs.iter().map(|run| run.wall).collect() };
        let (own, other) = (median(&walls(ours)), median(&walls(kubectls)));
        let met = own < BUDGET;
        let mut text = format!(
            "\n## Reading\n\n\
            {} documents in {files} files, {:.1} MB, without a cluster and on one core (`taskset -c 0`), from the start of the process to its \
            end.\n`covergence validate` also checks every field, renders and plans; kubectl only reads (`annotate --local -o json`).\n\n{HEAD}",
            files * 5,
            *bytes as f64 / 1e6
        );
        text += &row(
            "`kubectl annotate --local`",
            &walls(kubectls),
            peak(kubectls),
            "",
        );
        let budget = format!("budget {} {}", time(BUDGET), mark(met));
        let compared = format!(
            "{:.1}x faster than kubectl; {budget}",
            other.as_secs_f64() / own.as_secs_f64()
        );
        text += &row("`covergence validate`", &walls(ours), peak(ours), &compared);
        text += &format!(
            "\nOf a source of 2,000 files, which a controller follows, one changes: reading the source again takes {} instead of {}, and {} file \
            is parsed.\n",
            time(again.again),
            time(again.first),
            again.parsed
        );
        let missed = (!met).then(|| {
            format!(
                "Reading: `covergence validate`: {} instead of {}",
                time(own),
                time(BUDGET)
            )
        });
        (text, missed.into_iter().collect())
    }
}

fn peak(runs: &[Run]) -> u64 {
    runs.iter()
        .map(|run| run.peak_kib)
        .max()
        .unwrap_or_default()
}

fn row(label: &str, walls: &[Duration], peak_kib: u64, compared: &str) -> String {
    let (least, most) = (walls.iter().min(), walls.iter().max());
    let [least, most] = [least, most].map(|wall| wall.copied().unwrap_or_default());
    format!(
        "| {label} | {} | {} to {} | {} MiB | {compared} |\n",
        time(median(walls)),
        time(least),
        time(most),
        peak_kib / 1024
    )
}
