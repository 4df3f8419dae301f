//! Every form of scalar in every position, and every turn of syntax that readers of YAML differ on: what both read is the same,
//! and what only one of the two reads is listed here.

use std::collections::BTreeMap;

use covergence::load::Severity;
use serde_json::Value;

use crate::support::oracle::{
    File, annotated, differences, has_errors, kubectl_reads, kubectl_refuses, loader_reads,
};

const HEAD: &str = "apiVersion: v1\nkind: Sample\nmetadata: {name: a}\n";

/// Words without quotes that some version of YAML takes for something else than a string, or another one.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "y", "Y", "yes", "Yes", "YES", "yEs", "n", "N", "no", "No", "NO", "nO", "on", "On", "ON", "oN", "off", "Off",
    "OFF", "true", "True", "TRUE", "tRUE", "false", "False", "FALSE", "~", "null", "Null", "NULL", "nULL", "0", "-0",
    "+0", "1", "+1", "-1", "007", "08", "-09", "0755", "-0755", "+0755", "0o17", "0O17", "0o8", "0x1F", "0XFF",
    "-0x1f", "0x", "0xg", "0b101", "0B11", "-0b1", "0b2", "0b", "1_000", "1__0_", "_1", "1_", "0_7", "0x_F", "0_8",
    "2147483648", "9007199254740993", "9123456789012345678", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "18446744073709551615", "18446744073709551616", "0xFFFFFFFFFFFFFFFF",
    "0x8000000000000000", "-9223372036854775809", "20190612073634", "1.0", "-0.0", "0.1", "1.5", ".5", "-.5", "+.5",
    "5.", "09.5", "1_000.5", ".5_0", "._5", ".5__0", "1.2.3", "1.10", "1e3", "1E3", "1e+3", "1e-3", "1e", "e3", "1e+",
    ".e3", "1.e3", "1e400", "-1e400", "1e-400", "1e1_0", "1e20", "1e21", "1e22", "1.5e300", "123456789.5", "1e6",
    "1e-5", "3.14159265358979323846", ".inf", ".Inf", ".INF", "+.inf", "-.inf", ".iNF", ".nan", ".NaN", ".NAN",
    "-.nan", "inf", "NaN", "1:30", "190:20:30", "1:30.5", "-1:30", "2024-01-01", "2024-1-1", "2024-13-45",
    "2024-01-01T00:00:00Z", "2024-01-01t10:00:00.1z", "2024-01-01 10:00:00", "2001-12-14 21:59:43.10 -5", "=", "<<",
    "<", ".", "..", "...a", "-", "--", "--1", "+-1", "+", "?", "?a", "-a", ":a", "a:", "a:b", "::", "a#b", "a b",
    "a  b", "it's", "a\"b", "C:\\x", "10.0.0.1", "fe80::1", "50%", "$x", "(a)", "é", "日本", "😀", "１", "a\u{a0}b",
    "http://a.example/b?c=d#e", "10Gi", "1k", "1h30m", "12e3456", "0e1", "1234567e", "a\\nb", "/", "a,b", "a]", "a}",
    "a{b", "a[b", "a&b", "a*b", "a!b", "a|b", "a>b", "a?b", "a@b", "a`b", "a%b", "~a", "!", "^a", ";",
];

/// Where a word can stand; `@` is the word.
const PLACES: &[&str] = &[
    "v: @\n",
    "v:   @   # comment\n",
    "v:\n  @\n",
    "v: @\n  more\n",
    "v: [@]\n",
    "v: [x, @, y]\n",
    "v: {k: @}\n",
    "v: {k: @, l: x}\n",
    "v:\n- @\n",
    "v:\n- - @\n  - x\n",
    "v:\n- @: x\n",
    "v:\n  @: x\n",
    "v: {@: x}\n",
    "v: [@: x]\n",
    "v:\n  ? @\n  : x\n",
    "v: &a @\nw: *a\n",
    "v: {&a @: x, y: *a}\n",
    "v: {x: &a @}\nw:\n  *a : y\n",
    "v: \"@\"\n",
    "v: '@'\n",
    "v: {\"@\": '@'}\n",
    "v: |-\n  @\n",
    "v: >-\n  @\n  @\n",
    "v: !!str @\n",
    "v: !!int @\n",
    "v: !!float @\n",
    "v: !!bool @\n",
    "v: !!null @\n",
    "v: !!timestamp @\n",
    "v: !!int \"@\"\n",
    "v: !!float '@'\n",
    "v: !!bool \"@\"\n",
    "v: !Local @\n",
    "v: {!!str @: x}\n",
    "v: {!!int @: x}\n",
];

/// Turns of syntax, each in a file of its own behind a sound head.
#[rustfmt::skip]
const TURNS: &[&str] = &[
    "v:\n", "v: \n", "v:\t1\n", "v: 1\t# c\n", "v: # c\n", "v: #c\n  x\n", "v: a#\n", "v: 'a'#c\n", "v: [a,\tb]\n",
    "v:\n\tx: y\n", "v:\n  \tx: y\n", "v:\n  x: y\n\t\n  z: 1\n", "v:\n  x: y\n \t \n  z: 1\n", "v:\n-\ta\n",
    "v:\n- \ta\n", "v: a\n\tb\n", "v: \"a\n\tb\"\n", "v: 'a\n\n\tb'\n", "v: a  \n  b\t\n  c\n",
    "v: |\n  a\n b\n", "v: |\n  a\n\n\n", "v: |+\n  a\n\n\n", "v: |-\n  a\n\n\n", "v: |\n\n  a\n", "v: |\n   \n  a\n",
    "v: |1\n  a\n", "v: |2-\n    a\n   b\n", "v: |-2\n    a\n", "v: |+1\n  a\n\n", "v: |0\n  a\n", "v: |10\n  a\n",
    "v: | # c\n  a\n", "v: |#c\n  a\n", "v: |x\n  a\n", "v: |\n\ta\n", "v: |\n  \ta\n", "v: |\n  a\n  \n", "v: |\n  a\n    \n",
    "v: |\n  a\n # c\n  b\n", "v: |\n  a\n# c\nw: 1\n", "v: |\n  # a\n", "v: |\nw: 1\n", "v: >\nw: 1\n", "v: |+\n\nw: 1\n",
    "v: >\n  a\n  b\n\n  c\n   d\n  e\n", "v: >\n\n\n  a\n", "v: >\n  a\n\n\n  b\n", "v: >-\n   a\n  b\n", "v: >+\n  a\n\n",
    "v: >\n  a\n\n   b\n\n  c\n", "v: >\n  a \n  b\n", "v: >\n  a\n  \tb\n", "v: |", "v: |\n  a", "v: |+\n  a", "v: >\n  a",
    "v: |+\n  a\n\n ", "v: |+\n  a\n  ", "v: |\n  a\n ", "v: >+\n  a\n\n  ", "v: a\n ", "v: \"a\" ", "v: |\n  a\n  ---\n  b\n", "v: |\n  a\n---\n", "v: \"a\n---\nb\"\n", "v: \"a\n...\nb\"\n", "v: \"a\n --- b\"\n",
    "v: [a, b,]\n", "v: [a,,b]\n", "v: [,]\n", "v: [,a]\n", "v: {,}\n", "v: {a,b}\n", "v: {a: 1,}\n", "v: {a}\n",
    "v: {a:}\n", "v: {\"a\":}\n", "v: {a :}\n", "v: [a:, b]\n", "v: [a: ]\n", "v: [!!str ]\n", "v: {a: !!str , b: c}\n", "v: [!a]\n", "v: {!a}\n", "items: []\n", "items: ~\n", "items: {a: b}\n", "items: a\n", "v: {a:1}\n", "v: {\"a\":1}\n", "v: {'a':1}\n", "v: {a: , b: }\n", "v: {: a}\n", "v: {? a}\n",
    "v: {? a : b}\n", "v: [? a : b]\n", "v: [a: b, c]\n", "v: [\"a\": b]\n", "v: [\"a\":b]\n", "v: [a:b]\n", "v: [: a]\n",
    "v: [a\n]\n", "v: [\na\n]\n", "v: [\n  a\n  ]\n", "v: {\n}\n", "v: [a # c\n  ]\n", "v: [a #c\n  , b]\n", "v: [a# , b]\n",
    "v: {a: b\n  c: d}\n", "v: {a: b c\n  d}\n", "v: [[a], [b, {c: d}]]\n", "v: [{a: b}: c]\n", "v: {[a]: b}\n", "v: {{a: b}: c}\n",
    "v: [a]b\n", "v: {a: b}c\n", "v: [a] # c\n", "v: [a]# c\n", "v: {a: [b}\n", "v: [http://a/b, c:d, e:]\n",
    "v: [-1, -a, - a]\n", "v: [-]\n", "v: [--]\n", "v: [a - b]\n", "v: {a: -}\n", "v: [a?b]\n", "v: [?a]\n", "v: [a? b]\n",
    "v: {a: *}\n", "v: [*]\n", "v: *\n", "v: &\n", "v: &a\n", "v: &a\nw: *a\n", "v: *a\n", "v: &a *b\n", "v: &a b\nw: *a\nv2: &a c\nw2: *a\n",
    "v: &a b\n? *a\n: c\n", "v: &a b\n*a : c\n", "v: &a b\n*a: c\n", "v: &a b\nw: [*a,*a]\n", "v: &a b\nw: [*a, *a]\n",
    "v: &a b\nw: {x: *a}\n", "v: &a b\nw: {x: *a, y: z}\n", "v: &a b\nw: {*a : x}\n", "v: &a.b c\nw: *a.b\n", "v: &a-b c\nw: *a-b\n",
    "v: &a/b c\n", "v: &ä c\nw: *ä\n", "v: &a [*a]\n", "v: &a {b: *a}\n", "v: &a b c\nw: *a\n", "v: &a &b c\n", "v: &a !!str 1\nw: *a\n",
    "v: !!str &a 1\nw: *a\n", "v: &a\n  b: c\nw: *a\n", "v: &a\n- b\nw: *a\n", "v: &a |\n  b\nw: *a\n", "v: &a # c\n  b: c\nw: *a\n",
    "&k v: 1\nw: *k\n", "? &k v\n: 1\nw: *k\n", "v: &a [1, 2]\nw: {<<: *a}\n", "v: &a x\nw: {<<: *a}\n",
    "v: &a {x: 1}\nw: {<<: *a}\n", "v: &a {x: 1}\nw: {<<: *a, x: 2}\n", "v: &a {x: 1}\nw: {x: 2, <<: *a}\n",
    "v: &a {x: 1}\nw: {<<: [*a, {x: 2, y: 3}]}\n", "v: &a {x: 1}\nw: {<<: *a, <<: {x: 3}}\n", "v: {<<: {x: 1}}\n", "v: {<<: [{x: 1}, {x: 2}]}\n",
    "v: {<<: []}\n", "v: {<<: {}}\n", "v: {<<: ~}\n", "v: {<<: [~]}\n", "v: {<<: [[{x: 1}]]}\n", "v: {'<<': {x: 1}}\n", "v: {\"<<\": {x: 1}}\n",
    "v: {!!merge <<: {x: 1}}\n", "v: {!!str <<: {x: 1}}\n", "v: {? << : {x: 1}}\n", "v: [<<]\n", "v: {<<: {x: 1}, '<<': 2}\n",
    "v: &a {x: &b {y: 1}}\nw: {<<: *a}\nz: *b\n", "v: {x: {<<: &a {y: 1}}, z: *a}\n", "v: &a {<<: {x: 1}}\nw: {<<: *a}\n",
    "v: {a: 1, a: 2}\n", "v: {a: 1, \"a\": 2}\n", "v: {1: a, \"1\": b}\n", "v: {on: a, true: b}\n", "v: {1: a, 0x1: b}\n", "v: {1.0: a, 1: b}\n",
    "v:\n  a: 1\n  a: 2\n", "kind: Other\n", "v: {? : a}\n", "v: {~: a}\n", "v: {null: a}\n", "v: {\"\": a}\n", "v: {'': a}\n", "v: {!!null x: a}\n",
    "v:\n  ? a\n", "v:\n  ? a\n  ? b\n", "v:\n  ? a\n  :\n", "v:\n  ? - a\n  : b\n", "v:\n  ? |\n    a\n  : b\n", "v:\n  ? \"a\n    b\"\n  : c\n",
    "v:\n  \"a\n    b\": c\n", "v:\n  a\n    b: c\n", "v:\n  : a\n", "v:\n  a : b\n", "v:\n  a:b\n", "v:\n  a:b: c\n", "v:\n  a: b: c\n", "v:\n  a: b:\n", "v: a:\n", "v: :a\n",
    "v: ::\n", "v: - a\n", "v: -\n", "v: -a\n", "v: ?\n", "v: ? a\n", "v: |-\n", "v:\n- a\n- b\n", "v:\n - a\n - b\n", "v:\n- a\n - b\n", "v:\n  - a\n- b\n", "v:\n- - - a\n",
    "v:\n-\n  a: b\n", "v:\n-\n  - a\n", "v:\n-\n- a\n", "v:\n- a: b\n  c: d\n", "v:\n- a: b\n c: d\n", "v:\n-   a: b\n    c: d\n", "v:\n- a:\n  - b\n", "v:\n- a:\n    - b\n  c: d\n",
    "v:\n- ? a\n  : b\n", "v:\n- a\n  b\n", "v:\n- |\n  a\n- b\n", "v:\n- |\n a\n- b\n", "v:\n- !!str\n- b\n", "v:\n- &a\n- *a\n", "v:\n  a: b\n   c: d\n", "v:\n   a: b\n  c: d\n",
    "v: a\n b\n", "v: a\nb\n", "v: a\n\n  b\n", "v: a # c\n  b\n", "v: a\n  # c\n", "v: a\n  # c\n  b\n", "v: 'a\n  b'\n", "v: 'a\nb'\n", "v: 'a''b'\n", "v: ''''\n", "v: 'a' 'b'\n", "v: 'a\n",
    "v: \"a\\\n  b\"\n", "v: \"a \\\n  b\"\n", "v: \"a\\\n  \\ b\"\n", "v: \"\\/\"\n", "v: \"\\'\"\n", "v: \"\\q\"\n", "v: \"\\x4\"\n", "v: \"\\u004\"\n", "v: \"\\ud83d\\ude00\"\n", "v: \"\\ud83d\"\n",
    "v: \"\\U0001F600\"\n", "v: \"\\U00110000\"\n", "v: \"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\\\\\N\\_\\L\\P\"\n", "v: \"\\\tx\"\n", "v: \"a\n\n  b\"\n", "v: \"  a  \"\n", "v: \" a\n  b \"\n",
    "v: !!map {a: b}\n", "v: !!seq [a]\n", "v: !!set {a, b}\n", "v: !!omap [a: 1]\n", "v: !!pairs [a: 1]\n", "v: !!str {a: b}\n", "v: !!int {a: b}\n", "v: !!str [a]\n", "v: !!map [a]\n", "v: !!seq {a: b}\n",
    "v: !Local {a: b}\n", "v: !Local [a]\n", "v: !Local\n", "v: !!str\n", "v: !!int\n", "v: !!null\n", "v: !\n", "v: ! 1\n", "v: ! a\n", "v: ! [1]\n", "v: !<tag:yaml.org,2002:int> \"1\"\n", "v: !<!x> 1\n", "v: !<x\n", "v: !e!x 1\n",
    "v: !!binary aGk=\n", "v: !!binary \"aGk=\"\n", "v: !!binary a\n", "v: !!binary /w==\n", "v: !!binary |\n  aGVs\n  bG8=\n", "v: {!!binary aGk=: x}\n", "v: !!float .inf\n", "v: !!float 1\n", "v: !!int 1.0\n", "v: !!int 1.5\n",
    "v: !!value =\n", "v: !!foo 1\n", "v: !!foo {a: 1}\n", "v: [!!str, a]\n", "v: [!!str , a]\n", "v: {a: !!str}\n", "v: {a: !!str }\n", "v: {!!str : a}\n", "v: !a,b c\n", "v: !a%21 c\n", "v: !!st%72 1\n",
    "v: @a\n", "v: `a\n", "v: %a\n", "v: a%\n", "v: !a!b c\n", "v: a\u{a0}\n", "v:\u{a0}a\n", "v: \u{3000}a\n", "v: a\u{2028}b\n", "v: a\u{85}b\n", "v: 'a\u{2029}b'\n", "v: |\n  a\u{2028}  b\n", "v: a\u{feff}b\n", "v: \u{feff}a\n", "\u{feff}v: a\n",
    "v: a\rw: b\r", "v: |\r\n  a\r\n  b\r\nw: c\r\n", "v: \"a\r\n  b\"\r\n", "v: a\r\n  b\r\n", "v: [a,\r\n  b]\r\n", "v: >\r\n  a\r\n\r\n  b\r\n", "v: a\r\r\n", "v: 'a\rb'\n",
    "v: \u{7f}\n", "v: \u{1}\n", "v: \u{0}a\n", "v: \u{80}\n", "v: \u{fffe}\n", "v: \u{10ffff}\n", "v: \u{e000}\n",
    "---\n", "--- \n", "---\t\n", "---#c\n", "--- #c\n", "--- a\n", "--- {a: b}\n", "---a\n", "----\n", "--- |\n  a\n", "---\n---\n", "...\n", "... # c\n", "...a\n", "....\n", "... a\n", "...\n...\n", "...\n---\n",
    "...\nv: 1\n", "...\n# c\n", "---\nv: 1\n", "# c\n---\n# d\n", " ---\n", "v: a\n ---\n", "v:\n  ---\n", "---\n%YAML 1.1\n---\n", "%YAML 1.1\n", "%TAG ! x\n",
];

/// What only the loader refuses, by the beginning of the message: kubectl reads something that is not what the text says.
const WE_REFUSE: &[&str] = &[
    "YAML has no such escape",
    "a byte order mark in the middle",
    "a carriage return that no line feed follows",
    "a comment needs a blank",
    "an alias to a number cannot be a key",
    "does not hold UTF-8 text",
    "duplicate key",
    "expected `,` or `}`",
    "invalid content after document end marker",
    "items in brackets have no `- `",
    "kubectl reads as a line break",
    "kubectl takes",
    "kubectl would not read this document",
    "missing explicit document end marker",
    "no apiVersion and no kind",
    "no `:` that would make it a key",
    "no blank after `---`",
    "this one cannot be read",
    "would be rounded",
];

/// What only kubectl refuses, by a part of its message: there the text says one thing only, and we read it.
const KUBECTL_REFUSES: &[&str] = &[
    "cannot decode !!str",
    "cannot start any token",
    "cannot unmarshal",
    "did not find expected",
    "found a tab character",
    "found invalid Unicode character escape code",
    "found unknown escape character",
];

/// Compares the readings of files and lists what only one of the two reads, by message, each with an example.
fn compare(files: &[File]) -> [BTreeMap<String, String>; 2] {
    let (mut ours, mut kubectls) = (BTreeMap::new(), BTreeMap::new());
    let mut wrong = Vec::new();
    for (file, read) in files.iter().zip(kubectl_reads(files)) {
        let loaded = loader_reads(file);
        let text = String::from_utf8_lossy(&file.1[HEAD.len()..]).into_owned();
        match (has_errors(&loaded), read) {
            (true, Err(_)) => {}
            (true, Ok(_)) => {
                let mut errors = loaded.diagnostics.iter();
                let error = errors.find(|d| d.severity == Severity::Error).unwrap();
                ours.entry(error.message.clone()).or_insert(text);
            }
            (false, Err(why)) => {
                let why = why.rsplit("a.yaml: ").next().unwrap().to_owned();
                kubectls.entry(why).or_insert(text);
            }
            (false, Ok(read)) => {
                let values: Vec<Value> = loaded.documents.iter().map(annotated).collect();
                if let Some(what) = differences(&values, &read) {
                    match kubectl_refuses(file) {
                        Some(why) => drop(kubectls.entry(why).or_insert(text)),
                        None => wrong.push(format!("{text:?}: {what}")),
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "read otherwise:\n{}", wrong.join("\n"));
    [ours, kubectls]
}

/// What no entry of a list explains.
fn unexplained(found: &BTreeMap<String, String>, known: &[&str]) -> Vec<String> {
    let explained = |message: &str| known.iter().any(|it| message.contains(it));
    let found = found.iter().filter(|(message, _)| !explained(message));
    found
        .map(|(message, text)| format!("{message}: {text:?}"))
        .collect()
}

fn agree(files: &[File]) {
    let [ours, kubectls] = compare(files);
    let found = [
        unexplained(&ours, WE_REFUSE),
        unexplained(&kubectls, KUBECTL_REFUSES),
    ];
    assert!(found.iter().all(Vec::is_empty), "{found:#?}");
}

fn file(text: &str) -> File {
    ("a.yaml".to_owned(), format!("{HEAD}{text}").into_bytes())
}

#[test]
fn every_word_is_read_as_in_kubectl_wherever_it_stands() {
    let places = |word: &'static str| {
        PLACES
            .iter()
            .map(move |place| file(&place.replace('@', word)))
    };
    let files: Vec<File> = WORDS.iter().flat_map(|word| places(word)).collect();
    agree(&files);
}

#[test]
fn every_turn_of_syntax_is_read_as_in_kubectl() {
    let files: Vec<File> = TURNS.iter().map(|turn| file(turn)).collect();
    agree(&files);
}
