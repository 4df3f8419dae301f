//! An S3-compatible server of a test's own, which checks signatures: `tests/s3/serve`.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use covergence::storage::s3::{Endpoint, Keys, Place};
use serde_json::Value;

/// A server with the bucket `coverage`. It ends with its test.
pub struct S3 {
    child: Child,
    pub origin: String,
    pub access_key: String,
    pub secret_key: String,
}

impl S3 {
    /// Without TLS.
    pub fn start() -> Self {
        Self::serve("http", &[])
    }

    /// With TLS, by this certificate and key.
    pub fn with_tls(certificate: &Path, key: &Path) -> Self {
        Self::serve("https", &[certificate, key])
    }

    fn serve(scheme: &str, args: &[&Path]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/s3/serve");
        // Made by `.ci/setup`: the Python that has moto.
        let mut child = Command::new("moto-python")
            .arg(script)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).expect("the server says where it is");
        let text = |key: &str| told[key].as_str().unwrap().to_owned();
        Self {
            child,
            origin: format!("{scheme}://127.0.0.1:{}", told["port"]),
            access_key: text("accesskey"),
            secret_key: text("secretkey"),
        }
    }

    /// Its keys.
    pub fn keys(&self) -> Keys {
        Keys {
            access_key: self.access_key.clone(),
            secret_key: self.secret_key.clone(),
            authorities: None,
        }
    }

    /// An object of it, by `s3://bucket/prefix`; the operator trusts the server.
    pub fn place(&self, url: &str) -> Place {
        let endpoint = Endpoint::new(&self.origin, std::slice::from_ref(&self.origin)).unwrap();
        Place::new(url, "pets.exec", "us-east-1", endpoint).unwrap()
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
