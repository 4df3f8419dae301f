//! Pods, as templates have them.

use serde_json::{Value, json};

use super::dice::Dice;

pub fn template(dice: &mut Dice, labels: Value) -> Value {
    let mut metadata = json!({ "labels": labels });
    dice.some(&mut metadata, 20, "annotations", Dice::words);
    json!({ "metadata": metadata, "spec": pod(dice) })
}

fn pod(dice: &mut Dice) -> Value {
    let containers: Vec<Value> = ["app", "side"]
        .into_iter()
        .filter(|name| *name == "app" || dice.chance(30))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|name| container(dice, name))
        .collect();
    let mut spec = json!({ "containers": containers });
    // What containers mount is always there.
    spec["volumes"] = ["v", "w"]
        .map(|name| volume(dice, name))
        .into_iter()
        .collect();
    dice.some(&mut spec, 15, "initContainers", |dice| {
        json!([container(dice, "init")])
    });
    dice.some(&mut spec, 15, "nodeSelector", Dice::words);
    dice.some(&mut spec, 15, "serviceAccountName", Dice::word);
    dice.some(&mut spec, 15, "terminationGracePeriodSeconds", |dice| {
        dice.between(0, 60).into()
    });
    dice.some(&mut spec, 10, "tolerations", |dice| {
        dice.few(&[
            json!({ "key": "a", "operator": "Exists" }),
            json!({ "key": "b", "operator": "Equal", "value": "x", "effect": "NoSchedule" }),
        ])
    });
    dice.some(
        &mut spec,
        10,
        "securityContext",
        |dice| json!({ "runAsUser": dice.between(1, 3), "runAsNonRoot": true }),
    );
    dice.some(&mut spec, 8, "imagePullSecrets", |dice| {
        dice.few(&["x", "y"].map(|name| json!({ "name": name })))
    });
    dice.some(
        &mut spec,
        8,
        "hostAliases",
        |dice| json!([{ "ip": "10.0.0.1", "hostnames": [dice.word()] }]),
    );
    dice.some(&mut spec, 6, "affinity", |dice| {
        json!({ "podAntiAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 1,
            "podAffinityTerm": { "topologyKey": "zone", "labelSelector": { "matchLabels": dice.words() } },
        }] } })
    });
    dice.some(
        &mut spec,
        6,
        "topologySpreadConstraints",
        |_| json!([{ "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule" }]),
    );
    spec
}

fn volume(dice: &mut Dice, name: &str) -> Value {
    let mut volume = json!({ "name": name });
    match dice.between(0, 3) {
        0 => volume["configMap"] = json!({ "name": dice.word() }),
        1 => {
            volume["secret"] =
                json!({ "secretName": dice.word(), "items": [{ "key": "a", "path": "b" }] })
        }
        2 => volume["emptyDir"] = json!({ "sizeLimit": dice.pick(&["1Gi", "500Mi"]) }),
        _ => volume["emptyDir"] = json!({}),
    }
    volume
}

fn container(dice: &mut Dice, name: &str) -> Value {
    let mut container =
        json!({ "name": name, "image": dice.pick(&["shop/app:1", "shop/app:2", "shop/app"]) });
    dice.some(&mut container, 15, "imagePullPolicy", |dice| {
        (*dice.pick(&["Always", "IfNotPresent"])).into()
    });
    dice.some(&mut container, 15, "command", |dice| {
        json!(["run", dice.word()])
    });
    dice.some(&mut container, 20, "args", |dice| {
        dice.few(&["a", "b"].map(Value::from))
    });
    dice.some(&mut container, 50, "env", environment);
    dice.some(&mut container, 40, "ports", |dice| {
        let named = |port: u32, protocol, name: &str| json!({ "containerPort": port, "protocol": protocol, "name": name });
        let ports = [named(80, "TCP", "http"), named(80, "UDP", "udp"), named(6300, "TCP", "jacoco")];
        dice.few(&ports)
    });
    dice.some(&mut container, 35, "resources", resources);
    dice.some(&mut container, 35, "volumeMounts", |dice| {
        let mount = |path, volume| json!({ "mountPath": path, "name": volume });
        dice.few(&[mount("/v", "v"), mount("/w", "w")])
    });
    dice.some(&mut container, 15, "readinessProbe", |dice| {
        json!({ "httpGet": { "path": "/", "port": 80 }, "periodSeconds": dice.between(1, 9) })
    });
    dice.some(
        &mut container,
        10,
        "livenessProbe",
        |dice| json!({ "tcpSocket": { "port": dice.between(1, 9) } }),
    );
    dice.some(&mut container, 15, "securityContext", |dice| {
        json!({ "readOnlyRootFilesystem": dice.chance(50), "capabilities": { "drop": ["ALL"] } })
    });
    dice.some(
        &mut container,
        8,
        "envFrom",
        |dice| json!([{ "configMapRef": { "name": dice.word() } }]),
    );
    container
}

fn environment(dice: &mut Dice) -> Value {
    let mut environment = Vec::new();
    for name in ["A", "B", "JAVA_TOOL_OPTIONS"] {
        if dice.chance(50) {
            continue;
        }
        environment.push(match dice.between(0, 9) {
            0 => json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }),
            1 => json!({ "name": name, "valueFrom": { "configMapKeyRef": { "name": "x", "key": "y" } } }),
            _ => json!({ "name": name, "value": dice.word() }),
        });
    }
    environment.into()
}

fn resources(dice: &mut Dice) -> Value {
    let cpu = |dice: &mut Dice| Value::from(*dice.pick(&["100m", "500m"]));
    let memory = |dice: &mut Dice| Value::from(*dice.pick(&["64Mi", "128Mi"]));
    let mut resources = json!({ "requests": { "cpu": cpu(dice), "memory": memory(dice) } });
    dice.some(&mut resources, 50, "limits", |dice| {
        // Larger than what is requested.
        json!({ "cpu": dice.pick(&["1", "2"]), "memory": "1Gi" })
    });
    resources
}
