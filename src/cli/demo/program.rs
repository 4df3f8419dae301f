//! This very program, as the demo starts it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::cli::error::CliError;
use crate::cluster::ConnectOptions;

/// The program, and what it is always started with.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    folder: PathBuf,
    cluster: Vec<String>,
}

/// What a command printed.
pub struct Output {
    pub code: Option<i32>,
    /// Standard error, then standard output.
    pub text: String,
}

impl Program {
    /// For a folder to work in, and a cluster.
    pub fn new(folder: &Path, options: &ConnectOptions) -> Result<Self, CliError> {
        let mut cluster = Vec::new();
        if let Some(path) = &options.kubeconfig {
            let path = std::path::absolute(path)?;
            cluster.extend(["--kubeconfig".to_owned(), path.display().to_string()]);
        }
        if let Some(context) = &options.context {
            cluster.extend(["--context".to_owned(), context.clone()]);
        }
        Ok(Self {
            path: std::env::current_exe()?,
            folder: folder.to_owned(),
            cluster,
        })
    }

    /// Runs a command and waits for it.
    pub async fn run(&self, arguments: &[&str]) -> Result<Output, CliError> {
        let mut command = self.command(arguments);
        if anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never {
            command.env("CLICOLOR_FORCE", "1"); // its output passes through us
        }
        let output = tokio::task::spawn_blocking(move || command.output());
        let output = output.await.map_err(io::Error::other)??;
        let text = [output.stderr, output.stdout].concat();
        Ok(Output {
            code: output.status.code(),
            text: String::from_utf8_lossy(&text).into_owned(),
        })
    }

    /// Starts the controller; its log goes to a file of the folder.
    pub fn start(&self, arguments: &[&str]) -> Result<Controller, CliError> {
        let log = self.folder.join("controller.log");
        let child = self
            .command(arguments)
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()?;
        Ok(Controller { child, log })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(arguments)
            .args(&self.cluster)
            .current_dir(&self.folder)
            .env("XDG_CACHE_HOME", self.folder.join("cache"))
            .stdin(Stdio::null());
        command
    }
}

/// A controller that runs until this is dropped.
pub struct Controller {
    child: Child,
    log: PathBuf,
}

impl Controller {
    /// What it has logged.
    pub fn log(&self) -> Result<String, CliError> {
        Ok(std::fs::read_to_string(&self.log)?)
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> Result<bool, CliError> {
        Ok(self.child.try_wait()?.is_none())
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0)) {
            // When it has ended already there is nothing to tell it.
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}
