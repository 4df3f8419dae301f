//! `covergence collect merge` and `info`: what goes into a union, what does not, and what is said of it.

use std::path::PathBuf;
use std::process::Command;

use covergence::coverage::{
    ClassId, ExecutionData, Limits, SessionInfo, Store, encode, read_exec, write_exec,
};
use tempfile::TempDir;

use crate::support::covergence::{Output, Run};

/// Memory for reading anything: the allocator's own, and little more.
const LITTLE_KIB: u64 = 64 << 10;

/// A folder with files of execution data.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn add(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Store {
        let bytes = std::fs::read(self.path(name)).unwrap();
        read_exec(&bytes, &Limits::default()).unwrap()
    }

    fn run(&self, code: i32, subcommand: &str, arguments: &[&str]) -> Output {
        let mut run = Run::new(&["collect", subcommand]);
        for argument in arguments {
            run = match argument.ends_with(".exec") {
                true => run.arg(self.path(argument)),
                false => run.arg(argument),
            };
        }
        run.code(code)
    }

    /// All that a person sees.
    fn shown(&self, code: i32, subcommand: &str, arguments: &[&str]) -> String {
        let Output { stdout, stderr, .. } = self.run(code, subcommand, arguments);
        let folder = format!("{}/", self.0.path().display());
        let typed = arguments.join(" ");
        format!(
            "$ covergence collect {subcommand} {typed}\n--- stdout\n{stdout}--- stderr\n{stderr}"
        )
        .replace(&folder, "")
    }
}

fn store(sessions: &[(&str, i64)], classes: &[(u64, &str, &str)]) -> Store {
    let mut store = Store::new();
    for (id, dump) in sessions {
        store.add_session(SessionInfo {
            id: (*id).try_into().unwrap(),
            start: 1_772_366_400_000,
            dump: 1_772_366_400_000 + dump,
        });
    }
    for (id, name, probes) in classes {
        let data = ExecutionData {
            id: ClassId(*id),
            name: (*name).try_into().unwrap(),
            probes: probes.chars().map(|probe| probe == '1').collect(),
        };
        store.put(data.as_ref()).unwrap();
    }
    store
}

fn file(store: &Store) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_exec(store, &mut bytes).unwrap();
    bytes
}

fn two_pods() -> (Store, Store) {
    let first = store(
        &[("pet-7d9f-1a2b3c4d", 300_000)],
        &[(1, "shop/Pet", "1100"), (2, "shop/Cat", "1")],
    );
    let second = store(
        &[("pet-8e0a-5e6f7a8b", 200_500)],
        &[(1, "shop/Pet", "0110"), (3, "shop/Dog", "001")],
    );
    (first, second)
}

#[test]
fn a_union_holds_what_each_of_the_files_does() {
    let files = Files::new();
    let (first, second) = two_pods();
    files.add("a.exec", &file(&first));
    files.add("b.exec", &[file(&second), file(&second)].concat());
    let shown = files.shown(0, "merge", &["a.exec", "b.exec", "-o", "union.exec"]);
    insta::assert_snapshot!(shown);
    let mut union = first;
    union.merge(&second);
    assert_eq!(files.read("union.exec"), union);
}

#[test]
fn an_input_may_be_the_output() {
    let files = Files::new();
    let (mut first, second) = two_pods();
    files.add("union.exec", &file(&first));
    files.add("b.exec", &file(&second));
    files.run(0, "merge", &["union.exec", "b.exec", "-o", "union.exec"]);
    first.merge(&second);
    assert_eq!(files.read("union.exec"), first);
}

#[test]
fn a_broken_file_is_named_with_its_byte_and_the_union_is_called_partial() {
    let files = Files::new();
    let (first, second) = two_pods();
    let bytes = file(&second);
    files.add("a.exec", &file(&first));
    files.add("cut.exec", &bytes[..bytes.len() - 3]);
    files.add("text.exec", b"no execution data\n");
    files.add(
        "other.exec",
        &file(&store(&[], &[(1, "shop/Pet", "11111")])),
    );
    let all = [
        "a.exec",
        "cut.exec",
        "text.exec",
        "gone.exec",
        "other.exec",
        "-o",
        "union.exec",
    ];
    insta::assert_snapshot!(files.shown(1, "merge", &all));
    let cut = store(
        &[("pet-8e0a-5e6f7a8b", 200_500)],
        &[(1, "shop/Pet", "0110")],
    );
    let mut union = first;
    union.merge(&cut);
    assert_eq!(files.read("union.exec"), union);
}

#[test]
fn of_many_files_each_is_read_and_told_of_in_its_turn() {
    let files = Files::new();
    let names: Vec<String> = (0..64).map(|n| format!("{n:02}.exec")).collect();
    let mut union = Store::new();
    for (n, name) in names.iter().enumerate() {
        let own = format!("shop/Pet{n}");
        let part = store(
            &[(name, n as i64)],
            &[(1, "shop/Pet", "0110"), (2 + n as u64, &own, "1")],
        );
        files.add(name, &file(&part));
        union.merge(&part);
    }
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let merged = [&all[..], &["-o", "union.exec"]].concat();
    files.run(0, "merge", &merged);
    assert_eq!(files.read("union.exec"), union);

    // Where two do not match, the later one is left out, whoever has read it.
    files.add("03.exec", &file(&store(&[], &[(1, "shop/Pet", "111")])));
    files.add("40.exec", &file(&store(&[], &[(1, "shop/Pet", "1")])));
    let told = files.run(1, "merge", &merged).stderr;
    let told: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("probes here"))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    let parts = ["03.exec: at byte 5: ", "40.exec: at byte 5: "];
    assert!(
        told.iter()
            .zip(parts)
            .all(|(line, part)| line.contains(part)),
        "{told:?}"
    );
}

#[test]
fn what_cannot_be_read_at_all_replaces_no_union() {
    let files = Files::new();
    let (first, _) = two_pods();
    files.add("union.exec", &file(&first));
    files.add("text.exec", b"no execution data\n");
    insta::assert_snapshot!(files.shown(
        2,
        "merge",
        &["text.exec", "gone.exec", "-o", "union.exec"]
    ));
    assert_eq!(files.read("union.exec"), first);
}

#[test]
fn the_output_is_a_file_that_the_user_named_or_the_standard_output() {
    let files = Files::new();
    let (first, _) = two_pods();
    files.add("a.exec", &file(&first));
    std::os::unix::fs::symlink("elsewhere", files.path("link.exec")).unwrap();
    std::fs::create_dir(files.path("folder.exec")).unwrap();
    for output in ["link.exec", "folder.exec", "/dev/null", "gone/union.exec"] {
        let run = files.run(2, "merge", &["a.exec", "-o", output]);
        assert!(
            run.stderr.contains("cannot write"),
            "{output}: {}",
            run.stderr
        );
    }
    assert!(!files.path("elsewhere").exists());
    let mut command = Command::new(env!("CARGO_BIN_EXE_covergence"));
    let run = command
        .args(["collect", "merge", "-o", "-"])
        .arg(files.path("a.exec"))
        .output()
        .unwrap();
    assert_eq!((run.status.code(), run.stdout), (Some(0), file(&first)));
}

#[test]
fn a_union_is_not_written_to_a_terminal() {
    let files = Files::new();
    files.add("a.exec", &file(&two_pods().0));
    let (program, path) = (env!("CARGO_BIN_EXE_covergence"), files.path("a.exec"));
    let line = format!("'{program}' collect merge '{}' -o -", path.display());
    let run = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .output()
        .unwrap();
    let shown = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.status.code(), Some(2), "{shown}");
    assert!(shown.contains("not for a terminal"), "{shown}");
}

#[test]
fn info_shows_sessions_classes_and_what_is_wrong() {
    let files = Files::new();
    let (first, second) = two_pods();
    let bytes = file(&second);
    files.add("a.exec", &file(&first));
    files.add("cut.exec", &bytes[..bytes.len() - 3]);
    files.add("empty.exec", b"");
    files.add(
        "other.exec",
        &file(&store(
            &[("\u{1b}[2J\n", i64::MAX / 2)],
            &[(1, "shop/Pet", "11111")],
        )),
    );
    let shown = [
        files.shown(0, "info", &["a.exec", "--classes"]),
        files.shown(
            1,
            "info",
            &["a.exec", "cut.exec", "empty.exec", "other.exec"],
        ),
        files.shown(0, "info", &["a.exec", "--classes", "-o", "json"]),
        files.shown(1, "info", &["cut.exec", "gone.exec", "-o", "json"]),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn hostile_files_cost_little_memory() {
    let files = Files::new();
    let header = encode::header();
    let class = b"\x11\0\0\0\0\0\0\0\0\0\x01a";
    // Half a million million probes, two thousand million, as many as the limit; a name that does not come; headers for ever.
    for (name, rest) in [
        (
            "endless.exec",
            &[class, b"\xff\xff\xff\xff\xff\xff".as_slice()].concat()[..],
        ),
        (
            "most.exec",
            &[class, b"\xff\xff\xff\xff\x07".as_slice()].concat(),
        ),
        ("limit.exec", &[class, b"\x80\x80\x40".as_slice()].concat()),
        ("name.exec", b"\x11\0\0\0\0\0\0\0\0\xff\xff"),
        ("headers.exec", &header.repeat(4 << 20)),
        (
            "sessions.exec",
            &b"\x10\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01".repeat(1 << 20),
        ),
        ("zeros.exec", &[0; 16 << 20]),
    ] {
        files.add(name, &[&header, rest].concat());
    }
    let names = [
        "endless", "most", "limit", "name", "headers", "sessions", "zeros",
    ];
    let mut run = Run::new(&["collect", "info"]);
    for name in names {
        run = run.arg(files.path(&format!("{name}.exec")));
    }
    let shown = run.limited(LITTLE_KIB).code(1).stdout;
    let told: Vec<&str> = shown
        .lines()
        .filter(|line| line.starts_with("at byte"))
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}
