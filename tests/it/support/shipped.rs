//! The controller's account and its rights, as `deploy/` ships them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::api::{Api, path};
use super::deploy::manifests;
use super::kubeconfig::Access;
use super::lab::eventually;
use super::rights::{Right, rights_of};

/// The namespace that the controller is shipped in, with its account; it has the same name.
pub const NAMESPACE: &str = "covergence-system";

/// Name of the shipped account.
pub const ACCOUNT: &str = "covergence";

/// The account that tenants' Syncs act as here: the `defaultServiceAccount` of deploy/config.yaml.
pub const TENANT: &str = "default";

/// An account with the shipped roles, and a kubeconfig with its token.
pub struct Account<'a> {
    api: &'a Api,
    name: &'a str,
    folder: TempDir,
}

impl<'a> Account<'a> {
    /// Installs what `deploy/` says of accounts and roles, as often as one likes.
    ///
    /// Any other account than the shipped one is bound to the same roles: it stands in for it, so that the audit log can
    /// tell its requests from all others.
    pub fn new(lab: &Path, api: &'a Api, name: &'a str) -> Self {
        let namespace =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
        let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name, "namespace": NAMESPACE } });
        apply(api, &namespace);
        apply(api, &account);
        for object in manifests("rbac.yaml") {
            apply(api, &standing_in(name, object));
        }
        Self::of(lab, api, name)
    }

    /// An account that is there.
    pub fn of(lab: &Path, api: &'a Api, name: &'a str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let account = Self { api, name, folder };
        let access = Access::of(lab).with_token(&account.token());
        access.write(account.folder.path());
        account
    }

    /// Does in a namespace what an admin does there by the README: the controller may act as its accounts. What those
    /// may do is up to the admin; here, the default one may do everything.
    pub fn serve(&self, namespace: &str) {
        let name = format!("{}:{namespace}", self.name);
        // Nothing can be made in a namespace that is going.
        let at = path("namespaces", None, Some(namespace));
        let live = self.api.find(&at).unwrap_or_default();
        if !live["metadata"]["deletionTimestamp"].is_null() {
            return;
        }
        apply(
            self.api,
            &binding(
                "RoleBinding",
                &name,
                namespace,
                "covergence-tenant",
                (NAMESPACE, self.name),
            ),
        );
        apply(
            self.api,
            &binding(
                "ClusterRoleBinding",
                &format!("tenant:{namespace}"),
                "",
                "cluster-admin",
                (namespace, TENANT),
            ),
        );
        self.await_right(
            &self.user(),
            &Right {
                namespace: namespace.to_owned(),
                group: String::new(),
                resource: "serviceaccounts".into(),
                name: TENANT.into(),
                verb: "impersonate".into(),
            },
        );
        let everything = || "*".to_owned();
        self.await_right(
            &format!("system:serviceaccount:{namespace}:{TENANT}"),
            &Right {
                namespace: String::new(),
                group: everything(),
                resource: everything(),
                name: String::new(),
                verb: everything(),
            },
        );
    }

    /// Lets it keep its Leases in a namespace, as it is shipped to do in its own.
    pub fn keep_leases_in(&self, namespace: &str) {
        for mut object in manifests("rbac.yaml") {
            if object["metadata"]["namespace"] == NAMESPACE {
                object["metadata"]["namespace"] = namespace.into();
                apply(self.api, &standing_in(self.name, object));
            }
        }
    }

    /// Waits until the API server goes by all roles that are bound to it.
    pub fn await_rights(&self, leases: &str) {
        for mut right in rights_of(&manifests("rbac.yaml")) {
            let bound_by_an_admin = ["secrets", "serviceaccounts"];
            if bound_by_an_admin.contains(&right.resource.as_str()) {
                continue;
            }
            if !right.namespace.is_empty() {
                right.namespace = leases.to_owned();
            }
            self.await_right(&self.user(), &right);
        }
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// The folder that holds the kubeconfig, which goes with it.
    pub fn into_folder(self) -> TempDir {
        self.folder
    }

    /// As the API server knows it.
    pub fn user(&self) -> String {
        format!("system:serviceaccount:{NAMESPACE}:{}", self.name)
    }

    fn token(&self) -> String {
        let at = path("serviceaccounts:token", Some(NAMESPACE), Some(self.name));
        let request =
            json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {} });
        let answer = self.api.create(&at, &request);
        answer["status"]["token"].as_str().unwrap().to_owned()
    }

    fn await_right(&self, user: &str, right: &Right) {
        eventually(&format!("{user} may {right:?}"), || {
            may(self.api, user, right).then_some(())
        });
    }
}

fn apply(api: &Api, object: &Value) {
    let kind = object["kind"].as_str().unwrap().to_lowercase() + "s";
    let metadata = &object["metadata"];
    let path = path(
        &kind,
        metadata["namespace"].as_str(),
        metadata["name"].as_str(),
    );
    api.apply(&path, "kubectl", object);
}

/// A binding of `deploy/` for another account; other objects are as they were.
fn standing_in(account: &str, mut object: Value) -> Value {
    if object.get("subjects").is_some() && account != ACCOUNT {
        object["subjects"][0]["name"] = account.into();
        let name = object["metadata"]["name"].as_str().unwrap();
        object["metadata"]["name"] = format!("{name}:{account}").into();
    }
    object
}

/// A binding of a ClusterRole to an account, given by namespace and name.
pub fn binding(
    kind: &str,
    name: &str,
    namespace: &str,
    role: &str,
    account: (&str, &str),
) -> Value {
    let metadata = match namespace {
        "" => json!({ "name": name }),
        namespace => json!({ "name": name, "namespace": namespace }),
    };
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata,
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
        "subjects": [{ "kind": "ServiceAccount", "namespace": account.0, "name": account.1 }],
    })
}

/// Asks the API server whether a user has a right.
pub fn may(api: &Api, user: &str, right: &Right) -> bool {
    let Right {
        namespace,
        group,
        resource,
        name,
        verb,
    } = right;
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let review = json!({ "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
        "user": user,
        "resourceAttributes": {
            "namespace": namespace, "group": group, "resource": resource,
            "subresource": subresource, "name": name, "verb": verb,
        },
    } });
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    api.create(path, &review)["status"]["allowed"] == true
}
