//! `covergence collect info`.

use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use super::args::InfoArgs;
use super::read::Reading;
use super::summary_text;
use crate::api::names::API_VERSION;
use crate::cli::args::Output;
use crate::cli::diagnostics::printable;
use crate::cli::error::CliError;
use crate::cli::steps::{BAD, PLAIN};
use crate::cli::table::{Row, Table};
use crate::cli::{DIFFERENCES, OK, json};
use crate::coverage::{ExecutionRef, Limits, SessionInfo, Store, Summary};

pub fn run(args: &InfoArgs) -> Result<u8, CliError> {
    let InfoArgs {
        files,
        classes,
        output,
    } = args;
    let limits = Limits::default();
    let mut union = Store::new();
    let mut read = Vec::new();
    for path in files {
        let mut store = Store::new();
        let reading = Reading::of(path, &mut store, &limits);
        let (_, mismatches) = union.merge(&store);
        let mut problems: Vec<String> = reading.problems().collect();
        problems.extend(mismatches.iter().map(ToString::to_string));
        let content = Content::of(&store, *classes);
        read.push(FileContent::new(path, content, problems));
    }
    let whole = read.iter().all(|file| file.problems.is_empty());
    let union = Content::of(&union, *classes);
    match output {
        Output::Text => print(&read, &union)?,
        Output::Json => json::print(&Report {
            api_version: API_VERSION,
            kind: "ExecutionData",
            complete: whole,
            files: read,
            union,
        })?,
    }
    Ok(if whole { OK } else { DIFFERENCES })
}

/// What is in all files, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    api_version: &'static str,
    kind: &'static str,
    complete: bool,
    files: Vec<FileContent>,
    union: Content,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileContent {
    file: String,
    #[serde(flatten)]
    content: Content,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// What is in a store, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    sessions: Vec<Session>,
    classes: u64,
    probes: u64,
    hit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_list: Option<Vec<Class>>,
}

/// A session, for programs.
#[derive(Serialize)]
pub struct Session {
    id: String,
    start: String,
    dump: String,
}

#[derive(Serialize)]
struct Class {
    id: String,
    name: String,
    probes: usize,
    hit: u64,
}

impl FileContent {
    fn new(path: &Path, content: Content, problems: Vec<String>) -> Self {
        Self {
            file: path.display().to_string(),
            content,
            problems,
        }
    }
}

impl Content {
    /// Reads it off a store, with all classes if they are wanted.
    pub fn of(store: &Store, classes: bool) -> Self {
        let list = || {
            let mut list: Vec<Class> = store.classes().map(Class::of).collect();
            list.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
            list
        };
        let Summary {
            sessions: _,
            classes: count,
            probes,
            hit,
        } = store.summary();
        Self {
            sessions: store.sessions().map(Session::of).collect(),
            classes: count,
            probes,
            hit,
            class_list: classes.then(list),
        }
    }

    fn summary(&self) -> Summary {
        Summary {
            sessions: self.sessions.len() as u64,
            classes: self.classes,
            probes: self.probes,
            hit: self.hit,
        }
    }
}

impl Session {
    /// With times for people.
    pub fn of(session: &SessionInfo) -> Self {
        let SessionInfo { id, start, dump } = session;
        Self {
            id: id.to_string(),
            start: time(*start),
            dump: time(*dump),
        }
    }
}

impl Class {
    fn of(class: ExecutionRef<'_>) -> Self {
        Self {
            id: class.id.to_string(),
            name: class.name.to_string(),
            probes: class.probes.len(),
            hit: class.probes.count(),
        }
    }
}

/// A time as RFC 3339, or as it is if it is beyond all calendars.
fn time(millis: i64) -> String {
    match Timestamp::from_millisecond(millis) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => format!("{millis} ms"),
    }
}

fn print(files: &[FileContent], union: &Content) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for (n, file) in files.iter().enumerate() {
        if n > 0 {
            writeln!(out)?;
        }
        print_content(&mut out, &file.file, &file.content)?;
        for problem in &file.problems {
            writeln!(out, "{BAD}{}{BAD:#}", printable(problem))?;
        }
    }
    if files.len() > 1 {
        writeln!(out, "\nall together: {}", summary_text(union.summary()))?;
    }
    Ok(())
}

fn print_content(out: &mut dyn Write, name: &str, content: &Content) -> io::Result<()> {
    let summary = summary_text(content.summary());
    writeln!(out, "{}", printable(&format!("{name}: {summary}")))?;
    let sessions = content.sessions.iter().map(|session| {
        let Session { id, start, dump } = session;
        row([id, start, dump])
    });
    Table::new(["SESSION", "START", "DUMP"], sessions).print(out)?;
    let classes = content.class_list.iter().flatten().map(|class| {
        let Class {
            id,
            name,
            probes,
            hit,
        } = class;
        row([name, id, &hit.to_string(), &probes.to_string()])
    });
    Table::new(["CLASS", "ID", "HIT", "PROBES"], classes).print(out)
}

fn row<const N: usize>(cells: [&String; N]) -> Row<N> {
    Row {
        cells: cells.map(|cell| (cell.clone(), PLAIN)),
        note: None,
    }
}
