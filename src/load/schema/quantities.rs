//! Quantities that are written as numbers.

use serde_json::{Number, Value};

use super::builtin::{self, Fields};
use super::shape::Shape;
use crate::api::split_api_version;

/// Writes numbers as strings where a built-in kind has quantities (`cpu: 1`, `memory: 1e9`). kubectl's clients read both;
/// server-side apply takes only strings.
pub fn spell_quantities(object: &mut Value) {
    let text = |field| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (group, version) = split_api_version(text("apiVersion"));
    if let Some(fields) = builtin::fields_of(group, version, text("kind")) {
        walk(object, fields);
    }
}

fn walk(object: &mut Value, fields: &'static Fields) {
    for (key, value) in object.as_object_mut().into_iter().flatten() {
        if let Some(code) = fields.get(key.as_str()) {
            spell(value, builtin::field(code));
        }
    }
}

fn spell(value: &mut Value, shape: Shape<'_>) {
    match (shape, &mut *value) {
        (Shape::Quantity, Value::Number(number)) => *value = Value::String(plain(number)),
        (Shape::List(inner), Value::Array(items)) => {
            let shape = inner.shape();
            items.iter_mut().for_each(|item| spell(item, shape));
        }
        (Shape::Map(inner), Value::Object(map)) => {
            let shape = inner.shape();
            map.values_mut().for_each(|value| spell(value, shape));
        }
        (Shape::Builtin(fields), Value::Object(_)) => walk(value, fields),
        _ => {}
    }
}

/// `1e9` is a floating-point number by now, and `1000000000.0` is a quantity nobody would write.
fn plain(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn c18_numbers_become_quantities_only_where_quantities_belong() {
        let limits = json!({ "cpu": 0.5, "memory": 1e9, "x.io/gpu": 2, "kept": "1000m" });
        let container = json!({ "name": "a", "resources": { "limits": limits }, "ports": [{ "containerPort": 80 }] });
        let volume = json!({ "name": "v", "emptyDir": { "sizeLimit": 1024 } });
        let pod = json!({ "containers": [container], "volumes": [volume] });
        let mut object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "spec": { "replicas": 2, "template": { "spec": pod } },
        });
        spell_quantities(&mut object);
        let pod = &object["spec"]["template"]["spec"];
        assert_eq!(
            pod["containers"][0]["resources"]["limits"],
            json!({ "cpu": "0.5", "memory": "1000000000", "x.io/gpu": "2", "kept": "1000m" })
        );
        assert_eq!(pod["volumes"][0]["emptyDir"]["sizeLimit"], "1024");
        assert_eq!(pod["containers"][0]["ports"][0]["containerPort"], 80);
        assert_eq!(object["spec"]["replicas"], 2);
    }
}
