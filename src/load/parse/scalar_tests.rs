//! The table of readings; the oracle test in `tests/it/load_reading.rs` holds it against kubectl.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::scalar::{Reading, Unreadable, plain, tagged};

fn value(reading: Result<Reading, Unreadable>) -> Result<Value, Unreadable> {
    let node = crate::load::Node {
        position: crate::load::Position { line: 1, column: 1 },
        kind: reading?.into_value()?,
    };
    Ok(node.to_json())
}

#[test]
fn plain_scalars_read_as_in_go_yaml() {
    for text in [
        "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE",
    ] {
        assert_eq!(plain(text), Ok(Reading::Bool(true)), "{text}");
    }
    for text in [
        "n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE",
    ] {
        assert_eq!(plain(text), Ok(Reading::Bool(false)), "{text}");
    }
    let strings = [
        "oN",
        "yEs",
        "nO",
        "tRUE",
        "1:30",
        "2024-01-01",
        "=",
        "<<",
        "1e400",
        "0x",
        "-",
        "+",
        ".",
        "..",
        "0b2",
        "1.2.3",
        "1e",
        "e5",
        "0xg",
        "._5",
        ".5__0",
        ".5_",
        ".5_e1",
        "- 1",
        "--1",
        "+-1",
        "0x-1",
        "inf",
        "nan",
        "-.nan",
        "1__a",
        "0o9",
        "１",
        "0xFFFFFFFFFFFFFFFFFF",
        "2001-12-14t21:59:43.10-05:00",
        "nULL",
        "1e+",
        "_1",
    ];
    for text in strings {
        assert_eq!(plain(text), Ok(Reading::Text(text.to_owned())), "{text}");
    }
    let numbers = [
        ("0755", json!(493)),
        ("08", json!(8)),
        ("09.5", json!(9.5)),
        ("0o755", json!(493)),
        ("0x1F", json!(31)),
        ("0b11", json!(3)),
        ("-0b11", json!(-3)),
        ("+0755", json!(493)),
        ("-0755", json!(-493)),
        ("1_000", json!(1000)),
        ("1__0_", json!(10)),
        ("1e3", json!(1000)),
        ("1.0", json!(1)),
        ("-0.0", json!(0)),
        ("-0", json!(0)),
        (".5", json!(0.5)),
        (".5_0", json!(0.5)),
        ("+.5", json!(0.5)),
        ("1.", json!(1)),
        ("9007199254740993", json!(9_007_199_254_740_993_u64)),
        ("9123456789012345678", json!(9_123_456_789_012_345_678_u64)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("1e19", json!(10_000_000_000_000_000_000_u64)),
        ("1.5e22", json!(1.5e22)),
        ("0.30000000000000004", json!(0.300_000_000_000_000_04)),
        ("000.1000", json!(0.1)),
        ("9223372036854775807", json!(i64::MAX)),
        ("9007199254740992.0", json!(9_007_199_254_740_992_u64)),
        ("0e999", json!(0)),
        // Written with the digits that tell the float, as in Go, and not with all it holds.
        ("100000000210e8", json!(10_000_000_021_000_000_000_u64)),
        ("1_000.5", json!(1000.5)),
        ("00", json!(0)),
        ("20190612073634", json!(20_190_612_073_634_u64)),
    ];
    for (text, expected) in numbers {
        assert_eq!(value(plain(text)), Ok(expected), "{text}");
    }
}

#[test]
fn what_json_cannot_carry_is_refused() {
    for text in [
        "18446744073709551616",
        "18446744073709551615",
        "9223372036854775808",
        "0xFFFFFFFFFFFFFFFF",
        "0.1000000000000000055",
        "9007199254740993.0",
        "3.14159265358979323846",
        "1e-400",
        "-9223372036854775809",
        "+9223372036854775808",
        "0999999999999999999",
    ] {
        assert_eq!(value(plain(text)), Err(Unreadable::Rounded), "{text}");
    }
    for text in [".inf", "-.Inf", "+.INF", ".nan", ".NaN"] {
        assert_eq!(value(plain(text)), Err(Unreadable::NotFinite), "{text}");
    }
}

#[test]
fn tags_are_honoured() {
    let cases = [
        ("str", "on", json!("on")),
        ("str", "", json!("")),
        ("int", "5", json!(5)),
        ("float", "5", json!(5)),
        (
            "float",
            "9007199254740992",
            json!(9_007_199_254_740_992_u64),
        ),
        ("bool", "no", json!(false)),
        ("null", "", json!(null)),
        ("binary", "aGVs\nbG8=", json!("hello")),
        ("timestamp", "2024-01-01", json!("2024-01-01")),
        ("", "5", json!("5")),
    ];
    for (tag, text, expected) in cases {
        assert_eq!(value(tagged(tag, text)), Ok(expected), "!!{tag} {text}");
    }
    for (tag, text) in [
        ("int", "x"),
        ("int", "1.5"),
        ("bool", "5"),
        ("null", "x"),
        ("timestamp", "x"),
        ("timestamp", "1-1-1"),
    ] {
        assert_eq!(
            value(tagged(tag, text)),
            Err(Unreadable::WrongTag),
            "!!{tag} {text}"
        );
    }
    // kubectl makes a float of it.
    let odd = value(tagged("float", "9007199254740993"));
    assert_eq!(odd, Err(Unreadable::Rounded));
    assert_eq!(value(tagged("binary", "a b")), Err(Unreadable::Base64));
    assert_eq!(value(tagged("binary", "/w==")), Err(Unreadable::NotText));
}

#[test]
fn keys_become_the_strings_kubectl_makes() {
    let cases = [
        ("1", "1"),
        ("on", "true"),
        ("n", "false"),
        ("0x10", "16"),
        ("1.5", "1.5"),
        ("1e6", "1e+06"),
        ("1e3", "1000"),
        ("0.1", "0.1"),
        ("123456789.5", "1.2345679e+08"),
        ("1e-5", "1e-05"),
        ("0.0001", "0.0001"),
        (".inf", ".inf"),
        ("-.inf", "-.inf"),
        (".nan", ".nan"),
        ("a", "a"),
        ("1234567.0", "1.234567e+06"),
    ];
    for (text, expected) in cases {
        assert_eq!(
            plain(text).and_then(Reading::into_key),
            Ok(expected.to_owned()),
            "{text}"
        );
    }
    assert_eq!(
        plain("~").and_then(Reading::into_key),
        Err(Unreadable::NullKey)
    );
    assert_eq!(
        plain("18446744073709551615").and_then(Reading::into_key),
        Err(Unreadable::Rounded)
    );
}

/// A decimal number as one sign, its digits without zeros around them, and where its point is.
fn normal(text: &str) -> (bool, String, i32) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let negative = mantissa.starts_with('-');
    let mantissa = mantissa.trim_start_matches(['-', '+']);
    let fraction = mantissa.split_once('.').map_or(0, |(_, it)| it.len());
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_start_matches('0');
    let kept = digits.trim_end_matches('0');
    let dropped = i32::try_from(digits.len() - kept.len()).unwrap();
    let point = exponent.parse::<i32>().unwrap() - i32::try_from(fraction).unwrap() + dropped;
    match kept {
        "" => (false, String::new(), 0),
        kept => (negative, kept.to_owned(), point),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn digits_stay_or_are_refused(
        text in "[-+]?([1-9][0-9]{0,24}|0)(\\.[0-9]{0,24})?([eE][-+]?[0-9]{1,3})?",
    ) {
        match value(plain(&text)) {
            Ok(Value::Number(number)) => prop_assert_eq!(normal(&number.to_string()), normal(&text)),
            Ok(Value::String(string)) => prop_assert_eq!(string, text),
            Ok(other) => prop_assert!(false, "{} is read as {}", text, other),
            Err(why) => prop_assert_eq!(why, Unreadable::Rounded),
        }
    }
}
