//! CRDs' schemas: the part of OpenAPI v3 that structural schemas may use.

use std::collections::BTreeMap;

use serde_json::Value;

use super::pattern::Pattern;
use super::shape::{Inner, Shape};
use crate::api::Scope;

/// Schemas nested deeper than this are taken as allowing anything; the API server refuses such CRDs anyway.
const DEEPEST: usize = 100;

/// One CRD: its scope and a schema per version.
pub(super) struct Definition {
    pub group: String,
    pub kind: String,
    pub plural: Option<String>,
    pub scope: Option<Scope>,
    pub versions: BTreeMap<String, Custom>,
}

/// What a schema says about one value.
#[derive(Default)]
pub(super) struct Custom {
    base: Base,
    /// Fields of a mapping with their schemas.
    pub fields: BTreeMap<String, Custom>,
    /// Fields that must be there, without those that have a default.
    pub required: Vec<String>,
    /// Whether other fields are kept: `x-kubernetes-preserve-unknown-fields`.
    pub open: bool,
    /// Whether the value is an object with `apiVersion`, `kind` and `metadata` of its own.
    pub embedded: bool,
    items: Option<Box<Custom>>,
    values: Option<Box<Custom>>,
    /// The values that are allowed, when they are listed.
    pub allowed: Vec<Value>,
    /// The least value, or length, and whether it is allowed itself.
    pub minimum: Option<(f64, bool)>,
    /// The greatest value and whether it is allowed itself.
    pub maximum: Option<(f64, bool)>,
    /// Least and greatest number of characters.
    pub length: (Option<u64>, Option<u64>),
    /// What a text must match.
    pub pattern: Option<Pattern>,
    /// Least and greatest number of items.
    pub count: (Option<u64>, Option<u64>),
    /// Least and greatest number of fields.
    pub size: (Option<u64>, Option<u64>),
    /// What a number must be a multiple of.
    pub multiple: Option<f64>,
    /// What makes the items of a list differ, when no two may be alike.
    pub unique: Option<Unique>,
    /// `allOf`, `anyOf`, `oneOf` and `not`.
    pub forms: Forms,
    /// Whether it says things that are not always checked here, such as a `pattern`.
    opaque: bool,
    /// Whether the server fills anything in further down, which forms may ask for.
    fills: bool,
}

/// What makes the items of a list differ: `x-kubernetes-list-type`.
pub(super) enum Unique {
    /// The items themselves.
    Set,
    /// These fields of theirs.
    Map(Vec<String>),
}

/// Further schemas for the same value. Empty where they say what is not checked here.
#[derive(Default)]
pub(super) struct Forms {
    pub all: Vec<Custom>,
    pub any: Vec<Custom>,
    pub one: Vec<Custom>,
    pub not: Vec<Custom>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Base {
    #[default]
    Any,
    Text,
    Bytes,
    Bool,
    Int32,
    Int64,
    Number,
    IntOrString,
    List,
    /// A mapping with named fields.
    Object,
    /// A mapping with free keys.
    Map,
}

impl Custom {
    /// The type, for the common checks; [`Shape::Custom`] stands for a mapping with fields.
    pub(super) fn shape(&self) -> Shape<'_> {
        match self.base {
            Base::Any => Shape::Any,
            Base::Text => Shape::Text,
            Base::Bytes => Shape::Bytes,
            Base::Bool => Shape::Bool,
            Base::Int32 => Shape::Int32,
            Base::Int64 => Shape::Int64,
            Base::Number => Shape::Number,
            Base::IntOrString => Shape::AnyIntOrString,
            Base::List => Shape::List(Inner::Schema(self.items.as_deref())),
            Base::Map => Shape::Map(Inner::Schema(self.values.as_deref())),
            Base::Object => Shape::Custom(self),
        }
    }

    /// The fields that must be there, when nothing else is said.
    pub(super) fn only_required(&self) -> Option<&[String]> {
        let silent = self.allowed.is_empty() && self.fields.is_empty() && !self.required.is_empty();
        silent.then_some(self.required.as_slice())
    }

    /// Reads a schema. `open` is what holds for unknown fields where the schema does not say.
    fn read(schema: &Value, open: bool, depth: usize) -> Self {
        if depth > DEEPEST {
            return Self::default();
        }
        let get = |key: &str| schema.get(key);
        let flag = |key: &str| get(key).and_then(Value::as_bool).unwrap_or(false);
        let child = |value: &Value| Self::read(value, open, depth + 1);
        let fields: BTreeMap<_, _> = get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.clone(), child(schema)))
            .collect();
        let has_default = |name: &str| {
            let field = get("properties").and_then(|p| p.get(name));
            field.is_some_and(|field| field.get("default").is_some())
        };
        let additional = get("additionalProperties");
        let limit = |key: &str| get(key).and_then(Value::as_f64);
        let count = |key: &str| get(key).and_then(Value::as_u64);
        let items = get("items").map(|items| Box::new(child(items)));
        let values = additional
            .filter(|a| a.is_object())
            .map(|values| Box::new(child(values)));
        let inside = || {
            fields
                .values()
                .chain(items.as_deref())
                .chain(values.as_deref())
        };
        let fills = inside().any(|inside| inside.fills)
            || get("properties")
                .and_then(Value::as_object)
                .is_some_and(|p| p.values().any(|field| field.get("default").is_some()));
        let opaque = inside().any(|inside| inside.opaque)
            || ["pattern", "x-kubernetes-validations"]
                .iter()
                .any(|key| get(key).is_some())
            || get("format")
                .is_some_and(|format| !KNOWN_FORMATS.iter().any(|known| format == known));
        let forms = Forms::read(
            schema,
            inside().any(|inside| inside.fills),
            depth,
            &has_default,
        );
        Self {
            base: base(schema, fields.is_empty()),
            required: texts(get("required"))
                .filter(|name| !has_default(name))
                .map(str::to_owned)
                .collect(),
            open: open
                || flag("x-kubernetes-preserve-unknown-fields")
                || additional == Some(&Value::Bool(true)),
            embedded: flag("x-kubernetes-embedded-resource"),
            allowed: get("enum")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default(),
            minimum: limit("minimum").map(|n| (n, !flag("exclusiveMinimum"))),
            maximum: limit("maximum").map(|n| (n, !flag("exclusiveMaximum"))),
            length: (count("minLength"), count("maxLength")),
            pattern: get("pattern").and_then(Value::as_str).map(Pattern::new),
            count: (count("minItems"), count("maxItems")),
            size: (count("minProperties"), count("maxProperties")),
            multiple: limit("multipleOf").filter(|n| *n > 0.0),
            unique: unique(schema),
            forms,
            opaque,
            fills,
            fields,
            items,
            values,
        }
    }
}

impl Forms {
    /// Reads them where all that they say can be judged: a branch that is not understood would seem to fit, and so would
    /// one that asks for what the server fills in.
    fn read(schema: &Value, fills: bool, depth: usize, filled: &dyn Fn(&str) -> bool) -> Self {
        let branches = |key: &str| {
            let listed = schema.get(key).and_then(Value::as_array);
            let listed = listed.map(Vec::as_slice).unwrap_or_default();
            let single = schema.get(key).filter(|value| value.is_object());
            let read = |branch: &Value| {
                let mut branch = Custom::read(branch, true, depth + 1);
                branch.required.retain(|name| !filled(name));
                if branch.base == Base::Any
                    && !(branch.fields.is_empty() && branch.required.is_empty())
                {
                    branch.base = Base::Object;
                }
                branch
            };
            let branches: Vec<Custom> = listed.iter().chain(single).map(read).collect();
            let judged = !fills && !branches.iter().any(|branch| branch.opaque || branch.fills);
            if judged { branches } else { Vec::new() }
        };
        Self {
            all: branches("allOf"),
            any: branches("anyOf"),
            one: branches("oneOf"),
            not: branches("not"),
        }
    }
}

/// Formats that say no more than the type that is made of them here.
const KNOWN_FORMATS: [&str; 6] = ["int32", "int64", "byte", "int-or-string", "float", "double"];

fn unique(schema: &Value) -> Option<Unique> {
    match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("set") => Some(Unique::Set),
        Some("map") => {
            let keys = texts(schema.get("x-kubernetes-list-map-keys"));
            Some(Unique::Map(keys.map(str::to_owned).collect()))
        }
        _ => None,
    }
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn base(schema: &Value, no_fields: bool) -> Base {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    if schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true))
        || text("format") == Some("int-or-string")
    {
        return Base::IntOrString;
    }
    match (text("type"), text("format")) {
        (Some("string"), Some("byte")) => Base::Bytes,
        (Some("string"), _) => Base::Text,
        (Some("boolean"), _) => Base::Bool,
        (Some("integer"), Some("int32")) => Base::Int32,
        (Some("integer"), _) => Base::Int64,
        (Some("number"), _) => Base::Number,
        (Some("array"), _) => Base::List,
        (Some("object"), _)
            if schema
                .get("additionalProperties")
                .is_some_and(Value::is_object) =>
        {
            Base::Map
        }
        (Some("object"), _)
            if !no_fields || schema.get("x-kubernetes-embedded-resource").is_some() =>
        {
            Base::Object
        }
        // A mapping about which nothing is said, or a schema without a type.
        _ => Base::Any,
    }
}

/// Reads a CRD of `apiextensions.k8s.io/v1` or `v1beta1`.
pub(super) fn definition(crd: &Value) -> Option<Definition> {
    let text = |path: &str| crd.pointer(path).and_then(Value::as_str);
    let old = text("/apiVersion")?.ends_with("/v1beta1");
    // The old version keeps unknown fields unless it says that it does not.
    let kept = crd
        .pointer("/spec/preserveUnknownFields")
        .and_then(Value::as_bool)
        .unwrap_or(old);
    let shared = crd.pointer("/spec/validation/openAPIV3Schema");
    let listed = crd.pointer("/spec/versions").and_then(Value::as_array);
    let mut versions = BTreeMap::new();
    for version in listed.into_iter().flatten() {
        let schema = version.pointer("/schema/openAPIV3Schema").or(shared);
        if let (Some(name), Some(schema)) = (version.get("name").and_then(Value::as_str), schema) {
            versions.insert(name.to_owned(), Custom::read(schema, kept, 0));
        }
    }
    if let (Some(name), Some(schema)) = (text("/spec/version"), shared) {
        versions
            .entry(name.to_owned())
            .or_insert_with(|| Custom::read(schema, kept, 0));
    }
    Some(Definition {
        group: text("/spec/group")?.to_owned(),
        kind: text("/spec/names/kind")?.to_owned(),
        plural: text("/spec/names/plural").map(str::to_owned),
        scope: match text("/spec/scope") {
            Some("Cluster") => Some(Scope::Cluster),
            Some("Namespaced") => Some(Scope::Namespaced),
            // The old version's default.
            None if old => Some(Scope::Namespaced),
            _ => None,
        },
        versions,
    })
}
