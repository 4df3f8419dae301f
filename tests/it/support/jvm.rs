//! JVMs under the real agent, which listens on the loopback interface.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::jacoco::Programs;
use super::lab::eventually;

/// `Pets` at work, wherever that is. It ends with the test.
pub struct Pets {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Pets {
    /// Starts them with a command, and waits until they are there.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut pets = Self { child, stdout };
        pets.hear("ready");
        pets
    }

    /// Has them do something, and waits until they have.
    pub fn does(&mut self, what: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{what}").unwrap();
        self.hear(&format!("done {what}"));
    }

    fn hear(&mut self, expected: &str) {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), expected);
    }

    /// SIGTERM, as when a pod is deleted; waits until it is over.
    pub fn terminate(mut self) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap();
    }

    /// SIGKILL, as when memory runs out.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Pets {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Pets under an agent on the loopback interface.
pub struct Jvm {
    pets: Pets,
    pub port: u16,
}

impl Jvm {
    /// Starts one whose session has this id, and waits until its agent listens.
    pub fn start(programs: &Programs, id: &str) -> Self {
        Self::start_at(programs, id, free_port())
    }

    /// The same, on a port.
    pub fn start_at(programs: &Programs, id: &str, port: u16) -> Self {
        let agent = programs.agent();
        let option = format!(
            "-javaagent:{}=output=tcpserver,port={port},includes=Pets*,sessionid={id}",
            agent.display()
        );
        let pets = Pets::start(&mut programs.java(&[&option], "Pets"));
        Self { pets, port }
    }

    /// Has it do something, and waits until it has.
    pub fn does(&mut self, what: &str) {
        self.pets.does(what);
    }

    /// Where its agent listens.
    pub fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// SIGTERM, as when a pod is deleted; waits until it is over.
    pub fn terminate(self) {
        self.pets.terminate();
    }

    /// SIGKILL, as when memory runs out.
    pub fn kill(self) {
        self.pets.kill();
    }
}

/// A port that nobody listens on. Tests of this run do not get the same one, and others hardly ever.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Holds an agent's only connection and says nothing.
pub fn occupy(port: u16) -> TcpStream {
    eventually("the agent listens", || {
        TcpStream::connect(("127.0.0.1", port)).ok()
    })
}
