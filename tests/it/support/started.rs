//! A run that goes on until it is told to end.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use tempfile::TempDir;

use super::covergence::Run;

/// It ends with the test.
pub struct Started {
    child: Child,
    stdout: BufReader<ChildStdout>,
    lines: Vec<String>,
    _home: TempDir,
}

impl Started {
    pub fn new(run: Run) -> Self {
        let (mut command, home) = run.into_parts();
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            stdout,
            lines: Vec::new(),
            _home: home,
        }
    }

    /// Sends a signal to it alone.
    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// Reads on until a line holds a text, and gives that line.
    pub fn until(&mut self, text: &str) -> String {
        for line in self.stdout.by_ref().lines() {
            let line = line.unwrap();
            self.lines.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
        panic!("{text:?} was not printed: {:#?}", self.lines)
    }

    /// Waits for its end, and gives all lines that it printed.
    pub fn wait(mut self) -> (ExitStatus, Vec<String>) {
        for line in self.stdout.by_ref().lines() {
            self.lines.push(line.unwrap());
        }
        let status = self.child.wait().unwrap();
        (status, std::mem::take(&mut self.lines))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
