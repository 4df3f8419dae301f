//! A program that runs within bounds of time and output, and ends with all that it has started.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::Limits;
use super::confine::{Confinement, FAILED, VOICE};
use super::copy::Copy;

/// What is kept of a program's complaints, in bytes: the last ones.
const WORDS: usize = 64 << 10;

/// Between two looks whether a program that has closed its output has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// A program and what it gets.
pub(super) struct Task<'a> {
    /// Our own binary, which becomes the program.
    pub(super) launcher: &'a Path,
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [OsString],
    /// Where it starts.
    pub(super) folder: &'a Path,
    pub(super) copy: &'a Copy,
    /// `PATH`, for a program that may fetch and needs others for that; with it comes a network.
    pub(super) search: Option<&'a OsString>,
    pub(super) limits: &'a Limits,
    pub(super) time: Duration,
}

/// How a program ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// Well, with this output.
    Well(Vec<u8>),
    /// Badly, with these last words.
    Badly(ExitStatus, Vec<u8>),
    /// It took too long.
    TooLong,
    /// It printed too much.
    TooMuch,
}

impl Task<'_> {
    /// Runs the program to its end, whatever that is. Blocks.
    ///
    /// # Errors
    /// When it could not be started.
    pub(super) fn run(&self) -> io::Result<Ended> {
        let confinement = Confinement {
            limits: self.limits,
            time: self.time,
            network: self.search.is_some(),
            program: self.program,
        };
        let mut command = Command::new(self.launcher);
        command
            .args(confinement.arguments())
            .args(self.arguments)
            .current_dir(self.folder)
            .env_clear()
            .env("HOME", self.copy.home())
            .env("TMPDIR", self.copy.temporary())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(search) = self.search {
            command.env("PATH", search);
        }
        let deadline = Instant::now() + self.time;
        let mut group = Group::start(&mut command)?;
        let (sender, events) = channel();
        let (output, words) = (group.child.stdout.take(), group.child.stderr.take());
        if let (Some(output), Some(words)) = (output, words) {
            let (most, to) = (self.limits.output, sender.clone());
            thread::Builder::new().spawn(move || read_output(output, most, &to))?;
            thread::Builder::new().spawn(move || read_words(words, &sender))?;
        }
        let (output, words) = match gather(&events, deadline) {
            Ok(read) => read,
            Err(ended) => return Ok(ended),
        };
        if !group.has_ended(deadline)? {
            return Ok(Ended::TooLong);
        }
        let status = group.end()?;
        let words = heard(&words);
        if status.code() == Some(i32::from(FAILED)) {
            let why = String::from_utf8_lossy(&words).trim().to_owned();
            return Err(io::Error::other(why));
        }
        Ok(match status.success() {
            true => Ended::Well(output),
            false => Ended::Badly(status, words),
        })
    }
}

enum Event {
    Output(Vec<u8>),
    TooMuch,
    Words(Vec<u8>),
}

/// Waits until the program has closed its output.
fn gather(events: &Receiver<Event>, deadline: Instant) -> Result<(Vec<u8>, Vec<u8>), Ended> {
    let (mut output, mut words) = (None, None);
    while output.is_none() || words.is_none() {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Event::Output(bytes)) => output = Some(bytes),
            Ok(Event::Words(bytes)) => words = Some(bytes),
            Ok(Event::TooMuch) => return Err(Ended::TooMuch),
            Err(RecvTimeoutError::Timeout) => return Err(Ended::TooLong),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok((output.unwrap_or_default(), words.unwrap_or_default()))
}

fn read_output(mut from: impl Read, most: usize, to: &Sender<Event>) {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    // A pipe that breaks ends like one that is closed: the exit code tells how the program ended.
    let _ = from.by_ref().take(limit).read_to_end(&mut bytes);
    let event = match bytes.len() > most {
        true => Event::TooMuch,
        false => Event::Output(bytes),
    };
    // Nobody waits any more when the program has taken too long.
    let _ = to.send(event);
}

/// Reads to the end, so that the program never waits for us, and keeps the last bytes.
fn read_words(mut from: impl Read, to: &Sender<Event>) {
    let (mut kept, mut part) = (Vec::new(), vec![0; WORDS]);
    while let Ok(count @ 1..) = from.read(&mut part) {
        kept.extend(part.iter().take(count));
        kept.drain(..kept.len().saturating_sub(WORDS));
    }
    let _ = to.send(Event::Words(kept));
}

/// What the program said, and not our own process before it became the program.
fn heard(words: &[u8]) -> Vec<u8> {
    let mut heard = Vec::with_capacity(words.len());
    for line in words.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_prefix(VOICE.as_bytes()) {
            Some(ours) => {
                let ours = String::from_utf8_lossy(ours);
                tracing::debug!("a build's process says: {}", ours.trim());
                if !ours.starts_with("the network") {
                    heard.extend(ours.as_bytes());
                }
            }
            None => heard.extend(line),
        }
    }
    heard
}

/// A process and all that it has started, which end when this is dropped.
struct Group {
    child: Child,
    is_over: bool,
}

impl Group {
    fn start(command: &mut Command) -> io::Result<Self> {
        Ok(Self {
            child: command.spawn()?,
            is_over: false,
        })
    }

    fn id(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }

    /// Waits for the end of the first process, which stays until [`end`](Self::end): its id is not given to another one.
    fn has_ended(&self, deadline: Instant) -> io::Result<bool> {
        let Some(id) = self.id() else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(id), options)?.is_none() {
            if Instant::now() >= deadline {
                return Ok(false);
            }
            thread::sleep(PAUSE);
        }
        Ok(true)
    }

    /// Ends all of them, and tells how the first one ended.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(id) = self.id() {
            // Fails when none is left.
            let _ = kill_process_group(id, Signal::KILL);
        }
        self.is_over = true;
        self.child.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Once it was waited for, its id may be another's.
        if !self.is_over {
            let _ = self.end();
        }
    }
}
