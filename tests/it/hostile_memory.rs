//! What hostile manifests cost: the real program reads them with so much memory that the kernel grants it, and no more.

use crate::support::covergence::Run;
use crate::support::source::Source;

/// What reading the worst of them may take.
pub const MOST_KIB: u64 = 1 << 20;

/// Size of a file, so that many of them fit into one source.
const FILE: usize = 4 << 20;

const OK: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ok}\n";

fn object(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

/// Files that cost a reader more than they hold, each of which gives no object at all.
pub fn bombs() -> Vec<(String, String)> {
    let repeated = |text: &str| text.repeat(FILE / text.len());
    let nine = |of: usize| format!("[{}]", vec![format!("*a{of}"); 9].join(","));
    let aliases: String = (1..10)
        .map(|n| format!("a{n}: &a{n} {}\n", nine(n - 1)))
        .collect();
    let merges: String = (1..3000)
        .map(|n| format!("a{n}: &a{n} {{<<: [*a{p},*a{p}], k{n}: 1}}\n", p = n - 1))
        .collect();
    let many = "x,".repeat(400_000);
    let items = "{},".repeat(400_000);
    let list = "apiVersion: v1\nkind: PodList\n";
    let long = "v".repeat(8 << 20);
    let dup = format!("{}data:\n{}", object("dup"), "  a: b\n".repeat(FILE / 7));
    let labels: String = (0..490_000).map(|n| format!("    l{n}: 1\n")).collect();
    [
        (
            "alias.yaml",
            format!("{}a0: &a0 [x]\n{aliases}", object("alias")),
        ),
        ("anchors.yaml", format!("[{}]", repeated("&a a,"))),
        ("deep.json", repeated("{\"a\":")),
        ("deep.yaml", repeated("[")),
        ("documents.json", repeated("{}")),
        ("documents.yaml", repeated("--- a\n")),
        ("dots.yaml", repeated("a\n...\n")),
        ("duplicates.yaml", dup),
        ("items.yaml", format!("{list}items: [{items}]\n")),
        (
            "labels.yaml",
            format!(
                "{}  labels:\n{labels}",
                object("x").replace("{name: x}", "\n  name: x")
            ),
        ),
        (
            "merge.yaml",
            format!("{}a0: &a0 {{a: 1}}\n{merges}", object("merge")),
        ),
        (
            "quadratic.yaml",
            format!("a: &a [{many}]\nb: [{}]\n", "*a,".repeat(100_000)),
        ),
        (
            "versions.yaml",
            format!("apiVersion: {long}\nkind: PodList\nitems: [{items}]\n"),
        ),
        (
            "values.yaml",
            format!("{}data: [{}]\n", object("values"), repeated("1,")),
        ),
        ("zero.yaml", repeated("\0")),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .into()
}

/// Checks that a source is read to its end within the bound; gives what is said last.
fn reads(source: &Source, code: i32) -> String {
    let run = Run::new(&["validate", "-n", "default"]).arg(source.path());
    let output = run.limited(MOST_KIB).code(code);
    output.stdout.lines().last().unwrap().to_owned()
}

#[test]
fn c11_bombs_take_no_more_memory_than_their_bound() {
    let source = Source::new().file("ok.yaml", OK);
    for (name, text) in bombs() {
        source.write_text(&name, &text);
    }
    let run = Run::new(&["validate", "-n", "default", "-o", "json"]).arg(source.path());
    let output = run.limited(MOST_KIB).code(1).json();
    assert_eq!(output["objects"], 1);
    let found = output["diagnostics"].as_array().unwrap();
    for (name, _) in bombs() {
        let of_file = found.iter().filter(|it| it["file"] == *name);
        let errors = of_file.filter(|it| it["severity"] == "error").count();
        assert!((1..=101).contains(&errors), "{name}: {errors}");
    }
}

/// What is within all limits is the most that is ever kept.
#[test]
fn the_largest_source_that_is_read_takes_no_more_memory_than_its_bound() {
    let source = Source::new();
    let values: String = (0..490_000).map(|n| format!("k{n}: 1,")).collect();
    for n in 0..5 {
        let text = format!(
            "apiVersion: x.example/v1\nkind: X\nmetadata: {{name: n{n}}}\nspec: {{{values}}}\n"
        );
        source.write_text(&format!("{n}.yaml"), &text);
    }
    assert!(reads(&source, 0).starts_with("5 objects, "));
}

#[test]
fn files_without_end_are_not_read() {
    let source = Source::new().file("ok.yaml", OK);
    let sparse = std::fs::File::create(source.path().join("sparse.yaml")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    source.write_text("large.yaml", &"a: b\n".repeat(20 << 20));
    assert!(reads(&source, 1).starts_with("1 object, 2 errors, "));
}

#[test]
fn ten_thousand_files_are_read_and_more_than_the_limit_is_an_error() {
    let source = Source::new();
    for n in 0..10_000 {
        source.write_text(&format!("{n}.yaml"), &object(&format!("n{n}")));
    }
    assert_eq!(reads(&source, 0), "10000 objects, 0 errors, 0 warnings");
    for n in 10_000..20_001 {
        source.write_text(&format!("{n}.yaml"), "");
    }
    assert!(reads(&source, 1).contains("1 error, "));
}
