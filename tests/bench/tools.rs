//! The programs that are compared, and how one run of them is measured.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Res;
use crate::audit::{AuditLog, Event, Requests};
use crate::child::{self, Run};
use crate::generator::Script;
use crate::http::{Connection, Server};
use crate::lab::{self, Lab, counters};

/// The user whose requests are counted.
const MEASURED: &str = "admin";
/// The user whose requests are recorded with their bodies, and the name of its context.
pub const RECORDED: &str = "editor";
/// The user as whom the service works, and the name of its context.
pub const SERVICE: &str = "viewer";

/// The server logs a request after it has answered it.
const LOGGED_WITHIN: Duration = Duration::from_millis(200);
/// The controllers are at rest when nothing has been changed for so long.
const AT_REST: Duration = Duration::from_millis(400);

/// One measured run.
#[derive(Clone, Debug)]
pub struct Sample {
    pub wall: Duration,
    /// None for the load generator, which is a part of this program.
    pub peak_kib: Option<u64>,
    pub requests: Requests,
    pub events: Vec<Event>,
}

pub struct Tools {
    kubectl: PathBuf,
    covergence: PathBuf,
    lab: Lab,
    connection: Connection,
    log: AuditLog,
    folder: PathBuf,
}

impl Tools {
    pub fn start(folder: &Path) -> Res<Self> {
        let lab = Lab::up(folder.join("lab"))?;
        let tools = Self {
            kubectl: std::env::var_os("KUBECTL").map_or_else(|| "kubectl".into(), PathBuf::from),
            covergence: PathBuf::from(env!("CARGO_BIN_EXE_covergence")),
            connection: lab.server.connect()?,
            log: AuditLog::open(&lab.audit_log()),
            folder: folder.to_owned(),
            lab,
        };
        let mut bind = tools.kubectl(&["create", "clusterrolebinding", "measured"]);
        bind.arg("--clusterrole=cluster-admin");
        bind.args([RECORDED, SERVICE].map(|user| format!("--user={user}")));
        tools.run(&bind, 0)?;
        Ok(tools)
    }

    /// The API server.
    pub fn server(&self) -> &Server {
        &self.lab.server
    }

    /// Where this run's files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn kubectl(&self, args: &[&str]) -> Command {
        self.command(&self.kubectl, args)
    }

    pub fn covergence(&self, args: &[&str]) -> Command {
        self.command(&self.covergence, args)
    }

    /// With a home of its own: kubectl keeps a cache there.
    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env("KUBECONFIG", self.lab.kubeconfig())
            .env("HOME", &self.folder)
            .env_remove("XDG_CACHE_HOME");
        command
    }

    /// Runs a command that must end with this code.
    pub fn run(&self, command: &Command, code: i32) -> Res<Run> {
        let run = child::run(command, &self.folder)?;
        if run.code == code {
            return Ok(run);
        }
        let file = |name| std::fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        let text = file("stderr") + &file("stdout");
        let lines: Vec<&str> = text.lines().take(10).collect();
        let said = lines.join("\n");
        Err(format!("{command:?} ended with {}, not {code}:\n{said}", run.code).into())
    }

    /// Runs a command while nothing else happens, and counts its requests.
    pub fn measure(&mut self, command: &Command, code: i32) -> Res<Sample> {
        let (run, events) = self.watch(MEASURED, |tools| tools.run(command, code))?;
        Ok(Sample {
            wall: run.wall,
            peak_kib: Some(run.peak_kib),
            requests: Requests::of(&events),
            events,
        })
    }

    /// Does something while nothing else happens, and returns the requests that a user sent meanwhile.
    pub fn watch<T>(
        &mut self,
        user: &str,
        work: impl FnOnce(&Self) -> Res<T>,
    ) -> Res<(T, Vec<Event>)> {
        self.settle()?;
        let before = counters(&mut self.connection)?.applies;
        sleep(LOGGED_WITHIN);
        self.log.skip()?;
        let result = work(self)?;
        sleep(LOGGED_WITHIN);
        let events = self.log.events(user)?;
        let applied = counters(&mut self.connection)?.applies - before;
        let logged = events.iter().filter(|event| event.is_write()).count();
        if applied != u64::try_from(logged)? {
            return Err(format!(
                "the API server counted {applied} applies, its audit log has {logged}"
            )
            .into());
        }
        if let Some(event) = events.iter().find(|event| event.failed()) {
            return Err(format!("the API server refused {} {}", event.verb, event.uri).into());
        }
        Ok((result, events))
    }

    /// Waits until the controllers have nothing more to do.
    pub fn settle(&mut self) -> Res<()> {
        let mut last = counters(&mut self.connection)?.changes;
        let mut since = Instant::now();
        while since.elapsed() < AT_REST {
            sleep(Duration::from_millis(100));
            let now = counters(&mut self.connection)?.changes;
            if now != last {
                (last, since) = (now, Instant::now());
            }
        }
        Ok(())
    }

    /// Deletes namespaces and a Sync, and waits until they are gone.
    pub fn clean(&mut self, namespaces: &[String], sync: &str) -> Res<()> {
        let sync = format!("/apis/closurejvm.io/v1alpha1/namespaces/default/syncs/{sync}");
        let paths = namespaces
            .iter()
            .map(|name| format!("/api/v1/namespaces/{name}"));
        let paths: Vec<String> = paths.chain([sync]).collect();
        for path in &paths {
            self.connection
                .send("DELETE", path, "application/json", b"")?;
        }
        for path in &paths {
            while lab::get(&mut self.connection, path)?.is_some() {
                sleep(Duration::from_millis(100));
            }
        }
        Ok(())
    }

    /// How long it takes to say the least, and to see that a small source is unchanged.
    pub fn starts(&mut self, sample: &Path, repetitions: usize) -> Res<(Vec<Sample>, Vec<Sample>)> {
        let sample = sample.to_string_lossy();
        let mut help = Vec::new();
        for _ in 0..repetitions * 4 {
            let run = self.run(&self.covergence(&["--help"]), 0)?;
            help.push(Sample {
                wall: run.wall,
                peak_kib: Some(run.peak_kib),
                requests: Requests::default(),
                events: Vec::new(),
            });
        }
        self.run(&self.covergence(&["sync", &sample]), 0)?;
        let mut diffs = Vec::new();
        for _ in 0..repetitions {
            let diff = self.covergence(&["diff", &sample]);
            diffs.push(self.measure(&diff, 0)?);
        }
        Ok((help, diffs))
    }

    /// The generator in place of a program.
    pub fn measure_generator(
        &mut self,
        script: Script,
        connections: usize,
    ) -> Res<(Script, Sample)> {
        let server = self.lab.server.clone();
        let ((script, wall), events) =
            self.watch(MEASURED, |_| script.play(&server, connections))?;
        let sample = Sample {
            wall,
            peak_kib: None,
            requests: Requests::of(&events),
            events,
        };
        Ok((script, sample))
    }
}
