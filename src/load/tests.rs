//! Whole-loader tests: what a source's files become, and what people are told.

use std::sync::Arc;

use super::{Diagnostic, Limits, Loaded, Severity, Snapshot, SourceFile, load};

pub(super) fn snapshot(files: &[(&str, &[u8])]) -> Snapshot {
    Snapshot {
        revision: "sha256:0".to_owned(),
        files: files
            .iter()
            .map(|(path, bytes)| SourceFile {
                path: Arc::from(*path),
                bytes: bytes.to_vec(),
            })
            .collect(),
        diagnostics: Vec::new(),
    }
}

pub(super) fn load_files(files: &[(&str, &[u8])]) -> Loaded {
    load(&snapshot(files), &Limits::default())
}

pub(super) fn load_text(text: &str) -> Loaded {
    load_files(&[("a.yaml", text.as_bytes())])
}

pub(super) fn ids(loaded: &Loaded) -> Vec<String> {
    loaded.documents.iter().map(|d| d.id.to_string()).collect()
}

/// `line:column message`, for comparing.
pub(super) fn told(loaded: &Loaded) -> Vec<String> {
    loaded.diagnostics.iter().map(brief).collect()
}

pub(super) fn brief(diagnostic: &Diagnostic) -> String {
    let place = diagnostic
        .position
        .map_or_else(|| "-".to_owned(), |p| format!("{}:{}", p.line, p.column));
    format!("{place} {}", diagnostic.message)
}

pub(super) fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

pub(super) fn one_error(text: &str) -> Diagnostic {
    let loaded = load_text(text);
    assert_eq!(loaded.documents.len(), 0, "{text}");
    assert_eq!(loaded.diagnostics.len(), 1, "{text}: {:?}", told(&loaded));
    let [diagnostic] = <[_; 1]>::try_from(loaded.diagnostics).unwrap();
    assert_eq!(diagnostic.severity, Severity::Error);
    diagnostic
}

#[test]
fn c06_comments_and_empty_documents_are_skipped_silently() {
    let text = format!(
        "# leading\n---\n{}---\n# only a comment\n--- # note\n{}---\n---   \n{}...\n---\n",
        config_map("a"),
        config_map("b"),
        config_map("c")
    );
    let loaded = load_text(&text);
    assert_eq!(ids(&loaded), ["ConfigMap a", "ConfigMap b", "ConfigMap c"]);
    assert_eq!(told(&loaded), [""; 0]);
    assert_eq!(loaded.documents[1].origin.position.line, 10);
    for empty in ["", "# nothing\n", "---\n", "\n\n", "---\n...\n", "~\n"] {
        let loaded = load_text(empty);
        assert_eq!((ids(&loaded), told(&loaded)), (vec![], vec![]), "{empty:?}");
    }
}

#[test]
fn documents_with_directives_are_read_and_those_that_kubectl_drops_refused() {
    let text = format!(
        "%YAML 1.2\n---\n{}...\n{}...\n%YAML 1.2\n---\n{}",
        config_map("a"),
        config_map("b"),
        config_map("c")
    );
    let loaded = load_text(&text);
    assert_eq!(
        told(&loaded),
        ["8:1 kubectl would not read this document: only `...` parts it from the one above"]
    );
    assert_eq!(ids(&loaded), ["ConfigMap a", "ConfigMap c"]);
}

#[test]
fn what_parts_documents_for_kubectl_only_is_refused() {
    let text = format!(
        "{}---# Source: b.yaml\n{}",
        config_map("a"),
        config_map("b")
    );
    assert_eq!(brief(&one_error(&text)), "5:1 no blank after `---`");
    let within = format!("{}data: {{a: '---#'}}\n", config_map("a"));
    assert_eq!(told(&load_text(&within)), [""; 0]);
    let after_nothing = format!("---\n...\n{}", config_map("a"));
    assert_eq!(
        one_error(&after_nothing).message,
        "kubectl would not read this document: only `...` parts it from the one above"
    );
}

#[test]
fn c02_octal_is_what_kubectl_reads_and_never_a_port() {
    let text = format!(
        "{}spec:\n  defaultMode: 0755\n  mode: 08\n  ports: [{{containerPort: 06300}}, {{port: {{number: 0100}}}}]\n",
        config_map("a")
    );
    let loaded = load_text(&text);
    assert_eq!(
        told(&loaded),
        [
            "8:27 `containerPort` is a port written in octal",
            "8:51 `number` is a port written in octal",
        ]
    );
    assert_eq!(ids(&loaded), [""; 0]);
    let text = format!(
        "{}spec: {{defaultMode: 0755, mode: 08, replicas: 010, port: '06300', none: [00, 07], targetPort: 0o17}}\n",
        config_map("a")
    );
    let loaded = load_text(&text);
    assert_eq!(
        told(&loaded),
        ["5:47 the leading zero makes this number octal"]
    );
    assert_eq!(
        loaded.documents[0].root.get("spec").unwrap().to_json(),
        serde_json::json!({"defaultMode": 493, "mode": 8, "replicas": 8, "port": "06300", "none": [0, 7], "targetPort": 15})
    );
}

#[test]
fn two_documents_without_a_separator_are_one_fault() {
    let fault = one_error(&format!("{}{}", config_map("a"), config_map("b")));
    assert_eq!(
        brief(&fault),
        "5:1 duplicate key `apiVersion`: it is already at line 1, column 1"
    );
    assert_eq!(
        fault.hint.as_deref(),
        Some("begin the second document with a `---` line, or keep one of the two")
    );
}

#[test]
fn c07_byte_order_marks_at_the_start_of_documents_are_dropped() {
    let text = format!(
        "\u{feff}{}\u{feff}---\n{}---\n\u{feff}# c\n{}",
        config_map("a"),
        config_map("b"),
        config_map("c")
    );
    let loaded = load_text(&text);
    assert_eq!(told(&loaded), [""; 0]);
    assert_eq!(ids(&loaded), ["ConfigMap a", "ConfigMap b", "ConfigMap c"]);
}

#[test]
fn c08_utf16_is_transcoded() {
    let text = config_map("größe-😀");
    let le: Vec<u8> = std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let be: Vec<u8> = std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(u16::to_be_bytes)
        .collect();
    let loaded = load_files(&[("le.yaml", &le), ("sub/be.yml", &be[..])]);
    assert_eq!(ids(&loaded), ["ConfigMap größe-😀"; 2]);
    let odd = load_files(&[("odd.yaml", &le[..le.len() - 1])]);
    assert_eq!(
        told(&odd)[0],
        format!("4:16 not valid UTF-16 at byte {}", le.len() - 2)
    );
}

#[test]
fn c09_invalid_utf8_names_file_and_byte_and_spares_the_others() {
    let mut bytes = config_map("a").into_bytes();
    bytes.extend(b"  # caf\xe9\n");
    let loaded = load_files(&[
        ("bad.yaml", &bytes),
        ("good.yaml", config_map("b").as_bytes()),
    ]);
    assert_eq!(ids(&loaded), ["ConfigMap b"]);
    assert_eq!(
        told(&loaded),
        [format!(
            "5:8 not valid UTF-8 at byte {} (0xe9)",
            bytes.len() - 2
        )]
    );
    assert_eq!(&*loaded.diagnostics[0].file, "bad.yaml");
}

#[test]
fn c10_windows_line_ends_do_not_reach_values() {
    let text = format!(
        "{}data:\n  k: |\n    one\n    two\n---\n{}",
        config_map("a"),
        config_map("b")
    )
    .replace('\n', "\r\n");
    let loaded = load_text(&text);
    assert_eq!(ids(&loaded), ["ConfigMap a", "ConfigMap b"]);
    assert_eq!(
        loaded.documents[0]
            .root
            .at(&["data", "k"])
            .unwrap()
            .as_str(),
        Some("one\ntwo\n")
    );
    assert_eq!(loaded.documents[1].origin.position.line, 10);
}

#[test]
fn c04_duplicate_keys_are_errors_naming_both_places() {
    let yaml = one_error(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  port: 1\n  x: {port: 2}\n  port: 3\n",
    );
    assert_eq!(
        brief(&yaml),
        "8:3 duplicate key `port`: it is already at line 6, column 3"
    );
    assert_eq!(yaml.excerpt.as_deref(), Some("  port: 3"));
    let json = load_files(&[(
        "a.json",
        br#"{"apiVersion": "v1", "kind": "X", "apiVersion": "v2"}"#,
    )]);
    assert_eq!(
        told(&json),
        ["1:35 duplicate key `apiVersion`: it is already at line 1, column 2"]
    );
}

#[test]
fn duplicate_keys_are_found_in_large_mappings_too() {
    let keys: String = (0..100).map(|i| format!("  k{i}: x\n")).collect();
    let text = format!("{}data:\n{keys}  k50: y\n", config_map("a"));
    assert_eq!(
        one_error(&text).message,
        "duplicate key `k50`: it is already at line 56, column 3"
    );
}

#[test]
fn a_broken_document_spares_its_neighbours() {
    let broken = "a: [1\nb: \"open\n";
    let text = format!("{}---\n{broken}---\n{}", config_map("a"), config_map("b"));
    let loaded = load_text(&text);
    assert_eq!(ids(&loaded), ["ConfigMap a", "ConfigMap b"]);
    assert_eq!(loaded.diagnostics.len(), 1);
    let line = loaded.diagnostics[0].position.unwrap().line;
    assert!((6..=8).contains(&line), "{line}");
}

#[test]
fn c13_generate_name_and_empty_names_are_refused() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: a-\n";
    let generated = one_error(text);
    assert_eq!(brief(&generated), "4:3 generateName without a name");
    assert!(generated.hint.is_some());
    let cases = [
        ("metadata:\n  name: \"\"\n", "4:3 metadata.name is empty"),
        ("metadata:\n  name:\n", "4:3 metadata.name is empty"),
        (
            "metadata:\n  name: 12\n",
            "4:3 metadata.name must be a string, not a number",
        ),
        ("metadata:\n  namespace: b\n", "3:1 no metadata.name"),
        (
            "metadata: x\n",
            "3:1 metadata must be a mapping, not a string",
        ),
        (
            "metadata: {name: a, namespace: on}\n",
            "3:21 metadata.namespace must be a string, not a boolean",
        ),
        ("spec: {}\n", "1:1 no metadata.name"),
    ];
    for (rest, expected) in cases {
        let fault = one_error(&format!("apiVersion: v1\nkind: Pod\n{rest}"));
        assert_eq!(brief(&fault), expected, "{rest}");
    }
}

#[test]
fn documents_need_types() {
    let cases = [
        ("- a\n", "1:1 a manifest must be a mapping, not a list"),
        (
            "just text\n",
            "1:1 a manifest must be a mapping, not a string",
        ),
        ("a: 1\n", "1:1 not a manifest: no apiVersion and no kind"),
        ("kind: X\n", "1:1 no apiVersion"),
        (
            "apiVersion: 1\nkind: X\n",
            "1:1 apiVersion must be a string, not a number",
        ),
        (
            "apiVersion: a/b/c\nkind: X\nmetadata: {name: a}\n",
            "1:1 apiVersion is neither `VERSION` nor `GROUP/VERSION`",
        ),
        ("apiVersion: v1\nkind: ''\n", "2:1 kind is empty"),
    ];
    for (text, expected) in cases {
        assert_eq!(brief(&one_error(text)), expected, "{text}");
    }
}

#[test]
fn c12_digits_are_never_changed() {
    let text = format!(
        "{}  annotations: {{big: \"9123456789012345678\", tag: '20190612073634'}}\nspec:\n  image: app:20190612073634\n  tag: 20190612073634\n  \
         env: [{{name: X, value: 9123456789012345678}}]\n",
        config_map("a")
    );
    for (name, text) in [
        ("a.yaml", text.clone()),
        (
            "a.json",
            load_text(&text).documents[0].root.to_json().to_string(),
        ),
    ] {
        let loaded = load_files(&[(name, text.as_bytes())]);
        assert_eq!(told(&loaded), [""; 0]);
        let printed = super::to_yaml(&loaded.documents[0].root.to_json());
        let expected = "\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    big: \"9123456789012345678\"
    tag: \"20190612073634\"
  name: a
spec:
  env:
  - name: X
    value: 9123456789012345678
  image: app:20190612073634
  tag: 20190612073634
";
        assert_eq!(printed, expected);
    }
    let rounded = one_error(&format!(
        "{}spec: {{x: 18446744073709551616}}\n",
        config_map("a")
    ));
    assert_eq!(
        brief(&rounded),
        "5:11 this number does not fit into 64 bits and would be rounded"
    );
}

#[test]
fn c12_label_values_must_be_strings() {
    let text = "apiVersion: v1\nkind: X\nmetadata:\n  name: a\n  labels:\n    build: 356136738\n    x: y\n    ok: \"1\"\n  annotations: [1]\n";
    let loaded = load_text(text);
    assert_eq!(loaded.documents.len(), 0);
    assert_eq!(
        told(&loaded),
        [
            "6:5 the label `build` must be a string, not a number",
            "7:5 the label `x` must be a string, not a boolean",
            "9:3 metadata.annotations must be a mapping, not a list",
        ]
    );
    assert_eq!(
        loaded.diagnostics[0].hint.as_deref(),
        Some("put the value in quotes")
    );
    let null = load_text("apiVersion: v1\nkind: X\nmetadata: {name: a, labels: {b: }}\n");
    assert_eq!(ids(&null), ["X a"]);
    assert_eq!(null.diagnostics[0].severity, Severity::Warning);
}

#[test]
fn c16_lists_are_unwrapped() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {}\n---\napiVersion: v1\nkind: List\nitems: null\n---\napiVersion: v1\nkind: List\nitems: []\n---\napiVersion: closurejvm.io/v1alpha1\nkind: ClosureJVMTargetList\nitems:\n- metadata: {name: t, namespace: ns}\n---\napiVersion: v1\nkind: ConfigMapList\nitems: 5\n";
    let loaded = load_text(text);
    assert_eq!(
        ids(&loaded),
        [
            "ConfigMap a",
            "ConfigMap b",
            "ClosureJVMTarget.closurejvm.io ns/t"
        ]
    );
    assert_eq!(
        loaded.documents[2].root.get("kind").unwrap().as_str(),
        Some("ClosureJVMTarget")
    );
    assert_eq!(
        loaded.documents[0].origin.position,
        super::Position { line: 4, column: 3 }
    );
    assert_eq!(
        told(&loaded),
        [
            "13:3 no metadata.name",
            "30:8 the items of a list must be a list, not a number"
        ]
    );
}

#[test]
fn tools_own_files_are_skipped_with_a_warning() {
    let files: &[(&str, &[u8])] = &[
        ("x/kustomization.yaml", b"resources: [a.yaml]\n"),
        ("y.yaml", b"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"),
        ("Chart.yaml", b"apiVersion: v2\nname: c\n"),
        ("local.yaml", b"apiVersion: v1\nkind: X\nmetadata: {annotations: {config.kubernetes.io/local-config: \"true\"}}\n"),
        ("README.md", b"\xff not yaml"),
        ("noextension", b"]"),
    ];
    let loaded = load_files(files);
    assert_eq!(ids(&loaded), [""; 0]);
    assert_eq!(loaded.diagnostics.len(), 4, "{:?}", told(&loaded));
    assert!(
        loaded
            .diagnostics
            .iter()
            .all(|d| d.severity == Severity::Warning && d.message.starts_with("skipped"))
    );
}

#[test]
fn c44_lfs_pointer_is_not_a_missing_object() {
    let pointer = b"version https://git-lfs.example/spec/v1\noid sha256:00\nsize 1\n";
    let loaded = load_files(&[("big.yaml", pointer)]);
    assert_eq!(told(&loaded), ["- LFS pointer, not fetched"]);
    assert_eq!(loaded.diagnostics[0].severity, Severity::Error);
}

#[test]
fn control_characters_and_nul_do_not_cut_a_file_short() {
    let nul = one_error("apiVersion: v1\n\0kind: X\nmetadata: {name: a}\n");
    assert_eq!(
        brief(&nul),
        "2:1 control character U+0000 is not allowed in YAML"
    );
    let loaded = load_text(&format!("{}data: {{a: \"x\u{85}y\"}}\n", config_map("a")));
    assert_eq!(
        told(&loaded),
        ["5:13 U+0085, which kubectl reads as a line break and others as a letter"]
    );
    assert_eq!(loaded.documents.len(), 0);
}

#[test]
fn an_object_with_items_is_no_list_and_no_object() {
    let fault = one_error(&format!("{}items:\n- a\n", config_map("a")));
    assert_eq!(
        brief(&fault),
        "5:1 kubectl takes an object with `items` for a list of objects"
    );
    let map = load_text(&format!("{}items: {{a: b}}\n", config_map("a")));
    assert_eq!(ids(&map), ["ConfigMap a"]);
}

#[test]
fn keys_that_are_read_as_booleans_are_pointed_out() {
    let loaded = load_text(&format!(
        "{}data:\n  on: a\n  \"no\": b\n  true: c\n",
        config_map("a")
    ));
    assert_eq!(ids(&loaded), [""; 0]);
    assert_eq!(
        told(&loaded),
        [
            "6:3 this key is read as `true`",
            "8:3 duplicate key `true`: it is already at line 6, column 3",
        ]
    );
}

#[test]
fn a_list_whose_items_are_misspelt_is_not_empty() {
    let fault = one_error("apiVersion: v1\nkind: List\nitmes:\n- a\n");
    assert_eq!(brief(&fault), "1:1 a List without `items`");
    assert!(fault.hint.is_some());
}

#[test]
fn line_ends_that_kubectl_counts_otherwise_are_refused() {
    for text in [
        format!("{}\r---\r{}", config_map("a").trim_end(), config_map("b")),
        format!("{}data: {{a: \"b\r\r\n c\"}}\n", config_map("a")),
        config_map("a").replace('\n', "\r"),
    ] {
        let loaded = load_text(&text);
        assert_eq!(ids(&loaded), [""; 0]);
        let expected = "a carriage return that no line feed follows";
        assert!(
            loaded.diagnostics.iter().all(|d| d.message == expected),
            "{text:?}"
        );
    }
    for separator in ['\u{85}', '\u{2028}', '\u{2029}'] {
        let text = format!("{}data:\n  a: |\n    x{separator}  y\n", config_map("a"));
        let fault = one_error(&text);
        assert_eq!(fault.position, Some(super::Position { line: 7, column: 6 }));
    }
}

#[test]
fn words_in_brackets_that_kubectl_ends_elsewhere_are_refused() {
    for (value, message) in [
        ("{b:}", "5:8 kubectl takes the `:` for a part of this word"),
        ("{b :}", "5:8 kubectl takes the `:` for a part of this word"),
        (
            "[b:, c]",
            "5:8 kubectl takes the `:` for a part of this word",
        ),
        (
            "[?b]",
            "5:8 kubectl takes a `?` in brackets for the sign of a key",
        ),
        (
            "{c: !!str, d: e}",
            "5:16 kubectl takes what follows this tag for a part of it",
        ),
    ] {
        let fault = one_error(&format!("{}data: {value}\n", config_map("a")));
        assert_eq!(brief(&fault), message, "{value}");
    }
    let sound = load_text(&format!(
        "{}data: {{b: , c: !!str d, e: [f: g]}}\n",
        config_map("a")
    ));
    assert_eq!(told(&sound), [""; 0]);
}

#[test]
fn an_aliased_number_is_no_key() {
    let text = format!("{}data: {{a: &n 1e6}}\nmore: {{*n : x}}\n", config_map("a"));
    assert_eq!(
        brief(&one_error(&text)),
        "6:8 an alias to a number cannot be a key"
    );
}

#[test]
fn a_last_line_without_an_end_counts_as_in_kubectl() {
    let text = format!("{}data:\n  a: |+\n    x\n\n ", config_map("a"));
    let loaded = load_text(&text);
    let value = loaded.documents[0].root.at(&["data", "a"]).unwrap();
    assert_eq!(value.as_str(), Some("x\n\n\n"));
    let open = one_error(&format!("{}?", config_map("a")));
    assert_eq!(brief(&open), "5:2 null cannot be a key");
}
