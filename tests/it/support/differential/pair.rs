//! A sandbox and a real API server.

use std::fs;

use covergence::sandbox::{Options, Sandbox};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::align::aligned;
use super::answer::Answer;
use crate::support::api::Api;
use crate::support::lab::eventually;

/// Both, each with a namespace of its own.
pub struct Pair<'a> {
    pub sandbox: Api,
    pub server: &'a Api,
    pub namespace: String,
    /// The server's version: 20 for Kubernetes 1.20.
    pub minor: u32,
    stop: CancellationToken,
    /// Serves the sandbox.
    _runtime: Runtime,
    _kubeconfig: TempDir,
}

/// What is asked of both.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: &'static str,
    pub path: String,
    pub content: &'static str,
    pub body: Value,
}

impl<'a> Pair<'a> {
    /// Starts a sandbox on a port of its own, beside a server, and makes the namespace on both.
    pub fn new(server: &'a Api, namespace: &str, controllers: bool) -> Self {
        let runtime = Runtime::new().unwrap();
        let sandbox = Sandbox::new(Options {
            controllers,
            ..Options::default()
        });
        let kinds = aligned(&sandbox.lock().kinds, &server.get("/openapi/v2"));
        sandbox.lock().kinds = kinds;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let kubeconfig = sandbox.kubeconfig(listener.local_addr().unwrap()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("kubeconfig");
        fs::write(&file, kubeconfig).unwrap();
        let stop = CancellationToken::new();
        runtime.spawn(sandbox.serve(listener, stop.clone()));
        let pair = Self {
            sandbox: Api::connect(&file),
            server,
            namespace: namespace.to_owned(),
            minor: minor(server),
            stop,
            _runtime: runtime,
            _kubeconfig: dir,
        };
        let object =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
        for api in [&pair.sandbox, server] {
            api.create("/api/v1/namespaces", &object);
        }
        pair
    }

    /// Makes a kind known to both, and waits until they serve it.
    pub fn define(&self, definition: &Value) {
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let spec = &definition["spec"];
        let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
        let version = text(&spec["versions"][0]["name"]);
        for api in [&self.sandbox, self.server] {
            // Other tests define it as well.
            let (code, answer) = api.raw("POST", definitions, "application/json", definition);
            assert!(
                code == 201 || answer["reason"] == "AlreadyExists",
                "{answer}"
            );
            // Served is not yet known to apply: the types of a new kind reach it a moment later.
            let object = format!(
                "/apis/{group}/{version}/namespaces/{}/{plural}/probe",
                self.namespace
            );
            let probe = json!({
                "apiVersion": format!("{group}/{version}"), "kind": spec["names"]["kind"], "metadata": { "name": "probe" },
            });
            eventually("the kind is served", || {
                let query = "?fieldManager=probe&dryRun=All";
                let apply = "application/apply-patch+yaml";
                let (code, _) = api.raw("PATCH", &format!("{object}{query}"), apply, &probe);
                (code == 201).then_some(())
            });
        }
    }

    /// Asks one of both.
    pub fn ask(api: &Api, call: &Call) -> Answer {
        let (code, body) = api.raw(call.method, &call.path, call.content, &call.body);
        Answer { code, body }
    }
}

impl Drop for Pair<'_> {
    fn drop(&mut self) {
        self.stop.cancel();
        // It is gone with its controllers, if the server has any.
        self.server
            .delete(&format!("/api/v1/namespaces/{}", self.namespace));
    }
}

fn minor(server: &Api) -> u32 {
    let version = server.get("/version");
    let digits: String = version["minor"]
        .as_str()
        .unwrap()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap()
}
