//! A mutating admission webhook: an HTTPS server that the real API server calls.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::PKey;
use openssl::ssl::{SslAcceptor, SslMethod, SslStream};
use openssl::x509::extension::SubjectAlternativeName;
use openssl::x509::{X509, X509NameBuilder};
use serde_json::{Value, json};

use super::lab::{api, eventually};
use super::manifest::config_map;
use super::namespace::Namespace;

const KIND: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io/v1";

/// Rewrites the ConfigMaps of one namespace that have the label `rewritten: "yes"`. It goes with the test.
pub struct Rewriter {
    name: String,
    calls: Arc<AtomicUsize>,
}

impl Rewriter {
    /// Applies a JSON patch to each of them when it is created or changed, and is in force when this returns.
    pub fn start(ns: &Namespace, patch: Value) -> Self {
        let (acceptor, certificate) = identity();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let rewriter = Self {
            name: format!("{}.rewriter.example", ns.name),
            calls: Arc::default(),
        };
        let (calls, patch) = (
            Arc::clone(&rewriter.calls),
            STANDARD.encode(patch.to_string()),
        );
        // Detached: it ends with the process, and holds nothing but its port.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (acceptor, calls, patch) = (acceptor.clone(), calls.clone(), patch.clone());
                std::thread::spawn(move || serve(acceptor.accept(stream).ok()?, &calls, &patch));
            }
        });
        // v1.20 gives namespaces no label with their name.
        let labels = json!({ "metadata": { "labels": { "rewritten-in": ns.name } } });
        api().edit(&format!("/api/v1/namespaces/{}", ns.name), &labels);
        let hook = json!({
            "name": rewriter.name,
            "clientConfig": {
                "url": format!("https://127.0.0.1:{port}/rewrite"),
                "caBundle": STANDARD.encode(certificate),
            },
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                "operations": ["CREATE", "UPDATE"],
            }],
            "namespaceSelector": { "matchLabels": { "rewritten-in": ns.name } },
            "objectSelector": { "matchLabels": { "rewritten": "yes" } },
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Ignore",
        });
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": { "name": rewriter.name },
            "webhooks": [hook],
        });
        api().create(&super::api::path(KIND, None, None), &configuration);
        let probe = rewritten(config_map("probe", "1"));
        let maps = super::api::path("configmaps", Some(&ns.name), None);
        eventually("the API server calls the webhook", || {
            api().create(&format!("{maps}?dryRun=All"), &probe);
            (rewriter.calls() > 0).then_some(())
        });
        rewriter
    }

    /// How often it was called.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Drop for Rewriter {
    fn drop(&mut self) {
        api().delete(&super::api::path(KIND, None, Some(&self.name)));
    }
}

/// An object that the webhook rewrites.
pub fn rewritten(mut object: Value) -> Value {
    object["metadata"]["labels"]["rewritten"] = json!("yes");
    object
}

/// Answers requests until the API server hangs up.
fn serve(stream: SslStream<TcpStream>, calls: &AtomicUsize, patch: &str) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.trim_end().is_empty() {
                break;
            }
            if let Some(("content-length", value)) = line.to_ascii_lowercase().split_once(':') {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        let review: Value = serde_json::from_slice(&body).ok()?;
        calls.fetch_add(1, Ordering::Relaxed);
        let answer = json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {
                "uid": review["request"]["uid"],
                "allowed": true,
                "patchType": "JSONPatch",
                "patch": patch,
            },
        });
        let answer = answer.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            answer.len()
        );
        let whole = [head, answer].concat();
        stream.get_mut().write_all(whole.as_bytes()).ok()?;
    }
}

/// A key that the server has, and a certificate for it that it signed itself.
fn identity() -> (Arc<SslAcceptor>, Vec<u8>) {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let key = PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap();
    let mut name = X509NameBuilder::new().unwrap();
    name.append_entry_by_text("CN", "127.0.0.1").unwrap();
    let name = name.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    let serial = BigNum::from_u32(1).unwrap().to_asn1_integer().unwrap();
    builder.set_serial_number(&serial).unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(&name).unwrap();
    builder
        .set_not_before(&Asn1Time::days_from_now(0).unwrap())
        .unwrap();
    builder
        .set_not_after(&Asn1Time::days_from_now(1).unwrap())
        .unwrap();
    builder.set_pubkey(&key).unwrap();
    let names = SubjectAlternativeName::new()
        .ip("127.0.0.1")
        .build(&builder.x509v3_context(None, None))
        .unwrap();
    builder.append_extension(names).unwrap();
    builder.sign(&key, MessageDigest::sha256()).unwrap();
    let certificate = builder.build();
    let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
    acceptor.set_private_key(&key).unwrap();
    acceptor.set_certificate(&certificate).unwrap();
    (Arc::new(acceptor.build()), certificate.to_pem().unwrap())
}
