use serde_json::json;

use super::decode;

/// A part of a message: text, bytes, or another message.
fn part(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2, u8::try_from(content.len()).unwrap()];
    bytes.extend(content);
    bytes
}

fn integer(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

fn envelope(api_version: &str, kind: &str, object: &[u8]) -> Vec<u8> {
    let about = [part(1, api_version.as_bytes()), part(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), part(1, &about), part(2, object)].concat()
}

#[test]
fn objects_are_read_as_json_has_them() {
    let label = [part(1, b"app"), part(2, b"shop")].concat();
    let metadata = [part(1, b"a"), part(8, b""), part(11, &label)].concat();
    let target = [integer(1, 1), part(3, b"http")].concat();
    let port = [part(1, b"web"), integer(3, 80), part(4, &target)].concat();
    let spec = [part(1, &port), part(1, &port)].concat();
    let service = [part(1, &metadata), part(2, &spec)].concat();
    let port = json!({ "name": "web", "port": 80, "targetPort": "http" });
    let expected = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": "a", "creationTimestamp": null, "labels": { "app": "shop" } },
        "spec": { "ports": [port, port] },
    });
    assert_eq!(decode(&envelope("v1", "Service", &service)), Ok(expected));
}

#[test]
fn messages_that_json_has_inline_are_unfolded() {
    let reference = [part(1, &part(1, b"conf")), part(2, b"key")].concat();
    let variable = [part(1, b"A"), part(3, &part(3, &reference))].concat();
    let container = [part(1, b"web"), part(7, &variable)].concat();
    let pod = part(2, &part(2, &container));
    let source = json!({ "configMapKeyRef": { "name": "conf", "key": "key" } });
    let expected = json!({
        "apiVersion": "v1", "kind": "Pod",
        "spec": { "containers": [{ "name": "web", "env": [{ "name": "A", "valueFrom": source }] }] },
    });
    assert_eq!(decode(&envelope("v1", "Pod", &pod)), Ok(expected));
}

#[test]
fn options_are_read_like_objects() {
    let options = [integer(1, 5), part(4, b"Background"), part(5, b"All")].concat();
    let expected = json!({
        "apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 5, "propagationPolicy": "Background",
        "dryRun": ["All"],
    });
    assert_eq!(
        decode(&envelope("v1", "DeleteOptions", &options)),
        Ok(expected)
    );
}

#[test]
fn what_cannot_be_read_is_refused() {
    assert!(decode(b"{}").is_err());
    assert!(decode(b"k8s\0\x0a\xff").is_err());
    let unknown = envelope("x.io/v1", "X", b"");
    assert_eq!(
        decode(&unknown).unwrap_err(),
        "no kind \"X\" is registered for version \"x.io/v1\""
    );
    // A field that has come since is refused, unless nothing is in it.
    let pod = |spec: &[u8]| decode(&envelope("v1", "Pod", &part(2, spec)));
    assert!(pod(&[0xf0, 0x07, 0]).is_ok());
    assert_eq!(
        pod(&[0xf0, 0x07, 1]).unwrap_err(),
        "field 126 of io.k8s.api.core.v1.PodSpec is not known in protobuf: send JSON"
    );
}
