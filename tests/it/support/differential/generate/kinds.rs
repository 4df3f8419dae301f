//! Objects of many kinds.

use serde_json::{Value, json};

use super::dice::Dice;
use super::pods::template;
use crate::support::differential::definition::THINGS;
use crate::support::differential::step::Resource;

/// A kind whose objects are made up.
pub struct Kind {
    pub of: Resource,
    /// All but `metadata`.
    pub fields: fn(&mut Dice) -> Value,
    /// What is written to `/status`.
    pub status: Option<fn(&mut Dice) -> Value>,
    pub scale: bool,
}

impl Kind {
    pub fn api_version(&self) -> &'static str {
        let api = self.of.api;
        api.strip_prefix("apis/")
            .or(api.strip_prefix("api/"))
            .unwrap()
    }
}

const fn kind(
    api: &'static str,
    plural: &'static str,
    kind: &'static str,
    fields: fn(&mut Dice) -> Value,
) -> Kind {
    let of = Resource {
        api,
        plural,
        kind,
        namespaced: true,
    };
    Kind {
        of,
        fields,
        status: None,
        scale: false,
    }
}

/// Deployments, Services and custom objects are there more often than the others.
pub const KINDS: &[Kind] = &[
    DEPLOYMENTS,
    DEPLOYMENTS,
    DEPLOYMENTS,
    SERVICES,
    SERVICES,
    CUSTOM,
    CUSTOM,
    CUSTOM,
    Kind {
        status: Some(|dice| json!({ "replicas": 3, "readyReplicas": dice.between(0, 3) })),
        scale: true,
        ..kind("apis/apps/v1", "statefulsets", "StatefulSet", stateful_set)
    },
    kind("api/v1", "configmaps", "ConfigMap", config_map),
    kind("api/v1", "secrets", "Secret", secret),
    kind(
        "api/v1",
        "serviceaccounts",
        "ServiceAccount",
        service_account,
    ),
    kind("api/v1", "endpoints", "Endpoints", endpoints),
    kind("apis/rbac.authorization.k8s.io/v1", "roles", "Role", role),
    kind(
        "apis/rbac.authorization.k8s.io/v1",
        "rolebindings",
        "RoleBinding",
        role_binding,
    ),
    kind("apis/networking.k8s.io/v1", "ingresses", "Ingress", ingress),
    kind(
        "apis/networking.k8s.io/v1",
        "networkpolicies",
        "NetworkPolicy",
        network_policy,
    ),
    kind("apis/coordination.k8s.io/v1", "leases", "Lease", lease),
    kind("apis/apps/v1", "daemonsets", "DaemonSet", daemon_set),
    kind("api/v1", "podtemplates", "PodTemplate", pod_template),
    kind("api/v1", "limitranges", "LimitRange", limit_range),
    kind("api/v1", "resourcequotas", "ResourceQuota", quota),
];

const DEPLOYMENTS: Kind = Kind {
    status: Some(|dice| {
        json!({
            "replicas": dice.between(0, 3),
            "conditions": dice.few(&["Available", "Progressing"].map(|name| json!({ "type": name, "status": "True" }))),
        })
    }),
    scale: true,
    ..kind("apis/apps/v1", "deployments", "Deployment", deployment)
};

const SERVICES: Kind = kind("api/v1", "services", "Service", service);

const CUSTOM: Kind = Kind {
    of: THINGS,
    fields: thing,
    status: Some(|dice| {
        let mut status = json!({});
        dice.some(&mut status, 60, "phase", Dice::word);
        dice.some(&mut status, 60, "conditions", |dice| {
            let status = dice.word();
            dice.few(&["Ready", "Stalled"].map(|name| json!({ "type": name, "status": status })))
        });
        status
    }),
    scale: true,
};

fn deployment(dice: &mut Dice) -> Value {
    let labels = json!({ "app": "shop" });
    let mut spec =
        json!({ "selector": { "matchLabels": labels }, "template": template(dice, labels) });
    dice.some(&mut spec, 50, "replicas", |dice| dice.between(0, 4).into());
    dice.some(&mut spec, 15, "paused", |dice| dice.chance(70).into());
    dice.some(&mut spec, 15, "minReadySeconds", |dice| {
        dice.between(0, 4).into()
    });
    dice.some(&mut spec, 15, "revisionHistoryLimit", |dice| {
        dice.between(0, 4).into()
    });
    dice.some(&mut spec, 25, "strategy", |dice| match dice.between(0, 2) {
        0 => json!({ "type": "Recreate" }),
        1 => json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": dice.between(1, 2) } }),
        _ => json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": "50%", "maxSurge": 1 } }),
    });
    json!({ "spec": spec })
}

fn stateful_set(dice: &mut Dice) -> Value {
    let labels = json!({ "app": "db" });
    let mut spec = json!({
        "selector": { "matchLabels": labels }, "template": template(dice, labels), "serviceName": "db",
    });
    dice.some(&mut spec, 50, "replicas", |dice| dice.between(0, 4).into());
    dice.some(&mut spec, 15, "podManagementPolicy", |_| "Parallel".into());
    dice.some(&mut spec, 20, "updateStrategy", |dice| {
        json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": dice.between(0, 2) } })
    });
    json!({ "spec": spec })
}

fn daemon_set(dice: &mut Dice) -> Value {
    let labels = json!({ "app": "agent" });
    let mut spec =
        json!({ "selector": { "matchLabels": labels }, "template": template(dice, labels) });
    dice.some(&mut spec, 15, "minReadySeconds", |dice| {
        dice.between(0, 4).into()
    });
    dice.some(&mut spec, 25, "updateStrategy", |dice| match dice.between(0, 2) {
        0 => json!({ "type": "OnDelete" }),
        1 => json!({ "type": "RollingUpdate" }),
        _ => json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": dice.between(1, 2) } }),
    });
    json!({ "spec": spec })
}

fn pod_template(dice: &mut Dice) -> Value {
    json!({ "template": template(dice, json!({ "app": "shop" })) })
}

fn limit_range(dice: &mut Dice) -> Value {
    let mut limit = json!({ "type": dice.pick(&["Container", "Container", "Container", "Pod"]) });
    for (field, cpus) in [
        ("min", ["10m", "0.05"]),
        ("defaultRequest", ["100m", "0.1"]),
        ("default", ["200m", "1"]),
        ("max", ["1", "2"]),
    ] {
        dice.some(
            &mut limit,
            50,
            field,
            |dice| json!({ "cpu": dice.pick(&cpus) }),
        );
    }
    json!({ "spec": { "limits": [limit] } })
}

/// Of pods alone: there are none, so nothing is refused for it.
fn quota(dice: &mut Dice) -> Value {
    let mut hard = json!({});
    dice.some(&mut hard, 60, "pods", |dice| {
        dice.between(1, 3).to_string().into()
    });
    dice.some(&mut hard, 60, "requests.cpu", |dice| {
        (*dice.pick(&["1", "2"])).into()
    });
    json!({ "spec": { "hard": hard } })
}

fn service(dice: &mut Dice) -> Value {
    let port = |port: u32, protocol, name: &str| json!({ "port": port, "protocol": protocol, "name": name });
    let mut ports = dice.one_or_more(&[
        port(80, "TCP", "http"),
        port(80, "UDP", "udp"),
        port(6300, "TCP", "jacoco"),
    ]);
    for port in &mut ports {
        dice.some(port, 40, "targetPort", |dice| match dice.between(0, 1) {
            0 => "web".into(),
            _ => dice.between(8080, 8082).into(),
        });
    }
    let mut spec = json!({ "ports": ports });
    dice.some(&mut spec, 70, "selector", Dice::words);
    dice.some(&mut spec, 25, "clusterIP", |_| "None".into());
    dice.some(&mut spec, 15, "type", |dice| {
        (*dice.pick(&["ClusterIP", "NodePort", "LoadBalancer"])).into()
    });
    dice.some(&mut spec, 20, "sessionAffinity", |dice| {
        (*dice.pick(&["ClientIP", "None"])).into()
    });
    dice.some(&mut spec, 20, "publishNotReadyAddresses", |dice| {
        dice.chance(70).into()
    });
    dice.some(&mut spec, 10, "externalIPs", |dice| {
        dice.few(&["1.2.3.4", "1.2.3.5"].map(Value::from))
    });
    json!({ "spec": spec })
}

fn config_map(dice: &mut Dice) -> Value {
    let mut object = json!({});
    dice.some(&mut object, 80, "data", Dice::words);
    dice.some(
        &mut object,
        15,
        "binaryData",
        |dice| json!({ "bin": dice.pick(&["YQ==", "Yg=="]) }),
    );
    dice.some(&mut object, 5, "immutable", |dice| dice.chance(50).into());
    object
}

fn secret(dice: &mut Dice) -> Value {
    let mut object = json!({});
    dice.some(&mut object, 70, "data", |dice| {
        let mut data = json!({});
        for key in ["a", "b"] {
            dice.some(&mut data, 60, key, |dice| {
                (*dice.pick(&["YQ==", "Yg=="])).into()
            });
        }
        data
    });
    dice.some(&mut object, 15, "stringData", Dice::words);
    dice.some(&mut object, 20, "type", |_| "Opaque".into());
    object
}

fn service_account(dice: &mut Dice) -> Value {
    let mut object = json!({});
    dice.some(&mut object, 40, "secrets", |dice| {
        dice.few(&["x", "y"].map(|name| json!({ "name": name })))
    });
    dice.some(&mut object, 40, "imagePullSecrets", |dice| {
        dice.few(&["x", "y"].map(|name| json!({ "name": name })))
    });
    dice.some(&mut object, 30, "automountServiceAccountToken", |dice| {
        dice.chance(50).into()
    });
    object
}

fn endpoints(dice: &mut Dice) -> Value {
    let addresses = dice.one_or_more(&["10.1.0.1", "10.1.0.2"].map(|ip| json!({ "ip": ip })));
    let ports = json!([{ "name": "http", "port": dice.between(80, 82), "protocol": "TCP" }]);
    json!({ "subsets": [{ "addresses": addresses, "ports": ports }] })
}

fn role(dice: &mut Dice) -> Value {
    let rule =
        |resource| json!({ "apiGroups": [""], "resources": [resource], "verbs": ["get", "list"] });
    json!({ "rules": dice.few(&[rule("pods"), rule("services"), rule("secrets")]) })
}

fn role_binding(dice: &mut Dice) -> Value {
    let subject =
        |name| json!({ "kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io" });
    let mut binding = json!({
        "roleRef": { "kind": "Role", "name": dice.pick(&["x", "x", "x", "y"]), "apiGroup": "rbac.authorization.k8s.io" },
    });
    dice.some(&mut binding, 80, "subjects", |dice| {
        dice.few(&["ann", "ben"].map(subject))
    });
    binding
}

fn ingress(dice: &mut Dice) -> Value {
    let path = |dice: &mut Dice| {
        json!({
            "path": dice.pick(&["/", "/a"]), "pathType": "Prefix",
            "backend": { "service": { "name": dice.word(), "port": { "number": 80 } } },
        })
    };
    let mut spec = json!({ "rules": [{ "host": dice.pick(&["a.example.com", "b.example.com"]), "http": { "paths": [path(dice)] } }] });
    dice.some(
        &mut spec,
        30,
        "tls",
        |dice| json!([{ "hosts": ["a.example.com"], "secretName": dice.word() }]),
    );
    dice.some(&mut spec, 20, "ingressClassName", Dice::word);
    json!({ "spec": spec })
}

fn network_policy(dice: &mut Dice) -> Value {
    let mut spec = json!({ "podSelector": { "matchLabels": dice.words() } });
    dice.some(&mut spec, 60, "ingress", |dice| {
        json!([{ "ports": [{ "port": dice.between(80, 82), "protocol": "TCP" }], "from": [{ "podSelector": {} }] }])
    });
    dice.some(&mut spec, 50, "policyTypes", |dice| {
        dice.few(&["Ingress", "Egress"].map(Value::from))
    });
    json!({ "spec": spec })
}

fn lease(dice: &mut Dice) -> Value {
    let mut spec = json!({});
    dice.some(&mut spec, 80, "holderIdentity", Dice::word);
    dice.some(&mut spec, 60, "leaseDurationSeconds", |dice| {
        dice.between(1, 60).into()
    });
    dice.some(&mut spec, 40, "renewTime", |_| {
        "2026-01-01T00:00:00.000000Z".into()
    });
    json!({ "spec": spec })
}

fn thing(dice: &mut Dice) -> Value {
    let mut spec = json!({});
    dice.some(&mut spec, 50, "replicas", |dice| dice.between(0, 10).into());
    dice.some(&mut spec, 40, "text", Dice::word);
    dice.some(&mut spec, 25, "mode", |dice| {
        (*dice.pick(&["a", "b", "b", "c"])).into()
    });
    dice.some(&mut spec, 40, "ports", |dice| {
        let name = dice.word();
        let port =
            |port: u32, protocol| json!({ "port": port, "protocol": protocol, "name": name });
        dice.few(&[port(80, "TCP"), port(80, "UDP"), port(81, "TCP")])
    });
    let letters = ["p", "q", "r"].map(Value::from);
    dice.some(&mut spec, 30, "members", |dice| dice.few(&letters));
    dice.some(&mut spec, 30, "whole", |dice| dice.few(&letters));
    dice.some(&mut spec, 20, "plain", |dice| {
        dice.few(&[json!({ "a": "x" }), json!({ "b": 1 })])
    });
    dice.some(&mut spec, 40, "map", Dice::words);
    dice.some(&mut spec, 30, "wholeMap", Dice::words);
    dice.some(&mut spec, 30, "structs", |dice| {
        let mut structs = json!({});
        for key in ["k", "l"] {
            dice.some(
                &mut structs,
                60,
                key,
                |dice| json!({ "a": dice.word(), "b": 1 }),
            );
        }
        structs
    });
    dice.some(&mut spec, 30, "nested", |dice| {
        let mut nested = json!({});
        dice.some(&mut nested, 60, "a", Dice::word);
        dice.some(
            &mut nested,
            60,
            "deep",
            |dice| json!({ "x": dice.between(0, 2), "y": 1 }),
        );
        nested
    });
    dice.some(&mut spec, 30, "free", |dice| {
        let mut free = json!({});
        dice.some(&mut free, 60, "m", Dice::word);
        dice.some(&mut free, 60, "n", |dice| json!([dice.word(), 1]));
        free
    });
    json!({ "spec": spec })
}
