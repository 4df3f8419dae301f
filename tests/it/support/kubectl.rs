//! The real kubectl, for what only it does the way people meet it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::lab;

/// Runs it on the shared control plane with these objects on its standard input, to a good end.
pub fn kubectl(arguments: &[&str], objects: &[Value]) -> String {
    let mut input = Vec::new();
    for object in objects {
        serde_json::to_writer(&mut input, object).unwrap();
    }
    let output = attempt(arguments, &input);
    assert!(output.status.success(), "kubectl {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs it on the shared control plane with this text on its standard input, whatever becomes of it.
pub fn attempt(arguments: &[&str], input: &[u8]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(program())
        .env_clear()
        .env("HOME", home.path())
        .arg("--kubeconfig")
        .arg(lab::shared().join("kubeconfig"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

/// Runs it on the lab in a folder, whatever becomes of it.
pub fn on(lab: &Path, arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(lab, home.path());
    command.args(arguments).output().unwrap()
}

/// Itself, on the lab in a folder, with a home of its own.
pub fn command(lab: &Path, home: &Path) -> Command {
    let mut command = Command::new(program());
    command
        .env_clear()
        .env("HOME", home)
        .arg("--kubeconfig")
        .arg(lab.join("kubeconfig"));
    command
}

/// Has a shell run a line that somebody was told to copy, on the shared control plane, to a good end.
pub fn paste(line: &str) {
    let home = tempfile::tempdir().unwrap();
    let ran = Command::new("sh")
        .env_clear()
        .env("PATH", path())
        .env("HOME", home.path())
        .env("KUBECONFIG", lab::shared().join("kubeconfig"))
        .args(["-c", line])
        .status()
        .unwrap();
    assert!(ran.success(), "{line}");
}

/// From `PATH`, or the one that comes with the lab.
fn program() -> PathBuf {
    if Command::new("kubectl").arg("help").output().is_ok() {
        return "kubectl".into();
    }
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/lab");
    let assets = Command::new(lab).arg("assets").output().unwrap();
    Path::new(String::from_utf8(assets.stdout).unwrap().trim()).join("kubectl")
}

/// `PATH`, and the folder of the one that comes with the lab where there is none.
pub fn path() -> String {
    let path = std::env::var("PATH").unwrap();
    match program().parent() {
        Some(folder) if folder.is_absolute() => format!("{path}:{}", folder.display()),
        _ => path,
    }
}
