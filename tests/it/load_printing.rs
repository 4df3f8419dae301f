//! What we print is what the loader and kubectl read back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use covergence::load::to_yaml;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Number, Value, json};

use crate::load_reading::{kubectl_reads, we_read};

/// Strings that some reader of YAML takes for something else, or that are hard to carry.
const NASTY: &[&str] = &[
    "",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r",
    "\r\n",
    "a\r\nb",
    "on",
    "On",
    "ON",
    "oN",
    "off",
    "yes",
    "Yes",
    "no",
    "No",
    "NO",
    "y",
    "Y",
    "n",
    "N",
    "true",
    "True",
    "false",
    "null",
    "Null",
    "NULL",
    "~",
    "nan",
    ".nan",
    ".NaN",
    ".inf",
    "-.inf",
    "+.inf",
    ".Inf",
    "0",
    "00",
    "-0",
    "1",
    "-1",
    "+1",
    "0755",
    "08",
    "0o7",
    "0O7",
    "0x1F",
    "0b11",
    "1_000",
    "1_",
    "_1",
    "1__0",
    "1e3",
    "1E3",
    "1.0",
    "1.",
    ".5",
    "+.5",
    "1e400",
    "1:30",
    "1:30:45",
    "190:20:30",
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    "2001-12-14 21:59:43.10 -5",
    "=",
    "<<",
    "<<:",
    "18446744073709551616",
    "9123456789012345678",
    "20190612073634",
    "1.2.3",
    "12e03",
    "5e7",
    "0x",
    "1,000",
    "- a",
    "-",
    "--",
    "---",
    "--- a",
    "...",
    "?",
    "? a",
    ":",
    ": a",
    "a:",
    "a: b",
    "a:b",
    "a :b",
    "a #b",
    "a#b",
    "#a",
    "a ",
    " a",
    "a  b",
    "'",
    "''",
    "'a'",
    "\"",
    "\"a\"",
    "a'b",
    "a\"b",
    "a\\b",
    "it's \"x\"",
    "\\",
    "\\n",
    "{a",
    "{a: b}",
    "[a",
    "[a]",
    "a]",
    "a}",
    "a, b",
    "&a",
    "*a",
    "!a",
    "!!str a",
    "|",
    ">",
    "|-",
    "%a",
    "@a",
    "`a",
    "a`",
    "a\nb",
    "a\nb\n",
    "a\n\nb\n\n",
    "a\n\n\n",
    " a\nb",
    "\na\n",
    "\n a\n",
    "a\n b\n  c\n",
    "a\n\tb\n",
    "\ta\nb",
    "a\t\nb",
    "a \nb\n",
    "a\n \nb",
    "a\n  ",
    "a\n\t\nb",
    "a\n# b\n",
    "a\n---\nb\n",
    "a\n...\nb\n",
    "- a\n- b\n",
    "a: 1\nb: 2\n",
    "#!/bin/sh\nexit 0\n",
    "a\r\nb\r\n",
    "a\rb",
    "a\u{85}b",
    "a\u{2028}b\n",
    "a\u{2029}b",
    "\u{a0}",
    "a\u{a0}b\nc",
    "\u{feff}a",
    "a\u{feff}b",
    "\u{feff}",
    "\0",
    "a\0b",
    "\u{7}",
    "\u{1b}[0m",
    "\u{7f}",
    "\u{80}",
    "\u{9f}",
    "\u{ad}",
    "\u{200b}",
    "\u{202e}",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{10ffff}",
    "\u{e000}",
    "größe",
    "é",
    "日本",
    "😀",
    "a😀\nb",
    "10Gi",
    "100m",
    "1h30m",
    "0m",
    "1k",
    "1e3m",
    "0x1g",
    "2024-01-01m",
    "1.5Gi",
    "v1",
    "apps/v1",
    "/bin/sh",
    "http://x:80/a?b=c&d",
    "$(POD_IP)",
    "${x}",
    "{{ x }}",
    "a=b",
    "-Xmx1g",
    "k=v,k2=v2",
    "١",
    "1٢",
    "５",
    "a\\x41",
    "key: |\n  x",
    "NaN",
    "Infinity",
    "e3",
    "0.0.0.0",
    "::1",
    "12:30pm",
    "a:\nb",
    "!",
    "!!",
    "&",
    "*",
    "a\u{3000}b",
    "\u{3000}",
    "0b",
    "0o",
    "1_000_000.5",
    "-0x1",
    "0e0",
    "0.",
    "_",
    "__",
    ".",
    "..",
    "~a",
    "/",
];

fn text() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        prop::sample::select(NASTY).prop_map(str::to_owned),
        prop::sample::select(
            &[
                " ", "\n", "\t", "\r", ":", "#", "- ", "'", "\"", "\\", "a", "0", "é", "\u{85}",
                "\u{2028}", "\u{feff}", "\0", "|", "  "
            ][..]
        )
        .prop_map(str::to_owned),
        "[a-z]{1,6}",
        any::<char>().prop_map(String::from),
    ];
    prop_oneof![
        3 => prop::sample::select(NASTY).prop_map(str::to_owned),
        5 => prop::collection::vec(token, 0..8).prop_map(|tokens| tokens.concat()),
        1 => "[a-z \n]{300,1200}",
    ]
}

/// Numbers as JSON has them in Go, where a float without a fraction is an integer.
fn number() -> impl Strategy<Value = Value> {
    let float = prop::num::f64::NORMAL.prop_filter_map("a fraction", |f| {
        (f.fract() != 0.0 || f.abs() > 1e20).then(|| Number::from_f64(f).map(Value::Number))?
    });
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        (-9..9_i64).prop_map(Value::from),
        float
    ]
}

/// Fractions that `serde_json`, which reads kubectl's answer here, does not get wrong in the last digit.
fn short_number() -> impl Strategy<Value = Value> {
    (-999_999..999_999_i32).prop_map(|n| match n % 1000 {
        0 => Value::from(n),
        _ => Value::from(f64::from(n) / 1000.0),
    })
}

fn value(number: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => number,
        8 => text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|entries| Value::Object(Map::from_iter(entries))),
        ]
    })
}

fn wrapped(value: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "value": value})
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_loader_reads_back_what_was_printed(value in value(number())) {
        let value = wrapped(&value);
        let text = to_yaml(&value);
        let read = we_read("a.yaml", text.as_bytes());
        prop_assert_eq!(read, vec![value], "{}", text);
    }
}

#[test]
fn nasty_strings_come_back_as_values_and_as_keys() {
    for text in NASTY {
        let value = wrapped(&json!([text, {*text: text, "k": [[text], [[]], {}]}]));
        let printed = to_yaml(&value);
        assert_eq!(we_read("a.yaml", printed.as_bytes()), [value], "{printed}");
    }
}

#[test]
fn kubectl_reads_back_what_was_printed() {
    let mut runner = TestRunner::deterministic();
    let strings = NASTY
        .iter()
        .map(|text| json!([text, {*text: text}, [[text]]]));
    let random = (0..120).map(|_| {
        value(short_number())
            .new_tree(&mut runner)
            .unwrap()
            .current()
    });
    let values: Vec<Value> = strings.chain(random).map(|value| wrapped(&value)).collect();
    let printed: Vec<String> = values.iter().map(to_yaml).collect();
    let read = kubectl_reads("a.yaml", printed.join("---\n").as_bytes());
    assert_eq!(read.len(), values.len());
    for ((read, value), printed) in read.iter().zip(&values).zip(&printed) {
        assert_eq!(read, value, "{printed}");
    }
}

#[test]
fn the_style_is_block_with_quotes_only_where_needed() {
    let value = json!({
        "apiVersion": "apps/v1",
        "metadata": {"name": "a", "annotations": {"json": "{\"a\": \"b\"}", "on": "yes", "port": "6300"}},
        "spec": {"args": ["-Xmx1g", "a b", "10Gi"], "empty": {}, "none": [], "nested": [[1, 2], [{"a": 1, "b": null}]],
            "script": "#!/bin/sh\n\techo it's\n", "strip": "a\nb", "keep": "a\n\n", "port": 6300, "ratio": 0.5, "when": "2024-01-01"},
    });
    let expected = "\
apiVersion: apps/v1
metadata:
  annotations:
    json: '{\"a\": \"b\"}'
    \"on\": \"yes\"
    port: \"6300\"
  name: a
spec:
  args:
  - \"-Xmx1g\"
  - a b
  - 10Gi
  empty: {}
  keep: |+
    a

  nested:
  - - 1
    - 2
  - - a: 1
      b: null
  none: []
  port: 6300
  ratio: 0.5
  script: |
    #!/bin/sh
    \techo it's
  strip: |-
    a
    b
  when: \"2024-01-01\"
";
    assert_eq!(to_yaml(&value), expected);
    assert_eq!(to_yaml(&json!("a\nb\n")), "|\n  a\n  b\n");
    assert_eq!(to_yaml(&json!([])), "[]\n");
}
