//! Whatever is sent: nothing panics, and nothing triggers without the secret (CVE-2025-59531, -59537, -59538).

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Request;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use sha2::Sha256;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::channel;

use super::answer::Answer;
use super::receiver::Receiver;
use super::{Auth, HookTarget};
use crate::api::digest::hex;
use crate::metrics::Metrics;

const SECRET: &str = "known to two";

/// One for all cases: the threads of each would have to be waited for.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap()
});

/// Sends a request to a receiver of its own, and says what it answered and whether it triggered.
fn send(headers: HeaderMap, body: Vec<u8>) -> (Answer, bool) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), SECRET).unwrap();
    let (triggers, mut queue) = channel(1);
    let auth = Auth::Secret(file.path().to_owned());
    let receiver = Receiver::new(auth, Box::new(|_, _| true), triggers, Metrics::default());
    let mut request = Request::new(Body::from(body));
    *request.headers_mut() = headers;
    let answer = RUNTIME.block_on(receiver.answer(HookTarget::All, request));
    (answer, queue.try_recv().is_ok())
}

fn signature(body: &[u8]) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    hex(&mac.chain_update(body).finalize().into_bytes())
}

/// Names that mean something to the receiver, and any other.
fn name() -> impl Strategy<Value = HeaderName> {
    let known = prop::sample::select(vec![
        "x-gitea-event",
        "x-gitea-signature",
        "x-github-event",
        "x-gitlab-event",
        "x-gitlab-token",
        "x-gogs-event",
        "x-gogs-signature",
        "x-hook-uuid",
        "x-event-key",
        "x-hub-signature",
        "x-hub-signature-256",
        "x-signature",
        "content-length",
        "content-type",
    ])
    .prop_map(HeaderName::from_static);
    let any = "[a-z][a-z0-9-]{0,20}".prop_map(|name| HeaderName::try_from(name).unwrap());
    prop_oneof![8 => known, 1 => any]
}

/// Values that nearly are proofs, and any other.
fn value() -> impl Strategy<Value = HeaderValue> {
    let near = prop_oneof![
        "sha256=[0-9a-f]{64}",
        "[0-9a-fA-F]{64}",
        "sha1=[0-9a-f]{40}",
        "(sha256|sha512|SHA256)?=?[0-9a-f]{0,66}",
        "ping|diagnostics:ping|push",
    ]
    .prop_map(|text| HeaderValue::try_from(text).unwrap());
    let any = prop::collection::vec(any::<u8>(), 0..80)
        .prop_filter_map("not a header's value", |bytes| {
            HeaderValue::from_bytes(&bytes).ok()
        });
    prop_oneof![3 => near, 2 => any]
}

fn headers() -> impl Strategy<Value = HeaderMap> {
    prop::collection::vec((name(), value()), 0..8).prop_map(|pairs| {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value);
        }
        headers
    })
}

proptest! {
    #[test]
    fn nothing_triggers_without_the_secret(headers in headers(), body in prop::collection::vec(any::<u8>(), 0..200)) {
        let (answer, triggered) = send(headers, body);
        prop_assert!(matches!(answer, Answer::Unauthorized(_)), "{answer:?}");
        prop_assert!(!triggered);
    }

    #[test]
    fn a_right_signature_triggers_and_one_wrong_bit_does_not(
        body in prop::collection::vec(any::<u8>(), 1..200),
        bit in any::<prop::sample::Index>(),
    ) {
        let right = signature(&body);
        let mut changed = body.clone();
        let bit = bit.index(body.len() * 8);
        changed[bit / 8] ^= 1 << (bit % 8);
        for (event, header, value) in [
            ("x-github-event", "x-hub-signature-256", format!("sha256={right}")),
            ("x-gitea-event", "x-gitea-signature", right.clone()),
            ("x-gogs-event", "x-gogs-signature", right.clone()),
            ("x-event-key", "x-hub-signature", format!("sha256={right}")),
            ("x-hook-uuid", "x-hub-signature", format!("sha256={right}")),
            ("x-anything", "x-signature", format!("sha256={right}")),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(event, HeaderValue::from_static("push"));
            headers.insert(header, HeaderValue::try_from(value).unwrap());
            prop_assert_eq!(send(headers.clone(), body.clone()), (Answer::Accepted, true));
            let (answer, triggered) = send(headers, changed.clone());
            prop_assert!(matches!(answer, Answer::Unauthorized(_)), "{answer:?}");
            prop_assert!(!triggered);
        }
    }
}
