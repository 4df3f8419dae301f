//! Folders made to mislead, read by the real program: what is refused is named and explained, and everything else goes on.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::covergence::Run;
use crate::support::git::{Work, command};
use crate::support::lab::api;
use crate::support::manifest::config_map;
use crate::support::namespace::Namespace;
use crate::support::source::Source;

const OK: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ok}\n";

/// `covergence validate`, which needs no cluster.
fn validate(path: &Path) -> Run {
    Run::new(&["validate", "-n", "default"]).arg(path)
}

#[test]
fn links_that_lead_out_are_named_and_not_read() {
    let outside = Source::new()
        .file("secret.yaml", "hunter2: [")
        .file("folder/secret.yaml", "hunter2: [");
    let source = Source::new()
        .file("ok.yaml", OK)
        .file("real/a.yaml", &OK.replace("ok", "a"));
    let at = |name: &str| source.path().join(name);
    symlink(outside.path().join("secret.yaml"), at("absolute.yaml")).unwrap();
    let up = "../".repeat(30);
    let relative = format!("{up}{}/secret.yaml", outside.path().display());
    symlink(relative, at("relative.yaml")).unwrap();
    symlink(outside.path().join("folder"), at("folder")).unwrap();
    // Three hops, the last of them through a directory that is a link itself.
    symlink("hop2.yaml", at("hop1.yaml")).unwrap();
    symlink("real/hop3.yaml", at("hop2.yaml")).unwrap();
    symlink("../folder/secret.yaml", at("real/hop3.yaml")).unwrap();
    symlink("round2", at("round1")).unwrap();
    symlink("round1", at("round2")).unwrap();
    symlink(".", at("real/self")).unwrap();
    symlink("gone.yaml", at("dangling.yaml")).unwrap();
    symlink("/proc/self/environ", at("environ.yaml")).unwrap();
    symlink("/dev/zero", at("zero.yaml")).unwrap();
    // Inside, and followed.
    symlink("real", at("alias")).unwrap();
    let output = validate(source.path()).code(1);
    output.hides("hunter2");
    insta::assert_snapshot!(output.stdout);
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let source = Source::new().file("ok.yaml", OK);
    let at = |name: &str| source.path().join(name);
    assert!(
        Command::new("mkfifo")
            .args([at("fifo.yaml"), at("fifo")])
            .status()
            .unwrap()
            .success()
    );
    let _socket = std::os::unix::net::UnixListener::bind(at("socket.json")).unwrap();
    fs::create_dir(at("folder.yaml")).unwrap();
    let mut expected = vec!["error fifo.yaml: is a FIFO, not a regular file; it was not opened"];
    // Only the superuser makes devices.
    let device = Command::new("mknod")
        .arg(at("device.yaml"))
        .args(["c", "1", "5"])
        .status();
    if device.unwrap().success() {
        expected.insert(
            0,
            "error device.yaml: is a device, not a regular file; it was not opened",
        );
    }
    expected.push("error socket.json: is a socket, not a regular file; it was not opened");
    let output = validate(source.path()).args(&["-o", "json"]).code(1);
    assert_eq!(output.told(), expected);
    assert_eq!(output.json()["objects"], 1);
}

#[test]
fn odd_names_are_shown_so_that_nobody_is_misled() {
    let source = Source::new().file("ok.yaml", OK);
    let longest = format!("{}.yaml", "n".repeat(250));
    let names: [&[u8]; 13] = [
        b"a\nerror: all is lost\n --> b.yaml",
        b"bell\x07.yaml",
        b"clear\x1b[2J\x1b]0;title\x07.yaml",
        b"c1\xc2\x9b31m.yaml",
        b"latin1-\xe9.yaml",
        b"-n=kube-system.yaml",
        b"..data.yaml",
        b" .yaml",
        b"$(touch owned).yaml",
        b"\\x1b.yaml",
        "\u{202e}lmay.yaml".as_bytes(),
        "zero\u{200b}width\u{e0041}.yaml".as_bytes(),
        longest.as_bytes(),
    ];
    for name in names {
        fs::write(source.path().join(OsStr::from_bytes(name)), "]\n").unwrap();
    }
    let output = validate(source.path()).code(1);
    let plain = |c: char| c == '\n' || !(c.is_control() || covergence::load::is_invisible(c));
    assert!(output.stdout.chars().all(plain));
    insta::assert_snapshot!(output.stdout);
    let json = validate(source.path()).args(&["-o", "json"]).code(1);
    assert!(json.stdout.chars().all(plain));
}

#[test]
fn names_that_differ_in_the_case_of_letters_are_pointed_out() {
    let source = Source::new()
        .file("Shop/a.yaml", OK)
        .file("shop/b.yaml", &OK.replace("ok", "b"))
        .file("pet.yaml", &OK.replace("ok", "c"))
        .file("Pet.yaml", &OK.replace("ok", "d"))
        .file("Read.md", "")
        .file("read.md", "")
        .file("old.YAML", &OK.replace("ok", "e"));
    let output = validate(source.path()).ok();
    insta::assert_snapshot!(output.stdout);
}

/// Below a path of 4 kB nothing can be opened by its whole name.
#[test]
fn paths_that_are_too_long_fail_alone() {
    let source = Source::new().file("ok.yaml", OK);
    let chain = |from: &Path| (0..9).fold(from.to_owned(), |at, _| at.join("d".repeat(250)));
    let deep = source.path().join("deep");
    let (upper, lower) = (chain(&deep), chain(&source.path().join("lower")));
    fs::create_dir_all(&upper).unwrap();
    fs::create_dir_all(&lower).unwrap();
    fs::write(lower.join("a.yaml"), "]").unwrap();
    fs::rename(source.path().join("lower"), upper.join("lower")).unwrap();
    let mut nested = source.path().join("nested");
    (0..70).for_each(|_| nested.push("n"));
    fs::create_dir_all(&nested).unwrap();
    fs::write(nested.join("a.yaml"), "]").unwrap();
    let output = validate(source.path()).args(&["-o", "json"]).code(1);
    let told = output.told();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].ends_with("; it was not read") && told[0].contains("begins a path of 4"));
    assert!(
        told[1].ends_with("/n/n: is more than 64 directories deep"),
        "{}",
        told[1]
    );
    assert_eq!(output.json()["objects"], 1);
    // `rm` goes down step by step, which the standard library may not.
    assert!(
        Command::new("rm")
            .arg("-rf")
            .arg(&deep)
            .status()
            .unwrap()
            .success()
    );
}

/// Each of these links goes up and down a thousand times, through others that do the same: an hour of steps in all.
#[test]
fn long_links_end_at_a_bound() {
    let work = Work::new();
    work.write("ok.yaml", OK);
    work.write("a/b.yaml", &OK.replace("ok", "b"));
    let at = |name: &str| work.path().join(name);
    let wander = "a/../".repeat(700);
    symlink(format!("{wander}a"), at("hop0")).unwrap();
    for n in 1..38 {
        symlink(format!("hop{}/../{wander}a", n - 1), at(&format!("hop{n}"))).unwrap();
    }
    for n in 0..100 {
        symlink(format!("hop37/../{wander}a"), at(&format!("link{n}"))).unwrap();
    }
    let last =
        "error link99: was not followed: the source has too many long symbolic links".to_owned();
    let output = validate(work.path()).args(&["-o", "json"]).code(1);
    assert!(output.told().contains(&last), "{:?}", output.told());
    assert_eq!(output.json()["objects"], 2);
    work.commit("one");
    let git = ["validate", "-n", "default", "-o", "json", "--git"];
    let output = Run::new(&git).arg(work.path()).code(1);
    assert!(output.told().contains(&last), "{:?}", output.told());
    assert_eq!(output.json()["objects"], 2);
}

/// The superuser reads everything, unless that right is taken from him as well.
#[test]
fn what_may_not_be_read_is_told_and_the_rest_goes_on() {
    let source = Source::new()
        .file("ok.yaml", OK)
        .file("file.yaml", OK)
        .file("listless/a.yaml", OK)
        .file("closed/a.yaml", OK);
    let set = |name: &str, mode| {
        let path = source.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set("file.yaml", 0o000);
    set("listless", 0o300);
    set("closed", 0o600);
    let output = validate(source.path())
        .args(&["-o", "json"])
        .without_override()
        .code(1);
    set("listless", 0o700);
    set("closed", 0o700);
    let denied = "Permission denied (os error 13)";
    assert_eq!(
        output.told(),
        [
            format!("error closed/a.yaml: cannot be read: {denied}"),
            format!("error file.yaml: cannot be read: {denied}"),
            format!("error listless: cannot be listed: {denied}"),
        ]
    );
    assert_eq!(output.json()["objects"], 1);
}

/// While one swaps them, no file and no directory gives what lies outside.
#[test]
fn what_is_swapped_for_a_link_while_it_is_read_gives_nothing_away() {
    let outside = Source::new()
        .file("hunter2.yaml", "hunter2: [")
        .file("hunter2/a.yaml", "hunter2: [");
    let source = Source::new()
        .file("ok.yaml", OK)
        .file("f.yaml", &OK.replace("ok", "f"));
    source.write_text("d/a.yaml", &OK.replace("ok", "a"));
    let at = |name: &str| source.path().join(name);
    let ended = AtomicBool::new(false);
    let swap = || {
        symlink(outside.path().join("hunter2.yaml"), at(".link")).unwrap();
        fs::rename(at(".link"), at("f.yaml")).unwrap();
        fs::rename(at("d"), at(".d")).unwrap();
        symlink(outside.path().join("hunter2"), at("d")).unwrap();
        fs::write(at(".file"), OK.replace("ok", "f")).unwrap();
        fs::rename(at(".file"), at("f.yaml")).unwrap();
        fs::remove_file(at("d")).unwrap();
        fs::rename(at(".d"), at("d")).unwrap();
    };
    let codes: Vec<_> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                swap();
            }
        });
        let run = |_| {
            let output = validate(source.path()).run();
            output.hides("hunter2: [");
            output.code.unwrap()
        };
        let codes = (0..40).map(run).collect();
        ended.store(true, Ordering::Relaxed);
        codes
    });
    // Whatever was there when it was looked at, it came to an end of its own.
    assert!(codes.iter().all(|code| matches!(code, 0 | 1)), "{codes:?}");
    assert!(codes.contains(&1), "nothing was ever noticed");
}

/// argo-cd#1853: an object whose file is not fetched has not left the source, however the checkout came to lack it.
#[test]
fn c44_c45_what_a_checkout_lacks_is_told_and_prunes_nothing() {
    let ns = Namespace::new("lacks");
    let work = Work::new();
    let module = Work::new();
    module.write("b.yaml", &config_map("b", "1").to_string());
    module.commit("one");
    work.write("a.yaml", &config_map("a", "1").to_string());
    work.write("apps/c.yaml", &config_map("c", "1").to_string());
    work.write("docs/README.md", "");
    let url = module.path().to_str().unwrap();
    work.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        url,
        "module",
    ]);
    work.commit("one");
    let sync = |path: &Path| {
        let arguments = [
            "sync", "--prune", "--name", "it", "-n", &ns.name, "-o", "json",
        ];
        Run::on_lab(&arguments).arg(path)
    };
    sync(work.path()).ok();
    assert_eq!(ns.members(), ["a", "b", "c"]);

    // Cloned without `--recurse-submodules`; a clone that left the files out; and one of an LFS pointer.
    let clone = tempfile::tempdir().unwrap();
    let at = clone.path().join("clone");
    let from = work.path().to_str().unwrap();
    assert!(
        command(clone.path(), &["clone", "-q", from, "clone"])
            .status()
            .unwrap()
            .success()
    );
    work.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "update",
        "--init",
    ]);
    let output = sync(&at).code(2);
    assert_eq!(
        output.told(),
        ["error module: is a submodule, which is not fetched"]
    );
    let git = |arguments: &[&str]| {
        assert!(command(&at, arguments).status().unwrap().success());
    };
    git(&["sparse-checkout", "set", "--no-cone", "/docs/"]);
    fs::write(
        at.join("lfs.yaml"),
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    )
    .unwrap();
    let output = sync(&at).code(2);
    assert_eq!(
        output.told(),
        [
            "error a.yaml: is left out by a sparse checkout (1 more like it)",
            "error module: is a submodule, which is not fetched",
            "error lfs.yaml: LFS pointer, not fetched",
        ]
    );
    // A chart's templates have no list that would tell what is missing.
    fs::write(
        at.join("Chart.yaml"),
        "apiVersion: v2\nname: it\nversion: 1.0.0\n",
    )
    .unwrap();
    let output = sync(&at).code(2);
    assert_eq!(
        output.told(),
        [
            "error a.yaml: is left out by a sparse checkout (1 more like it)",
            "error module: is a submodule, which is not fetched",
        ]
    );
    // From a directory that the checkout holds whole, nothing is missing.
    let within = Run::new(&["validate", "-n", "default"])
        .arg(at.join("docs"))
        .ok();
    assert_eq!(within.stdout, "0 objects, 0 errors, 0 warnings\n");
    assert_eq!(ns.members(), ["a", "b", "c"]);
    assert!(api().find(&ns.path("syncs", "it")).is_some());
}
