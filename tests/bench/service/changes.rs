//! From a change of the source to the changed cluster, and from a deleted Service to its successor.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::content::{Content, Edited, SYNCS};
use super::repository::Repository;
use super::watch::Watch;
use crate::Res;
use crate::audit::{Requests, objects};
use crate::http::Connection;
use crate::tools::{SERVICE, Tools};

/// Namespace that the service does not look after.
const ELSEWHERE: &str = "elsewhere";
/// Between two changes: what follows from one has passed.
const PAUSE: Duration = Duration::from_millis(400);

/// What changes of one object took, each from the end of the change.
#[derive(Default)]
pub struct Changes {
    /// To all changed objects.
    pub objects: Vec<Duration>,
    /// To the Sync's status.
    pub status: Vec<Duration>,
    /// Of all of them.
    pub requests: Requests,
    pub problem: Option<String>,
}

/// Changes one file some times and waits for its objects and for the Sync's status; with a repository, by a commit.
pub fn change(
    tools: &mut Tools,
    content: &Content,
    repository: Option<&Repository>,
    edits: std::ops::Range<usize>,
) -> Res<Changes> {
    let count = edits.len();
    let (mut changes, events) = tools.watch(SERVICE, |tools| {
        let mut changes = Changes::default();
        for edit in edits {
            let (objects, status) = change_once(tools, content, repository, edit)?;
            changes.objects.push(objects);
            changes.status.push(status);
            sleep(PAUSE);
        }
        Ok(changes)
    })?;
    changes.requests = Requests::of(&events);
    let writes = events.iter().filter(|e| e.is_write() && !e.is_note());
    let (written, expected) = (objects(writes), content.written());
    let right = written == expected.iter().cloned().collect()
        && changes.requests.writes == count * expected.len();
    changes.problem = (!right).then(|| {
        format!(
            "{count} changes of one file among {} {:?} write {expected:?}, each once a change; it was {} writes of {written:?}",
            content.size, content.what, changes.requests.writes
        )
    });
    Ok(changes)
}

fn change_once(
    tools: &Tools,
    content: &Content,
    repository: Option<&Repository>,
    edit: usize,
) -> Res<(Duration, Duration)> {
    let server = tools.server();
    let edited = content.edited();
    let watches = watch_all(tools, &edited)?;
    let syncs = format!("/apis/closurejvm.io/v1alpha1/namespaces/{SYNCS}/syncs");
    let sync = Watch::start(server, &syncs, &content.edited_sync())?;
    let applied = "/status/lastAppliedRevision";
    let before = sync.next()?.text(applied).to_owned();
    let start = match repository {
        None => {
            content.edit(edit)?;
            Instant::now()
        }
        Some(repository) => {
            content.edit(edit)?;
            let commit = repository.next()?;
            // The objects of the commit are files as well: whoever follows them has seen them by now.
            sleep(PAUSE);
            repository.publish(&commit)?;
            Instant::now()
        }
    };
    let mut last = start;
    for (edited, watch) in edited.iter().zip(&watches) {
        last = last.max(watch.until(|seen| edited.is_edited(seen, edit))?);
    }
    let told = sync.until(|seen| seen.text(applied) != before)?;
    Ok((last - start, told.saturating_duration_since(start)))
}

/// The API server's own part: the same applies, sent directly one after the other, each until a watch tells of it.
pub fn apply_directly(tools: &Tools, content: &Content, count: usize) -> Res<Vec<Duration>> {
    let server = tools.server();
    let mut connection = server.connect()?;
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": ELSEWHERE } });
    let path = format!("/api/v1/namespaces/{ELSEWHERE}");
    apply(&mut connection, &path, &namespace)?;
    let mut copies = Vec::new();
    for edited in content.edited() {
        let object: Value = serde_json::from_str(&connection.get_text(&edited.path())?)?;
        copies.push((edited.moved(ELSEWHERE), object));
    }
    let mut took = Vec::new();
    for edit in 0..=count {
        let mut sum = Duration::ZERO;
        for (edited, object) in &copies {
            let watch = Watch::start(server, &edited.collection(), &edited.name)?;
            let body = edited.copy(object, edit);
            let start = Instant::now();
            apply(&mut connection, &edited.path(), &body)?;
            sum += watch.until(|seen| edited.is_edited(seen, edit))? - start;
        }
        // The first one creates them.
        if edit > 0 {
            took.push(sum);
        }
    }
    Ok(took)
}

fn apply(connection: &mut Connection, path: &str, object: &Value) -> Res<()> {
    let path = format!("{path}?fieldManager=bench&force=true");
    let body = object.to_string();
    let answer = connection.send("PATCH", &path, "application/json", body.as_bytes())?;
    match answer.status {
        200 | 201 => Ok(()),
        _ => Err(format!("{path}: {}", String::from_utf8_lossy(&answer.body)).into()),
    }
}

fn watch_all(tools: &Tools, edited: &[Edited]) -> Res<Vec<Watch>> {
    edited
        .iter()
        .map(|edited| Watch::start(tools.server(), &edited.collection(), &edited.name))
        .collect()
}

/// Deletes the Services of some Targets, one after the other, and waits for their successors; each from the server's
/// answer to when a watch tells of the new one.
pub fn delete_services(tools: &Tools, content: &Content, count: usize) -> Res<Vec<Duration>> {
    let mut connection = tools.server().connect()?;
    let mut took = Vec::new();
    for target in 0..count {
        let services = content.target(target);
        let service = services.last().ok_or("a Target has a Service")?;
        let watch = Watch::start(tools.server(), &service.collection(), &service.name)?;
        let before = watch.next()?;
        let path = service.path();
        let answer = connection.send("DELETE", &path, "application/json", b"")?;
        let answered = Instant::now();
        if answer.status != 200 {
            return Err(format!("DELETE {path}: {}", answer.status).into());
        }
        let uid = before.text("/metadata/uid");
        let back = watch.until(|seen| seen.is_added() && seen.text("/metadata/uid") != uid)?;
        took.push(back.saturating_duration_since(answered));
        sleep(PAUSE);
    }
    Ok(took)
}
