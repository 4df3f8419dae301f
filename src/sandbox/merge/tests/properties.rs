use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::FieldSet;
use super::super::collect::collect;
use super::super::shape::Type;
use super::super::{Typed, compare::compare};
use super::support::{Cluster, everything};

fn word() -> impl Strategy<Value = String> {
    "[a-d]"
}

fn texts() -> impl Strategy<Value = Value> {
    btree_map(word(), word(), 0..3).prop_map(|map| json!(map))
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        word().prop_map(Value::from),
        (0..3i64).prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(word(), inner, 1..3).prop_map(|map| json!(map)),
        ]
    })
}

fn ports() -> impl Strategy<Value = Value> {
    let port = (option::of(word()), option::of(0..3u16));
    btree_map((0..3u16, any::<bool>()), port, 0..4).prop_map(|ports| {
        let ports = ports.into_iter().map(|((port, udp), (name, target))| {
            let mut item = json!({ "port": port, "protocol": if udp { "UDP" } else { "TCP" } });
            put(&mut item, "name", name);
            put(&mut item, "targetPort", target);
            item
        });
        ports.collect()
    })
}

fn put(object: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[name] = value.into();
    }
}

/// What somebody applies; of maps and lists all that is said is kept.
fn fields() -> impl Strategy<Value = Value> {
    let some = (
        option::of(texts()),
        option::of(texts()),
        option::of(ports()),
    );
    let more = (
        0..3u8,
        option::of(vec(word(), 1..3)),
        option::of(anything()),
    );
    (some, more).prop_map(|((data, selector, ports), (replicas, args, free))| {
        let mut spec = json!({});
        put(&mut spec, "selector", selector);
        put(&mut spec, "ports", ports);
        // A spec is never empty.
        spec["replicas"] = replicas.into();
        put(&mut spec, "free", free);
        if let Some(args) = args {
            spec["containers"] = json!([{ "name": "c", "args": args }]);
        }
        let mut fields = json!({ "spec": spec });
        put(&mut fields, "data", data);
        fields
    })
}

/// Whether all that is applied is there.
fn holds(live: &Value, applied: &Value) -> bool {
    let (schema, root) = everything();
    let of = Type::root(&Typed {
        schema: &schema,
        root,
    });
    let changes = compare(of, Some(live), Some(applied));
    collect(of, applied).common(&changes.written()).is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_apply_twice_is_an_apply_once(others in vec((0..3u8, fields()), 0..4), last in fields()) {
        let mut cluster = Cluster::new();
        for (manager, fields) in others {
            cluster.force(&format!("m{manager}"), fields);
        }
        cluster.force("a", last.clone());
        let once = cluster.object.clone();
        cluster.apply("a", last);
        prop_assert_eq!(cluster.object, once);
    }

    #[test]
    fn what_is_applied_by_force_is_there(others in vec((0..3u8, fields()), 0..4), last in fields()) {
        let mut cluster = Cluster::new();
        for (manager, fields) in others {
            cluster.force(&format!("m{manager}"), fields);
        }
        cluster.force("a", last.clone());
        prop_assert!(holds(&cluster.fields(), &last), "{:?}", cluster.fields());
    }

    #[test]
    fn what_one_alone_applied_goes_with_it(first in fields(), second in fields()) {
        let mut together = Cluster::new();
        together.force("a", first);
        together.force("a", second.clone());
        let mut alone = Cluster::new();
        alone.force("a", second);
        let managed = |cluster: &Cluster| {
            cluster.managed().as_array().map(|entries| entries.iter().map(|e| e[3].clone()).collect::<Vec<_>>())
        };
        prop_assert_eq!(managed(&together), managed(&alone));
        prop_assert_eq!(sparse(together.fields()), sparse(alone.fields()));
    }

    #[test]
    fn two_who_apply_different_fields_do_not_mind_the_order(left in texts(), right in texts(), ports in ports()) {
        let left = json!({ "data": left, "spec": { "ports": ports } });
        let right = json!({ "metadata": { "labels": right }, "spec": { "replicas": 1 } });
        let mut one = Cluster::new();
        one.apply("a", left.clone());
        one.apply("b", right.clone());
        let mut other = Cluster::new();
        other.apply("b", right);
        other.apply("a", left);
        prop_assert_eq!(one.fields(), other.fields());
    }

    #[test]
    fn a_written_set_is_read_again(fields in fields()) {
        let (schema, root) = everything();
        let set = collect(Type::root(&Typed { schema: &schema, root }), &fields);
        prop_assert_eq!(FieldSet::decode(&set.encode()), Some(set));
    }

    #[test]
    fn sets_follow_the_laws_of_sets(left in fields(), right in fields()) {
        let (schema, root) = everything();
        let of = Type::root(&Typed { schema: &schema, root });
        let (left, right) = (collect(of, &left), collect(of, &right));
        let mut both = left.clone();
        both.add(&right);
        prop_assert_eq!(&both.common(&left), &left);
        let mut rest = both.clone();
        rest.subtract(&right);
        prop_assert!(rest.common(&right).is_empty());
        let mut again = rest.clone();
        again.add(&left.common(&right));
        prop_assert_eq!(again, left);
    }
}

/// The same without what is empty: a map or list that all has gone from is as good as none.
fn sparse(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: Map<_, _> = fields
                .into_iter()
                .map(|(name, value)| (name, sparse(value)))
                .filter(|(_, value)| !value.is_null() && *value != json!({}) && *value != json!([]))
                .collect();
            fields.into()
        }
        Value::Array(items) => items.into_iter().map(sparse).collect(),
        value => value,
    }
}
