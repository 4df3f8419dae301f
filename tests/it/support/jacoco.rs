//! JaCoCo itself, in a JVM.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Debian's libjacoco-java.
const CORE: &str = "/usr/share/java/org.jacoco.core.jar";

/// Holds the agent's own jar.
const AGENT: &str = "/usr/share/java/org.jacoco.agent.jar";

/// Runs a program to its end.
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command:?}\n{stdout}\n{stderr}");
}

/// Programs of `tests/it/java`, compiled.
pub struct Programs {
    folder: TempDir,
}

impl Programs {
    /// Compiles `NAME.java` for a release of Java.
    pub fn compile(name: &str, release: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/java");
        run(Command::new("javac")
            .args([
                "--release",
                release,
                "-encoding",
                "UTF-8",
                "-cp",
                CORE,
                "-d",
            ])
            .arg(folder.path())
            .arg(sources.join(format!("{name}.java"))));
        Self { folder }
    }

    /// A JVM that runs one, once it is given arguments.
    pub fn java(&self, options: &[&str], main: &str) -> Command {
        let mut command = Command::new("java");
        command
            .current_dir(self.folder.path())
            .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .args(options)
            .arg("-cp")
            .arg(format!(".:{CORE}"))
            .arg(main);
        command
    }

    /// Runs `JacocoSide`: what JaCoCo makes of all cases.
    pub fn answers(&self, cases: &str) -> String {
        let [input, output] = ["input", "output"].map(|name| self.folder.path().join(name));
        std::fs::write(&input, cases).unwrap();
        run(self.java(&[], "JacocoSide").arg(&input).arg(&output));
        std::fs::read_to_string(output).unwrap()
    }

    /// Runs `Shop` under the agent once for each list of words; all append to one file.
    pub fn recorded(&self, runs: &[&[&str]]) -> Vec<u8> {
        let agent = self.agent();
        let file = self.folder.path().join("recorded.exec");
        for (n, words) in runs.iter().enumerate() {
            let (agent, file) = (agent.display(), file.display());
            let option = format!("-javaagent:{agent}=destfile={file},sessionid=shop-{n}");
            run(self.java(&[&option], "Shop").args(*words));
        }
        std::fs::read(file).unwrap()
    }

    pub fn agent(&self) -> PathBuf {
        run(Command::new("jar").current_dir(self.folder.path()).args([
            "xf",
            AGENT,
            "jacocoagent.jar",
        ]));
        self.folder.path().join("jacocoagent.jar")
    }
}
