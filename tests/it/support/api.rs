//! The API server as others use it: what tests look at and disturb, without `covergence` in between.

use std::path::Path;

use http::Request;
use http_body_util::BodyExt;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::lab::is_sandbox;

/// A connection.
pub struct Api {
    client: Client,
    runtime: Runtime,
}

/// What the server said when it would not. Its words are for whoever reads a failed test.
#[derive(Debug)]
#[allow(dead_code)]
pub struct Refused {
    pub code: u16,
    pub message: String,
    /// What is wrong with which field: reason, field and words.
    pub causes: Vec<[String; 3]>,
}

impl Api {
    /// Connects as the user of the kubeconfig's current context.
    pub fn connect(kubeconfig: &Path) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let client = runtime.block_on(async {
            let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
            let choice = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(kubeconfig, &choice).await;
            Client::try_from(config.unwrap()).unwrap()
        });
        Self { client, runtime }
    }

    /// Reads what is there.
    pub fn find(&self, path: &str) -> Option<Value> {
        match self.send("GET", path, "", &Value::Null) {
            Ok(object) => Some(object),
            Err(Refused { code: 404, .. }) => None,
            Err(refused) => panic!("GET {path}: {refused:?}"),
        }
    }

    /// Reads what must be there.
    pub fn get(&self, path: &str) -> Value {
        self.find(path)
            .unwrap_or_else(|| panic!("{path} is not there"))
    }

    /// The items of a list.
    pub fn list(&self, path: &str) -> Vec<Value> {
        self.get(path)["items"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    pub fn create(&self, path: &str, object: &Value) -> Value {
        self.good("POST", path, "application/json", object)
    }

    /// A JSON merge patch, as `kubectl edit` would send it; again when somebody was faster, as people do it.
    pub fn edit(&self, path: &str, patch: &Value) -> Value {
        let path = with(path, "fieldManager=kubectl-edit");
        let send = || self.send("PATCH", &path, "application/merge-patch+json", patch);
        let was_beaten =
            |answer: &Result<Value, Refused>| matches!(answer, Err(Refused { code: 409, .. }));
        let mut tried = std::iter::repeat_with(send).take(5);
        let answer = tried.find(|answer| !was_beaten(answer));
        let answer = answer.unwrap_or_else(send);
        answer.unwrap_or_else(|refused| panic!("PATCH {path} {patch}: {refused:?}"))
    }

    /// A JSON patch (RFC 6902).
    pub fn patch(&self, path: &str, operations: &Value) -> Value {
        let path = with(path, "fieldManager=kubectl-edit");
        self.good("PATCH", &path, "application/json-patch+json", operations)
    }

    /// Server-side apply by another manager, who gets what he asks for.
    pub fn apply(&self, path: &str, manager: &str, object: &Value) -> Value {
        let path = with(path, &format!("fieldManager={manager}&force=true"));
        self.good("PATCH", &path, "application/apply-patch+yaml", object)
    }

    /// Asks for deletion; says whether there was anything to delete.
    pub fn delete(&self, path: &str) -> bool {
        match self.send("DELETE", path, "", &Value::Null) {
            Ok(_) => true,
            Err(Refused { code: 404, .. }) => false,
            Err(refused) => panic!("DELETE {path}: {refused:?}"),
        }
    }

    /// Reads what is there as `kubectl get` has it.
    pub fn table(&self, path: &str) -> Value {
        let form = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let request = Request::get(path).header("Accept", form);
        let request = request.body(Vec::new()).unwrap();
        let answer = self.runtime.block_on(self.client.request::<Value>(request));
        answer.unwrap_or_else(|error| panic!("GET {path}: {error}"))
    }

    /// Reads what is no JSON.
    pub fn text(&self, path: &str) -> String {
        let request = Request::get(path).body(Vec::new()).unwrap();
        let answer = self.runtime.block_on(self.client.request_text(request));
        answer.unwrap_or_else(|error| panic!("GET {path}: {error}"))
    }

    fn good(&self, method: &str, path: &str, content: &str, body: &Value) -> Value {
        self.send(method, path, content, body)
            .unwrap_or_else(|refused| panic!("{method} {path} {body}: {refused:?}"))
    }

    /// Sends a request and gives the answer or the refusal.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, Refused> {
        self.send_as(None, method, path, content, body)
    }

    /// Sends a request and gives the answer as it is: HTTP status and body, whatever they say.
    pub fn raw(&self, method: &str, path: &str, content: &str, body: &Value) -> (u16, Value) {
        let mut request = Request::builder().method(method).uri(path);
        let mut bytes = Vec::new();
        if !body.is_null() {
            request = request.header("Content-Type", content);
            bytes = serde_json::to_vec(body).unwrap();
        }
        let request = request.body(bytes.into()).unwrap();
        let answer = self.runtime.block_on(async {
            let answer = self.client.send(request).await.unwrap();
            let code = answer.status().as_u16();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            (code, body)
        });
        let (code, body) = answer;
        let body =
            serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into());
        (code, body)
    }

    /// The same as somebody else.
    pub fn send_as(
        &self,
        user: Option<&str>,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, Refused> {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(user) = user {
            request = request.header("Impersonate-User", user);
        }
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            request = request.header("Content-Type", content);
            serde_json::to_vec(body).unwrap()
        };
        let request = request.body(bytes).unwrap();
        match self.runtime.block_on(self.client.request::<Value>(request)) {
            Ok(answer) => Ok(answer),
            Err(kube::Error::Api(status)) => Err(Refused {
                code: status.code,
                message: status.message,
                causes: status
                    .details
                    .into_iter()
                    .flat_map(|details| details.causes)
                    .map(|cause| [cause.reason, cause.field, cause.message])
                    .collect(),
            }),
            Err(error) => panic!("{method} {path}: {error}"),
        }
    }
}

fn with(path: &str, query: &str) -> String {
    let joint = if path.contains('?') { '&' } else { '?' };
    format!("{path}{joint}{query}")
}

/// A version of autoscalers that is served: v1.20 has no later one, and a sandbox no earlier one.
pub fn autoscaling() -> &'static str {
    if is_sandbox() {
        "autoscaling/v2"
    } else {
        "autoscaling/v1"
    }
}

/// The path of an object, or of a list when there is no name.
///
/// Resources outside of the table below are written `<plural>.<group>/<version>`.
pub fn path(resource: &str, namespace: Option<&str>, name: Option<&str>) -> String {
    let (plural, subresource) = resource.split_once(':').unwrap_or((resource, ""));
    let (plural, api) = match plural {
        "configmaps"
        | "secrets"
        | "services"
        | "pods"
        | "namespaces"
        | "nodes"
        | "serviceaccounts"
        | "endpoints"
        | "events"
        | "persistentvolumeclaims" => (plural, "api/v1".to_owned()),
        "deployments" | "replicasets" => (plural, "apis/apps/v1".to_owned()),
        "closurejvmtargets" | "closurejvmcampaigns" | "syncs" => {
            (plural, "apis/closurejvm.io/v1alpha1".to_owned())
        }
        "horizontalpodautoscalers" => (plural, format!("apis/{}", autoscaling())),
        "endpointslices" => (plural, "apis/discovery.k8s.io/v1beta1".to_owned()),
        "roles" | "rolebindings" | "clusterroles" | "clusterrolebindings" => {
            (plural, "apis/rbac.authorization.k8s.io/v1".to_owned())
        }
        "customresourcedefinitions" => (plural, "apis/apiextensions.k8s.io/v1".to_owned()),
        other => {
            let (plural, group) = other
                .split_once('.')
                .unwrap_or_else(|| panic!("where is {other}?"));
            (plural, format!("apis/{group}"))
        }
    };
    let mut path = format!("/{api}");
    if let Some(namespace) = namespace {
        path += &format!("/namespaces/{namespace}");
    }
    path += &format!("/{plural}");
    if let Some(name) = name {
        path += &format!("/{name}");
    }
    if !subresource.is_empty() {
        path += &format!("/{subresource}");
    }
    path
}
