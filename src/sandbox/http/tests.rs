//! Requests to a sandbox in the same process.

use axum::body::Body;
use axum::extract::State as Extracted;
use futures_util::StreamExt as _;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};

use super::*;
use crate::auth::audit::Log;
use crate::read::tests::kind;
use crate::state::State;
use crate::store::Key;
use crate::types::Origin;
use crate::{Options, Sandbox};

const PARTIAL: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const PARTIAL_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

fn key(namespace: &str, name: &str) -> Key {
    Key {
        resource: "configmaps".into(),
        namespace: namespace.into(),
        name: name.into(),
    }
}

fn put(sandbox: &Sandbox, namespace: &str, name: &str, app: &str) -> u64 {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": "b" },
        "metadata": { "name": name, "namespace": namespace, "labels": { "app": app } },
    });
    let mut state = sandbox.lock();
    state.store.put(key(namespace, name), object);
    state.store.version()
}

/// ConfigMaps, and a custom kind of two versions.
fn sandbox() -> Arc<Sandbox> {
    let mut state = State::default();
    state.kinds.add(kind("", "configmaps", "ConfigMap"));
    let mut widget = kind("x.io", "widgets", "Widget");
    widget.origin = Origin::Custom("widgets.x.io".into());
    state.kinds.add(widget.clone());
    widget.version = "v2".into();
    state.kinds.add(widget);
    let mut node = kind("", "nodes", "Node");
    node.namespaced = false;
    state.kinds.add(node);
    Sandbox::with_state(state, Options::default())
}

async fn send(sandbox: &Arc<Sandbox>, method: Method, path: &str, accept: &str) -> Response {
    let bearer = format!("Bearer {}", sandbox.admin_token());
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", bearer)
        .header("accept", accept)
        .body(Body::empty())
        .unwrap();
    answer(Extracted(sandbox.clone()), request).await
}

async fn read_all(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20)
        .await
        .unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    (
        status,
        serde_json::from_str(&text).unwrap_or(Value::String(text)),
    )
}

async fn get(sandbox: &Arc<Sandbox>, path: &str, accept: &str) -> (u16, Value) {
    let (status, body) = read_all(send(sandbox, Method::GET, path, accept).await).await;
    (status.as_u16(), body)
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn objects_are_read_alone_and_in_lists() {
    let sandbox = sandbox();
    put(&sandbox, "b", "y", "1");
    put(&sandbox, "a", "z", "2");
    put(&sandbox, "a", "x", "1");
    let (code, one) = get(&sandbox, "/api/v1/namespaces/a/configmaps/x", "").await;
    assert_eq!(
        (code, &one["kind"], &one["apiVersion"]),
        (200, &json!("ConfigMap"), &json!("v1"))
    );
    let (_, all) = get(&sandbox, "/api/v1/configmaps", "*/*").await;
    assert_eq!(names(&all), ["x", "z", "y"]);
    assert_eq!(
        (&all["kind"], &all["metadata"]),
        (&json!("ConfigMapList"), &json!({ "resourceVersion": "3" }))
    );
    // Items of built-in kinds do not say what they are.
    assert_eq!(all["items"][0].get("kind"), None);
    let (_, some) = get(
        &sandbox,
        "/api/v1/namespaces/a/configmaps?labelSelector=app%3D1",
        "",
    )
    .await;
    assert_eq!(names(&some), ["x"]);
    let (_, some) = get(
        &sandbox,
        "/api/v1/configmaps?fieldSelector=metadata.namespace=a",
        "",
    )
    .await;
    assert_eq!(names(&some), ["x", "z"]);
    let (code, missing) = get(&sandbox, "/api/v1/namespaces/a/configmaps/none", "").await;
    assert_eq!(
        (code, &missing["message"]),
        (404, &json!("configmaps \"none\" not found"))
    );
}

#[tokio::test]
async fn metadata_comes_alone() {
    let sandbox = sandbox();
    put(&sandbox, "a", "x", "1");
    let (_, one) = get(&sandbox, "/api/v1/namespaces/a/configmaps/x", PARTIAL).await;
    assert_eq!(one["kind"], "PartialObjectMetadata");
    assert_eq!(
        (&one["metadata"]["name"], one.get("data")),
        (&json!("x"), None)
    );
    let (_, all) = get(&sandbox, "/api/v1/configmaps", PARTIAL_LIST).await;
    assert_eq!(all["kind"], "PartialObjectMetadataList");
    assert_eq!(all["items"][0]["apiVersion"], "meta.k8s.io/v1");
    let (code, _) = get(&sandbox, "/api/v1/configmaps", PARTIAL).await;
    assert_eq!(code, 406);
}

#[tokio::test]
async fn versions_of_a_kind_share_objects() {
    let sandbox = sandbox();
    let object = json!({
        "apiVersion": "x.io/v1", "kind": "Widget", "metadata": { "name": "w", "namespace": "a" },
    });
    let key = Key {
        resource: "widgets.x.io".into(),
        ..key("a", "w")
    };
    sandbox.lock().store.put(key, object);
    for version in ["v1", "v2"] {
        let path = format!("/apis/x.io/{version}/namespaces/a/widgets");
        let (_, one) = get(&sandbox, &format!("{path}/w"), "").await;
        assert_eq!(one["apiVersion"], format!("x.io/{version}"));
        let (_, all) = get(&sandbox, &path, "").await;
        // Items of custom kinds do.
        assert_eq!(all["items"][0]["apiVersion"], format!("x.io/{version}"));
    }
}

#[tokio::test]
async fn pages_show_one_moment() {
    let sandbox = sandbox();
    for name in ["a", "b", "c", "d", "e"] {
        put(&sandbox, "n", name, "1");
    }
    let path = "/api/v1/configmaps?limit=2";
    let (_, first) = get(&sandbox, path, "").await;
    assert_eq!(
        (names(&first), &first["metadata"]["remainingItemCount"]),
        (vec!["a", "b"], &json!(3))
    );
    sandbox.lock().store.remove(&key("n", "c"));
    put(&sandbox, "n", "bb", "1");
    put(&sandbox, "n", "d", "2");
    let next = |list: &Value| {
        format!(
            "{path}&continue={}",
            list["metadata"]["continue"].as_str().unwrap()
        )
    };
    let (_, second) = get(&sandbox, &next(&first), "").await;
    assert_eq!(
        (names(&second), &second["metadata"]["resourceVersion"]),
        (vec!["c", "d"], &json!("5"))
    );
    assert_eq!(second["items"][0]["metadata"]["resourceVersion"], "3");
    assert_eq!(second["items"][1]["metadata"]["labels"]["app"], "1");
    let (_, third) = get(&sandbox, &next(&second), "").await;
    assert_eq!(
        (names(&third), third["metadata"].get("continue")),
        (vec!["e"], None)
    );
    let (_, exact) = get(
        &sandbox,
        "/api/v1/configmaps?resourceVersion=2&resourceVersionMatch=Exact",
        "",
    )
    .await;
    assert_eq!(names(&exact), ["a", "b"]);
    let (_, newer) = get(&sandbox, "/api/v1/configmaps?resourceVersion=2", "").await;
    assert_eq!(names(&newer), ["a", "b", "bb", "d", "e"]);
    // With selectors, nobody counts the rest.
    let (_, some) = get(&sandbox, &format!("{path}&labelSelector=app"), "").await;
    assert_eq!(some["metadata"].get("remainingItemCount"), None);
    assert!(some["metadata"]["continue"].is_string());
}

#[tokio::test]
async fn a_moment_that_is_forgotten_is_gone() {
    let sandbox = sandbox();
    for name in ["a", "b", "c"] {
        put(&sandbox, "n", name, "1");
    }
    let (_, first) = get(&sandbox, "/api/v1/configmaps?limit=1", "").await;
    for _ in 0..20_001 {
        put(&sandbox, "n", "c", "1");
    }
    let token = first["metadata"]["continue"].as_str().unwrap();
    let (code, gone) = get(
        &sandbox,
        &format!("/api/v1/configmaps?limit=1&continue={token}"),
        "",
    )
    .await;
    assert_eq!((code, &gone["reason"]), (410, &json!("Expired")));
    let (code, gone) = get(
        &sandbox,
        "/api/v1/configmaps?resourceVersion=1&resourceVersionMatch=Exact",
        "",
    )
    .await;
    assert_eq!(
        (code, &gone["message"]),
        (
            410,
            &json!("The resourceVersion for the provided list is too old.")
        )
    );
    let events = events(
        &sandbox,
        "/api/v1/configmaps?watch=1&resourceVersion=1",
        PARTIAL,
    )
    .await;
    assert_eq!(events.len(), 1);
    assert_eq!(
        (&events[0]["type"], &events[0]["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    assert_eq!(
        events[0]["object"]["message"],
        "too old resource version: 1 (20004)"
    );
}

/// The words are those of a real API server.
#[tokio::test]
async fn what_cannot_be_is_refused() {
    let sandbox = sandbox();
    for (path, code, message) in [
        (
            "/api/v1/foos",
            404,
            "the server could not find the requested resource",
        ),
        (
            "/api/v1/configmaps/x",
            404,
            "the server could not find the requested resource",
        ),
        (
            "/api/v1/namespaces/a/nodes",
            404,
            "the server could not find the requested resource",
        ),
        (
            "/api/v1/namespaces/a/configmaps/x/bogus",
            404,
            "the server could not find the requested resource",
        ),
        (
            "/api/v1/nodes/x/proxy/a/b",
            501,
            "nodes/proxy: not served by the sandbox, which is no whole Kubernetes",
        ),
        (
            "/api/v1/configmaps?resourceVersion=abc",
            500,
            "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax",
        ),
        (
            "/api/v1/configmaps?resourceVersion=99",
            504,
            "Timeout: Too large resource version: 99, current: 0",
        ),
        (
            "/api/v1/configmaps?limit=abc",
            400,
            "strconv.ParseInt: parsing \"abc\": invalid syntax",
        ),
        (
            "/api/v1/configmaps?labelSelector=a+b",
            400,
            "unable to parse requirement: found 'b', expected: '=', '!=', '==', 'in', notin'",
        ),
        (
            "/api/v1/configmaps?fieldSelector=a.b=c",
            400,
            "field label not supported: a.b",
        ),
        (
            "/api/v1/configmaps?resourceVersionMatch=Exact",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            "/api/v1/configmaps?resourceVersionMatch=Foo&resourceVersion=1",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
        ),
        (
            "/api/v1/configmaps?resourceVersionMatch=Exact&resourceVersion=0",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
        ),
    ] {
        let (got, body) = get(&sandbox, path, "").await;
        assert_eq!(
            (got, body["message"].as_str()),
            (code, Some(message)),
            "{path}"
        );
        assert_eq!(
            (&body["kind"], &body["code"]),
            (&json!("Status"), &json!(code)),
            "{path}"
        );
    }
    assert_eq!(
        get(&sandbox, "/apis/none/v1/foos", "").await,
        (404, json!("404 page not found\n"))
    );
    let (code, _) = get(
        &sandbox,
        "/api/v1/configmaps",
        "application/vnd.kubernetes.protobuf",
    )
    .await;
    assert_eq!(code, 406);
    for (method, path) in [
        (Method::POST, "/api/v1/configmaps"),
        (Method::DELETE, "/api/v1/configmaps"),
        (Method::PUT, "/api/v1/namespaces/a/configmaps"),
        (Method::POST, "/api/v1/namespaces/a/configmaps/x"),
        (Method::OPTIONS, "/api/v1/namespaces/a/configmaps/x"),
        (Method::DELETE, "/api/v1/namespaces/a/configmaps/x/status"),
    ] {
        let (status, body) = read_all(send(&sandbox, method.clone(), path, "").await).await;
        assert_eq!(
            (status.as_u16(), &body["reason"]),
            (405, &json!("MethodNotAllowed")),
            "{method} {path}"
        );
    }
}

/// All events of a watch that ends by itself.
async fn events(sandbox: &Arc<Sandbox>, path: &str, accept: &str) -> Vec<Value> {
    let response = send(sandbox, Method::GET, path, accept).await;
    assert_eq!(response.status(), 200);
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20)
        .await
        .unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The next events of a watch, which must be there.
struct Watching(axum::body::BodyDataStream);

impl Watching {
    async fn start(sandbox: &Arc<Sandbox>, query: &str) -> Self {
        let path = format!("/api/v1/namespaces/a/configmaps?watch=true&{query}");
        let response = send(sandbox, Method::GET, &path, "").await;
        assert_eq!(response.status(), 200);
        Self(response.into_body().into_data_stream())
    }

    async fn next(&mut self) -> Vec<String> {
        let bytes = self.0.next().await.unwrap().unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let events = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        events
            .map(|event| {
                let metadata = &event["object"]["metadata"];
                let name = metadata["name"].as_str().unwrap_or("-");
                let version = metadata["resourceVersion"].as_str().unwrap();
                format!("{} {name} {version}", event["type"].as_str().unwrap())
            })
            .collect()
    }
}

#[tokio::test]
async fn a_watch_tells_what_is_there_and_then_what_happens() {
    let sandbox = sandbox();
    put(&sandbox, "a", "x", "1");
    put(&sandbox, "b", "x", "1");
    let mut watching = Watching::start(&sandbox, "").await;
    assert_eq!(watching.next().await, ["ADDED x 1"]);
    put(&sandbox, "a", "y", "1");
    assert_eq!(watching.next().await, ["ADDED y 3"]);
    put(&sandbox, "b", "y", "1");
    put(&sandbox, "a", "y", "2");
    sandbox.lock().store.remove(&key("a", "x"));
    assert_eq!(watching.next().await, ["MODIFIED y 5", "DELETED x 6"]);
    let mut later = Watching::start(&sandbox, "resourceVersion=4").await;
    assert_eq!(later.next().await, ["MODIFIED y 5", "DELETED x 6"]);
}

#[tokio::test]
async fn selectors_turn_changes_into_comings_and_goings() {
    let sandbox = sandbox();
    put(&sandbox, "a", "x", "1");
    let mut watching = Watching::start(&sandbox, "labelSelector=app=2&resourceVersion=0").await;
    put(&sandbox, "a", "x", "2");
    assert_eq!(watching.next().await, ["ADDED x 2"]);
    put(&sandbox, "a", "x", "2");
    assert_eq!(watching.next().await, ["MODIFIED x 3"]);
    put(&sandbox, "a", "x", "3");
    assert_eq!(watching.next().await, ["DELETED x 4"]);
    let mut one =
        Watching::start(&sandbox, "fieldSelector=metadata.name=y&resourceVersion=4").await;
    put(&sandbox, "a", "x", "3");
    put(&sandbox, "a", "y", "3");
    assert_eq!(one.next().await, ["ADDED y 6"]);
}

#[tokio::test]
async fn the_end_of_the_beginning_is_marked() {
    let sandbox = sandbox();
    put(&sandbox, "a", "x", "1");
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watching = Watching::start(&sandbox, query).await;
    assert_eq!(watching.next().await, ["ADDED x 1"]);
    assert_eq!(watching.next().await, ["BOOKMARK - 1"]);
    put(&sandbox, "a", "x", "1");
    assert_eq!(watching.next().await, ["MODIFIED x 2"]);
    let path = "/api/v1/configmaps?watch=1&sendInitialEvents=true";
    let (code, refused) = get(&sandbox, path, "").await;
    assert_eq!(code, 422, "{refused}");
}

#[tokio::test]
async fn a_watch_ends_with_a_bookmark_when_its_time_is_over() {
    let sandbox = sandbox();
    put(&sandbox, "a", "x", "1");
    let path =
        "/api/v1/configmaps?watch=1&resourceVersion=1&timeoutSeconds=1&allowWatchBookmarks=true";
    assert_eq!(events(&sandbox, path, "").await, Vec::<Value>::new());
    put(&sandbox, "a", "x", "1");
    let of_others =
        "/apis/x.io/v1/widgets?watch=1&resourceVersion=1&timeoutSeconds=1&allowWatchBookmarks=true";
    let told = events(&sandbox, of_others, "").await;
    assert_eq!(
        told,
        [json!({ "type": "BOOKMARK", "object": {
        "kind": "Widget", "apiVersion": "x.io/v1",
        "metadata": { "resourceVersion": "2", "creationTimestamp": null },
    } })]
    );
}

#[tokio::test]
async fn a_watch_ends_with_its_kind_and_with_the_sandbox() {
    let sandbox = sandbox();
    let widgets = send(&sandbox, Method::GET, "/apis/x.io/v1/widgets?watch=1", "").await;
    let configmaps = send(&sandbox, Method::GET, "/api/v1/configmaps?watch=1", "").await;
    sandbox.lock().kinds.remove_custom("widgets.x.io");
    put(&sandbox, "a", "x", "1");
    assert_eq!(read_all(widgets).await.1, json!(""));
    sandbox.ended().cancel();
    assert_eq!(read_all(configmaps).await.1, json!(""));
}

#[tokio::test]
async fn strangers_may_not_read_and_all_is_written_down() {
    let folder = std::env::temp_dir().join(format!("sandbox-{:x}", fastrand::u64(..)));
    std::fs::create_dir(&folder).unwrap();
    let log = folder.join("audit.log");
    let options = Options {
        audit: Some(Arc::new(Log::open(&log).unwrap())),
        ..Options::default()
    };
    let mut state = State::default();
    state.kinds.add(kind("", "configmaps", "ConfigMap"));
    let sandbox = Sandbox::with_state(state, options);
    let ask = async |bearer: &str, path: &str| {
        let request = Request::builder().uri(path).header("authorization", bearer);
        let response = answer(
            Extracted(sandbox.clone()),
            request.body(Body::empty()).unwrap(),
        );
        response.await.status().as_u16()
    };
    let admin = format!("Bearer {}", sandbox.admin_token());
    let path = "/api/v1/namespaces/a/configmaps?limit=5";
    assert_eq!(ask("", path).await, 403);
    assert_eq!(ask("Bearer none", path).await, 401);
    assert_eq!(ask(&admin, path).await, 200);
    assert_eq!(ask("", "/version").await, 403);
    assert_eq!(ask(&admin, "/version").await, 200);
    // What there is not is no business of strangers either.
    let nowhere = "/apis/x.io/v1/namespaces/a/things/t/log";
    assert_eq!(ask("", nowhere).await, 403);
    assert_eq!(ask(&admin, nowhere).await, 404);
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let told: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|event| {
            let user = event["user"]["username"].as_str().unwrap_or("-");
            let code = &event["responseStatus"]["code"];
            let part = event["objectRef"]["subresource"].as_str().unwrap_or("-");
            format!(
                "{user} {} {} {part} {code}",
                event["verb"].as_str().unwrap(),
                event["requestURI"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            format!("system:anonymous list {path} - 403"),
            format!("- list {path} - 401"),
            format!("admin list {path} - 200"),
            "system:anonymous get /version - 403".to_owned(),
            "admin get /version - 200".to_owned(),
            format!("system:anonymous get {nowhere} log 403"),
            format!("admin get {nowhere} log 404"),
        ]
    );
}
