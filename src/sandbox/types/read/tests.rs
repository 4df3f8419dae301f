use serde_json::{Value, json};

use super::read;
use crate::types::built_in;

fn of(api_version: &str, kind: &str, rest: Value) -> (Value, Result<Vec<String>, String>) {
    let kinds = built_in();
    let kind = kinds.of(api_version, kind).unwrap();
    let mut object = rest;
    let found = read(kind, &mut object).map(|read| read.unknown);
    (object, found)
}

fn pod(spec: Value) -> (Value, Result<Vec<String>, String>) {
    of(
        "v1",
        "Pod",
        json!({ "metadata": { "name": "a" }, "spec": spec }),
    )
}

#[test]
fn what_go_never_leaves_out_is_put_in() {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "a" },
        "spec": { "template": { "spec": { "containers": [{ "name": "a" }] } } },
    });
    let (object, unknown) = of("apps/v1", "Deployment", deployment);
    assert_eq!(unknown, Ok(Vec::new()));
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": "a", "creationTimestamp": null },
        "spec": {
            "strategy": {},
            "template": {
                "metadata": { "creationTimestamp": null },
                "spec": { "containers": [{ "name": "a", "resources": {} }] },
            },
        },
        "status": {},
    });
    assert_eq!(object, expected);
    let (service, _) = of("v1", "Service", json!({ "metadata": { "name": "a" } }));
    let expected = json!({
        "metadata": { "name": "a", "creationTimestamp": null }, "spec": {}, "status": { "loadBalancer": {} },
    });
    assert_eq!(service, expected);
}

#[test]
fn what_is_empty_goes_unless_go_can_tell_it_from_nothing() {
    let (object, _) = pod(json!({
        "hostNetwork": false, "terminationGracePeriodSeconds": 0, "nodeSelector": {}, "tolerations": [],
        "nodeName": "", "securityContext": {}, "dnsPolicy": null,
        "containers": [{ "name": "a", "env": [{ "name": "A", "value": "" }], "args": null }],
        "volumes": [{ "name": "v", "emptyDir": {} }],
    }));
    let expected = json!({
        "terminationGracePeriodSeconds": 0, "securityContext": {},
        "containers": [{ "name": "a", "env": [{ "name": "A" }], "resources": {} }],
        "volumes": [{ "name": "v", "emptyDir": {} }],
    });
    assert_eq!(object["spec"], expected);
    let (role, _) = of(
        "rbac.authorization.k8s.io/v1",
        "Role",
        json!({ "rules": [] }),
    );
    assert_eq!(role["rules"], Value::Null);
    let claim =
        json!({ "spec": { "dataSource": { "kind": "X", "name": "x" }, "storageClassName": "" } });
    let (claim, _) = of("v1", "PersistentVolumeClaim", claim);
    let expected = json!({ "apiGroup": null, "kind": "X", "name": "x" });
    assert_eq!(claim["spec"]["dataSource"], expected);
    assert_eq!(claim["spec"]["storageClassName"], "");
}

#[test]
fn unknown_fields_are_taken_out_and_named() {
    let (object, unknown) = pod(json!({
        "bogus": 1, "containers": [{ "name": "a" }, { "name": "b", "ports": [{ "containerPort": 1, "x": 2 }] }],
    }));
    assert_eq!(
        unknown.unwrap(),
        ["spec.bogus", "spec.containers[1].ports[0].x"]
    );
    assert_eq!(
        object["spec"]["containers"][1]["ports"],
        json!([{ "containerPort": 1 }])
    );
    assert_eq!(object["spec"].get("bogus"), None);
}

#[test]
fn scalars_are_kept_in_one_form() {
    let limits = json!({ "containers": [{ "name": "a", "resources": { "limits": { "cpu": 1.5, "memory": "1024Mi" } } }] });
    let (object, _) = pod(limits);
    let expected = json!({ "cpu": "1500m", "memory": "1Gi" });
    assert_eq!(
        object["spec"]["containers"][0]["resources"]["limits"],
        expected
    );
    let times = json!({
        "metadata": { "creationTimestamp": "2024-03-01T10:00:00.5+02:00" },
        "spec": { "renewTime": "2024-03-01T10:00:00.500000+02:00" },
    });
    let (lease, _) = of("coordination.k8s.io/v1", "Lease", times);
    assert_eq!(
        lease["metadata"]["creationTimestamp"],
        "2024-03-01T08:00:00Z"
    );
    assert_eq!(lease["spec"]["renewTime"], "2024-03-01T08:00:00.500000Z");
    let (secret, _) = of(
        "v1",
        "Secret",
        json!({ "data": { "a": "YQ\n==", "b": null } }),
    );
    assert_eq!(secret["data"], json!({ "a": "YQ==", "b": "" }));
}

#[test]
fn what_cannot_be_read_is_said_as_go_says_it() {
    let pod = |spec| pod(spec).1.unwrap_err();
    let head = "Pod in version \"v1\" cannot be handled as a Pod: ";
    for (spec, said) in [
        (
            json!("x"),
            "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec",
        ),
        (
            json!({ "containers": {} }),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            json!({ "containers": [{ "ports": [{ "containerPort": "80" }] }] }),
            "json: cannot unmarshal string into Go struct field \
             ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            json!({ "terminationGracePeriodSeconds": 1.5 }),
            "json: cannot unmarshal number 1.5 into Go struct field \
             PodSpec.spec.terminationGracePeriodSeconds of type int64",
        ),
        (
            json!({ "nodeSelector": { "a": true } }),
            "json: cannot unmarshal bool into Go struct field PodSpec.spec.nodeSelector of type string",
        ),
        (
            json!({ "containers": [{ "resources": { "limits": { "cpu": "x" } } }] }),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ] {
        assert_eq!(pod(spec), format!("{head}{said}"));
    }
    let lease = json!({ "spec": { "renewTime": "2024-03-01T10:00:00.5Z" } });
    let refusal = of("coordination.k8s.io/v1", "Lease", lease).1.unwrap_err();
    assert!(
        refusal.ends_with("cannot parse \"5Z\" as \".000000\""),
        "{refusal}"
    );
    let secret = of("v1", "Secret", json!({ "data": { "a": "!!" } })).1;
    let said = "Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data at input byte 0";
    assert_eq!(secret.unwrap_err(), said);
}
