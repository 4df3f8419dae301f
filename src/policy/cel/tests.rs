//! Expressions with the results that the documentation gives them: <https://kubernetes.io/docs/reference/using-api/cel/>
//! (CEL), <https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/> (VAP), the godoc of
//! `k8s.io/apiserver/pkg/cel/library` that they point to (library), `github.com/google/cel-go/ext` (ext), and the language
//! definition at <https://github.com/google/cel-spec/blob/master/doc/langdef.md> (langdef).

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{Budget, EXPRESSION, Env, Expression, Fault, Names, Value, from_json, unknown};

const NAMES: Names<'static> = Names {
    values: &["object", "params", "authorizer"],
    variables: &[],
};

fn object() -> Json {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "pet",
            "namespace": "shop",
            "labels": { "app.kubernetes.io/name": "pet", "team": "shop" },
        },
        "spec": { "replicas": 3, "ratio": 0.5, "minReplicas": 1, "maxReplicas": 5 },
        "stateCounts": { "Available": 1 },
        "list1": [], "list2": [1],
        "set1": ["a", "b"], "set2": ["c"],
        "map1": { "MY_KEY": "abc" },
        "envars": [{ "name": "MY_ENV", "value": "abc" }, { "name": "OTHER", "value": "1" }],
        "widgets": [{ "key": "x", "foo": 5 }],
        "health": "ok, more or less",
        "port": "99%",
        "names": ["a", "b"], "details": { "a": 1, "b": 2 },
        "big": 9007199254740993_i64,
        "nothing": null,
    })
}

fn eval(source: &str) -> Result<Value, Fault> {
    eval_within(source, &object(), EXPRESSION)
}

fn eval_within(source: &str, object: &Json, units: u64) -> Result<Value, Fault> {
    let expression = Expression::compile(source, NAMES).map_err(Fault::Error)?;
    let values = BTreeMap::from([
        ("object", from_json(object)),
        ("params", Value::Null),
        ("authorizer", unknown("there is no API server")),
    ]);
    let env = Env::new(values, &[]);
    expression.evaluate(&env, &Budget::new(units))
}

/// All of these are true.
const TRUE: &[&str] = &[
    // CEL and VAP, "Example CEL expressions", for the object above.
    "object.spec.minReplicas <= object.spec.replicas && object.spec.replicas <= object.spec.maxReplicas",
    "'Available' in object.stateCounts",
    "(size(object.list1) == 0) != (size(object.list2) == 0)",
    "!('MY_KEY' in object.map1) || object.map1['MY_KEY'].matches('^[a-zA-Z]*$')",
    "object.envars.filter(e, e.name == 'MY_ENV').all(e, e.value.matches('^[a-zA-Z]*$'))",
    "object.health.startsWith('ok')",
    "object.widgets.exists(w, w.key == 'x' && w.foo < 10)",
    "type(object.port) == string ? object.port == '99%' : object.port == 42",
    "object.metadata.name == 'pet'",
    "object.set1.all(e, !(e in object.set2))",
    "size(object.names) == size(object.details) && object.names.all(n, n in object.details)",
    "object.details.all(key, key.matches('^[a-zA-Z]*$'))",
    "object.details.all(key, object.details[key] < 3)",
    "params == null || has(params.optionalNumber)",
    // CEL, "Type system integration": keys are as they are, integers are int, other numbers double.
    "object.metadata.labels['app.kubernetes.io/name'] == 'pet'",
    "'app.kubernetes.io/name' in object.metadata.labels",
    "object.metadata.namespace == 'shop'",
    "type(object.spec.replicas) == int",
    "type(object.spec.ratio) == double",
    "type(object.metadata.labels) == map && type(object.names) == list",
    "object.nothing == null && has(object.nothing) && type(null) == null_type",
    "object.big == 9007199254740993",
    // cel-go's quoted fields, for keys that are no identifiers.
    "object.metadata.labels.`app.kubernetes.io/name` == 'pet' && has(object.metadata.labels.`app.kubernetes.io/name`)",
    // CEL, CrossTypeNumericComparisons.
    "object.spec.replicas > 2.5 && object.spec.ratio < 1",
    "dyn(1) == dyn(1.0) && dyn(1u) == dyn(1)",
    // langdef, logical operators: one side may decide whatever becomes of the other.
    "true || object.none.of.this",
    "object.none.of.this || true",
    "!(false && object.none.of.this) && !(object.none.of.this && false)",
    "object.envars.exists(e, e.value == '1' || e.none)",
    "[1, 0].exists(x, 1 / x == 1) && !([0, 2].all(x, 4 / x == 1))",
    // langdef, macros and arithmetic.
    "[1, 2, 3].map(x, x * 2) == [2, 4, 6] && [1, 2, 3].map(x, x > 1, x * 2) == [4, 6]",
    "[1, 2, 2].exists_one(x, x == 1) && !([1, 2, 2].exists_one(x, x == 2))",
    "[1, 2] + [3] == [1, 2, 3] && 'a' + 'b' == 'ab' && -7 / 2 == -3 && 7 % 2 == 1",
    "size('äöü') == 3 && 'äöü'.size() == 3 && size(b'äöü') == 6",
    "int('42') == 42 && string(42) == '42' && double('1.5') == 1.5 && int(3.9) == 3",
    "duration('1h30m') == duration('90m') && duration('1m').getSeconds() == 60",
    "string(timestamp('2023-01-02T05:04:05+02:00')) == '2023-01-02T03:04:05Z' && int(timestamp('1970-01-01T00:01:00Z')) == 60",
    "timestamp('2023-01-01T00:00:00+02:00').getHours() == 22 && string(duration('90s')) == '90s' && string(duration('1.5s')) == '1.5s'",
    "string(1.0) == '1' && string(1.5) == '1.5' && string(1.5e300) == '1.5e+300' && string(1e-7) == '1e-07' && b'a' < b'b'",
    "timestamp('2023-01-02T03:04:05Z') < timestamp('2023-01-02T03:04:06Z')",
    "timestamp('2023-08-26T12:39:00Z').getFullYear() == 2023 && timestamp('2023-08-26T12:39:00Z').getDayOfWeek() == 6",
    // ext, Strings.
    "'hello'.charAt(4) == 'o' && 'hello mellow'.indexOf('ello', 2) == 7 && 'hello mellow'.lastIndexOf('ello') == 7",
    "'TacoCat'.lowerAscii() == 'tacocat' && 'TacoCÆt Xii'.upperAscii() == 'TACOCÆT XII'",
    "'hello hello'.replace('he', 'we', 1) == 'wello hello' && 'hello hello'.replace('he', 'we') == 'wello wello'",
    "'hello hello hello'.split(' ') == ['hello', 'hello', 'hello'] && 'hello hello hello'.split(' ', 2) == ['hello', 'hello hello']",
    "'tacocat'.substring(4) == 'cat' && 'tacocat'.substring(0, 4) == 'taco' && '  \\ttrim\\n '.trim() == 'trim'",
    "['hello', 'mellow'].join() == 'hellomellow' && ['hello', 'mellow'].join(' ') == 'hello mellow'",
    "'%s has %d of %.2f'.format(['it', 3, 1.5]) == 'it has 3 of 1.50'",
    // CEL, "Kubernetes list library", and its godoc.
    "['a', 'b', 'c'].isSorted() && ![2.0, 1.0].isSorted() && [].isSorted()",
    "[1, 3].sum() == 4 && [1.0, 3.0].sum() == 4.0 && [duration('1m'), duration('1s')].sum() == duration('61s')",
    "[1, 3].min() == 1 && [1, 3].max() == 3 && ['x', 'y'].max() == 'y'",
    "[1, 2, 2, 3].indexOf(2) == 1 && ['a', 'b', 'b', 'c'].lastIndexOf('b') == 2 && [1.0].indexOf(1.1) == -1",
    "object.envars.map(e, size(e.value)).sum() == 4",
    // CEL, "Kubernetes regex library", and its godoc.
    "'abc 123'.find('[0-9]+') == '123' && 'abc 123'.find('xyz') == ''",
    "'1, 2, 3, 4'.findAll('[0-9]+').map(x, int(x)).sum() < 100",
    "'123 abc 456'.findAll('[0-9]*').size() > 0 && '123 abc 456'.findAll('[0-9]+', 1) == ['123'] && 'abc'.findAll('xyz') == []",
    // CEL, "Kubernetes URL library", and its godoc.
    "url('https://example.com:80/').getHost() == 'example.com:80'",
    "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'",
    "url('https://[::1]:80/').getHostname() == '::1' && url('https://example.com/').getPort() == ''",
    "url('https://example.com/?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
    "url('/path').getScheme() == '' && url('/path').getHost() == '' && url('HTTPS://example.com').getScheme() == 'https'",
    "url('https://example.com:443/').getPort() == '443' && url('http://localhost/').getHost() == 'localhost'",
    "url('https://user:pass@EXAMPLE.com:80/').getHost() == 'EXAMPLE.com:80' && url('https://example.com').getEscapedPath() == ''",
    "url('https://example.com/a/../%7Eb').getEscapedPath() == '/a/../%7Eb' && url('mailto:a@b').getHost() == ''",
    "isURL('https://user:pass@example.com:80/path?query=val#fragment') && isURL('/absolute-path') && !isURL('../relative-path')",
    "!isURL('https://a:b:c/') && !isURL('https://exa mple.com') && !isURL('https://example.com/%zz') && !isURL('') && !isURL(':foo')",
    // CEL, "Kubernetes IP address library" and "CIDR library", and their godoc.
    "isIP('127.0.0.1') && isIP('::1') && !isIP('127.0.0.256') && !isIP('::ffff:1.2.3.4')",
    "ip.isCanonical('127.0.0.1') && ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')",
    "ip('127.0.0.1').family() == 4 && ip('::1').family() == 6 && string(ip('127.0.0.1')) == '127.0.0.1'",
    "ip('127.0.0.1').isLoopback() && ip('0.0.0.0').isUnspecified() && ip('192.168.0.1').isGlobalUnicast()",
    "ip('224.0.0.1').isLinkLocalMulticast() && ip('169.254.169.254').isLinkLocalUnicast()",
    "isCIDR('192.168.0.0/16') && !isCIDR('192.168.0.0/32a') && cidr('192.168.0.0/16').prefixLength() == 16",
    "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && !cidr('192.168.0.0/24').containsIP('192.168.1.1')",
    "cidr('192.168.0.0/16').containsCIDR(cidr('192.168.10.0/24')) && cidr('192.168.0.1/24').ip() == ip('192.168.0.1')",
    "cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')",
    // CEL, "Kubernetes quantity library", and its godoc.
    "!isQuantity('1Ki ') && !isIP(' ::1') && !isCIDR('10.0.0.0/08') && !isSemver(' 1.2.3')",
    "isQuantity('1.3Gi') && isQuantity('200k') && !isQuantity('1,3G') && !isQuantity('Three')",
    "quantity('500000G').isInteger() && quantity('50k').asInteger() == 50000 && !quantity('1.5').isInteger()",
    "quantity('9999999999999999999999999999999999999G').asApproximateFloat() > 1e40",
    "quantity('50k').add(quantity('20k')) == quantity('70k') && quantity('50k').add(20) == quantity('50020') && quantity('50k').sub(20000) == quantity('30k')",
    "quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('50M').compareTo(quantity('50Mi')) == -1",
    "quantity('150Mi').isGreaterThan(quantity('100Mi')) && quantity('50M').isLessThan(quantity('100M')) && quantity('-5').sign() == -1",
    // CEL, "Kubernetes format library".
    "!format.dns1123Label().validate('my-name').hasValue() && format.dns1123Label().validate('My_Name').hasValue()",
    "!format.named('uuid').value().validate('01234567-89ab-cdef-0123-456789abcdef').hasValue()",
    "!format.labelValue().validate('app').hasValue() && format.date().validate('2021-13-01').hasValue()",
    // CEL, "Kubernetes semver library".
    "isSemver('1.0.0') && !isSemver('v1.0') && isSemver('v1.0', true)",
    "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
    "semver('1.2.3').compareTo(semver('2.0.0')) < 0 && semver('1.0.0-beta').isLessThan(semver('1.0.0'))",
    // ext, Sets.
    "sets.contains([1, 2, 3], [2, 3]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])",
    // CEL, "CEL optional types", and cel-go's OptionalTypes.
    "object.?spec.?replicas.orValue(1) == 3 && object.?none.?replicas.orValue(1) == 1",
    "object.metadata.labels[?'team'].hasValue() && !object.metadata.labels[?'none'].hasValue()",
    "optional.of(1).value() == 1 && optional.none().or(optional.of(2)).value() == 2 && !optional.ofNonZeroValue('').hasValue()",
    "[?object.?none, ?object.?kind] == ['Deployment'] && {?'a': object.?none} == {}",
    "object.?spec.optMap(s, s.replicas + 1).orValue(0) == 4 && optional.none().optMap(x, x + 1) == optional.none()",
    // ext, TwoVarComprehensions.
    "[1, 2].all(i, v, v == i + 1) && {'a': 1}.exists(k, v, k == 'a' && v == 1) && [1, 1].existsOne(i, v, i == 0 && v == 1)",
    "[1, 2].transformList(i, v, i * v) == [0, 2] && {'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 2) == {'b': 4}",
];

#[test]
fn documented_expressions_are_true() {
    assert!(TRUE.len() >= 60);
    let wrong: Vec<String> = TRUE
        .iter()
        .filter_map(|source| match eval(source) {
            Ok(Value::Bool(true)) => None,
            other => Some(format!("{source}\n    {other:?}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What has no value, and why. None of it may pass for a value, or for its opposite.
const FAULTS: &[(&str, &str)] = &[
    ("object.spec.none > 1", "no such key: none"),
    ("!object.spec.none", "no such key: none"),
    // The library takes a field of what is no map for false.
    ("!object.health.bad", "a string has no field `bad`"),
    ("!has(object.health.bad)", "a string has no field `bad`"),
    ("!has(object.none.bad)", "no such key: none"),
    ("object.list2[3]", "the index is out of bounds"),
    (
        "object.spec.replicas.startsWith('3')",
        "startsWith() does not take an int",
    ),
    (
        "!object.names.contains('c')",
        "contains() does not take a list",
    ),
    (
        "object.spec.replicas + '1'",
        "`+` has no result for these values: an int and a string",
    ),
    (
        "object.spec.replicas / 0",
        "`/` has no result for these values: an int and an int",
    ),
    (
        "9223372036854775807 + 1 > 0",
        "`+` has no result for these values: an int and an int",
    ),
    (
        "[9223372036854775807, 1].sum() > 0",
        "sum(): the elements have no sum",
    ),
    ("object.spec && true", "a bool is wanted here, not a map"),
    ("object.names < 3", "a list and an int have no order"),
    ("quantity('Three')", "quantity(): "),
    (
        "'abc'.indexOf('b', -5)",
        "indexOf(): the index is out of range",
    ),
    (
        "url('example.com')",
        "url(): it is no URL with a scheme, and no absolute path",
    ),
    ("'a'.matches('(')", "matches(): "),
    (
        "duration('1hour')",
        "duration(): it is no duration such as 1h30m",
    ),
    (
        "'%.1000000000f'.format([1.0])",
        "format(): more than 99 digits are asked for",
    ),
    (
        "authorizer.group('').resource('pods').check('get').allowed()",
        "there is no API server",
    ),
    ("has(authorizer.group)", "there is no API server"),
    ("authorizer == null", "there is no API server"),
    // What the API server refuses when the policy is made.
    ("oldSelf.replicas", "there is nothing named oldSelf here"),
    (
        "size(object, 1) > 0",
        "a function gets 2 arguments, and takes 1",
    ),
    ("lists.range(10)", "there is nothing named lists here"),
    (
        "object.names.sortBy(n, n)",
        "there is no function .sortBy()",
    ),
    ("object.spec.replicas >", "line 1, column "),
    ("Object{spec: 1}", "Object{…} makes a message"),
    ("variables.x", "there is no variable x at this place"),
    ("", "line 1, column "),
    (
        "object.names.all(n, m > 1)",
        "there is nothing named m here",
    ),
];

#[test]
fn what_has_no_value_says_why() {
    for (source, wanted) in FAULTS {
        match eval(source) {
            Err(fault) if fault.to_string().starts_with(wanted) => {}
            other => panic!("{source}: {wanted:?} is wanted, not {other:?}"),
        }
    }
}

/// Expressions that would take seconds or all memory are refused at a bounded price, whatever the size of the input.
#[test]
fn expensive_expressions_are_refused() {
    let many: Vec<Json> = (0..10_000)
        .map(|i| json!({ "name": format!("item-{i}") }))
        .collect();
    let object = json!({ "items": many, "text": "x".repeat(100_000) });
    for source in [
        "object.items.all(a, object.items.all(b, a.name != b.name || a == b))",
        "object.items.map(a, object.items.map(b, a)).size() > 0",
        "object.items.exists(a, object.items.indexOf(a) == 10000)",
        "sets.equivalent(object.items, object.items)",
        "object.items.map(a, object.text + a.name).size() > 0",
        "object.items.all(a, !object.text.contains(a.name))",
        "object.items.all(a, !object.text.matches('(x+x+)+y'))",
        "object.text.matches('((x{500}){500}){500}')",
        "object.text.replace('', object.text).size() > 0",
        "object.text.split('').map(a, object.text).join(object.text).size() > 0",
        "[object.text, object.text].join(object.text).indexOf(object.text + 'y') > 0",
        "true || object.items.all(a, object.items.all(b, a == b)) && false || object.items.map(a, object.items).size() == object.items.map(a, object.items).map(b, b.map(c, c)).size()",
    ] {
        let result = eval_within(source, &object, EXPRESSION);
        match source.starts_with("true ||") {
            true => assert_eq!(result, Ok(Value::Bool(true)), "{source}"),
            false => assert_eq!(result, Err(Fault::TooExpensive), "{source}"),
        }
    }
    // One level over as many elements is what policies do.
    for source in [
        "object.items.all(a, a.name.startsWith('item-'))",
        "object.items.filter(a, a.name.endsWith('9')).size() == 1000",
        "object.items.map(a, a.name).size() == 10000",
    ] {
        let result = eval_within(source, &object, EXPRESSION);
        assert_eq!(result, Ok(Value::Bool(true)), "{source}");
    }
}

/// A list that holds itself ten times, thirty times over, has more elements than there is memory, and no copy of any.
#[test]
fn shared_parts_are_paid_for_where_they_are_walked() {
    let names: Vec<String> = (0..30).map(|i| format!("v{i}")).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut variables = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let source = match at {
            0 => "['x']".to_owned(),
            _ => format!(
                "[{}]",
                vec![format!("variables.v{}", at - 1); 10].join(", ")
            ),
        };
        let names = Names {
            variables: &known[..at],
            ..NAMES
        };
        variables.push((name.clone(), Expression::compile(&source, names)));
    }
    let names = Names {
        variables: &known,
        ..NAMES
    };
    for source in [
        "variables.v29 == variables.v29",
        "'%s'.format([variables.v29]) == ''",
        "'x' in variables.v29",
    ] {
        let expression = Expression::compile(source, names).unwrap();
        let env = Env::new(BTreeMap::new(), &variables);
        let result = expression.evaluate(&env, &Budget::new(EXPRESSION));
        assert_eq!(result, Err(Fault::TooExpensive), "{source}");
    }
}

/// A thread of the service has 2 MiB of stack. A quarter of that must be enough for whatever is not refused.
#[test]
fn deep_and_long_expressions_are_refused_before_they_overflow_a_stack() {
    let test = || {
        let compiled = |source: &str| Expression::compile(source, NAMES);
        for open in ["(", "[", "{1: ", "size(", "object[", "[1].map(x, "] {
            for times in [5_000, 900, 20] {
                assert!(compiled(&open.repeat(times)).is_err(), "{open}");
            }
        }
        let chains = [
            format!("1{}", " + 1".repeat(990)),
            format!("object{}", ".a".repeat(990)),
            format!("{}1", "true ? 1 : ".repeat(300)),
        ];
        for chain in &chains {
            assert!(compiled(chain).is_err(), "{chain}");
        }
        // As deep as anything may be is not too deep to be evaluated.
        for nested in [
            format!("{}1{} == 1", "(".repeat(20), ")".repeat(20)),
            format!("{}[]{} == []", "[1].map(x, ".repeat(12), ")".repeat(12)),
            format!("1{} > 0", " + 1".repeat(70)),
            format!("{}true", "!".repeat(990)),
            format!("{}true", "false ? true : ".repeat(35)),
            vec!["true"; 300].join(" && "),
        ] {
            let expression = compiled(&nested).unwrap_or_else(|why| panic!("{nested}: {why}"));
            let env = Env::new(BTreeMap::new(), &[]);
            let result = expression.evaluate(&env, &Budget::new(EXPRESSION));
            assert!(matches!(result, Ok(Value::Bool(_))), "{nested}: {result:?}");
        }
    };
    let thread = std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(test);
    thread.unwrap().join().unwrap();
}

proptest! {
    /// Whatever is written as an expression, it is one or a reason why it is none: the parser's own panics included.
    #[test]
    fn no_text_ends_the_process(source in "[ a-z0-9'\"()\\[\\]{}.,:?!&|<>=+*/%@\\\\-]{0,40}") {
        if let Ok(expression) = Expression::compile(&source, NAMES) {
            let env = Env::new(BTreeMap::new(), &[]);
            let _ = expression.evaluate(&env, &Budget::new(1_000));
        }
    }

    /// Functions meet values of every type, and every pair of them, without an end to the process.
    #[test]
    fn no_function_ends_the_process(
        at in 0..super::signatures::FUNCTIONS.len(),
        values in proptest::collection::vec(0..SAMPLES.len(), 4),
    ) {
        let (name, form, least, most) = super::signatures::FUNCTIONS[at];
        let sample = |at: usize| SAMPLES[values[at]];
        for count in least..=most {
            let args: Vec<&str> = (0..count).map(sample).collect();
            let call = match form {
                super::signatures::Form::Global => format!("{name}({})", args.join(", ")),
                super::signatures::Form::Method => format!("{}.{name}({})", sample(3), args.join(", ")),
            };
            let _ = eval(&call);
        }
    }
}

/// Values of every type, and those at the ends of their ranges.
const SAMPLES: &[&str] = &[
    "null",
    "true",
    "0",
    "-1",
    "9223372036854775807",
    "(-9223372036854775807 - 1)",
    "18446744073709551615u",
    "0.0",
    "-1.5",
    "1e308",
    "(0.0 / 0.0)",
    "''",
    "'a'",
    "'äöü'",
    "'1.2.3'",
    "'10.0.0.0/8'",
    "'::1'",
    "'1Gi'",
    "'https://example.com:80/a?b=c'",
    "'(['",
    "'%s %d %.2f %'",
    "'9223372036854775807h'",
    "b'ab'",
    "[]",
    "[1, 2]",
    "['b', 'a']",
    "[1, 'a', null]",
    "{}",
    "{'a': 1}",
    "duration('2562047h')",
    "duration('-2562047h')",
    "timestamp('9999-12-31T23:59:59Z')",
    "timestamp('0001-01-01T00:00:00Z')",
    "optional.none()",
    "optional.of(1)",
    "ip('127.0.0.1')",
    "cidr('10.0.0.0/8')",
    "quantity('1Gi')",
    "semver('1.2.3')",
    "url('https://example.com')",
    "format.dns1123Label()",
    "type(1)",
    "object",
];
