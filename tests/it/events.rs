//! Events on the API server.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use covergence::cluster::{Cluster, ConnectOptions, EventRecorder, EventType, ObjectRef};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::support::lab::{api, eventually, shared};
use crate::support::namespace::Namespace;

/// A writer of Events whose clock the test moves.
struct Events {
    recorder: EventRecorder,
    seconds: Arc<AtomicI64>,
    /// Writes for as long as it is there.
    _runtime: Runtime,
}

impl Events {
    fn start(as_user: Option<&str>) -> Self {
        let runtime = Runtime::new().unwrap();
        let options = ConnectOptions {
            kubeconfig: Some(shared().join("kubeconfig")),
            as_user: as_user.map(str::to_owned),
            ..ConnectOptions::default()
        };
        let cluster = runtime.block_on(Cluster::connect(&options)).unwrap();
        let (recorder, writer) = cluster.events();
        let seconds = Arc::new(AtomicI64::new(Timestamp::now().as_second()));
        let clock = Arc::clone(&seconds);
        runtime.spawn(
            writer.run(move || Timestamp::from_second(clock.load(Ordering::SeqCst)).unwrap()),
        );
        Self {
            recorder,
            seconds,
            _runtime: runtime,
        }
    }

    fn pass(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }
}

/// A ConfigMap, as Events name it.
fn map(namespace: &Namespace) -> ObjectRef {
    let object = json!({ "metadata": { "name": "pets" } });
    let uid = namespace.create("configmaps", &object)["metadata"]["uid"].clone();
    ObjectRef {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        namespace: Some(namespace.name.clone()),
        name: "pets".into(),
        uid: uid.as_str().unwrap().into(),
    }
}

/// The Events that `kubectl describe` shows of an object.
fn of(about: &ObjectRef, namespace: &str) -> Vec<Value> {
    let selector = format!("involvedObject.uid%3D{}", about.uid);
    api().list(&format!(
        "/api/v1/namespaces/{namespace}/events?fieldSelector={selector}"
    ))
}

#[test]
fn an_event_is_shown_with_its_object_and_counted() {
    let namespace = Namespace::new("events");
    let about = map(&namespace);
    let events = Events::start(None);
    let tell = |message| {
        let recorder = &events.recorder;
        recorder.record(&about, EventType::Warning, "ApplyFailed", message);
    };
    tell("the first");
    let first = eventually("an Event", || of(&about, &namespace.name).pop());
    assert_eq!(first["type"], "Warning");
    assert_eq!(first["reason"], "ApplyFailed");
    assert_eq!(first["message"], "the first");
    assert_eq!(first["count"], 1);
    assert_eq!(first["source"]["component"], "covergence");
    assert_eq!(first["involvedObject"]["name"], "pets");

    // The second is not written yet: the third is, and knows of both.
    tell("the first");
    let counted = eventually("three of the same", || {
        events.pass(61);
        tell("the first");
        of(&about, &namespace.name)
            .into_iter()
            .find(|event| event["count"].as_i64() >= Some(3))
    });
    assert_eq!(counted["metadata"]["uid"], first["metadata"]["uid"]);
    assert_eq!(counted["firstTimestamp"], first["firstTimestamp"]);
    assert_ne!(counted["lastTimestamp"], first["lastTimestamp"]);

    tell("the second");
    eventually("another Event", || {
        let all = of(&about, &namespace.name);
        all.iter()
            .any(|event| event["message"] == "the second")
            .then(|| assert_eq!(all.len(), 2))
    });
}

#[test]
fn an_event_that_the_server_has_dropped_comes_back_with_its_count() {
    let namespace = Namespace::new("events");
    let about = map(&namespace);
    let events = Events::start(None);
    let tell = || {
        let recorder = &events.recorder;
        recorder.record(&about, EventType::Normal, "Applied", "again");
    };
    tell();
    let first = eventually("an Event", || of(&about, &namespace.name).pop());
    let name = first["metadata"]["name"].as_str().unwrap();
    let path = format!("/api/v1/namespaces/{}/events/{name}", namespace.name);
    assert!(api().delete(&path));
    events.pass(61);
    tell();
    let back = eventually("it again", || of(&about, &namespace.name).pop());
    assert_eq!(back["count"], 2);
    assert_eq!(back["metadata"]["name"], name);
}

#[test]
fn what_is_in_no_namespace_has_its_events_in_default() {
    let namespace = Namespace::new("events");
    let about = ObjectRef {
        api_version: "rbac.authorization.k8s.io/v1".into(),
        kind: "ClusterRole".into(),
        namespace: None,
        // No Event may have such a name.
        name: format!("system:{}", namespace.name),
        uid: namespace.name.clone(),
    };
    let events = Events::start(None);
    events
        .recorder
        .record(&about, EventType::Normal, "Applied", "there");
    let event = eventually("an Event", || of(&about, "default").pop());
    let name = event["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("clusterrole."), "{name}");
    api().delete(&format!("/api/v1/namespaces/default/events/{name}"));
}

#[test]
fn a_writer_that_may_not_write_goes_on() {
    let namespace = Namespace::new("events");
    let about = map(&namespace);
    let events = Events::start(Some("events-nobody"));
    let recorder = &events.recorder;
    recorder.record(&about, EventType::Normal, "Applied", "refused");
    let role = json!({
        "metadata": { "name": "events" },
        "rules": [{ "apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"] }],
    });
    let binding = json!({
        "metadata": { "name": "events" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "events" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "events-nobody" }],
    });
    namespace.create("roles", &role);
    namespace.create("rolebindings", &binding);
    // Nothing but these two verbs is needed.
    let event = eventually("an Event", || {
        events.pass(61);
        recorder.record(&about, EventType::Normal, "Applied", "allowed");
        of(&about, &namespace.name).pop()
    });
    assert_eq!(event["reason"], "Applied");
}
