//! `covergence run` as a process, and what Linux says of it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Res;
use crate::tools::{SERVICE, Tools};

/// What takes longer never comes.
const PATIENCE: Duration = Duration::from_secs(300);
/// Linux counts processor time for programs in hundredths of a second, whatever its own clock does (`USER_HZ`).
const TICKS_PER_SECOND: u64 = 100;

/// A running controller; it ends with this value, or with this process.
pub struct Controller {
    child: Child,
    port: u16,
    started: Instant,
}

/// Resident memory, now and at most.
pub struct Memory {
    pub resident_kib: u64,
    pub peak_kib: u64,
}

impl Controller {
    /// Starts it with these Syncs; it looks after these namespaces only.
    pub fn start(tools: &Tools, namespaces: &[String], syncs: &[Value]) -> Res<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let folder = tools.folder().join("config");
        configure(&folder, tools.folder(), namespaces, syncs)?;
        let mut command = tools.covergence(&["run", "--context", SERVICE, "--config"]);
        command
            .arg(&folder)
            .arg(format!("--listen=127.0.0.1:{port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(tools.folder().join("controller.log"))?);
        end_with_us(&mut command);
        let started = Instant::now();
        Ok(Self {
            child: command.spawn()?,
            port,
            started,
        })
    }

    /// Waits until it says that it is ready, and returns how long that took since its start.
    pub fn ready(&mut self) -> Res<Duration> {
        self.wait(Duration::from_millis(5), |this| {
            this.get("/readyz").is_ok_and(|(code, _)| code == 200)
        })
    }

    /// Waits until it has looked at all of so many Syncs and Targets and the Syncs are ready; returns how long that took
    /// since its start, to within the pauses between two questions.
    pub fn looked_at(&mut self, syncs: usize, targets: usize) -> Res<Duration> {
        self.wait(Duration::from_millis(50), |this| {
            let text = this.get("/metrics").map_or(String::new(), |(_, text)| text);
            is_looked_at(&text, syncs, targets)
        })
    }

    /// Its memory, as it is.
    pub fn memory(&self) -> Res<Memory> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok())
                .ok_or_else(|| format!("/proc/PID/status has no {name}"))
        };
        Ok(Memory {
            resident_kib: field("VmRSS:")?,
            peak_kib: field("VmHWM:")?,
        })
    }

    /// Processor time so far, of user and system.
    pub fn processor_time(&self) -> Res<Duration> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name of the program, in brackets, may hold spaces; `utime` and `stime` are the 12th and 13th after it.
        let (_, fields) = text.rsplit_once(')').ok_or("/proc/PID/stat is odd")?;
        let fields = fields.split_whitespace().skip(11).take(2);
        let ticks: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let ticks: u64 = ticks.iter().sum();
        Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
    }

    /// SIGKILL.
    pub fn kill(mut self) -> Res<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    fn wait(&mut self, pause: Duration, is: impl Fn(&Self) -> bool) -> Res<Duration> {
        while self.started.elapsed() < PATIENCE {
            if is(self) {
                return Ok(self.started.elapsed());
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("the controller has ended: {status}").into());
            }
            sleep(pause);
        }
        Err("the controller does not come to rest".into())
    }

    fn get(&self, path: &str) -> Res<(u16, String)> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
        Ok((code.ok_or("no HTTP answer")?, answer))
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has the kernel end it when this process ends, however it does.
#[allow(unsafe_code)]
fn end_with_us(command: &mut Command) {
    // SAFETY: `prctl` is a system call and nothing else, which may be made between fork and exec.
    unsafe {
        command.pre_exec(
            || match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            },
        );
    }
}

fn configure(folder: &Path, sources: &Path, namespaces: &[String], syncs: &[Value]) -> Res<()> {
    let config = json!({
        "apiVersion": "closurejvm.io/v1alpha1",
        "kind": "Config",
        "metadata": { "name": "bench" },
        "spec": { "namespaces": namespaces, "directories": [sources], "leases": { "enabled": false } },
    });
    let documents: Vec<String> = [&config]
        .into_iter()
        .chain(syncs)
        .map(Value::to_string)
        .collect();
    fs::create_dir_all(folder)?;
    Ok(fs::write(
        folder.join("config.yaml"),
        documents.join("\n---\n"),
    )?)
}

fn is_looked_at(metrics: &str, syncs: usize, targets: usize) -> bool {
    let ready = metrics.lines().filter(|line| {
        line.starts_with("covergence_sync_info{") && line.contains("ready=\"True\"")
    });
    let looks = metrics.lines().find_map(|line| {
        let series = "covergence_reconcile_duration_seconds_count{kind=\"ClosureJVMTarget\"} ";
        line.strip_prefix(series)?.parse::<usize>().ok()
    });
    ready.count() >= syncs && looks.unwrap_or(0) >= targets
}
