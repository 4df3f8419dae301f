//! What a Sync may do under `covergence run`: what its account may, and nothing of what the controller may besides.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::audit::{Audit, Event};
use crate::support::controller::{Controller, Setup, directory_sync, sync};
use crate::support::git::Work;
use crate::support::http::{Http, Rules};
use crate::support::lab::{OwnLab, api, eventually};
use crate::support::manifest::{Change, config_map, definition, own_agent, secret};
use crate::support::namespace::{Namespace, condition_of};
use crate::support::source::Source;

const PASSWORD: &str = "correct-horse-battery";

/// Waits until a Sync's condition `Ready` has this status and a message with this text; gives the condition.
fn told(ns: &Namespace, name: &str, status: &str, text: &str) -> Value {
    eventually(&format!("Sync {name} is {status}: {text}"), || {
        let ready = condition_of(&ns.find("syncs", name)?, "Ready");
        let says = ready["message"].as_str()?.contains(text);
        (ready["status"] == status && says).then_some(ready)
    })
}

fn user(ns: &Namespace, account: &str) -> String {
    format!("system:serviceaccount:{}:{account}", ns.name)
}

fn account(ns: &Namespace, account: &str) -> Audit<'static> {
    let mut audit = Audit::new("account");
    audit.user = user(ns, account);
    audit
}

#[test]
fn all_requests_for_members_are_made_as_the_account() {
    let (ns, foreign) = (Namespace::new("account"), Namespace::new("foreign"));
    let controller = Audit::new("account");
    let deployer = account(&ns, "deployer");
    ns.allow(
        &deployer.user,
        &[
            "/configmaps",
            "/services",
            "closurejvm.io/closurejvmtargets",
        ],
    );
    let source = Source::new().with(
        "all.yaml",
        &[
            config_map("mine", "1"),
            own_agent("pet"),
            config_map("theirs", "1").within(&foreign.name),
        ],
    );
    let running = Setup {
        user: Some(&controller.user),
        ..Setup::new(&[&ns.name])
    }
    .start();
    let spec = json!({ "serviceAccountName": "deployer" });
    ns.create("syncs", &directory_sync(&ns.name, "it", &source, spec));
    // The rest is applied, and the server's words are told.
    let ready = told(&ns, "it", "False", &foreign.name);
    assert!(
        ready["message"].as_str().unwrap().contains(&deployer.user),
        "{ready}"
    );
    assert_eq!(ns.members(), ["mine"]);
    assert!(ns.exists("closurejvmtargets", "pet"));
    assert!(foreign.members().is_empty());

    foreign.allow(&deployer.user, &["/configmaps"]);
    told(&ns, "it", "True", "applied");
    assert_eq!(foreign.members(), ["theirs"]);
    // Drift is seen by the account's own watches.
    foreign.edit(
        "configmaps",
        "theirs",
        &json!({ "data": { "key": "mine" } }),
    );
    eventually("it is repaired", || {
        (foreign.get("configmaps", "theirs")["data"]["key"] == "1").then_some(())
    });
    ns.delete("syncs", "it");
    eventually("they are released", || {
        let marks = foreign.get("configmaps", "theirs")["metadata"].to_string();
        (!marks.contains("applyset")).then_some(())
    });

    // A watch is in the audit log when it has ended.
    drop(running);
    let own = controller.events();
    let strangers: Vec<&Event> = own
        .iter()
        .filter(|event| event.resource == "configmaps")
        .collect();
    assert!(strangers.is_empty(), "{strangers:#?}");
    let writes: Vec<&Event> = own.iter().filter(|event| event.is_write()).collect();
    let known = [
        "syncs",
        "closurejvmtargets",
        "events",
        "leases",
        "customresourcedefinitions",
    ];
    assert!(
        writes.iter().all(|event| known.contains(&&*event.resource)),
        "{writes:#?}"
    );
    // Of Targets, the controller writes what it finds out; what they ask for comes from the account.
    let of_targets = |event: &&&Event| event.resource == "closurejvmtargets";
    assert!(
        writes
            .iter()
            .filter(of_targets)
            .all(|event| event.subresource == "status"),
        "{writes:#?}"
    );
    let asked = deployer.events();
    let verbs = |verb: &str| {
        asked
            .iter()
            .any(|event| event.verb == verb && event.resource == "configmaps")
    };
    assert!(
        verbs("list") && verbs("watch") && verbs("patch"),
        "{asked:#?}"
    );
    assert!(
        asked.iter().all(|event| event.resource != "syncs"),
        "{asked:#?}"
    );
}

#[test]
fn the_default_account_is_that_of_syncs_that_name_none() {
    let ns = Namespace::new("default");
    let tenant = account(&ns, "tenant");
    ns.allow(&tenant.user, &["/configmaps"]);
    let source = Source::new().with("all.yaml", &[config_map("a", "1"), secret("s", PASSWORD)]);
    let controller = Setup {
        config: json!({ "defaultServiceAccount": "tenant" }),
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.create("syncs", &directory_sync(&ns.name, "it", &source, json!({})));
    told(&ns, "it", "False", "secrets");
    assert_eq!(ns.members(), ["a"]);
    assert!(!ns.exists("secrets", "s"));
    assert!(!account_may_read_secrets(&ns, &tenant.user));
    hides(&controller, &ns, PASSWORD);
}

/// What the test rests on.
fn account_may_read_secrets(ns: &Namespace, user: &str) -> bool {
    let path = path("secrets", Some(&ns.name), None);
    api()
        .send_as(Some(user), "GET", &path, "", &Value::Null)
        .is_ok()
}

/// Checks that a text is in no line of the log, no event and no status.
fn hides(controller: &Controller, ns: &Namespace, text: &str) {
    assert_eq!(controller.logged(text), Vec::<String>::new());
    for resource in ["events", "syncs"] {
        for object in ns.list(resource) {
            assert!(!object.to_string().contains(text), "{object}");
        }
    }
}

/// A repository served over http to whoever knows the password.
struct Served {
    _work: Work,
    _folder: tempfile::TempDir,
    http: Http,
}

impl Served {
    fn new(manifest: &Value) -> Self {
        let (work, folder) = (Work::new(), tempfile::tempdir().unwrap());
        work.write("a.yaml", &manifest.to_string());
        work.commit("one");
        let bare = folder.path().join("pets.git");
        work.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        // "robot" and the password.
        let login = Some("Basic cm9ib3Q6Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5".to_owned());
        let rules = Rules {
            login,
            ..Rules::default()
        };
        Self {
            http: Http::start(folder.path(), rules),
            _work: work,
            _folder: folder,
        }
    }

    fn sync(&self, ns: &Namespace) -> Value {
        let git = json!({ "url": self.http.url(""), "secretRef": { "name": "login" } });
        sync(&ns.name, "it", json!({ "source": { "git": git } }))
    }
}

#[test]
fn a_repository_is_read_with_the_secret_of_the_syncs_own_namespace() {
    let (ns, other) = (Namespace::new("secret"), Namespace::new("other"));
    let served = Served::new(&config_map("a", "1"));
    let login = |password: &str| json!({ "metadata": { "name": "login" }, "stringData": { "username": "robot", "password": password } });
    // The right one, in another namespace, is nobody's here.
    other.create("secrets", &login(PASSWORD));
    let controller = Setup::new(&[&ns.name]).start();
    ns.create("syncs", &served.sync(&ns));
    let missing = told(&ns, "it", "False", "does not exist");
    assert_eq!(missing["reason"], "CredentialsUnavailable");

    ns.create("secrets", &login("wrong-donkey"));
    let wrong = told(&ns, "it", "False", "does not let us in");
    assert_eq!(wrong["reason"], "ArtifactFailed");
    assert!(ns.members().is_empty());

    ns.edit(
        "secrets",
        "login",
        &json!({ "stringData": { "password": PASSWORD } }),
    );
    told(&ns, "it", "True", "applied");
    assert_eq!(ns.members(), ["a"]);
    for text in [PASSWORD, "wrong-donkey"] {
        hides(&controller, &ns, text);
    }
}

#[test]
fn an_account_that_may_not_read_the_secret_has_no_login() {
    let ns = Namespace::new("no-secret");
    let served = Served::new(&config_map("a", "1"));
    let login = json!({ "metadata": { "name": "login" }, "stringData": { "username": "robot", "password": PASSWORD } });
    ns.create("secrets", &login);
    let tenant = user(&ns, "tenant");
    ns.allow(&tenant, &["/configmaps"]);
    let controller = Setup::new(&[&ns.name]).start();
    ns.create(
        "syncs",
        &served.sync(&ns).set("/spec/serviceAccountName", "tenant"),
    );
    told(&ns, "it", "False", "not allowed");
    assert!(ns.members().is_empty());
    assert!(served.http.seen.lock().unwrap().is_empty());
    hides(&controller, &ns, PASSWORD);
}

#[test]
fn sources_outside_of_the_allowed_directories_are_refused() {
    let ns = Namespace::new("outside");
    // All below the directory of temporary files is allowed; this is not.
    let outside = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::write(
        outside.path().join("a.yaml"),
        config_map("a", "1").to_string(),
    )
    .unwrap();
    let inside = Source::new();
    std::os::unix::fs::symlink(outside.path(), inside.path().join("link")).unwrap();
    let dotted = inside
        .path()
        .join("..")
        .join(inside.path().file_name().unwrap());
    let _controller = Setup::new(&[&ns.name]).start();
    let directory = |path: &Path| json!({ "directory": { "path": path } });
    let git = |path: &Path| json!({ "git": { "url": path } });
    let file = |path: &Path| json!({ "git": { "url": format!("file://{}", path.display()) } });
    let link = inside.path().join("link");
    let refused = [
        directory(outside.path()),
        directory(&link),
        directory(&dotted),
        directory(Path::new("relative")),
        directory(Path::new("/proc/self/environ")),
        git(outside.path()),
        git(&link),
        file(&link),
        file(Path::new("/")),
    ];
    for (i, source) in refused.iter().enumerate() {
        let name = format!("no-{i}");
        let sync = sync(&ns.name, &name, json!({ "source": source }));
        let path = path("syncs", Some(&ns.name), None);
        match api().send("POST", &path, "application/json", &sync) {
            Ok(_) => {
                let ready = told(&ns, &name, "False", "directories");
                assert_eq!(ready["reason"], "InvalidPath", "{source}: {ready}");
                let stalled = condition_of(&ns.get("syncs", &name), "Stalled");
                assert_eq!(stalled["status"], "True");
            }
            // The schema stands before it.
            Err(refused) => assert_eq!(refused.code, 422, "{source}: {refused:?}"),
        }
    }
    assert!(ns.members().is_empty());
}

#[test]
fn a_sync_written_past_the_schema_fails_alone() {
    let lab = OwnLab::new();
    let api = lab.api();
    let loose = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let schema = "/spec/versions/0/schema/openAPIV3Schema";
    let earlier = definition("closurejvm.io", "Sync")
        .set("/spec/versions/0/name", "v1alpha1")
        .set(schema, loose)
        .set("/spec/versions/0/subresources", json!({ "status": {} }));
    api.create(&path("customresourcedefinitions", None, None), &earlier);
    api.create(
        "/api/v1/namespaces",
        &json!({ "metadata": { "name": "odd" } }),
    );
    let at = |resource, name: Option<&str>| path(resource, Some("odd"), name);
    eventually("the kind is served", || {
        api.find(&at("syncs", None)).map(drop)
    });
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let odd = [
        json!({ "source": "none", "prune": 3 }),
        json!({ "source": { "directory": { "path": source.path() } }, "timeout": { "seconds": 3 } }),
        json!("text"),
    ];
    for (i, spec) in odd.iter().enumerate() {
        api.create(
            &at("syncs", None),
            &sync("odd", &format!("odd-{i}"), spec.clone()),
        );
    }
    let held = sync("odd", "held", odd[0].clone());
    let held = held.set("/metadata/finalizers", json!(["closurejvm.io/members"]));
    api.create(&at("syncs", None), &held);
    api.create(
        &at("syncs", None),
        &directory_sync("odd", "good", &source, json!({})),
    );
    let _controller = Setup {
        lab: lab.dir(),
        ..Setup::new(&["odd"])
    }
    .start();
    let is = |name: &str, status: &str, reason: &str| {
        eventually(&format!("{name} is {status}"), || {
            let ready = condition_of(&api.find(&at("syncs", Some(name)))?, "Ready");
            (ready["status"] == status && ready["reason"] == reason).then_some(())
        });
    };
    is("good", "True", "ReconciliationSucceeded");
    for name in ["odd-0", "odd-1", "odd-2", "held"] {
        is(name, "False", "InvalidSpec");
    }
    // Nothing can be known of what it wants; it must not stay for ever.
    assert!(api.delete(&at("syncs", Some("held"))));
    eventually("it goes", || {
        api.find(&at("syncs", Some("held"))).is_none().then_some(())
    });
}
