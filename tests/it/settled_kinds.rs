//! Manifests as people write them: applied once, nothing is left to do, whatever the server fills in.

use serde_json::json;

use crate::support::api::autoscaling;
use crate::support::manifest::definition;
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;

const WORKLOADS: &str = r#"
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
spec:
  serviceName: db
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      terminationGracePeriodSeconds: 10
      securityContext: { runAsUser: 1000, fsGroup: 1000 }
      tolerations:
        - { key: dedicated, operator: Exists, effect: NoSchedule }
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 1
              podAffinityTerm: { topologyKey: kubernetes.io/hostname, labelSelector: { matchLabels: { app: db } } }
      initContainers:
        - name: init
          image: busybox
          command: [sh, -c, "true"]
      containers:
        - name: db
          image: postgres:14
          ports:
            - containerPort: 5432
            - { containerPort: 9187, name: metrics, protocol: TCP }
          env:
            - name: A
              value: "1"
            - name: POD
              valueFrom: { fieldRef: { fieldPath: metadata.name } }
          envFrom:
            - configMapRef: { name: db }
          livenessProbe: { tcpSocket: { port: 5432 } }
          readinessProbe: { httpGet: { path: /ready, port: metrics } }
          resources: { requests: { cpu: 0.25, memory: 1Gi }, limits: { memory: 1024Mi } }
          volumeMounts:
            - { name: data, mountPath: /data }
            - { name: conf, mountPath: /conf, readOnly: true }
      volumes:
        - name: conf
          configMap: { name: db, defaultMode: 0440, items: [{ key: a, path: a }] }
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        resources: { requests: { storage: 1Gi } }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec:
      hostNetwork: true
      containers:
        - name: agent
          image: agent:1
          securityContext: { capabilities: { drop: [ALL] }, readOnlyRootFilesystem: true }
          volumeMounts: [{ name: host, mountPath: /host }]
      volumes:
        - { name: host, hostPath: { path: / } }
        - { name: tmp, emptyDir: {} }
---
apiVersion: batch/v1
kind: Job
metadata: { name: once }
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: c, image: busybox }]
---
apiVersion: v1
kind: Pod
metadata: { name: single }
spec:
  containers:
    - name: c
      image: busybox
      ports: [{ containerPort: 80 }]
"#;

const REST: &str = r#"
apiVersion: v1
kind: ServiceAccount
metadata: { name: robot }
automountServiceAccountToken: false
imagePullSecrets: [{ name: pull }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: robot }
rules:
  - { apiGroups: [""], resources: [pods], verbs: [get, list] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: robot }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: robot }
subjects:
  - { kind: ServiceAccount, name: robot, namespace: NAMESPACE }
  - { kind: User, name: jane }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec:
  type: NodePort
  selector: { app: web }
  ports:
    - { name: http, port: 80, targetPort: http }
    - { name: dns, port: 53, protocol: UDP }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web }
spec:
  rules:
    - host: shop.example
      http:
        paths:
          - { path: /, pathType: Prefix, backend: { service: { name: web, port: { name: http } } } }
  tls: [{ hosts: [shop.example], secretName: tls }]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: deny }
spec:
  podSelector: {}
  policyTypes: [Ingress]
  ingress:
    - from: [{ namespaceSelector: {} }]
      ports: [{ port: 80 }]
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: quota }
spec: { hard: { pods: 50, requests.cpu: "4000m" } }
---
apiVersion: v1
kind: LimitRange
metadata: { name: limits }
spec: { limits: [{ type: Container, default: { memory: 512Mi }, defaultRequest: { cpu: 0.1 } }] }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: claim }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1024Mi } } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: texts, labels: { "on": "yes" } }
immutable: false
data:
  multi: |
    two
    lines
  empty: ""
  number: "0755"
binaryData: { blob: AAEC }
---
apiVersion: v1
kind: Secret
metadata: { name: tls }
type: Opaque
data: { a: YQ== }
stringData: { b: plain }
---
apiVersion: AUTOSCALING
kind: HorizontalPodAutoscaler
metadata: { name: web }
spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web } }
---
apiVersion: v1
kind: Endpoints
metadata: { name: outside }
subsets:
  - addresses: [{ ip: 192.0.2.1 }]
    ports: [{ port: 443 }]
"#;

fn settles(ns: &Namespace, source: &Source, count: usize) {
    let report = ns.sync(source).ok();
    assert_eq!(report.count("created"), count as u64);
    // By metadata alone, by a dry run of everything, and by doing it.
    ns.diff(source).arg("--all").ok().nothing_to_do();
    ns.diff(source)
        .args(&["--all", "--full"])
        .ok()
        .nothing_to_do();
    ns.sync(source).ok().nothing_to_do();
}

#[test]
fn workloads() {
    let ns = Namespace::new("workloads");
    settles(&ns, &Source::new().file("a.yaml", WORKLOADS), 4);
}

#[test]
fn other_kinds_of_every_day() {
    let ns = Namespace::new("every-day");
    let text = REST
        .replace("NAMESPACE", &ns.name)
        .replace("AUTOSCALING", autoscaling());
    settles(&ns, &Source::new().file("a.yaml", &text), 13);
}

#[test]
fn custom_objects_with_lists_numbers_and_unknown_fields() {
    let ns = Namespace::new("custom");
    let group = format!("{}.example", unique("custom"));
    let mut crd = definition(&group, "Cup");
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = json!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "size": { "type": "integer", "default": 1 },
            "ratio": { "type": "number" },
            "on": { "type": "boolean" },
            "list": { "type": "array", "items": { "type": "object", "properties": { "name": { "type": "string" }, "n": { "type": "integer" } } } },
            "keyed": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" }, "n": { "type": "integer" } } },
            },
            "set": { "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "string" } },
            "atomic": { "type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": { "type": "string" } },
            "port": { "x-kubernetes-int-or-string": true },
        },
    });
    let cup = json!({
        "apiVersion": format!("{group}/v1"), "kind": "Cup", "metadata": { "name": "cup" },
        "spec": {
            "ratio": 0.5, "on": false, "port": "http",
            "list": [{ "name": "a", "n": 1 }, { "name": "b" }],
            "keyed": [{ "name": "a", "n": 1 }, { "name": "b" }],
            "set": ["x", "y"], "atomic": { "k": "v" },
            "unknown": { "deep": [{ "er": 1 }, { "er": [] }], "big": 9_007_199_254_740_993_i64, "none": {} },
        },
    });
    let source = Source::new().with("a.yaml", &[crd, cup]);
    settles(&ns, &source, 2);
}

#[test]
fn a_manifest_in_another_version_of_its_kind() {
    let ns = Namespace::new("versions");
    let hpa = |version: &str, rest: serde_json::Value| {
        let mut spec = json!({ "maxReplicas": 3, "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" } });
        spec.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        json!({ "apiVersion": version, "kind": "HorizontalPodAutoscaler", "metadata": { "name": "web" }, "spec": spec })
    };
    let source = Source::new().with(
        "a.yaml",
        &[hpa(
            "autoscaling/v1",
            json!({ "targetCPUUtilizationPercentage": 70 }),
        )],
    );
    settles(&ns, &source, 1);
    let before = ns.get("horizontalpodautoscalers", "web");
    let cpu = json!([{ "type": "Resource", "resource": { "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 80 } } }]);
    source.write(
        "a.yaml",
        &[hpa("autoscaling/v2beta2", json!({ "metrics": cpu }))],
    );
    // The same object, not one that came and one that went.
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(
        report.outcome("HorizontalPodAutoscaler", "web"),
        "configured"
    );
    let after = ns.get("horizontalpodautoscalers", "web");
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
    assert_eq!(after["spec"]["targetCPUUtilizationPercentage"], 80);
    ns.sync(&source).arg("--prune").ok().nothing_to_do();
    ns.diff(&source).arg("--full").ok();
}
