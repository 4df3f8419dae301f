//! Strategic merge patches: JSON merge patches that merge lists as well, where the types say so.

use serde_json::{Map, Value};

use super::PatchError;
use super::directives::{
    DELETE, DIRECTIVE, ORDER, RETAIN, delete_plain, in_order, keyed, plain, retain, unknown,
};
use super::go::print;
use super::order::{arrange, same};
use crate::merge::{Node, NodeId, PatchStrategy, Schema};

/// Changes an object.
///
/// # Errors
/// When the patch is no object, or has directives that make no sense.
pub fn strategic(
    object: &mut Value,
    patch: &Value,
    schema: &Schema,
    root: NodeId,
) -> Result<(), PatchError> {
    let Value::Object(patch) = patch else {
        let kind = match patch {
            Value::Array(_) => "array",
            Value::String(_) => "string",
            Value::Number(_) => "number",
            Value::Bool(_) => "bool",
            _ => "null",
        };
        return Err(PatchError::Malformed(format!(
            "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        )));
    };
    if let Value::Object(object) = object {
        Merge { schema }.objects(object, patch.clone(), Some(root))?;
    }
    Ok(())
}

/// A merge of objects of one schema; nodes are absent where types are not known.
struct Merge<'a> {
    schema: &'a Schema,
}

impl<'a> Merge<'a> {
    fn objects(
        &self,
        object: &mut Map<String, Value>,
        mut patch: Map<String, Value>,
        node: Option<NodeId>,
    ) -> Result<(), PatchError> {
        if let Some(directive) = patch.remove(DIRECTIVE) {
            match directive.as_str() {
                Some("replace") => *object = patch,
                Some("delete") => object.clear(),
                _ => return Err(unknown(&directive, patch)),
            }
            return Ok(());
        }
        if let Some(kept) = patch.remove(RETAIN) {
            retain(object, &patch, &kept)?;
        }
        self.ordered(object, &mut patch, node)?;
        for (name, value) in patch {
            if let Some(name) = name.strip_prefix(DELETE) {
                delete_plain(object, name, &value)?;
                continue;
            }
            let field = self.field(node, &name);
            match (object.get_mut(&name), value) {
                (_, Value::Null) => {
                    object.remove(&name);
                }
                (Some(Value::Object(object)), Value::Object(patch)) => {
                    self.objects(object, patch, field.node)?;
                }
                (Some(Value::Array(list)), Value::Array(patch)) if field.merges() => {
                    let key = field.key();
                    let before = list.clone();
                    let patched = self.lists(list, &patch, field)?;
                    if patched {
                        *list = arrange(std::mem::take(list), &patch, &before, key);
                    }
                }
                (_, value) => {
                    object.insert(name, plain(value));
                }
            }
        }
        Ok(())
    }

    /// Merges the lists whose order the patch sets, and takes them out of the patch.
    fn ordered(
        &self,
        object: &mut Map<String, Value>,
        patch: &mut Map<String, Value>,
        node: Option<NodeId>,
    ) -> Result<(), PatchError> {
        let names = patch.keys().filter_map(|name| name.strip_prefix(ORDER));
        let names: Vec<String> = names.map(str::to_owned).collect();
        for name in names {
            let Some(Value::Array(order)) = patch.remove(&format!("{ORDER}{name}")) else {
                return Err(PatchError::Malformed(
                    "invalid patch format of setElementOrder list".to_owned(),
                ));
            };
            let field = self.field(node, &name);
            let key = field.key();
            let patched = match patch.remove(&name) {
                Some(Value::Array(items)) => items,
                Some(Value::Null) => {
                    object.remove(&name);
                    continue;
                }
                _ => Vec::new(),
            };
            in_order(&patched, &order, key)?;
            let deleted = patch.remove(&format!("{DELETE}{name}"));
            if let Some(deleted) = deleted {
                delete_plain(object, &name, &deleted)?;
            }
            let before = match object.get(&name) {
                Some(Value::Array(items)) => items.clone(),
                _ if patched.is_empty() => continue,
                _ => Vec::new(),
            };
            let mut merged = before.clone();
            self.lists(&mut merged, &patched, field)?;
            object.insert(name, arrange(merged, &order, &before, key).into());
        }
        Ok(())
    }

    /// Merges the items of a patch into a list; `false` when they take its place.
    fn lists(
        &self,
        list: &mut Vec<Value>,
        patch: &[Value],
        field: Lookup<'a>,
    ) -> Result<bool, PatchError> {
        if !field.merges() {
            *list = patch.iter().cloned().map(plain).collect();
            return Ok(false);
        }
        let mut items = list.iter().chain(patch);
        let objects = items.clone().any(Value::is_object);
        if objects && !items.all(Value::is_object) {
            let quoted = format!("[{} {}]", print(&list.clone().into()), print(&patch.into()));
            return Err(PatchError::Failed(format!(
                "list element types are not identical: {quoted}"
            )));
        }
        let Some(key) = field.key().filter(|_| objects) else {
            for item in patch {
                if !list.contains(item) {
                    list.push(item.clone());
                }
            }
            return Ok(true);
        };
        let (special, usual): (Vec<&Value>, Vec<&Value>) =
            patch.iter().partition(|item| item.get(DIRECTIVE).is_some());
        let mut replaced = false;
        for item in special {
            let directive = item.get(DIRECTIVE).unwrap_or(&Value::Null);
            match directive.as_str() {
                Some("delete") => {
                    keyed(item, key)?;
                    list.retain(|known| !same(known, item, Some(key)));
                }
                Some("replace") => replaced = true,
                Some("merge") => {
                    return Err(PatchError::Failed(
                        "merging lists cannot yet be specified in the patch".to_owned(),
                    ));
                }
                _ => {
                    let item = item.as_object().cloned().unwrap_or_default();
                    return Err(unknown(directive, item));
                }
            }
        }
        if replaced {
            *list = usual.into_iter().cloned().map(plain).collect();
            return Ok(false);
        }
        let items = self.items(field.node);
        for item in usual {
            keyed(item, key)?;
            let known = list.iter_mut().find(|known| same(known, item, Some(key)));
            match (known, item) {
                (Some(Value::Object(known)), Value::Object(item)) => {
                    self.objects(known, item.clone(), items)?;
                }
                _ => list.push(plain(item.clone())),
            }
        }
        Ok(true)
    }

    fn field(&self, node: Option<NodeId>, name: &str) -> Lookup<'a> {
        match node.map(|node| self.schema.node(node)) {
            Some(Node::Struct(fields)) => match fields.fields.get(name) {
                Some(field) => Lookup {
                    node: Some(field.node),
                    patch: field.patch.as_ref(),
                },
                None => Lookup::default(),
            },
            Some(Node::Map { values, .. }) => Lookup {
                node: Some(*values),
                patch: None,
            },
            _ => Lookup::default(),
        }
    }

    fn items(&self, node: Option<NodeId>) -> Option<NodeId> {
        match self.schema.node(node?) {
            Node::List { items, .. } => Some(*items),
            _ => None,
        }
    }
}

/// What is known of a field.
#[derive(Clone, Copy, Default)]
struct Lookup<'a> {
    node: Option<NodeId>,
    patch: Option<&'a PatchStrategy>,
}

impl<'a> Lookup<'a> {
    fn merges(self) -> bool {
        self.patch.is_some_and(|patch| patch.merge)
    }

    fn key(self) -> Option<&'a str> {
        self.patch.and_then(|patch| patch.key.as_deref())
    }
}
