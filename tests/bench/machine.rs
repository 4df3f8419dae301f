//! What the figures were measured with.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Res;
use crate::tools::Tools;

/// One line a fact.
pub fn describe(tools: &Tools) -> Res<Vec<String>> {
    let versions = output(&mut tools.kubectl(&["version", "-o", "json"]))?;
    let versions: Value = serde_json::from_str(&versions)?;
    let version = |who: &str| {
        let version = versions.pointer(&format!("/{who}/gitVersion"));
        version
            .and_then(Value::as_str)
            .unwrap_or("unknown")
            .to_owned()
    };
    let cores = std::thread::available_parallelism()?;
    Ok(vec![
        format!("{cores} cores ({}), {} of memory", processor(), memory()),
        format!(
            "load average before the run: {} (what others run at the same time shows in all figures)",
            load()
        ),
        format!(
            "kube-apiserver {}, etcd and kube-controller-manager on the same machine (`tests/lab/lab`)",
            version("serverVersion")
        ),
        format!("kubectl {}", version("clientVersion")),
        format!(
            "covergence {}, commit {}",
            env!("CARGO_PKG_VERSION"),
            commit()
        ),
    ])
}

fn output(command: &mut Command) -> Res<String> {
    Ok(String::from_utf8(command.output()?.stdout)?)
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    name.map_or_else(
        || std::env::consts::ARCH.to_owned(),
        |(_, name)| name.trim().to_owned(),
    )
}

fn memory() -> String {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text
        .lines()
        .next()
        .and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    total.map_or_else(
        || "an unknown amount".to_owned(),
        |kib| format!("{} GiB", (kib + (1 << 19)) >> 20),
    )
}

/// Of the last one, five and fifteen minutes.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let figures: Vec<&str> = text.split(' ').take(3).collect();
    figures.join(" ")
}

/// With `+` when the work tree differs from it.
fn commit() -> String {
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")))
            .args(args);
        output(&mut git).unwrap_or_default().trim().to_owned()
    };
    let changed = git(&[
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        ".",
        ":!BENCHMARKS.md",
    ]);
    let name = git(&["rev-parse", "--short=12", "HEAD"]);
    match (name.is_empty(), changed.is_empty()) {
        (true, _) => "unknown".into(),
        (_, true) => name,
        (_, false) => format!("{name}+"),
    }
}
