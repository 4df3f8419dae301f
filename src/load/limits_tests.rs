//! What is too much fails alone, is told where it is, and costs little.

use super::tests::{brief, config_map, ids, load_files, load_text, one_error, snapshot, told};
use super::{Limits, Loaded, Severity, load};

#[test]
fn c11_bombs_fail_fast_with_a_located_error() {
    let mut bomb =
        "apiVersion: v1\nkind: X\nmetadata: {name: a}\na0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for i in 1..10 {
        let p = i - 1;
        bomb += &format!("a{i}: &a{i} [*a{p},*a{p},*a{p},*a{p},*a{p},*a{p},*a{p},*a{p},*a{p}]\n");
    }
    assert_eq!(
        one_error(&bomb).message,
        "anchors and aliases make this document too large"
    );
    let text = format!(
        "a: &a \"{}\"\nb: [{}]\n",
        "x".repeat(1 << 20),
        "*a,".repeat(40)
    );
    assert_eq!(
        one_error(&text).message,
        "anchors and aliases make this document too large"
    );
    for (open, name) in [
        ("[", "a.yaml"),
        ("{a: ", "a.yaml"),
        ("[", "a.json"),
        ("{\"a\":", "a.json"),
        ("- ", "a.yml"),
    ] {
        let loaded = load_files(&[(name, open.repeat(5000).as_bytes())]);
        assert_eq!(loaded.diagnostics.len(), 1, "{open}");
        assert_eq!(
            loaded.diagnostics[0].message, "nested more than 100 levels deep",
            "{open}"
        );
    }
    let nested = "a: &a [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n\
        b: &b [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n\
        c: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[*b]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n";
    assert_eq!(
        brief(&one_error(nested)),
        "3:44 nested more than 100 levels deep"
    );
    let own = one_error("a: &a [*a]\n");
    assert_eq!(own.message, "this alias contains itself");
}

/// What is loaded with limits that are easy to pass.
fn with(limits: Limits, files: &[(&str, &[u8])]) -> Loaded {
    load(&snapshot(files), &limits)
}

#[test]
fn a_file_past_its_limits_fails_alone() {
    let limits = Limits {
        file_bytes: 2 << 20,
        file_documents: 4,
        file_faults: 3,
        file_values: 1000,
        ..Limits::default()
    };
    let large = vec![b' '; (2 << 20) + 1];
    let many = "--- {apiVersion: v1, kind: X, metadata: {name: x}}\n".repeat(5);
    let wrong = "---\n]\n".repeat(100);
    let wide = format!(
        "{}---\n[{}]\n---\n{}",
        config_map("a"),
        "1,".repeat(2000),
        config_map("b")
    );
    let loaded = with(
        limits,
        &[
            ("large.yaml", &large),
            ("many.yaml", many.as_bytes()),
            ("wide.yaml", wide.as_bytes()),
            ("wrong.yaml", wrong.as_bytes()),
            ("z.yaml", config_map("z").as_bytes()),
        ],
    );
    assert_eq!(
        told(&loaded),
        [
            "- larger than 2097152 bytes",
            "- holds more than 4 documents; none of them is applied",
            "6:1982 more than 1000 values in one file",
            "2:1 a closing bracket that nothing has opened",
            "4:1 a closing bracket that nothing has opened",
            "6:1 a closing bracket that nothing has opened",
            "- 3 errors so far; the rest of the file was not read",
        ]
    );
    assert_eq!(ids(&loaded), ["ConfigMap a", "ConfigMap z"]);
}

#[test]
fn a_source_past_its_limits_is_read_no_further() {
    let objects = |n: usize| {
        let one = |i| format!("---\n{}", config_map(&format!("n{i}")));
        (0..n).map(one).collect::<String>()
    };
    let (many, wrong) = (objects(5), "---\n]\n".repeat(4));
    let end = |limits: Limits, text: &str| {
        let files: &[(&str, &[u8])] = &[("a.yaml", text.as_bytes()), ("b.yaml", b"]")];
        let loaded = with(limits, files);
        assert!(loaded.diagnostics.iter().all(|d| &*d.file != "b.yaml"));
        let last = loaded.diagnostics.last().unwrap();
        assert_eq!((&*last.file, last.severity), (".", Severity::Error));
        last.message.clone()
    };
    let limits = Limits::default;
    assert_eq!(
        end(
            Limits {
                documents: 4,
                ..limits()
            },
            &many
        ),
        "the source has more than 4 objects; the rest of it was not read"
    );
    assert_eq!(
        end(
            Limits {
                values: 20,
                ..limits()
            },
            &many
        ),
        "the source has more than 20 values; the rest of it was not read"
    );
    assert_eq!(
        end(
            Limits {
                faults: 3,
                ..limits()
            },
            &wrong
        ),
        "4 errors so far; the rest of the source was not read"
    );
}

/// Between two `---` there may be any number of documents.
#[test]
fn documents_without_end_are_not_gathered() {
    for (name, text) in [
        ("a.json", "{}".repeat(200_000)),
        ("a.yaml", "{}".repeat(200_000)),
        ("a.yaml", "a\n...\n".repeat(200_000)),
        ("a.yaml", "---\na\n".repeat(200_000)),
    ] {
        let other = config_map("b");
        let files: &[(&str, &[u8])] = &[(name, text.as_bytes()), ("b.yaml", other.as_bytes())];
        let loaded = load_files(files);
        assert_eq!(ids(&loaded), ["ConfigMap b"]);
        let last = loaded.diagnostics.last().unwrap();
        let told = loaded.diagnostics.len();
        let expected = match told {
            1 => "holds more than 20000 documents; none of them is applied",
            _ => "100 errors so far; the rest of the file was not read",
        };
        assert!(told <= 101 && last.message == expected, "{name} {last:?}");
    }
    // Nothing but separators is no document at all.
    assert_eq!(told(&load_text(&"---\n".repeat(200_000))), [""; 0]);
}

/// What was read of a document before its error must not count as all of it.
#[test]
fn an_error_behind_many_warnings_keeps_its_document_out() {
    let replaced = "  a: 1\n  <<: {a: 1}\n";
    let text = format!(
        "{}data:\n{}  b: 1\n  b: 2\n",
        config_map("a"),
        replaced.repeat(150)
    );
    let loaded = load_text(&text);
    assert_eq!(ids(&loaded), [""; 0]);
    let count = |severity| {
        loaded
            .diagnostics
            .iter()
            .filter(|d| d.severity == severity)
            .count()
    };
    assert_eq!((count(Severity::Error), count(Severity::Warning)), (1, 100));

    let labels: String = (0..200).map(|n| format!("    l{n}:\n")).collect();
    let text = format!("{}  labels:\n{labels}    wrong: 1\n", config_map("a"));
    let loaded = load_text(&text);
    assert_eq!(ids(&loaded), [""; 0]);
    let count = |severity| {
        loaded
            .diagnostics
            .iter()
            .filter(|d| d.severity == severity)
            .count()
    };
    assert_eq!((count(Severity::Error), count(Severity::Warning)), (1, 100));
}

#[test]
fn warnings_past_the_limit_are_counted() {
    let limits = Limits {
        faults: 2,
        ..Limits::default()
    };
    let local = "---\napiVersion: v1\nkind: X\nmetadata: {annotations: {config.kubernetes.io/local-config: \"true\"}}\n";
    let text = format!("{}---\n{}", local.repeat(5), config_map("a"));
    let loaded = with(limits, &[("a.yaml", text.as_bytes())]);
    assert_eq!(ids(&loaded), ["ConfigMap a"]);
    assert_eq!(
        told(&loaded).last().unwrap(),
        "- 3 more warnings are not shown"
    );
    assert!(
        loaded
            .diagnostics
            .iter()
            .all(|d| d.severity == Severity::Warning)
    );
}

/// Each item of a typed list inherits its kind and its version.
#[test]
fn lists_cost_no_more_than_their_text() {
    let long = "x".repeat(1 << 20);
    let items = "{},".repeat(100_000);
    for (version, kind) in [(&*long, "PodList"), ("v1", &*format!("{long}List"))] {
        let fault = one_error(&format!(
            "{{apiVersion: {version}, kind: {kind}, items: [{items}]}}"
        ));
        assert!(fault.message.len() < 100, "{fault:?}");
    }
    let text = format!("apiVersion: v1\nkind: PodList\nitems: [{items}]\n");
    let loaded = load_text(&text);
    assert_eq!(loaded.diagnostics.len(), 101);
    assert_eq!(
        told(&loaded)[100],
        "- 100 errors so far; the rest of the file was not read"
    );

    // 33 lists inside one another, with the objects in the innermost.
    let object = "{apiVersion: v1, kind: X, metadata: {name: a}}";
    let inner = format!("[{}]", format!("{object},").repeat(20_000));
    let deep = (0..32).fold(inner, |items, _| {
        format!("[{{apiVersion: v1, kind: List, items: {items}}}]")
    });
    let loaded = load_text(&format!("apiVersion: v1\nkind: List\nitems: {deep}\n"));
    assert_eq!(told(&loaded), [""; 0]);
    assert_eq!(loaded.documents.len(), 20_000);
}

#[test]
fn messages_and_excerpts_of_endless_lines_are_cut() {
    let key = "k".repeat(100_000);
    let object = r#""apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}"#;
    let fault = one_error(&format!("{{{object}, \"{key}\": 1, \"{key}\": 2}}\n"));
    assert!(fault.message.chars().count() <= 1001 && fault.message.ends_with('…'));
    assert!(fault.excerpt.is_none());
    let fault = one_error(&format!("{{a: 1, a: 2, b: {key}}}\n"));
    assert!(fault.excerpt.unwrap().chars().count() <= 241);
}

/// Each excerpt is its own line, in whatever order the faults come.
#[test]
fn excerpts_are_those_of_their_places() {
    let lines: String = (0..50)
        .map(|n| format!("  on{n}: a\n  on{n}: b\n"))
        .collect();
    let loaded = load_text(&format!("{}data:\n{lines}", config_map("a")));
    assert_eq!(loaded.diagnostics.len(), 50);
    for (n, diagnostic) in loaded.diagnostics.iter().enumerate() {
        assert_eq!(diagnostic.excerpt.as_deref(), Some(&*format!("  on{n}: b")));
    }
}
