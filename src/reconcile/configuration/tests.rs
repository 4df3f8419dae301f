use std::fs;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;

use super::read::read_once;
use super::*;
use crate::reconcile::Limits;
use crate::source::watch::Timing;

const CONFIG: &str = "\
apiVersion: closurejvm.io/v1alpha1
kind: Config
metadata: {name: covergence}
spec:
  concurrency: 4
";

fn sync(name: &str, path: &str) -> String {
    format!(
        "\
apiVersion: closurejvm.io/v1alpha1
kind: Sync
metadata: {{name: {name}, namespace: ops}}
spec: {{source: {{directory: {{path: {path}}}}}}}
"
    )
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        fs::write(root.join(path), text).unwrap();
    }
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), files);
    directory
}

fn read_files(files: &[(&str, &str)]) -> Configuration {
    read(folder(files).path(), Some("own"))
}

fn names(configuration: &Configuration) -> Vec<&str> {
    configuration.syncs.iter().map(|it| &*it.id.name).collect()
}

/// `file:line:column message (hint)` of each diagnostic, and that its line is shown.
fn told(configuration: &Configuration) -> Vec<String> {
    configuration
        .diagnostics
        .iter()
        .map(|d| {
            let at = d.position.unwrap();
            assert!(d.excerpt.is_some(), "{d:?}");
            let hint = d.hint.as_deref().map(|it| format!(" ({it})"));
            let hint = hint.unwrap_or_default();
            format!("{}:{}:{} {}{hint}", d.file, at.line, at.column, d.message)
        })
        .collect()
}

/// What is wrong with one Config that has this spec.
fn told_of_config(spec: &str) -> Vec<String> {
    let text = format!(
        "apiVersion: closurejvm.io/v1alpha1\nkind: Config\nmetadata: {{name: a}}\nspec:\n{spec}"
    );
    let configuration = read_files(&[("a.yaml", &text)]);
    assert_eq!(
        configuration.config_is_refused,
        !configuration.is_complete()
    );
    told(&configuration)
}

#[test]
fn a_file_and_a_folder_are_read() {
    let two = format!("{CONFIG}---\n{}", sync("shop", "/srv/shop"));
    let nameless = sync("stock", "/srv/stock").replace(", namespace: ops", "");
    let directory = folder(&[("a.yaml", &two), ("b.yaml", &nameless)]);
    let configuration = read(directory.path(), Some("own"));
    assert_eq!(told(&configuration), [""; 0]);
    assert!(configuration.is_complete() && configuration.removed.is_empty());
    assert_eq!(configuration.config.concurrency, Some(4));
    let [shop, stock] = configuration.syncs.as_slice() else {
        panic!("{:?}", configuration.syncs);
    };
    assert_eq!(shop.id.to_string(), "Sync.closurejvm.io ops/shop");
    assert_eq!(shop.origin.to_string(), "a.yaml:7:1");
    assert_eq!(
        shop.object["spec"]["source"]["directory"]["path"],
        "/srv/shop"
    );
    // One that names no namespace gets ours, and says so to the API server.
    assert_eq!(stock.object["metadata"]["namespace"], "own");

    let configuration = read(&directory.path().join("a.yaml"), None);
    assert_eq!(names(&configuration), ["shop"]);
}

#[test]
fn every_field_of_a_config_is_understood() {
    let spec = "
  clusterDomain: corp.example
  concurrency: 8
  cacheDirectory: /var/cache/covergence
  listen: {web: '0.0.0.0:8080', webhook: '[::1]:9292'}
  webhook: {secretFile: /run/secrets/webhook}
  log: {format: Json, level: 'info,covergence::source=debug'}
  leases: {enabled: false, namespace: ops, duration: 15s}
  directories: [/srv]
  defaultServiceAccount: deployer
  limits: {fileBytes: 1000, totalBytes: 5000, files: 10, nesting: 9}
";
    let text = CONFIG.replace("\n  concurrency: 4\n", spec);
    let configuration = read_files(&[("a.yaml", &text)]);
    assert_eq!(told(&configuration), [""; 0]);
    let config = &configuration.config;
    assert_eq!(config.listen.web, Some("0.0.0.0:8080".parse().unwrap()));
    assert!(!config.leases.enabled);
    assert_eq!(config.default_service_account.as_deref(), Some("deployer"));
    let mut expected = Limits::default();
    (expected.source.file_bytes, expected.load.file_bytes) = (1000, 1000);
    (expected.source.total_bytes, expected.source.files) = (5000, 10);
    expected.load.nesting = 9;
    assert_eq!(Limits::of(&config.limits), expected);
}

#[test]
fn faults_of_a_config_are_told_with_their_places() {
    for (spec, expected) in [
        (
            "  concurency: 4\n",
            "a.yaml:5:3 unknown field `spec.concurency` (did you mean `concurrency`?)",
        ),
        (
            "  log: {lvel: info}\n",
            "a.yaml:5:9 unknown field `spec.log.lvel` (did you mean `level`?)",
        ),
        (
            "  concurrency: many\n",
            "a.yaml:5:3 `spec.concurrency` must be an integer, not a string (write the value without quotes)",
        ),
        (
            "  concurrency: 0\n",
            "a.yaml:5:3 `spec.concurrency` must be at least 1",
        ),
        (
            "  log: {format: XML}\n",
            "a.yaml:5:9 `spec.log.format` must be one of `Text`, `Json`",
        ),
        (
            "  listen: {web: ':8080'}\n",
            "a.yaml:5:12 `spec.listen.web` must be an address and a port, such as `0.0.0.0:8080` or `[::]:8080`",
        ),
        (
            "  listen: {webhook: '[::]:9292'}\n",
            "a.yaml:5:12 `spec.listen.webhook` needs `spec.webhook.secretFile`, or `spec.webhook.insecure: true`",
        ),
        (
            "  webhook: {secretFile: /a, insecure: true}\n",
            "a.yaml:5:3 `spec.webhook` must have exactly one of `secretFile` and `insecure: true`",
        ),
        (
            "  log: {level: 'info,covergence=dbug'}\n",
            "a.yaml:5:9 `spec.log.level` must be `error`, `warn`, `info`, `debug` or `trace`, with others for modules after commas: `info,covergence::source=debug`",
        ),
        (
            "  leases: {duration: soon}\n",
            "a.yaml:5:12 `spec.leases.duration` is no length of time: give a time such as 90s, 5m or 1h30m",
        ),
        (
            "  clusterDomain: Corp\n",
            "a.yaml:5:3 `spec.clusterDomain` must be lower-case letters, digits, dashes and dots, up to 253",
        ),
        // The empty path is the beginning of every one.
        (
            "  directories: [/srv, '']\n",
            "a.yaml:5:23 each of `spec.directories` must be an absolute path",
        ),
    ] {
        assert_eq!(told_of_config(spec), [expected]);
    }
    assert_eq!(told_of_config("  {}\n"), [""; 0]);
}

#[test]
fn faults_of_a_sync_are_told_and_leave_the_others_in_force() {
    let broken = sync("broken", "/srv").replace("spec: {", "spec: {prun: true, ");
    let both = sync("both", "/srv").replace("directory:", "git: {url: /srv}, directory:");
    let slow = sync("slow", "/srv").replace("spec: {", "spec: {interval: daily, ");
    let configuration = read_files(&[
        ("a.yaml", CONFIG),
        ("b.yaml", &broken),
        ("c.yaml", &both),
        ("d.yaml", &slow),
        ("e.yaml", &sync("sound", "/srv")),
        ("f.yaml", "kind: [\n"),
    ]);
    assert_eq!(names(&configuration), ["sound"]);
    assert_eq!(configuration.config.concurrency, Some(4));
    assert!(!configuration.is_complete() && !configuration.config_is_refused);
    let mut told = told(&configuration);
    assert!(told.remove(0).starts_with("f.yaml:"));
    assert_eq!(
        told,
        [
            "b.yaml:4:8 unknown field `spec.prun` (did you mean `prune`?)",
            "c.yaml:4:8 `spec.source` must have exactly one of `git` and `directory`",
            "d.yaml:4:8 `spec.interval` is no length of time: give a time such as 90s, 5m or 1h30m",
        ]
    );
}

#[test]
fn an_interval_that_is_too_short_is_told_and_the_sync_is_in_force() {
    let sync = |name: &str, url: &str, interval: &str| {
        sync(name, "/srv")
            .replace("directory: {path: /srv}", &format!("git: {{url: {url}}}"))
            .replace("spec: {", &format!("spec:\n  {{interval: {interval}, "))
    };
    let remote = "https://git.example/shop.git";
    let files = [
        ("a.yaml", sync("a", remote, "1s")),
        ("b.yaml", sync("b", remote, "5s")),
        // It is watched.
        ("c.yaml", sync("c", "/srv/shop", "1s")),
    ];
    let files = files.each_ref().map(|(file, text)| (*file, text.as_str()));
    let configuration = read_files(&files);
    assert_eq!(
        told(&configuration),
        [
            "a.yaml:5:4 `spec.interval` is too short, so the server is asked every 5s \
             (give 5s or more, and let a webhook tell of commits)"
        ]
    );
    assert_eq!(names(&configuration), ["a", "b", "c"]);
    assert!(configuration.is_complete());
}

#[test]
fn other_kinds_and_other_versions_have_no_place() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: hunter2}\n";
    let later = sync("a", "/srv").replace("v1alpha1", "v2");
    let configuration = read_files(&[("a.yaml", secret), ("b.yaml", &later)]);
    let hint = "(objects belong into a source that a Sync names)";
    assert_eq!(
        told(&configuration),
        [
            format!(
                "a.yaml:1:1 v1 Secret has no place in the controller's configuration: it takes Config and Sync of closurejvm.io/v1alpha1 {hint}"
            ),
            format!(
                "b.yaml:1:1 closurejvm.io/v2 Sync has no place in the controller's configuration: it takes Config and Sync of closurejvm.io/v1alpha1 {hint}"
            ),
        ]
    );
    assert!(!format!("{configuration:?}").contains("hunter2"));
}

#[test]
fn a_sync_has_a_namespace() {
    let nameless = sync("a", "/srv").replace(", namespace: ops", "");
    let directory = folder(&[("a.yaml", &nameless)]);
    let configuration = read(directory.path(), None);
    assert_eq!(
        told(&configuration),
        ["a.yaml:1:1 `metadata.namespace` is missing, and the controller has none of its own"]
    );
    assert!(configuration.syncs.is_empty());
}

#[test]
fn what_is_there_twice_counts_not_at_all() {
    let other = CONFIG.replace("concurrency: 4", "concurrency: 5");
    // The same Sync, once by its namespace and once by the default.
    let nameless = sync("shop", "/srv/b").replace(", namespace: ops", "");
    let named = nameless.replace("name: shop", "name: shop, namespace: own");
    let configuration = read_files(&[
        ("a.yaml", CONFIG),
        ("b.yaml", &other),
        ("c.yaml", &named),
        ("d.yaml", &nameless),
    ]);
    assert_eq!(
        told(&configuration),
        [
            "a.yaml:1:1 this Config is also at b.yaml:1:1; none of them counts",
            "b.yaml:1:1 this Config is also at a.yaml:1:1; none of them counts",
            "c.yaml:1:1 Sync.closurejvm.io own/shop is also at d.yaml:1:1; none of them counts",
            "d.yaml:1:1 Sync.closurejvm.io own/shop is also at c.yaml:1:1; none of them counts",
        ]
    );
    assert!(configuration.config_is_refused && configuration.syncs.is_empty());
    assert_eq!(configuration.config, Config::default());
}

#[test]
fn what_is_refused_or_cannot_be_read_stays_in_force_as_it_was() {
    let (shop, stock) = (sync("shop", "/1"), sync("stock", "/1"));
    let directory = folder(&[("a.yaml", CONFIG), ("b.yaml", &shop), ("c.yaml", &stock)]);
    let root = directory.path();
    let read = |before: &Configuration| read_once(root, None).after(Some(before));
    let path = |it: &ConfigSync| it.object["spec"]["source"]["directory"]["path"].clone();
    let first = read(&Configuration::default());
    assert_eq!(names(&first), ["shop", "stock"]);

    // One is misspelt, one is changed, and the Config is there twice.
    let misspelt = shop.replace("directory:", "directry:");
    write(
        root,
        &[
            ("b.yaml", &misspelt),
            ("c.yaml", &sync("stock", "/2")),
            ("d.yaml", CONFIG),
        ],
    );
    let second = read(&first);
    assert_eq!(
        second.syncs.iter().map(path).collect::<Vec<_>>(),
        ["/1", "/2"]
    );
    assert_eq!(second.config, first.config);
    assert!(second.removed.is_empty() && second.config_is_refused);

    // One is gone, but another file does not parse: it may be in there.
    fs::remove_file(root.join("d.yaml")).unwrap();
    fs::remove_file(root.join("c.yaml")).unwrap();
    write(root, &[("b.yaml", "kind: [\n")]);
    let third = read(&second);
    assert_eq!(names(&third), ["shop", "stock"]);
    assert!(third.removed.is_empty());

    // Nothing is there at all, or no folder.
    fs::remove_file(root.join("a.yaml")).unwrap();
    fs::remove_file(root.join("b.yaml")).unwrap();
    let fourth = read(&third);
    fs::remove_dir(root).unwrap();
    for empty in [fourth, read(&third)] {
        assert_eq!(names(&empty), ["shop", "stock"]);
        assert_eq!(empty.config, first.config);
        assert!(empty.removed.is_empty() && !empty.is_complete());
    }

    // Whole again, without the one.
    fs::create_dir(root).unwrap();
    write(root, &[("b.yaml", &shop)]);
    let last = read(&third);
    assert_eq!(names(&last), ["shop"]);
    let removed: Vec<_> = last.removed.iter().map(ToString::to_string).collect();
    assert_eq!(removed, ["Sync.closurejvm.io ops/stock"]);
    assert_eq!(last.config.concurrency, Some(4), "it stays in force");
}

/// The clock is paused: it stands still while files are read, and a wait for nothing takes no time.
#[tokio::test(start_paused = true)]
async fn changes_are_followed_and_what_says_the_same_is_passed_over() {
    let hour = Duration::from_secs(3600);
    let directory = folder(&[("a.yaml", CONFIG), ("b.yaml", &sync("shop", "/1"))]);
    let root = directory.path();
    let mut following = Following::start(root.to_owned(), None, Timing::default());
    let first = following.next().await;
    assert_eq!(names(&first), ["shop"]);
    assert!(timeout(hour, following.next()).await.is_err());

    write(root, &[("notes.txt", "x"), ("a.yaml", CONFIG)]);
    assert!(timeout(hour, following.next()).await.is_err());

    write(root, &[("c.yaml", &sync("stock", "/1"))]);
    let second = timeout(hour, following.next()).await.unwrap();
    assert_eq!(names(&second), ["shop", "stock"]);

    fs::remove_file(root.join("b.yaml")).unwrap();
    let third = timeout(hour, following.next()).await.unwrap();
    assert_eq!(names(&third), ["stock"]);
    assert_eq!(third.removed.len(), 1);
    // Told once.
    write(root, &[("notes.txt", "y")]);
    assert!(timeout(hour, following.next()).await.is_err());
}
