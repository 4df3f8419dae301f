//! Servers on the loopback interface that end with their test.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A child process that listens on a port.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    /// Starts a process and waits until its port answers.
    pub fn start(port: u16, mut command: Command) -> Self {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { child, port };
        let begin = Instant::now();
        while TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).is_err() {
            if let Some(status) = server.child.try_wait().unwrap() {
                panic!("{command:?}: {status}");
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "{command:?}");
            sleep(Duration::from_millis(10));
        }
        server
    }

    /// Serves all repositories below a directory over `git://`.
    pub fn git_daemon(base: &Path) -> Self {
        Self::git_daemon_on(free_port(), base)
    }

    /// The same on a port that a test has chosen.
    pub fn git_daemon_on(port: u16, base: &Path) -> Self {
        let exec_path = super::git::command(base, &["--exec-path"])
            .output()
            .unwrap();
        let exec_path = String::from_utf8(exec_path.stdout).unwrap();
        // Not through `git`, which would start it as a child that outlives us.
        let mut command = Command::new(Path::new(exec_path.trim()).join("git-daemon"));
        command
            .args(["--export-all", "--reuseaddr", "--listen=127.0.0.1"])
            .arg(format!("--port={port}"))
            .arg(format!("--base-path={}", base.display()))
            .arg(base)
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        Self::start(port, command)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}
