//! Repositories made to mislead, with git's own plumbing where its commands would refuse, read by the real program.

use std::fs;
use std::os::unix::fs::symlink;

use sha1::{Digest as _, Sha1};

use crate::support::covergence::Run;
use crate::support::git::Work;
use crate::support::server::{Server, free_port};

const OK: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ok}\n";

fn validate(work: &Work, reference: &str) -> Run {
    let arguments = ["validate", "-n", "default", "--ref", reference, "--git"];
    Run::new(&arguments).arg(work.path())
}

/// A tree with these entries, whatever their names; git's own commands take fewer.
fn tree(work: &Work, entries: &[(&str, &[u8], &str)]) -> String {
    let mut entries = entries.to_vec();
    // Git's order: that of the names, where those of directories end in a slash.
    entries.sort_by_key(|(mode, name, _)| [name, &b"/"[..usize::from(*mode == "40000")]].concat());
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend([mode.as_bytes(), b" ", name, b"\0"].concat());
        let digit = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).unwrap();
        bytes.extend((0..id.len()).step_by(2).map(digit));
    }
    let file = work.path().join(".git/tree");
    fs::write(&file, bytes).unwrap();
    work.git(&[
        "hash-object",
        "-w",
        "-t",
        "tree",
        "--literally",
        ".git/tree",
    ])
}

fn blob(work: &Work, text: &str) -> String {
    work.pipe(&["hash-object", "-w", "--stdin"], text)
}

/// A commit of a tree.
fn commit(work: &Work, tree: &str) -> String {
    work.git(&["commit-tree", tree, "-m", "x"])
}

#[test]
fn links_that_lead_out_of_the_commit_are_named_and_not_read() {
    let work = Work::new();
    work.write("ok.yaml", OK);
    work.write("real/a.yaml", &OK.replace("ok", "a"));
    let at = |name: &str| work.path().join(name);
    symlink("/etc/passwd", at("absolute.yaml")).unwrap();
    symlink("../../../../../../etc/passwd", at("relative.yaml")).unwrap();
    symlink("/etc", at("folder")).unwrap();
    symlink("hop2.yaml", at("hop1.yaml")).unwrap();
    symlink("real/hop3.yaml", at("hop2.yaml")).unwrap();
    symlink("../folder/passwd", at("real/hop3.yaml")).unwrap();
    symlink("round2", at("round1")).unwrap();
    symlink("round1", at("round2")).unwrap();
    symlink(".", at("real/self")).unwrap();
    symlink("gone.yaml", at("dangling.yaml")).unwrap();
    symlink("real", at("alias")).unwrap();
    let commit = work.commit("one");
    insta::assert_snapshot!(validate(&work, &commit).code(1).stdout);
}

#[test]
fn names_that_git_itself_would_refuse_stay_names() {
    let work = Work::new();
    let ok = blob(&work, OK);
    let broken = blob(&work, "]\n");
    let long = [&[b'n'; 5000][..], b".yaml"].concat();
    let entries: [(&str, &[u8], &str); 9] = [
        ("100644", b"../../up.yaml", &broken),
        ("100644", b"/etc/absolute.yaml", &broken),
        ("100644", b"a/b.yaml", &broken),
        ("100644", b"line\nbreak\x1b[2J.yaml", &broken),
        ("100644", b"latin1-\xe9.yaml", &broken),
        ("100644", &long, &broken),
        ("100644", b"ok.yaml", &ok),
        ("100644", b"Twin.yaml", &broken),
        ("100644", b"twin.yaml", &broken),
    ];
    let inner = tree(&work, &[("100644", b"hidden.yaml", &broken)]);
    let mut all = entries.to_vec();
    // None of these is looked into: their names begin with a dot.
    all.extend([
        ("40000", &b".."[..], &*inner),
        ("40000", b".", &inner),
        ("40000", b".git", &inner),
    ]);
    let commit = commit(&work, &tree(&work, &all));
    insta::assert_snapshot!(validate(&work, &commit).code(1).stdout);
}

/// An overlay's files are copied for the program that builds it.
#[test]
fn an_overlay_holds_no_names_that_are_paths() {
    let work = Work::new();
    let kustomization = blob(&work, "resources: [ok.yaml]\n");
    let ok = blob(&work, OK);
    let long = [&[b'n'; 5000][..], b".txt"].concat();
    let entries: [(&str, &[u8], &str); 6] = [
        ("100644", b"kustomization.yaml", &kustomization),
        ("100644", b"ok.yaml", &ok),
        ("100644", b"x/../../up.txt", &ok),
        ("100644", b"/etc/absolute.txt", &ok),
        ("100644", &long, &ok),
        ("160000", b"module", &"1".repeat(40)),
    ];
    let commit = commit(&work, &tree(&work, &entries));
    let long = format!("error {}", "n".repeat(64));
    let slash = "error .: holds a name with a slash in it, which was not read";
    assert_eq!(
        validate(&work, &commit)
            .arg("-o")
            .arg("json")
            .code(1)
            .told(),
        [
            slash,
            slash,
            "error module: is a submodule, which is not fetched",
            &format!("{long}: begins a path of 5005 bytes, more than 4096; it was not read"),
        ]
    );
}

/// In git a name may be as long as a file, and any number of entries share it.
#[test]
fn a_tree_of_long_paths_takes_no_more_than_its_limit() {
    let work = Work::new();
    let (ok, empty) = (blob(&work, OK), blob(&work, ""));
    let names: Vec<String> = (0..20_000).map(|n| format!("{n:05}.yaml")).collect();
    let entries: Vec<(&str, &[u8], &str)> = names
        .iter()
        .map(|name| ("100644", name.as_bytes(), &*empty))
        .collect();
    let inner = tree(&work, &entries);
    // 20,000 files below a directory whose name has 4,000 bytes: 80 MB of paths.
    let long = "d".repeat(4000);
    let outer = tree(
        &work,
        &[
            ("40000", long.as_bytes(), &inner),
            ("100644", b"ok.yaml", &ok),
        ],
    );
    let output = validate(&work, &commit(&work, &outer))
        .args(&["-o", "json"])
        .code(1);
    assert_eq!(
        output.told(),
        ["error .: the source's paths are longer than 33554432 bytes together"]
    );
    // The same below a name of 60 kB, which is not even begun.
    let longer = "d".repeat(60_000);
    let outer = tree(
        &work,
        &[
            ("40000", longer.as_bytes(), &inner),
            ("100644", b"ok.yaml", &ok),
        ],
    );
    let output = validate(&work, &commit(&work, &outer))
        .args(&["-o", "json"])
        .code(1);
    let begin = "d".repeat(64);
    assert_eq!(
        output.told(),
        [format!(
            "error {begin}: begins a path of 60001 bytes, more than 4096; it was not read"
        )]
    );
    assert_eq!(output.json()["objects"], 1);
}

#[test]
fn c45_a_submodule_with_or_without_an_address_is_an_error_where_manifests_are_looked_for() {
    let work = Work::new();
    work.write("ok.yaml", OK);
    let first = work.commit("one");
    work.write(
        ".gitmodules",
        "[submodule \"with\"]\n\tpath = with\n\turl = https://git.example/x.git\n",
    );
    for name in ["with", "without"] {
        work.git(&[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("160000,{first},{name}"),
        ]);
    }
    work.git(&["add", ".gitmodules"]);
    work.git(&["commit", "-q", "-m", "two"]);
    let output = validate(&work, "main").args(&["-o", "json"]).code(1);
    let told = output.told();
    assert_eq!(
        told,
        ["with", "without"].map(|it| format!("error {it}: is a submodule, which is not fetched"))
    );
    assert_eq!(output.json()["objects"], 1);
    let inside = validate(&work, "main")
        .args(&["--path", "with/deploy"])
        .code(2);
    assert!(
        inside
            .stderr
            .contains("with is a submodule, which is not fetched")
    );
    assert!(
        inside
            .stderr
            .contains("give the submodule's own repository as a source")
    );
}

/// Of a partial clone only what is asked for has to be there.
#[test]
fn a_path_of_a_partial_clone_is_read_without_the_rest() {
    let work = Work::new();
    work.write("deploy/ok.yaml", OK);
    work.write("other/big.yaml", "]");
    work.commit("one");
    let gone = work.git(&["rev-parse", "HEAD:other/big.yaml"]);
    fs::remove_file(
        work.path()
            .join(format!(".git/objects/{}/{}", &gone[..2], &gone[2..])),
    )
    .unwrap();
    let output = validate(&work, "main").args(&["--path", "deploy"]).ok();
    assert_eq!(output.stdout, "1 object, 0 errors, 0 warnings\n");
    let all = validate(&work, "main").code(2);
    assert!(
        all.stderr
            .contains("a partial clone needs `git fetch --refetch --no-filter`")
    );
}

/// A repository with a manifest of some bytes, which is made from an object of 400 MB, which is made from one of 64 kB. Gives
/// their names, the smallest first.
fn endless() -> (Work, [String; 3]) {
    let work = Work::new();
    work.write("ok.yaml", OK);
    work.commit("one");
    let zeros = vec![0; 1 << 16];
    let blocks = 6400;
    // Each of these bytes copies the first 64 kB of the base.
    let grow = [
        size(zeros.len()),
        size(zeros.len() * blocks),
        vec![0x80; blocks],
    ]
    .concat();
    // Copies 16 bytes from the beginning.
    let shrink = [size(zeros.len() * blocks), size(16), vec![0x90, 16]].concat();
    let mut pack = Pack::default();
    pack.object(3, &[], &zeros);
    pack.delta(pack.starts[0], &grow);
    pack.delta(pack.starts[1], &shrink);
    let starts = pack.starts.clone();
    let folder = work.path().join(".git/objects/pack");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("x.pack"), pack.finish()).unwrap();
    // Git itself unpacks it all to write the index.
    work.git(&["index-pack", ".git/objects/pack/x.pack"]);
    let index = work.git(&["verify-pack", "-v", ".git/objects/pack/x.pack"]);
    let name_at = |start: usize| {
        let fields = index
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut found = fields.filter(|it| it.get(4).is_some_and(|at| *at == start.to_string()));
        found.next().unwrap()[0].to_owned()
    };
    let names = [2, 0, 1].map(|at| name_at(starts[at]));
    (work, names)
}

/// Enough for the large object itself, so that it is not this that ends the unpacking.
const KIB: u64 = 700 << 10;

#[test]
fn an_object_that_is_made_from_an_endless_one_is_not_unpacked() {
    let (work, [small, ..]) = endless();
    let commit = commit(&work, &tree(&work, &[("100644", b"a.yaml", &small)]));
    let output = validate(&work, &commit).limited(KIB).code(2);
    assert!(
        output.stderr.contains("at most 256 MiB of memory at once"),
        "{}",
        output.stderr
    );
    let output = validate(&work, "main").limited(KIB).ok();
    assert_eq!(output.stdout, "1 object, 0 errors, 0 warnings\n");
}

#[test]
fn an_endless_object_is_not_unpacked_when_it_is_fetched() {
    let (work, [small, base, large]) = endless();
    let entries: [(&str, &[u8], &str); 3] = [
        ("100644", b"a.yaml", &small),
        ("100644", b"base", &base),
        ("100644", b"large", &large),
    ];
    let commit = commit(&work, &tree(&work, &entries));
    work.git(&["update-ref", "refs/heads/bomb", &commit]);
    let served = tempfile::tempdir().unwrap();
    let bare = served.path().join("it.git");
    work.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let port = free_port();
    let _server = Server::git_daemon_on(port, served.path());
    let url = format!("git://127.0.0.1:{port}/it.git");
    let fetch = |reference| {
        Run::new(&[
            "validate", "-n", "default", "--git", &url, "--ref", reference,
        ])
        .limited(KIB)
    };
    let output = fetch("bomb").code(2);
    assert!(
        output.stderr.contains("at most 256 MiB of memory at once"),
        "{}",
        output.stderr
    );
    assert_eq!(
        fetch("main").ok().stdout,
        "1 object, 0 errors, 0 warnings\n"
    );
}

/// A pack, written by hand: zlib without any compression.
#[derive(Default)]
struct Pack {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

/// Bytes before the first object.
const HEAD: usize = 12;

impl Pack {
    fn object(&mut self, kind: u8, reference: &[u8], content: &[u8]) {
        self.starts.push(HEAD + self.bytes.len());
        let mut size = content.len() >> 4;
        let mut byte = kind << 4 | (content.len() & 15) as u8;
        while size > 0 {
            self.bytes.push(byte | 0x80);
            byte = (size & 0x7f) as u8;
            size >>= 7;
        }
        self.bytes.push(byte);
        self.bytes.extend(reference);
        self.bytes.extend([0x78, 0x01]);
        let mut pieces = content.chunks(0xffff).peekable();
        while let Some(piece) = pieces.next() {
            let length = (piece.len() as u16).to_le_bytes();
            self.bytes.push(u8::from(pieces.peek().is_none()));
            self.bytes
                .extend([length, length.map(|byte| !byte)].concat());
            self.bytes.extend(piece);
        }
        let sums = content.iter().fold((1_u32, 0_u32), |(a, b), byte| {
            let a = (a + u32::from(*byte)) % 65521;
            (a, (b + a) % 65521)
        });
        self.bytes.extend((sums.1 << 16 | sums.0).to_be_bytes());
    }

    /// A delta against the object that begins there.
    fn delta(&mut self, base: usize, delta: &[u8]) {
        let mut distance = HEAD + self.bytes.len() - base;
        let mut reference = vec![(distance & 0x7f) as u8];
        while distance > 0x7f {
            distance = (distance >> 7) - 1;
            reference.insert(0, (distance & 0x7f) as u8 | 0x80);
        }
        self.object(6, &reference, delta);
    }

    fn finish(self) -> Vec<u8> {
        let count = (self.starts.len() as u32).to_be_bytes();
        let mut all = [b"PACK", &2_u32.to_be_bytes()[..], &count, &self.bytes].concat();
        all.extend(Sha1::digest(&all));
        all
    }
}

/// A size as deltas have it: seven bits in each byte, the lowest first.
fn size(mut size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while size > 0x7f {
        bytes.push((size & 0x7f) as u8 | 0x80);
        size >>= 7;
    }
    bytes.push(size as u8);
    bytes
}
