//! Everyday kubectl on a sandbox: the real one, as people type it.

use std::net::SocketAddr;
use std::process::Output;
use std::sync::Arc;

use covergence::sandbox::{Options, Sandbox};
use regex::Regex;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::support::kubectl;
use crate::support::lab::eventually;

/// A sandbox whose pods are ready at once, and a folder with its kubeconfig.
struct Served {
    dir: TempDir,
    stop: CancellationToken,
    _runtime: Runtime,
}

impl Served {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let sandbox: Arc<Sandbox> = Sandbox::new(Options::default());
        let stop = CancellationToken::new();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let kubeconfig = sandbox.kubeconfig(address).unwrap();
        std::fs::write(dir.path().join("kubeconfig"), kubeconfig).unwrap();
        runtime.spawn(sandbox.serve(listener, stop.clone()));
        let served = Self {
            dir,
            stop,
            _runtime: runtime,
        };
        served.run("create namespace shop");
        served.run("config set-context --current --namespace=shop");
        served
    }

    /// What becomes of a line; words have no spaces in them.
    fn attempt(&self, line: &str) -> Output {
        let mut command = kubectl::command(self.dir.path(), self.dir.path());
        command
            .current_dir(self.dir.path())
            .env("KUBE_EDITOR", "sed -i s/replicas:.2/replicas:\\ 4/")
            .env("PATH", std::env::var_os("PATH").unwrap())
            .args(line.split(' '))
            .output()
            .unwrap()
    }

    /// What a line prints that comes to a good end.
    fn run(&self, line: &str) -> String {
        let output = self.attempt(line);
        let said = String::from_utf8(output.stdout).unwrap();
        let wrong = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "kubectl {line}: {said}{wrong}");
        said
    }

    /// What is said of a line that comes to a bad end.
    fn refused(&self, line: &str) -> String {
        let output = self.attempt(line);
        assert!(!output.status.success(), "kubectl {line}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).unwrap();
    }

    fn with_shop() -> Self {
        let served = Self::new();
        served.write("shop.yaml", SHOP);
        let said = served.run("apply -f shop.yaml");
        assert_eq!(
            said,
            "deployment.apps/shop created\nservice/shop created\nconfigmap/shop created\n"
        );
        served.run("rollout status deployment/shop --timeout=60s");
        served
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

const SHOP: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, labels: {app: shop}}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - name: web
        image: web:1
        ports: [{containerPort: 80}]
        env: [{name: A, value: b}]
---
apiVersion: v1
kind: Service
metadata: {name: shop}
spec:
  selector: {app: shop}
  ports: [{port: 80}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shop}
data: {a: b}
";

/// What a table says, without what is made up anew each time.
fn rows(table: &str) -> Vec<Vec<String>> {
    let changing = Regex::new(r"^(\d+[smh])+$|^10\.\d+\.\d+\.\d+$").unwrap();
    let made_up = Regex::new(r"^(shop-[0-9a-f]+)(-\w{5})?$|^shop-\w{5}$").unwrap();
    let word = |word: &str| match word {
        word if changing.is_match(word) => "*".to_owned(),
        word => made_up.replace(word, "shop-*").into_owned(),
    };
    let row = |line: &str| line.split_whitespace().map(word).collect();
    table.lines().map(row).collect()
}

fn expected(table: &str) -> Vec<Vec<String>> {
    let row = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    table.trim().lines().map(row).collect()
}

#[test]
fn objects_are_shown_as_tables() {
    let served = Served::with_shop();
    assert_eq!(
        rows(&served.run("get deployments -o wide")),
        expected(
            "NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR
             shop 2/2   2          2         *   web        web:1  app=shop"
        )
    );
    assert_eq!(
        rows(&served.run("get pods")),
        expected(
            "NAME   READY STATUS  RESTARTS AGE
             shop-* 1/1   Running 0        *
             shop-* 1/1   Running 0        *"
        )
    );
    assert_eq!(
        rows(&served.run("get svc,cm")),
        expected(
            "NAME         TYPE      CLUSTER-IP EXTERNAL-IP PORT(S) AGE
             service/shop ClusterIP *          <none>      80/TCP  *

             NAME                       DATA AGE
             configmap/kube-root-ca.crt 1    *
             configmap/shop             1    *"
        )
    );
    assert!(served.run("get all").contains("replicaset.apps/shop-"));
    assert_eq!(served.run("get pods -l app=none --ignore-not-found"), "");
    assert!(
        served
            .run("get deployment shop -o yaml")
            .contains("terminationGracePeriodSeconds: 30")
    );
}

#[test]
fn objects_are_described() {
    let served = Served::with_shop();
    let said = served.run("describe deployment shop");
    assert!(
        said.contains("2 desired | 2 updated | 2 total | 2 available | 0 unavailable"),
        "{said}"
    );
    let said = served.run("describe service shop");
    assert!(
        Regex::new(r"Endpoints: +10\.\S+:80,10\.\S+:80\n")
            .unwrap()
            .is_match(&said),
        "{said}"
    );
    let said = served.run("describe pods");
    assert!(
        Regex::new("Status: +Running\n").unwrap().is_match(&said),
        "{said}"
    );
    assert!(served.run("describe namespace shop").contains("Active"));
}

#[test]
fn objects_are_changed() {
    let served = Served::with_shop();
    assert_eq!(
        served.run("label deployment shop tier=front"),
        "deployment.apps/shop labeled\n"
    );
    assert_eq!(
        served.run("annotate service shop note=hi"),
        "service/shop annotated\n"
    );
    assert_eq!(
        served.run("get deployment -l tier=front -o name"),
        "deployment.apps/shop\n"
    );
    assert_eq!(
        served.run("scale deployment shop --replicas=3"),
        "deployment.apps/shop scaled\n"
    );
    served.run("wait --for=jsonpath={.status.readyReplicas}=3 deployment/shop --timeout=60s");
    let patch = r#"{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}"#;
    served.run(&format!("patch deployment shop --patch={patch}"));
    served.run(r#"patch configmap shop --type=merge --patch={"data":{"a":null,"b":"c"}}"#);
    assert_eq!(
        served.run("get configmap shop -o jsonpath={.data}"),
        r#"{"b":"c"}"#
    );
    let env = "get deployment shop -o jsonpath={.spec.template.spec.containers[0].env}";
    assert_eq!(served.run(env), r#"[{"name":"A","value":"b"}]"#);
    // Client-side apply puts back what it had put there, and nothing else.
    let difference = served.attempt("diff -f shop.yaml");
    assert_eq!(difference.status.code(), Some(1));
    let difference = String::from_utf8(difference.stdout).unwrap();
    assert!(
        difference.contains("-  replicas: 3\n+  replicas: 2\n"),
        "{difference}"
    );
    served.run("apply -f shop.yaml");
    assert_eq!(served.attempt("diff -f shop.yaml").status.code(), Some(0));
    assert_eq!(
        served.run("edit deployment shop"),
        "deployment.apps/shop edited\n"
    );
    assert_eq!(
        served.run("get deployment shop -o jsonpath={.spec.replicas}"),
        "4"
    );
    assert_eq!(
        served.run("get service shop -o jsonpath={.metadata.annotations.note}"),
        "hi"
    );
}

#[test]
fn server_side_apply_tells_of_conflicts() {
    let served = Served::with_shop();
    served.run("scale deployment shop --replicas=3");
    let said = served.refused("apply --server-side -f shop.yaml --field-manager=other");
    assert!(
        said.contains("conflict with \"kubectl\" with subresource \"scale\""),
        "{said}"
    );
    served.run("apply --server-side -f shop.yaml --field-manager=other --force-conflicts");
    assert_eq!(
        served.run("get deployment shop -o jsonpath={.spec.replicas}"),
        "2"
    );
}

#[test]
fn deployments_roll_out_and_back() {
    let served = Served::with_shop();
    served.run("set image deployment/shop web=web:2");
    let said = served.run("rollout status deployment/shop --timeout=60s");
    assert!(
        said.ends_with("deployment \"shop\" successfully rolled out\n"),
        "{said}"
    );
    assert_eq!(
        served
            .run("rollout history deployment/shop")
            .matches("<none>")
            .count(),
        2
    );
    served.run("rollout undo deployment/shop");
    served.run("rollout status deployment/shop --timeout=60s");
    let image = "get deployment shop -o jsonpath={.spec.template.spec.containers[0].image}";
    assert_eq!(served.run(image), "web:1");
    served.run("rollout restart deployment/shop");
    served.run("wait --for=condition=Available deployment/shop --timeout=60s");
}

/// kubectl sends what it makes by itself in protobuf.
#[test]
fn kubectl_makes_objects_by_itself() {
    let served = Served::new();
    for (line, said) in [
        (
            "create deployment x --image=web:1 --port=80",
            "deployment.apps/x created\n",
        ),
        ("expose deployment x --port=80", "service/x exposed\n"),
        (
            "run p --image=web:1 --env=A=b --labels=a=b",
            "pod/p created\n",
        ),
        (
            "create secret generic s --from-literal=a=b",
            "secret/s created\n",
        ),
        (
            "create configmap c --from-literal=a=b",
            "configmap/c created\n",
        ),
        ("create serviceaccount bob", "serviceaccount/bob created\n"),
        (
            "create role r --verb=get --resource=pods",
            "role.rbac.authorization.k8s.io/r created\n",
        ),
        (
            "create rolebinding r --role=r --serviceaccount=shop:bob",
            "rolebinding.rbac.authorization.k8s.io/r created\n",
        ),
        ("create job j --image=web:1", "job.batch/j created\n"),
        (
            "create cronjob j --image=web:1 --schedule=@daily",
            "cronjob.batch/j created\n",
        ),
        (
            "create ingress i --rule=a.b/*=x:80",
            "ingress.networking.k8s.io/i created\n",
        ),
        (
            "create quota q --hard=pods=100,requests.cpu=1000m",
            "resourcequota/q created\n",
        ),
        (
            "create poddisruptionbudget p --selector=app=x --min-available=50%",
            "poddisruptionbudget.policy/p created\n",
        ),
        (
            "autoscale deployment x --max=3",
            "horizontalpodautoscaler.autoscaling/x autoscaled\n",
        ),
        (
            "create priorityclass high --value=7",
            "priorityclass.scheduling.k8s.io/high created\n",
        ),
    ] {
        assert_eq!(served.run(line), said);
    }
    assert_eq!(
        served.run("get secret s -o jsonpath={.data}"),
        r#"{"a":"Yg=="}"#
    );
    assert_eq!(
        served.run("get quota q -o jsonpath={.spec.hard}"),
        r#"{"pods":"100","requests.cpu":"1"}"#
    );
    assert_eq!(
        served.run("get pdb p -o jsonpath={.spec.minAvailable}"),
        "50%"
    );
    assert_eq!(
        served.run("get pod p -o jsonpath={.spec.containers[0].env}"),
        r#"[{"name":"A","value":"b"}]"#
    );
    assert_eq!(
        served.run("auth can-i get pods --as=system:serviceaccount:shop:bob"),
        "yes\n"
    );
    let denied = served.attempt("auth can-i delete pods --as=system:serviceaccount:shop:bob");
    assert_eq!(String::from_utf8(denied.stdout).unwrap(), "no\n");
    assert!(served.run("auth whoami").contains("system:masters"));
    assert_eq!(served.run("create token bob").split('.').count(), 3);
}

#[test]
fn types_are_explained() {
    let served = Served::new();
    let said = served.run("explain deployment.spec.template.spec.containers.ports");
    for line in [
        "GROUP:      apps\n",
        "KIND:       Deployment\n",
        "FIELD: ports <[]ContainerPort>\n",
        "  containerPort\t<integer> -required-\n",
        "  protocol\t<string>\n",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    assert!(
        served
            .run("explain service --recursive")
            .contains("    loadBalancerClass\t<string>\n")
    );
    let resources = served.run("api-resources --namespaced=false -o name");
    assert!(
        resources
            .lines()
            .any(|line| line == "customresourcedefinitions.apiextensions.k8s.io")
    );
}

#[test]
fn what_is_wrong_is_said_before_it_is_made() {
    let served = Served::new();
    served.write(
        "wrong.yaml",
        &SHOP.replace("replicas: 2", "replicas: 2\n  bogus: 1"),
    );
    let said = served.refused("apply -f wrong.yaml");
    assert!(
        said.contains(r#"strict decoding error: unknown field "spec.bogus""#),
        "{said}"
    );
    served.write("wrong.yaml", &SHOP.replace("replicas: 2", "replicas: two"));
    let said = served.refused("apply -f wrong.yaml");
    assert!(
        said.contains("json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"),
        "{said}"
    );
    served.write(
        "wrong.yaml",
        &SHOP.replace("{app: shop}}\n  template", "{app: other}}\n  template"),
    );
    let said = served.refused("apply -f wrong.yaml");
    assert!(
        said.contains("`selector` does not match template `labels`"),
        "{said}"
    );
    assert_eq!(served.run("get deployments -o name"), "");
}

/// For these kubectl asks for the older document of types, which it takes in protobuf alone.
#[test]
fn lists_are_taken_apart_and_unknown_kinds_are_told_so() {
    let served = Served::new();
    let list = "{apiVersion: v1, kind: List, items: [
        {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: Secret, metadata: {name: b}}]}";
    served.write("list.yaml", list);
    assert_eq!(
        served.run("apply -f list.yaml"),
        "configmap/a created\nsecret/b created\n"
    );
    let unknown = "{apiVersion: example.org/v1, kind: Nothing, metadata: {name: a}}";
    served.write("unknown.yaml", unknown);
    let said = served.refused("apply -f unknown.yaml");
    let expected = "no matches for kind \"Nothing\" in version \"example.org/v1\"";
    assert!(said.contains(expected), "{said}");
}

const GADGETS: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget, shortNames: [gd]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
";

#[test]
fn custom_kinds_are_like_the_others() {
    let served = Served::new();
    served.write("gadgets.yaml", GADGETS);
    served.run("apply -f gadgets.yaml");
    served.run("wait --for=condition=Established crd/gadgets.example.org --timeout=60s");
    let gadget = "{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g}, spec: {size: 3}}";
    served.write("gadget.yaml", gadget);
    // kubectl finds new kinds out again when it does not know them.
    eventually("the kind is known", || {
        served
            .attempt("apply -f gadget.yaml")
            .status
            .success()
            .then_some(())
    });
    assert_eq!(rows(&served.run("get gd")), expected("NAME SIZE\ng 3"));
    assert!(
        served
            .run("explain gadget.spec.size")
            .contains("How large it is.")
    );
    served.write("gadget.yaml", &gadget.replace('3', "0"));
    let said = served.refused("apply -f gadget.yaml");
    assert!(
        said.contains("should be greater than or equal to 1"),
        "{said}"
    );
    served.run("delete crd gadgets.example.org");
}

#[test]
fn what_is_deleted_goes_with_all_that_hangs_on_it() {
    let served = Served::with_shop();
    served.run("delete pods --all");
    served.run("wait --for=condition=Ready pods --all --timeout=60s");
    served.run("delete -f shop.yaml");
    eventually("the pods are gone", || {
        served.run("get pods,rs -o name").is_empty().then_some(())
    });
    served.run("delete namespace shop --timeout=60s");
    assert_eq!(served.run("get namespace shop --ignore-not-found"), "");
}
