use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::audit::{Event, Log};
use super::super::{Attributes, Decision, Target};
use super::user;
use crate::request::User;

#[test]
fn a_line_tells_who_did_what_in_whose_place() {
    let file = std::env::temp_dir().join(format!("sandbox-audit-{:x}", fastrand::u64(..)));
    let log = Log::open(&file).unwrap();
    let asked = User {
        sender: Some(Box::new(user("boss"))),
        ..user("ann")
    };
    let decision = Decision::default();
    let event = Event {
        uri: "/apis/apps/v1/namespaces/y/deployments/d/scale?dryRun=All",
        attributes: Attributes {
            verb: "patch",
            target: Target::Resource {
                group: "apps",
                resource: "deployments",
                subresource: "scale",
                namespace: "y",
                name: "d",
            },
        },
        version: "v1",
        user: Some(&asked),
        agent: "kubectl",
        address: "127.0.0.1",
        code: 403,
        reason: "Forbidden",
        decision: Some(&decision),
        received: Timestamp::UNIX_EPOCH,
    };
    log.write(&event).unwrap();
    let unknown = Event {
        uri: "/version",
        attributes: Attributes {
            verb: "get",
            target: Target::Path("/version"),
        },
        version: "",
        user: None,
        code: 401,
        reason: "Unauthorized",
        decision: None,
        ..event
    };
    Log::open(&file).unwrap().write(&unknown).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for line in &mut lines {
        let id = line["auditID"].take();
        assert_eq!(id.as_str().unwrap().len(), 36);
        assert!(
            line["stageTimestamp"]
                .take()
                .as_str()
                .unwrap()
                .ends_with('Z')
        );
    }
    assert_eq!(
        lines,
        [
            json!({
                "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": null,
                "stage": "ResponseComplete",
                "requestURI": "/apis/apps/v1/namespaces/y/deployments/d/scale?dryRun=All", "verb": "patch",
                "user": { "username": "boss", "groups": ["system:authenticated"] },
                "impersonatedUser": { "username": "ann", "groups": ["system:authenticated"] },
                "sourceIPs": ["127.0.0.1"], "userAgent": "kubectl",
                "objectRef": {
                    "resource": "deployments", "namespace": "y", "name": "d", "apiGroup": "apps",
                    "apiVersion": "v1", "subresource": "scale",
                },
                "responseStatus": { "metadata": {}, "status": "Failure", "reason": "Forbidden", "code": 403 },
                "requestReceivedTimestamp": "1970-01-01T00:00:00.000000Z", "stageTimestamp": null,
                "annotations": {
                    "authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": "",
                },
            }),
            json!({
                "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": null,
                "stage": "ResponseComplete", "requestURI": "/version", "verb": "get", "user": {},
                "sourceIPs": ["127.0.0.1"], "userAgent": "kubectl",
                "responseStatus": { "metadata": {}, "status": "Failure", "reason": "Unauthorized", "code": 401 },
                "requestReceivedTimestamp": "1970-01-01T00:00:00.000000Z", "stageTimestamp": null,
            }),
        ]
    );
}
