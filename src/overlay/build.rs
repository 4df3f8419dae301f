//! One build, from the files to the manifests.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::cache::{Built, Cache, Key, key};
use super::check::check;
use super::child::{Ended, Task};
use super::copy::Copy;
use super::program::{Program, find, search_path};
use super::secrets::secrets;
use super::words::{last_words, tells_of_memory};
use super::{Limits, Options, Values, schemas};
use crate::load::{Diagnostic, Severity, Snapshot, SourceFile};
use crate::source::{Found, Overlay, OverlayKind, follow};

/// Builds overlays, and remembers what came of them.
#[derive(Debug)]
pub struct Builder {
    /// Our own binary, which confines itself before it becomes a program.
    launcher: PathBuf,
    /// Where programs are looked for.
    search: OsString,
    /// Where copies of the files are made.
    work: PathBuf,
    limits: Limits,
    cache: Mutex<Cache>,
}

/// A source that could not be built.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Its revision.
    pub revision: String,
    /// Why, with an error among them.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failed {
    /// The first reason, in one line.
    pub fn message(&self) -> String {
        let error = self
            .diagnostics
            .iter()
            .find(|d| d.severity == Severity::Error);
        let Some(Diagnostic {
            file,
            position,
            message,
            hint,
            ..
        }) = error
        else {
            return String::new();
        };
        let place = position.map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
        let hint = hint
            .as_ref()
            .map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{file}{place}: {message}{hint}")
    }

    /// A snapshot that holds nothing but the reasons: it prunes nothing.
    pub fn into_snapshot(self) -> Snapshot {
        Snapshot {
            revision: self.revision,
            files: Vec::new(),
            diagnostics: self.diagnostics,
        }
    }
}

impl Builder {
    /// Makes one that makes its copies of files below `work`, with the programs on `PATH`.
    pub fn new(work: PathBuf) -> Self {
        Self {
            // Also when the file has been replaced meanwhile.
            launcher: PathBuf::from("/proc/self/exe"),
            search: search_path(),
            work,
            limits: Limits::default(),
            cache: Mutex::default(),
        }
    }

    /// The same with other bounds.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same with other programs: the launcher, a binary of ours, and those below the folders of a `PATH`.
    #[must_use]
    pub fn with(self, launcher: &Path, search: impl Into<OsString>) -> Self {
        Self {
            launcher: launcher.to_owned(),
            search: search.into(),
            ..self
        }
    }

    /// Gives the manifests of a source: as they stand, or built. Blocks.
    ///
    /// # Errors
    /// When the source has to be built and cannot be, with all that is known of why.
    pub fn build(&self, found: Found, options: &Options) -> Result<Snapshot, Failed> {
        let overlay = match found {
            Found::Overlay(overlay) => overlay,
            Found::Manifests(snapshot) => return plain(snapshot, options),
        };
        let mut faults = overlay.snapshot.diagnostics.clone();
        faults.extend(match overlay.kind {
            OverlayKind::Kustomize => check(&overlay, options.allow_remote),
            OverlayKind::Helm => schemas::check(&overlay),
        });
        faults.extend(useless_values(&overlay, options));
        if !faults.iter().any(|fault| fault.severity == Severity::Error) {
            match self.output(&overlay, options) {
                Ok(output) => {
                    return Ok(Snapshot {
                        revision: overlay.snapshot.revision,
                        files: output.into_iter().collect(),
                        diagnostics: faults,
                    });
                }
                Err(fault) => faults.push(fault),
            }
        }
        Err(Failed {
            revision: overlay.snapshot.revision,
            diagnostics: faults,
        })
    }

    /// What the program printed, as a file; nothing when it printed nothing.
    fn output(
        &self,
        overlay: &Overlay,
        options: &Options,
    ) -> Result<Option<SourceFile>, Diagnostic> {
        let error = |message: String| Diagnostic::file_error(overlay.file.clone(), message);
        let program = find(overlay.kind, &self.search)
            .map_err(|missing| error(missing.message.to_owned()).with_hint(missing.hint))?;
        let key = key(overlay, options, &program);
        let known = self.cache(|cache| cache.get(&key));
        let built = match known {
            Some(built) => built,
            None => self
                .run(overlay, options, &program, key)
                .map_err(|it| match it {
                    Unbuilt::Limit(message, hint) => error(message).with_hint(hint),
                    Unbuilt::Io(why) => error(format!("{} could not be run: {why}", program.name)),
                })?,
        };
        match &*built {
            Ok(bytes) if bytes.trim_ascii().is_empty() => Ok(None),
            Ok(bytes) => Ok(Some(SourceFile {
                path: output_name(&overlay.file).into(),
                bytes: bytes.clone(),
            })),
            Err(words) => {
                let fault = error(format!("{} failed: {words}", program.name));
                Err(match missing_dependency(words) {
                    true => fault.with_hint("commit the charts that it depends on: `helm dependency build` puts them into charts/"),
                    false => fault,
                })
            }
        }
    }

    /// Runs the program. What depends on nothing else than the key is kept.
    fn run(
        &self,
        overlay: &Overlay,
        options: &Options,
        program: &Program,
        key: Key,
    ) -> Result<Built, Unbuilt> {
        let time = options.time.unwrap_or(self.limits.time);
        let copy = Copy::new(&self.work)?;
        copy.write(&overlay.snapshot.files)?;
        let tree = copy.tree();
        let ended = Task {
            launcher: &self.launcher,
            program: &program.path,
            arguments: &arguments(overlay, options, program, &copy)?,
            folder: &tree.join(&overlay.folder),
            copy: &copy,
            search: options.allow_remote.then_some(&self.search),
            limits: &self.limits,
            time,
        }
        .run()?;
        let built = match ended {
            Ended::Well(output) => Ok(output),
            Ended::Badly(_, words) if tells_of_memory(&words) => {
                let most = self.limits.memory >> 20;
                let message = format!("{} needed more than {most} MiB of memory", program.name);
                return Err(Unbuilt::Limit(
                    message,
                    "look for a template that repeats itself",
                ));
            }
            Ended::Badly(status, _) if status.signal().is_some() => {
                let message = format!("{} was ended by the system ({status})", program.name);
                let hint = "it may use the processor for twice the time that it may take; or the machine has no memory left";
                return Err(Unbuilt::Limit(message, hint));
            }
            Ended::Badly(status, words) => {
                let secrets = secrets(overlay, options);
                let words = last_words(&words, &secrets, &tree.to_string_lossy());
                Err(match words.is_empty() {
                    true => format!("it ended with {status} and without a word"),
                    false => words,
                })
            }
            Ended::TooLong => {
                let message = format!("{} took longer than {time:?} and was ended", program.name);
                let hint = "look for a template that does not end; spec.timeout of a Sync gives it more time";
                return Err(Unbuilt::Limit(message, hint));
            }
            Ended::TooMuch => {
                let most = self.limits.output >> 20;
                let message = format!(
                    "{} printed more than {most} MiB and was ended",
                    program.name
                );
                return Err(Unbuilt::Limit(message, "make several sources of it"));
            }
        };
        let built = Arc::new(built);
        // What was fetched may be other the next time.
        if !options.allow_remote {
            self.cache(|cache| cache.keep(key, Arc::clone(&built)));
        }
        Ok(built)
    }

    fn cache<T>(&self, with: impl FnOnce(&mut Cache) -> T) -> T {
        with(&mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Why there is no output, for reasons that may pass.
enum Unbuilt {
    /// Out of bounds, and what to do.
    Limit(String, &'static str),
    Io(io::Error),
}

impl From<io::Error> for Unbuilt {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn plain(snapshot: Snapshot, options: &Options) -> Result<Snapshot, Failed> {
    if options.values.is_empty() {
        return Ok(snapshot);
    }
    let message = "values are given, and there is no Chart.yaml to render with them";
    let mut diagnostics = snapshot.diagnostics;
    diagnostics.push(Diagnostic::file_error(".", message));
    Err(Failed {
        revision: snapshot.revision,
        diagnostics,
    })
}

/// Values that no chart takes, or that are not there.
fn useless_values(overlay: &Overlay, options: &Options) -> Vec<Diagnostic> {
    let error = |message: String| Diagnostic::file_error(overlay.file.clone(), message);
    if overlay.kind == OverlayKind::Kustomize && !options.values.is_empty() {
        return vec![error(
            "values are given, and this is no chart to render with them".into(),
        )];
    }
    let is_there = |path: &str| {
        let path = follow(Path::new(&overlay.folder), path);
        let mut files = overlay.snapshot.files.iter();
        path.is_some_and(|path| files.any(|file| Path::new(&*file.path) == path))
    };
    let missing = options.values.iter().filter_map(|values| match values {
        Values::OfSource(path) if !is_there(path) => Some(path),
        Values::OfSource(_) | Values::Given(_) => None,
    });
    let missing =
        missing.map(|path| error(format!("its values file {path:?} is not in the source")));
    missing.collect()
}

/// The words of the command. Nothing of the repository is among them but paths of values files, below the copy.
fn arguments(
    overlay: &Overlay,
    options: &Options,
    program: &Program,
    copy: &Copy,
) -> io::Result<Vec<OsString>> {
    let mut arguments: Vec<OsString> = program.arguments.iter().map(Into::into).collect();
    if overlay.kind == OverlayKind::Kustomize {
        arguments.push(".".into());
        return Ok(arguments);
    }
    // Hooks are steps of `helm install`, and not what is to be there.
    let fixed = [
        "--include-crds",
        "--no-hooks",
        "--namespace",
        &options.namespace,
    ];
    arguments.extend(fixed.map(Into::into));
    if schemas::has_packed(overlay) {
        arguments.push("--skip-schema-validation".into());
    }
    for (at, values) in options.values.iter().enumerate() {
        let file = match values {
            Values::OfSource(path) => match follow(Path::new(&overlay.folder), path) {
                Some(path) => copy.tree().join(path),
                None => continue,
            },
            Values::Given(bytes) => copy.aside(&format!("values-{at}.yaml"), bytes)?,
        };
        arguments.extend(["--values".into(), file.into()]);
    }
    arguments.extend(["--".into(), OsString::from(&options.release), ".".into()]);
    Ok(arguments)
}

/// The name that the output has in diagnostics and plans; its ending says what it is.
fn output_name(file: &str) -> String {
    match file.ends_with("ml") {
        true => format!("output of {file}"),
        false => format!("output of {file}: output.yaml"),
    }
}

fn missing_dependency(words: &str) -> bool {
    words.contains("missing in charts/ directory")
}
