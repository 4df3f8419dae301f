//! The real binary in a clean environment.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::lab;

/// An invocation.
pub struct Run {
    command: Command,
    home: TempDir,
}

impl Run {
    /// Without anything of the environment that the tests run in.
    pub fn new(arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_covergence"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home.path())
            .env("XDG_CACHE_HOME", home.path().join("cache"))
            .args(arguments);
        Self { command, home }
    }

    /// Against the shared control plane.
    pub fn on_lab(arguments: &[&str]) -> Self {
        Self::new(arguments).on(lab::shared())
    }

    /// Against the control plane in a folder.
    pub fn on(self, lab: &Path) -> Self {
        self.arg("--kubeconfig").arg(lab.join("kubeconfig"))
    }

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }

    /// With a variable of its environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// As a user of that name who may do everything, so that the audit log can tell his requests from all others.
    pub fn admin(self, user: &str) -> Self {
        self.args(&["--as", user, "--as-group", "system:masters"])
    }

    /// Runs it, and checks the exit code.
    pub fn code(self, code: i32) -> Output {
        let output = self.run();
        assert_eq!(
            output.code,
            Some(code),
            "the exit code; the output is above"
        );
        output
    }

    /// Runs it, whatever becomes of it.
    pub fn run(mut self) -> Output {
        let output = self.command.output().unwrap();
        let output = Output {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        // Shown by the test runner when the test fails.
        let arguments: Vec<_> = self.command.get_args().collect();
        println!("$ covergence {arguments:?}\n{output:?}");
        output
    }

    /// Runs it to a good end.
    pub fn ok(self) -> Output {
        self.code(0)
    }

    /// With so many KiB of memory: the kernel gives no more, and without it the process dies.
    pub fn limited(self, kib: u64) -> Self {
        let script = format!("ulimit -d {kib}; exec \"$@\"");
        self.started_by("sh", &["-c", &script, "sh"])
    }

    /// Without the superuser's right to read whatever he likes; others have none.
    pub fn without_override(self) -> Self {
        match self.home.path().metadata().unwrap().uid() {
            0 => self.started_by(
                "setpriv",
                &["--bounding-set=-dac_override,-dac_read_search"],
            ),
            _ => self,
        }
    }

    fn started_by(self, program: &str, arguments: &[&str]) -> Self {
        let Self { command, home } = self;
        let mut by = Command::new(program);
        by.args(arguments)
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear();
        let variables = command.get_envs();
        by.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        Self { command: by, home }
    }

    /// The command, and the home that it needs as long as it runs.
    pub fn into_parts(self) -> (Command, TempDir) {
        (self.command, self.home)
    }

    /// Starts it and reads its output as it comes.
    pub fn follow(mut self) -> Followed {
        let mut child = self.command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        // It ends with the child, or when nobody listens any more.
        std::thread::spawn(move || {
            let lines = stdout.lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).find(Result::is_err)
        });
        Followed {
            child,
            lines,
            _home: self.home,
        }
    }

    /// Starts it and lets it run.
    pub fn start(mut self) -> Running {
        let child = self
            .command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Running {
            child,
            _home: self.home,
        }
    }
}

/// One that runs.
pub struct Running {
    child: Child,
    _home: TempDir,
}

impl Running {
    /// SIGKILL. Says whether it was still at work.
    pub fn kill(mut self) -> bool {
        let running = self.child.try_wait().unwrap().is_none();
        // Fails only when it has ended in between.
        let _ = self.child.kill();
        self.child.wait().unwrap();
        running
    }
}

/// One that goes on to print. It ends with the test.
pub struct Followed {
    child: Child,
    lines: Receiver<String>,
    _home: TempDir,
}

impl Followed {
    /// Reads on until a line holds a text, and gives that line.
    pub fn until(&self, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(90);
        loop {
            let line = self.lines.recv_timeout(deadline - Instant::now());
            match line {
                Ok(line) if line.contains(text) => return line,
                Ok(_) => {}
                Err(error) => panic!("{text:?} was not printed: {error}"),
            }
        }
    }
}

impl Followed {
    /// Interrupts it as Ctrl-C does, and waits until it has ended well.
    pub fn interrupt(mut self) {
        let pid = i32::try_from(self.child.id()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let ended = self.child.wait().unwrap();
        assert_eq!(ended.code(), Some(0));
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What it printed, and its exit code.
pub struct Output {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        write!(
            f,
            "exit code {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}\n---"
        )
    }
}

impl Output {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Severity, file and message of each diagnostic.
    pub fn told(&self) -> Vec<String> {
        let diagnostics = self.json()["diagnostics"].as_array().unwrap().clone();
        let line = |it: &Value| {
            let (severity, file) = (text(&it["severity"]), text(&it["file"]));
            format!("{severity} {file}: {}", text(&it["message"]))
        };
        diagnostics.iter().map(line).collect()
    }

    /// All steps, in order.
    pub fn steps(&self) -> Vec<Value> {
        self.json()["steps"].as_array().unwrap().clone()
    }

    /// The one step of an object, in whatever namespace.
    pub fn step(&self, kind: &str, name: &str) -> Value {
        self.find_step(kind, name)
            .unwrap_or_else(|| panic!("no step for {kind} {name}"))
    }

    pub fn find_step(&self, kind: &str, name: &str) -> Option<Value> {
        let steps = self.steps();
        let mut found = steps
            .into_iter()
            .filter(|step| step["kind"] == kind && step["name"] == name);
        let first = found.next();
        assert!(found.next().is_none(), "two steps for {kind} {name}");
        first
    }

    /// What is planned for an object.
    pub fn action(&self, kind: &str, name: &str) -> String {
        text(&self.step(kind, name)["action"])
    }

    /// Why.
    pub fn reason(&self, kind: &str, name: &str) -> String {
        text(&self.step(kind, name)["reason"])
    }

    /// What a sync did to an object.
    pub fn outcome(&self, kind: &str, name: &str) -> String {
        text(&self.step(kind, name)["outcome"])
    }

    /// What a sync says about it.
    pub fn message(&self, kind: &str, name: &str) -> String {
        text(&self.step(kind, name)["message"])
    }

    /// How many steps have an action or, after a sync, an outcome.
    pub fn count(&self, word: &str) -> u64 {
        self.json()["summary"][word].as_u64().unwrap_or(0)
    }

    /// Checks that nothing else than "unchanged" is planned, or has happened.
    pub fn nothing_to_do(&self) {
        let steps = self.steps();
        let word = |step: &Value| step.get("outcome").unwrap_or(&step["action"]).clone();
        let others: Vec<_> = steps.iter().filter(|s| word(s) != "unchanged").collect();
        assert!(others.is_empty(), "{others:#?}");
        assert!(!steps.is_empty(), "there was nothing to look at");
    }

    /// Checks that a text is nowhere in what was printed.
    pub fn hides(&self, text: &str) {
        assert!(
            !self.stdout.contains(text) && !self.stderr.contains(text),
            "{text:?} was printed"
        );
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
