//! `covergence agent`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::OK;
use super::error::CliError;
use crate::agent::{self, DEFAULT_JAR};

const INSTALL_HELP: &str = "\
This is what the init container of an instrumented pod runs. It needs nothing but DIR to write to, and no user in particular.

Prints what it has installed, as one line of JSON: agent, version and digest. The same line becomes the last words of the
container, from which the controller knows which agent is in the pod.

The jar is JaCoCo's jacocoagent.jar, or the org.jacoco.agent jar of a package repository, which holds it.";

#[derive(Debug, Args)]
pub struct AgentArgs {
    #[command(subcommand)]
    command: AgentCommand,
}

#[derive(Debug, Subcommand)]
enum AgentCommand {
    /// Put the coverage agent into a folder, for a JVM to load.
    #[command(after_help = INSTALL_HELP)]
    Install(InstallArgs),
}

#[derive(Debug, Args)]
struct InstallArgs {
    /// Folder that the JVM's container shares; `jacocoagent.jar` is written there.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The agent.
    #[arg(long, value_name = "FILE", default_value = DEFAULT_JAR)]
    jar: PathBuf,
    /// Where the kubelet reads a container's last words; left alone where it is not there or not ours to write.
    #[arg(long, value_name = "FILE", default_value = "/dev/termination-log")]
    termination_log: PathBuf,
}

pub fn run(args: &AgentArgs) -> Result<u8, CliError> {
    let AgentCommand::Install(args) = &args.command;
    let installed = agent::install(&args.jar, &args.folder)?;
    let line = serde_json::to_string(&installed)?;
    // A pod without it is as well instrumented; only status knows less.
    let _ = tell_kubelet(&args.termination_log, &line);
    writeln!(io::stdout(), "{line}")?;
    Ok(OK)
}

/// The file is the kubelet's: where there is none, there is no kubelet.
fn tell_kubelet(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
    file.write_all(line.as_bytes())
}
