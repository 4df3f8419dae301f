//! The first moments of a build's process: it gives up what the program must not have, and becomes the program.
//!
//! This is our own binary once more, started by itself: between fork and exec of a process with threads next to nothing is
//! allowed, and an image without a shell has neither `prlimit` nor `unshare`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use rustix::thread::{UnshareFlags, set_no_new_privs};

use super::Limits;

/// The first argument of such a process; no command of people.
pub const ARGUMENT: &str = "__confine";

/// What it writes in front of its own words to stderr.
pub(super) const VOICE: &str = "covergence: ";

/// Files that a program may have open.
const FILES: u64 = 1024;

/// The port that discards what comes.
const NOWHERE: &str = "http://127.0.0.1:9";

/// What the process is told, as its arguments.
pub(super) struct Confinement<'a> {
    pub(super) limits: &'a Limits,
    pub(super) time: Duration,
    pub(super) network: bool,
    pub(super) program: &'a Path,
}

impl Confinement<'_> {
    /// The arguments that stand before those of the program.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let Limits {
            time: _,
            memory,
            output: _,
            file,
            processes,
        } = self.limits;
        let mut arguments: Vec<OsString> = vec![ARGUMENT.into()];
        arguments.push(if self.network { "network" } else { "alone" }.into());
        // Programs with several threads use several processors.
        let seconds = self.time.as_secs().saturating_mul(2).max(1);
        let numbers = [seconds, *memory, *file, *processes];
        arguments.extend(numbers.map(|number| number.to_string().into()));
        arguments.push(self.program.into());
        arguments
    }
}

/// Becomes the program that the arguments name; comes back only when that fails.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let error = become_program(arguments.into_iter());
    // Nobody is left to tell when this fails.
    let _ = writeln!(io::stderr(), "{VOICE}{error}");
    ExitCode::from(FAILED)
}

/// Its exit code when the program could not be started, as that of `env` and shells.
pub(super) const FAILED: u8 = 126;

fn become_program(mut arguments: impl Iterator<Item = OsString>) -> io::Error {
    let network = arguments.next().is_some_and(|word| word == "network");
    let mut number = || {
        arguments
            .next()
            .as_deref()
            .and_then(OsStr::to_str)?
            .parse::<u64>()
            .ok()
    };
    let numbers = [number(), number(), number(), number()];
    let ([Some(time), Some(memory), Some(file), Some(processes)], Some(program)) =
        (numbers, arguments.next())
    else {
        return io::Error::new(io::ErrorKind::InvalidInput, "this is not for people");
    };
    let limits = [
        (Resource::Cpu, time),
        (Resource::Data, memory),
        (Resource::Fsize, file),
        (Resource::Nofile, FILES),
        (Resource::Core, 0),
    ];
    if let Err(error) = limits.into_iter().try_for_each(limit) {
        return error;
    }
    let mut program = Command::new(program);
    match alone(network) {
        Ok(()) if network => {}
        // Only now the kernel counts those of this build alone.
        Ok(()) => drop(limit((Resource::Nproc, processes))),
        Err(error) => {
            // The least that is left to do: what asks for the default proxy finds nobody there.
            program.envs(["HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, NOWHERE)));
            drop(writeln!(
                io::stderr(),
                "{VOICE}the network could not be taken away: {error}"
            ));
        }
    }
    // The kernel may forget it when the user namespace becomes another one.
    match die_with_parent() {
        Ok(()) => program.args(arguments).exec(),
        Err(error) => error,
    }
}

fn die_with_parent() -> io::Result<()> {
    set_no_new_privs(true)?;
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Lowers a limit, for good.
fn limit((resource, most): (Resource, u64)) -> io::Result<()> {
    let rlimit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    Ok(setrlimit(resource, rlimit)?)
}

/// Leaves all networks: the process gets an empty one of its own, and a user namespace, without which only root may do that.
fn alone(network: bool) -> io::Result<()> {
    if network {
        return Ok(());
    }
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    // What is unsafe about it is sharing files between threads, which this process has none of, and does not ask for.
    #[allow(deprecated)]
    rustix::thread::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET)?;
    // The same user inside as outside: files are made as somebody.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))
}
