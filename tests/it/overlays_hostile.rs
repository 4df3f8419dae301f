//! Overlays that want more than they may have: places outside of the source, programs, time, memory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use covergence::overlay::Limits;

use crate::support::covergence::Run;
use crate::support::git::Work;
use crate::support::http::{Http, Rules};
use crate::support::lab::eventually;
use crate::support::overlay::{Workshop, chart, counting_kustomize, map, runs, stand_in, text};
use crate::support::source::Source;

/// A template that builds what a loop of this many rounds prints.
fn looping(rounds: &str, body: &str) -> Source {
    let template = format!("{{{{ range until {rounds} }}}}{body}{{{{ end }}}}");
    chart(&[("templates/a.yaml", &template)])
}

fn limits() -> Limits {
    Limits {
        time: Duration::from_secs(30),
        ..Limits::default()
    }
}

#[test]
fn what_a_kustomization_would_fetch_or_look_for_outside_is_refused_at_its_place() {
    let source = Source::new().file(
        "kustomization.yaml",
        "resources:\n- a.yaml\n- https://git.example/shop//deploy?ref=v1\n- ../../outside\n- /etc/passwd\nconfigMapGenerator:\n- name: m\n  files: [p=/etc/passwd, ../../etc/passwd]\npatches:\n- path: https://git.example/patch.yaml\nhelmCharts:\n- name: db\n",
    );
    source.write_text("a.yaml", &map("a", "x"));
    let output = Run::new(&["validate"]).arg(source.path()).code(1);
    insta::assert_snapshot!(output.stdout, @r#"
    error: "https://git.example/shop//deploy?ref=v1" is a place in the network, which is not fetched
     --> kustomization.yaml:3:3
      |
    3 | - https://git.example/shop//deploy?ref=v1
      |   ^^^^^
      = help: copy it into the source, or allow it: --allow-remote-bases, or allowRemoteBases in the controller's Config

    error: "../../outside" leads out of the source
     --> kustomization.yaml:4:3
      |
    4 | - ../../outside
      |   ^^^^^^^^^^^^^
      = help: give the folder that holds both as the source, and the overlay's with --path (subPath of a Sync's directory)

    error: "/etc/passwd" leads out of the source
     --> kustomization.yaml:5:3
      |
    5 | - /etc/passwd
      |   ^^^^^^^^^^^
      = help: write a path from the kustomization's own folder

    error: "/etc/passwd" leads out of the source
     --> kustomization.yaml:8:11
      |
    8 |   files: [p=/etc/passwd, ../../etc/passwd]
      |           ^^^^^^^^^^^^^
      = help: write a path from the kustomization's own folder

    error: "../../etc/passwd" leads out of the source
     --> kustomization.yaml:8:26
      |
    8 |   files: [p=/etc/passwd, ../../etc/passwd]
      |                          ^^^^^^^^^^^^^^^^
      = help: give the folder that holds both as the source, and the overlay's with --path (subPath of a Sync's directory)

    error: "https://git.example/patch.yaml" is a place in the network, which is not fetched
      --> kustomization.yaml:10:9
       |
    10 | - path: https://git.example/patch.yaml
       |         ^^^^^
       = help: copy it into the source, or allow it: --allow-remote-bases, or allowRemoteBases in the controller's Config

    error: charts of a kustomization are not inflated
      --> kustomization.yaml:11:1
       |
    11 | helmCharts:
       | ^^^^^^^^^^
       = help: give the chart's folder as a source of its own

    0 objects, 7 errors, 0 warnings
    "#);
    let allowed = Run::new(&["validate", "--allow-remote-bases"])
        .arg(source.path())
        .code(1);
    assert!(!allowed.stdout.contains("network"), "{}", allowed.stdout);
    assert!(allowed.stdout.contains("leads out of the source"));
}

/// CVE-2022-24877, CVE-2022-24348: links and paths that lead out.
#[test]
fn links_that_lead_out_end_the_build_whatever_they_are_called() {
    let secret = Source::new().file("token.txt", "s3cret");
    let source = Source::new().file(
        "kustomization.yaml",
        "configMapGenerator:\n- name: m\n  files: [token.txt]\n",
    );
    symlink(
        secret.path().join("token.txt"),
        source.path().join("token.txt"),
    )
    .unwrap();
    let output = Run::new(&["render"]).arg(source.path()).code(2);
    output.hides("s3cret");
    assert!(
        output
            .stderr
            .contains("is a symbolic link that leads out of the source"),
        "{}",
        output.stderr
    );

    // One that stays inside is as good as a file.
    fs::remove_file(source.path().join("token.txt")).unwrap();
    source.write_text("real/x.txt", "inside");
    symlink("real/x.txt", source.path().join("token.txt")).unwrap();
    let output = Run::new(&["render"]).arg(source.path()).ok();
    assert!(output.stdout.contains("inside"), "{}", output.stdout);
    symlink("..", source.path().join("real/loop")).unwrap();
    let output = Run::new(&["render"]).arg(source.path()).code(2);
    assert!(
        output
            .stderr
            .contains("is a symbolic link to a folder that holds it"),
        "{}",
        output.stderr
    );
}

#[test]
fn functions_and_plugins_do_not_run() {
    let out = Source::new();
    let mark = out.path().join("mark");
    let function = "apiVersion: example.com/v1\nkind: Evil\nmetadata:\n  name: evil\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./evil.sh}\n";
    let source = Source::new()
        .file(
            "kustomization.yaml",
            "resources: [a.yaml]\ntransformers: [evil.yaml]\n",
        )
        .file("a.yaml", &map("a", "x"))
        .file("evil.yaml", function)
        .file(
            "evil.sh",
            &format!("#!/bin/sh\ntouch {}\ncat\n", mark.display()),
        );
    let refusal = Workshop::new(limits()).refusal(&source);
    assert!(refusal.contains("kubectl kustomize failed"), "{refusal}");
    assert!(!mark.exists());
}

#[test]
fn a_build_without_end_is_ended() {
    let endless = looping("100000", "{{ range until 100000 }}{{ end }}");
    let short = Limits {
        time: Duration::from_secs(2),
        ..limits()
    };
    assert_eq!(
        Workshop::new(short).refusal(&endless),
        "Chart.yaml: helm template took longer than 2s and was ended (look for a template that does not end; spec.timeout of a Sync gives it more time)"
    );
}

#[test]
fn a_build_that_prints_or_takes_too_much_is_ended() {
    let small = Limits {
        output: 1 << 20,
        ..limits()
    };
    let wordy = looping("50000", &format!("---\n{}", map("a{{ . }}", "a")));
    assert_eq!(
        Workshop::new(small).refusal(&wordy),
        "Chart.yaml: helm template printed more than 1 MiB and was ended (make several sources of it)"
    );
}

#[test]
fn a_build_has_no_more_memory_than_the_limit() {
    let small = Limits {
        memory: 512 << 20,
        ..limits()
    };
    let greedy = looping("200000000", "");
    assert_eq!(
        Workshop::new(small).refusal(&greedy),
        "Chart.yaml: helm template needed more than 512 MiB of memory (look for a template that repeats itself)"
    );
}

/// What the program gets: no variable of ours, no network, no standard input, its own directories.
#[test]
fn a_program_gets_nothing_of_ours() {
    let told = "#!/bin/sh\nread -r input\necho \"# input=$input\"\n/usr/bin/env | while read -r line; do echo \"# env $line\"; done\nwhile read -r line; do echo \"# net $line\"; done </proc/net/dev\necho \"# limit $(ulimit -c) $(ulimit -n)\"\necho \"# arguments $*\"\n";
    let programs = stand_in("helm", told);
    let workshop = Workshop::with(limits(), programs.path());
    let source = chart(&[]);
    let output = text(&workshop.build(&source).unwrap());
    let lines = |word: &str| -> Vec<String> {
        let prefix = format!("# {word} ");
        let lines = output.lines().filter_map(|line| line.strip_prefix(&prefix));
        lines.map(str::to_owned).collect()
    };
    let mut names: Vec<String> = lines("env")
        .iter()
        .map(|line| line.split('=').next().unwrap().to_owned())
        .collect();
    names.sort_unstable();
    // The shell's own, and those of its directories.
    assert_eq!(names, ["HOME", "PWD", "TMPDIR"], "{output}");
    assert!(output.contains("# input=\n"), "{output}");
    assert_eq!(lines("limit"), ["0 1024"]);
    assert_eq!(
        lines("arguments"),
        ["template --include-crds --no-hooks --namespace shop -- it ."]
    );
    let may = Command::new("unshare")
        .args(["-rn", "true"])
        .status()
        .unwrap();
    let interfaces: Vec<String> = lines("net")
        .into_iter()
        .filter(|line| line.contains(':'))
        .collect();
    let is_alone = interfaces
        .iter()
        .all(|line| line.trim_start().starts_with("lo:"));
    assert_eq!(is_alone, may.success(), "{interfaces:?}");
}

#[test]
fn all_that_a_build_started_ends_with_it() {
    let stubborn = "#!/bin/sh\ntrap '' TERM INT HUP\n/bin/sleep 7531.246 &\nwhile :; do :; done\n";
    let fleeting = "#!/bin/sh\n/bin/sleep 7531.246 &\n";
    for text in [stubborn, fleeting] {
        let programs = stand_in("helm", text);
        let short = Limits {
            time: Duration::from_secs(1),
            ..limits()
        };
        let refusal = Workshop::with(short, programs.path()).refusal(&chart(&[]));
        assert!(refusal.contains("took longer than 1s"), "{refusal}");
        eventually("the sleeper ends", || {
            (!runs_somewhere("7531.246")).then_some(())
        });
    }
}

fn runs_somewhere(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines.any(|line| {
        line.split(|byte| *byte == 0)
            .any(|part| part == word.as_bytes())
    })
}

#[test]
fn last_words_tell_no_secret() {
    let kustomization = Source::new()
        .file("kustomization.yaml", "resources: [a.yaml]\npatches:\n- target: {kind: Secret}\n  patch: |\n    apiVersion: v1\n    kind: Secret\n    metadata: {name: [a]}\n    stringData: {password: hunter2}\n")
        .file("a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n");
    let template =
        "{{ fail (printf \"it is %s or %s\" .Values.db.password (.Values.db.password | b64enc)) }}";
    let chart = chart(&[
        ("values.yaml", "db: {password: hunter2}\n"),
        ("templates/a.yaml", template),
    ]);
    for source in [kustomization, chart] {
        let output = Run::new(&["validate"]).arg(source.path()).code(1);
        output.hides("hunter2");
        output.hides("aHVudGVyMg==");
        assert!(output.stdout.contains("failed: "), "{}", output.stdout);
    }
}

#[test]
fn the_same_files_are_built_once() {
    let kustomize = counting_kustomize();
    let workshop = Workshop::with(limits(), kustomize.path());
    let source = Source::new()
        .file("kustomization.yaml", "resources: [a.yaml]\n")
        .file("a.yaml", &map("a", "one"));
    let first = text(&workshop.build(&source).unwrap());
    assert_eq!(text(&workshop.build(&source).unwrap()), first);
    assert_eq!(runs(&kustomize), 1);
    source.write_text("a.yaml", &map("a", "two"));
    assert!(text(&workshop.build(&source).unwrap()).contains("two"));
    source.write_text("a.yaml", &map("a", "one"));
    assert_eq!(text(&workshop.build(&source).unwrap()), first);
    assert_eq!(runs(&kustomize), 2);
    // So is a failure, since it would be the same again.
    source.write_text("a.yaml", "kind: [");
    let refusal = workshop.refusal(&source);
    assert_eq!(workshop.refusal(&source), refusal);
    assert_eq!(runs(&kustomize), 3);
    // Another version of the program is another program.
    let path = kustomize.path().join("kustomize");
    let script = fs::read_to_string(&path).unwrap();
    fs::write(Path::new(&path), script + "# newer\n").unwrap();
    source.write_text("a.yaml", &map("a", "one"));
    workshop.build(&source).unwrap();
    assert_eq!(runs(&kustomize), 4);
}

#[test]
fn a_base_in_the_network_is_fetched_when_that_is_allowed_and_not_asked_for_before() {
    let work = Work::new();
    work.write("base/kustomization.yaml", "resources: [a.yaml]\n");
    work.write("base/a.yaml", &map("a", "far"));
    work.commit("one");
    let served = tempfile::tempdir().unwrap();
    let bare = served.path().join("pets.git");
    work.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let http = Http::start(served.path(), Rules::default());
    let kustomization = format!("resources: [\"{}//base?ref=main\"]\n", http.url(""));
    let source = Source::new().file("kustomization.yaml", &kustomization);

    let refused = Run::new(&["render"]).arg(source.path()).code(2);
    assert!(
        refused.stderr.contains("is a place in the network"),
        "{}",
        refused.stderr
    );
    assert_eq!(http.seen.lock().unwrap().len(), 0);
    let allowed = Run::new(&["render", "--allow-remote-bases"])
        .arg(source.path())
        .ok();
    assert!(allowed.stdout.contains("key: far"), "{}", allowed.stdout);
}

/// Nobody is left to end it then.
#[test]
fn a_build_ends_when_we_are_killed() {
    let programs = stand_in("helm", "#!/bin/sh\nexec /bin/sleep 7531.135\n");
    let search = programs.path().to_str().unwrap();
    let source = chart(&[]);
    let work = tempfile::tempdir().unwrap();
    let running = Run::new(&["render"])
        .arg(source.path())
        .env("PATH", search)
        .env("TMPDIR", work.path().to_str().unwrap())
        .start();
    eventually("the build runs", || {
        runs_somewhere("7531.135").then_some(())
    });
    assert!(running.kill());
    eventually("it ends", || (!runs_somewhere("7531.135")).then_some(()));
}
