//! Runs a program and tells how long it took and how much memory it had at most.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Res;

/// A program's run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub wall: Duration,
    /// Its own peak, or that of the largest program it started.
    pub peak_kib: u64,
    pub code: i32,
}

/// The first argument that makes this program the one in between.
pub const MEASURE: &str = "--measure";

/// Runs a command to its end; its output goes to files below `logs`.
///
/// A process in between starts it, because Linux counts the memory of whoever starts a program as that program's.
pub fn run(command: &Command, logs: &Path) -> Res<Run> {
    let mut between = Command::new(std::env::current_exe()?);
    between.arg(MEASURE).arg(command.get_program());
    between.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => between.env(name, value),
            None => between.env_remove(name),
        };
    }
    let stdout = logs.join("stdout");
    let output = between
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(logs.join("stderr"))?)
        .spawn()?
        .wait_with_output()?;
    if !output.status.success() {
        return Err(format!("{command:?} could not be run").into());
    }
    let said = std::fs::read_to_string(&stdout)?;
    let figures: Vec<u64> = said
        .lines()
        .next_back()
        .unwrap_or_default()
        .split(' ')
        .map_while(|figure| figure.parse().ok())
        .collect();
    match figures.as_slice() {
        [nanoseconds, peak_kib, code] => Ok(Run {
            wall: Duration::from_nanos(*nanoseconds),
            peak_kib: *peak_kib,
            code: i32::try_from(*code)?,
        }),
        _ => Err(format!("{command:?} was not measured").into()),
    }
}

/// The process in between: runs a command and prints what it took as the last line.
pub fn measure(mut command: impl Iterator<Item = OsString>) -> Res<()> {
    let program = command.next().ok_or("no command")?;
    let start = Instant::now();
    let child = Command::new(program).args(command).spawn()?;
    let (status, peak_kib) = wait(&child)?;
    let wall = start.elapsed().as_nanos();
    let code = if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        128 + libc::WTERMSIG(status)
    };
    println!("\n{wall} {peak_kib} {code}");
    Ok(())
}

/// `wait4`, the only call that tells the peak memory of one child. Linux counts it in kB.
#[allow(unsafe_code)]
fn wait(child: &Child) -> io::Result<(i32, u64)> {
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: a `rusage` is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to locals that outlive the call; the child has not been waited for.
        let ended = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if ended == pid {
            return Ok((status, u64::try_from(usage.ru_maxrss).unwrap_or(0)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
