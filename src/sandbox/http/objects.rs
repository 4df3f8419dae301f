//! Requests about objects.

use std::sync::Arc;

use http::HeaderMap;
use http::header::USER_AGENT;
use http::request::Parts;
use serde_json::Value;

use super::path::Place;
use super::present::{self, Content, Shown};
use super::reply::Reply;
use super::trail::{self, Trail};
use super::{accept, body, query, target, watch};
use crate::error::ApiError;
use crate::read::Follow;
use crate::request::{Request, Verb};
use crate::types::Kind;
use crate::write::Written;
use crate::{Locked, Sandbox, auth, read, write};

/// Roles that may be made of others.
const CLUSTER_ROLES: &str = "clusterroles.rbac.authorization.k8s.io";

/// The longest name of a field manager.
const MANAGER_LIMIT: usize = 128;

/// Answers a request about objects.
///
/// # Errors
/// As the API server refuses it.
pub fn serve(
    sandbox: &Arc<Sandbox>,
    parts: &Parts,
    place: Place,
    bytes: &[u8],
    trail: &mut Trail,
) -> Result<Reply, ApiError> {
    let query = query::parse(parts.uri.query().unwrap_or_default());
    let include = accept::include(query.get("includeObject").map(String::as_str))?;
    let form = accept::form(&parts.headers, include)?;
    let has_body = matches!(parts.method.as_str(), "POST" | "PUT" | "PATCH" | "DELETE");
    let format = has_body
        .then(|| body::format(&parts.method, &parts.headers))
        .transpose();
    // Read before the state is locked, and judged once it is known who asks for what.
    let read = match format {
        Ok(Some(format)) => body::parse(format, bytes, sandbox.options().yaml),
        _ => Ok(Value::Null),
    };

    let selector = query.get("fieldSelector").cloned();
    trail.about = Some((place.clone(), selector.clone()));
    let state = sandbox.lock();
    let user = auth::authenticate(&state, &parts.headers)?;
    trail.user = Some(user.clone());
    let attributes = trail::attributes(parts, &place, selector.as_deref());
    let decision = auth::decide(&state, &user, &attributes);
    if !trail.decision.insert(decision).allowed {
        return Err(attributes.forbidden(&user));
    }
    let kinds = &state.kinds;
    if !kinds.serves(&place.group, &place.version) {
        return Ok(Reply::nowhere());
    }
    let kind = target::kind(kinds, &place)?;
    let is_watch = query::is_on(query.get("watch").map(String::as_str));
    let format = format?;
    let verb = target::verb(&parts.method, &kind, &place, is_watch, format)?;
    let mut request = Request {
        verb,
        manager: manager(query.get("fieldManager"), &parts.headers),
        namespace: place.namespace,
        name: place.name,
        subresource: place.subresource,
        query,
        body: Value::Null,
        user,
        kind: kind.clone(),
    };
    request.body = read.map_err(|error| unreadable(&request, &error))?;
    let request = &request;

    if !matches!(verb, Verb::Watch) {
        present::check(form, &kind, matches!(verb, Verb::List))?;
    }
    let (code, content, warnings) = match verb {
        Verb::Get => (200, Content::One(read::get(&state, request)?), Vec::new()),
        Verb::List => (200, Content::Many(read::list(&state, request)?), Vec::new()),
        Verb::Watch => {
            let follow = Follow::start(&state, request)?;
            return Ok(Reply::Stream(watch::stream(
                sandbox.clone(),
                follow,
                form,
                request,
            )?));
        }
        _ => {
            let written = write_or_review(sandbox, state, request)?;
            (written.code, Content::One(written.object), written.warnings)
        }
    };
    let shown = Shown {
        kind,
        form,
        content,
    };
    Ok(Reply::Shown {
        code,
        shown,
        warnings,
    })
}

fn write_or_review<'a>(
    sandbox: &'a Sandbox,
    mut state: Locked<'a>,
    request: &Request,
) -> Result<Written, ApiError> {
    if let Some(answer) = auth::review(&state, request) {
        return Ok(Written {
            code: 201,
            object: Arc::new(answer?),
            warnings: Vec::new(),
        });
    }
    let written = if write::merges(request) {
        let old = state.store.get(&request.key()).cloned();
        // Others need not wait for what takes longest.
        drop(state);
        let merged = write::merge(request, old)?;
        state = sandbox.lock();
        write::finish(&mut state, merged)
    } else {
        write::write(&mut state, request)
    }?;
    if request.kind.resource() == CLUSTER_ROLES {
        auth::aggregate(&mut state);
    }
    Ok(written)
}

fn unreadable(request: &Request, error: &str) -> ApiError {
    match request.verb {
        Verb::Create | Verb::Update => {
            let Kind { kind, .. } = &*request.kind;
            ApiError::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; {error}"
            ))
        }
        _ => ApiError::bad_request(error),
    }
}

/// Who is said to have changed what: `fieldManager`, or the name of the program.
fn manager(given: Option<&String>, headers: &HeaderMap) -> String {
    if let Some(given) = given.filter(|given| !given.is_empty()) {
        return given.clone();
    }
    let agent = headers
        .get(USER_AGENT)
        .and_then(|value| value.to_str().ok());
    let program = agent
        .unwrap_or_default()
        .split('/')
        .next()
        .unwrap_or_default();
    let program = program.get(..MANAGER_LIMIT).unwrap_or(program);
    match program {
        "" => "unknown".to_owned(),
        program => program.to_owned(),
    }
}
