//! Files in a bucket of an S3-compatible server that checks signatures, and what is told when that does not work.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use covergence::storage::s3::{Endpoint, Keys, Place};
use covergence::storage::{Bucket, Storage, StorageError, Update};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::support::s3::S3;

const MOST: u64 = 1 << 20;

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn storage(place: &Place, keys: &Keys) -> Storage {
    Storage::Bucket(Bucket::new(place, keys).unwrap())
}

/// Appends to what is there, and gives what there is then.
async fn append(storage: &Storage, text: &'static str) -> Result<String, StorageError> {
    let merge = move |stored: Option<&[u8]>| {
        let mut content = stored.unwrap_or_default().to_vec();
        content.extend_from_slice(text.as_bytes());
        Ok(Update {
            outcome: String::from_utf8(content.clone()).unwrap(),
            content: Some(content),
        })
    };
    storage.update(MOST, Arc::new(merge)).await
}

/// What is told of the first thing that goes wrong.
fn told(place: &Place, keys: &Keys) -> String {
    let storage = storage(place, keys);
    let error = runtime().block_on(append(&storage, "x")).unwrap_err();
    let told = error.to_string();
    assert!(!told.contains(&keys.secret_key), "{told}");
    told
}

#[test]
fn what_is_stored_is_read_and_replaced() {
    let server = S3::start();
    let storage = storage(&server.place("s3://coverage/shop/nightly"), &server.keys());
    assert_eq!(storage.location(), "s3://coverage/shop/nightly/pets.exec");
    runtime().block_on(async {
        assert_eq!(append(&storage, "ab").await.unwrap(), "ab");
        assert_eq!(append(&storage, "cd").await.unwrap(), "abcd");
        // Where nothing is to be written, nothing is.
        let look = |stored: Option<&[u8]>| {
            Ok(Update {
                content: None,
                outcome: stored.map(<[u8]>::to_vec),
            })
        };
        let seen = storage.update(MOST, Arc::new(look)).await.unwrap();
        assert_eq!(seen, Some(b"abcd".to_vec()));
        let less = storage.update(3, Arc::new(look)).await.unwrap_err();
        assert_eq!(less.reason(), "FileTooLarge");
    });
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let server = S3::start();
    let place = server.place("s3://coverage");
    // Between the read and the write of one, another one writes: first a new object, then over an old one.
    let other = storage(&place, &server.keys());
    let one = storage(&place, &server.keys());
    let runtime = Arc::new(runtime());
    for (text, expected) in [("a", "ba"), ("c", "badc")] {
        let (inner, other) = (Arc::clone(&runtime), other.clone());
        let disturbed = std::sync::atomic::AtomicBool::new(false);
        let merge = move |stored: Option<&[u8]>| {
            if !disturbed.swap(true, std::sync::atomic::Ordering::SeqCst) {
                let theirs = if text == "a" { "b" } else { "d" };
                inner.block_on(append(&other, theirs)).unwrap();
            }
            let mut content = stored.unwrap_or_default().to_vec();
            content.extend_from_slice(text.as_bytes());
            Ok(Update {
                outcome: String::from_utf8(content.clone()).unwrap(),
                content: Some(content),
            })
        };
        let merged = runtime.block_on(one.update(MOST, Arc::new(merge)));
        assert_eq!(merged.unwrap(), expected);
    }
}

#[test]
fn one_who_is_always_slower_gives_up_and_says_so() {
    let server = S3::start();
    let place = server.place("s3://coverage");
    let (one, other) = (
        storage(&place, &server.keys()),
        storage(&place, &server.keys()),
    );
    let runtime = Arc::new(runtime());
    let inner = Arc::clone(&runtime);
    let merge = move |_: Option<&[u8]>| {
        inner.block_on(append(&other, "x")).unwrap();
        Ok(Update {
            content: Some(b"mine".to_vec()),
            outcome: (),
        })
    };
    let error = runtime
        .block_on(one.update(MOST, Arc::new(merge)))
        .unwrap_err();
    assert!(
        error.to_string().contains("others write it all the time"),
        "{error}"
    );
    let left = runtime.block_on(append(&one, "")).unwrap();
    assert_eq!(left, "xxxxx");
}

#[test]
fn what_the_server_refuses_is_told_by_its_code() {
    let server = S3::start();
    let good = server.keys();
    let wrong_key = Keys {
        secret_key: "hunter2hunter2hunter2".into(),
        ..good.clone()
    };
    let place = server.place("s3://coverage");
    assert_eq!(
        told(&place, &wrong_key),
        "read s3://coverage/pets.exec: the server answers 403 (SignatureDoesNotMatch)"
    );
    let unknown = Keys {
        access_key: "AKIANOBODY".into(),
        ..good.clone()
    };
    let message = told(&place, &unknown);
    assert!(
        message.ends_with("the server answers 403 (InvalidAccessKeyId)"),
        "{message}"
    );
    let elsewhere = server.place("s3://no-such-bucket");
    let message = told(&elsewhere, &good);
    assert!(
        message.ends_with("the server answers 404 (NoSuchBucket)"),
        "{message}"
    );
}

#[test]
fn nothing_of_the_environment_stands_in_for_keys() {
    // What the controller's pod has is not its tenants'. In a process of its own, since the environment is everybody's.
    let server = S3::start();
    let place = server.place("s3://coverage");
    let keys = Keys {
        access_key: "AKIANOBODY".into(),
        ..server.keys()
    };
    let child = std::env::var_os("COVERGENCE_S3_ORIGIN");
    if let Some(origin) = child {
        let origin = origin.into_string().unwrap();
        let endpoint = Endpoint::new(&origin, std::slice::from_ref(&origin)).unwrap();
        let place = Place::new("s3://coverage", "pets.exec", "us-east-1", endpoint).unwrap();
        let message = told(&place, &keys);
        assert!(message.contains("InvalidAccessKeyId"), "{message}");
        return;
    }
    let test = "storage_s3::nothing_of_the_environment_stands_in_for_keys";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env("COVERGENCE_S3_ORIGIN", &server.origin)
        .env("AWS_ACCESS_KEY_ID", &server.access_key)
        .env("AWS_SECRET_ACCESS_KEY", &server.secret_key)
        .env("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    // The same keys do work where they are given.
    let storage = storage(&place, &server.keys());
    assert_eq!(runtime().block_on(append(&storage, "x")).unwrap(), "x");
}

/// A certificate for `127.0.0.1` of an authority of its own.
struct Certificates {
    folder: TempDir,
}

impl Certificates {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("openssl")
            .current_dir(folder.path())
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            ])
            .args([
                "-subj",
                "/CN=127.0.0.1",
                "-addext",
                "subjectAltName=IP:127.0.0.1",
            ])
            .args(["-keyout", "key.pem", "-out", "certificate.pem"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn a_server_is_believed_by_its_certificate_only() {
    let certificates = Certificates::new();
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| certificates.path(name));
    let server = S3::with_tls(&certificate, &key);
    let place = server.place("s3://coverage");
    let message = told(&place, &server.keys());
    assert!(message.contains("certificate verify failed"), "{message}");

    let known = Keys {
        authorities: Some(std::fs::read(&certificate).unwrap()),
        ..server.keys()
    };
    let storage = storage(&place, &known);
    assert_eq!(runtime().block_on(append(&storage, "ab")).unwrap(), "ab");
    // Its certificate is for an address, and not for a name that leads there.
    let origin = server.origin.replace("127.0.0.1", "localhost");
    let endpoint = Endpoint::new(&origin, std::slice::from_ref(&origin)).unwrap();
    let named = Place::new("s3://coverage", "pets.exec", "us-east-1", endpoint).unwrap();
    let message = told(&named, &known);
    assert!(message.contains("certificate verify failed"), "{message}");
}

#[test]
fn an_address_that_nobody_trusts_is_not_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let keys = Keys {
        access_key: "a".into(),
        secret_key: "hunter2".into(),
        authorities: None,
    };
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let endpoint = Endpoint::new(&format!("https://{host}:{port}"), &[]).unwrap();
        let place = Place::new("s3://coverage", "pets.exec", "us-east-1", endpoint).unwrap();
        let message = told(&place, &keys);
        assert!(message.contains("campaigns.endpoints"), "{host}: {message}");
    }
    assert!(listener.accept().is_err(), "it was connected to");
}

/// A server that answers everything in one way.
fn answering(answer: &'static str) -> (String, Arc<TcpListener>) {
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
    let accepting = Arc::clone(&listener);
    // It ends with the process of the test.
    thread::spawn(move || {
        for mut stream in accepting.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            drop(stream.read(&mut request));
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    (
        format!("http://{}", listener.local_addr().unwrap()),
        listener,
    )
}

#[test]
fn of_an_answer_nothing_is_told_but_a_code() {
    let keys = Keys {
        access_key: "a".into(),
        secret_key: "hunter2".into(),
        authorities: None,
    };
    for (answer, expected) in [
        // A page of some machine inside, which a tenant hopes to read.
        (
            "HTTP/1.1 400 Bad Request\r\nContent-Length: 21\r\n\r\nroot:x:0:0:root:/root",
            "the server answers 400",
        ),
        (
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 33\r\n\r\n<Code>AccessDenied</Code>root:x:0",
            "the server answers 403 (AccessDenied)",
        ),
        // What it says where else to look is not followed.
        (
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n",
            "the server answers 307",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nroot",
            "the answer is not one of S3",
        ),
        ("hello", ""),
    ] {
        let (origin, _listener) = answering(answer);
        let endpoint = Endpoint::new(&origin, std::slice::from_ref(&origin)).unwrap();
        let place = Place::new("s3://coverage", "pets.exec", "us-east-1", endpoint).unwrap();
        let message = told(&place, &keys);
        assert!(message.ends_with(expected), "{answer}: {message}");
        for hidden in ["root", "169.254"] {
            assert!(!message.contains(hidden), "{message}");
        }
    }
}
