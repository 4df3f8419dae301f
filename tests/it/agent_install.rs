//! `covergence agent install`: what the init container of an instrumented pod runs.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::covergence::{Output, Run};

/// Debian's libjacoco-java: it holds the agent.
const JAR: &str = "/usr/share/java/org.jacoco.agent.jar";

fn install(jar: &Path, folder: &Path, log: &Path) -> Output {
    Run::new(&["agent", "install"])
        .arg(folder)
        .arg("--jar")
        .arg(jar)
        .arg("--termination-log")
        .arg(log)
        .run()
}

#[test]
fn a_jvm_loads_what_is_installed() {
    let folder = TempDir::new().unwrap();
    install(Path::new(JAR), folder.path(), Path::new("/nowhere"));
    let (jar, exec) = (
        folder.path().join("jacocoagent.jar"),
        folder.path().join("it.exec"),
    );
    let option = format!("-javaagent:{}=destfile={}", jar.display(), exec.display());
    let ran = Command::new("java")
        .args([option.as_str(), "-version"])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    // The head of every file that JaCoCo writes.
    assert_eq!(fs::read(exec).unwrap()[..5], [0x01, 0xc0, 0xc0, 0x10, 0x07]);
}

#[test]
fn what_is_installed_becomes_the_last_words_of_the_container() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("termination-log");
    fs::write(
        &log,
        "what was there before, and longer than what comes now ".repeat(9),
    )
    .unwrap();
    let output = install(Path::new(JAR), folder.path(), &log);
    assert_eq!(output.code, Some(0));
    let told = output.json();
    assert_eq!(
        (&told["agent"], &told["version"]),
        (&"JaCoCo".into(), &"0.8.6".into())
    );
    let digest = Command::new("sha256sum")
        .arg(folder.path().join("jacocoagent.jar"))
        .output()
        .unwrap();
    let digest = String::from_utf8(digest.stdout).unwrap();
    assert_eq!(told["digest"], format!("sha256:{}", &digest[..64]));
    assert_eq!(fs::read_to_string(&log).unwrap(), output.stdout.trim());
}

#[test]
fn the_log_of_last_words_is_the_kubelets_to_make() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("termination-log");
    assert_eq!(install(Path::new(JAR), folder.path(), &log).code, Some(0));
    assert!(!log.exists());
}

#[test]
fn what_goes_wrong_is_told_with_what_to_do() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let no_jar = at.join("text");
    fs::write(&no_jar, "no jar").unwrap();
    let told = |jar: &Path, folder: &Path| {
        let output = install(jar, folder, Path::new("/nowhere"));
        assert_eq!(output.code, Some(2));
        output.stderr.replace(&at.display().to_string(), "AT")
    };
    assert_eq!(
        told(&at.join("missing.jar"), at),
        "error: read the agent AT/missing.jar: No such file or directory (os error 2)\n  images that deploy/build-image-root \
         made have it there; elsewhere name one with --jar (deploy/agent/README.md)\n"
    );
    assert_eq!(
        told(&no_jar, at),
        "error: the agent AT/text is no jar, or not all of one: it has no directory at its end\n  it must be JaCoCo's \
         jacocoagent.jar, or the org.jacoco.agent jar that holds it\n"
    );
    assert_eq!(
        told(Path::new(JAR), &at.join("missing")),
        "error: install the agent in AT/missing: No such file or directory (os error 2)\n"
    );
    assert!(!at.join("jacocoagent.jar").exists());
}
