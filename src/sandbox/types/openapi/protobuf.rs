//! The document of version 2 in protobuf (`openapi.v2.Document` of gnostic), the only form of it that kubectl takes: it looks
//! there for what the documents of version 3 do not have, and for `List`.

use serde_json::Value;

/// The media type.
pub const TYPE: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// What kubectl calls it, which is no media type.
pub const ASKED_FOR: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// A message that is being written.
#[derive(Default)]
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn varint(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                self.bytes.push(low & 0x7f);
                return;
            }
            self.bytes.push(low | 0x80);
        }
    }

    fn raw(&mut self, number: u32, content: &[u8]) {
        self.varint(u64::from(number) << 3 | 2);
        self.varint(content.len() as u64);
        self.bytes.extend_from_slice(content);
    }

    fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.raw(number, text.as_bytes());
        }
    }

    fn message(&mut self, number: u32, content: &Self) {
        self.raw(number, &content.bytes);
    }

    /// A part with a name of its own, as in a map.
    fn named(&mut self, number: u32, name: &str, content: &Self) {
        let mut entry = Self::default();
        entry.text(1, name);
        entry.message(2, content);
        self.message(number, &entry);
    }

    /// What has no place of its own in OpenAPI, as YAML, which JSON is.
    fn extensions(&mut self, number: u32, of: &Value) {
        for (name, value) in entries(of).filter(|(name, _)| name.starts_with("x-")) {
            let mut any = Self::default();
            any.text(2, &value.to_string());
            self.named(number, name, &any);
        }
    }
}

/// The bytes of a document that [`super::v2`] makes.
pub fn encode(document: &Value) -> Vec<u8> {
    let mut message = Message::default();
    message.text(1, text(document, "swagger"));
    let mut info = Message::default();
    for (number, name) in [(1, "title"), (2, "version")] {
        info.text(
            number,
            document.get("info").map_or("", |info| text(info, name)),
        );
    }
    message.message(2, &info);
    let mut paths = Message::default();
    for (name, item) in entries(document.get("paths").unwrap_or(&Value::Null)) {
        paths.named(2, name, &path_item(item));
    }
    message.message(8, &paths);
    let mut definitions = Message::default();
    for (name, definition) in entries(document.get("definitions").unwrap_or(&Value::Null)) {
        definitions.named(1, name, &schema(definition));
    }
    message.message(9, &definitions);
    message.bytes
}

fn path_item(item: &Value) -> Message {
    let mut message = Message::default();
    for (number, method) in [
        (2, "get"),
        (3, "put"),
        (4, "post"),
        (5, "delete"),
        (8, "patch"),
    ] {
        if let Some(found) = item.get(method) {
            message.message(number, &operation(found));
        }
    }
    message
}

fn operation(operation: &Value) -> Message {
    let mut message = Message::default();
    for consumed in items(operation, "consumes").filter_map(Value::as_str) {
        message.text(7, consumed);
    }
    for parameter in items(operation, "parameters") {
        let mut query = Message::default();
        for (number, name) in [(2, "in"), (4, "name"), (6, "type")] {
            query.text(number, text(parameter, name));
        }
        // A parameter that is not in the body but in the query.
        let mut item = query;
        for number in [3, 2, 1] {
            let mut outer = Message::default();
            outer.message(number, &item);
            item = outer;
        }
        message.message(8, &item);
    }
    message.extensions(13, operation);
    message
}

fn schema(of: &Value) -> Message {
    let mut message = Message::default();
    for (number, name) in [(1, "$ref"), (2, "format"), (4, "description")] {
        message.text(number, text(of, name));
    }
    for required in items(of, "required").filter_map(Value::as_str) {
        message.text(19, required);
    }
    let mut inner = Message::default();
    if let Some(values) = of.get("additionalProperties").filter(|it| it.is_object()) {
        inner.message(1, &schema(values));
        message.message(21, &inner);
    }
    let mut types = Message::default();
    types.text(1, text(of, "type"));
    if !types.bytes.is_empty() {
        message.message(22, &types);
    }
    if let Some(item) = of.get("items") {
        let mut items = Message::default();
        items.message(1, &schema(item));
        message.message(23, &items);
    }
    if let Some(fields) = of.get("properties") {
        let mut properties = Message::default();
        for (name, field) in entries(fields) {
            properties.named(1, name, &schema(field));
        }
        message.message(25, &properties);
    }
    message.extensions(31, of);
    message
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
