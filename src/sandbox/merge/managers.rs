//! Who manages which fields: `metadata.managedFields`.

use serde_json::{Map, Value};

use super::By;
use super::set::FieldSet;

/// How many managers that do not apply are told apart; the oldest of more are put together.
const MOST_UPDATERS: usize = 10;

/// What the oldest ones are put together as.
const ANCIENT: &str = "ancient-changes";

/// How a manager came by its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

/// A manager and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) operation: Operation,
    pub(super) time: Option<String>,
    pub(super) manager: String,
    pub(super) api_version: String,
    pub(super) subresource: String,
    pub(super) set: FieldSet,
}

impl Entry {
    pub(super) fn new(by: &By<'_>, operation: Operation, set: FieldSet) -> Self {
        let manager = match by.manager {
            "" => "unknown",
            manager => manager,
        };
        Self {
            operation,
            time: Some(by.time.to_owned()),
            manager: manager.to_owned(),
            api_version: by.api_version.to_owned(),
            subresource: by.subresource.to_owned(),
            set,
        }
    }

    /// What tells managers apart: who applies has one entry for all versions.
    pub(super) fn identity(&self) -> (&str, Operation, &str, &str) {
        let version = match self.operation {
            Operation::Apply => "",
            Operation::Update => &self.api_version,
        };
        (&self.manager, self.operation, version, &self.subresource)
    }

    /// Whether two entries are one manager's.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    fn decode(entry: &Value) -> Option<Self> {
        let text = |name| match entry.get(name) {
            None => Some(String::new()),
            Some(value) => value.as_str().map(str::to_owned),
        };
        Some(Self {
            operation: match entry.get("operation")?.as_str()? {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return None,
            },
            time: entry.get("time").and_then(Value::as_str).map(str::to_owned),
            manager: text("manager")?,
            api_version: text("apiVersion")?,
            subresource: text("subresource")?,
            set: match entry.get("fieldsV1") {
                None => FieldSet::default(),
                Some(fields) => FieldSet::decode(fields)?,
            },
        })
    }

    fn encode(self) -> Value {
        let operation = match self.operation {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        };
        let mut entry = Map::new();
        let mut put = |name: &str, value: String| {
            if !value.is_empty() {
                entry.insert(name.to_owned(), value.into());
            }
        };
        put("manager", self.manager);
        put("operation", operation.to_owned());
        put("apiVersion", self.api_version);
        put("time", self.time.unwrap_or_default());
        put("fieldsType", "FieldsV1".to_owned());
        put("subresource", self.subresource);
        entry.insert("fieldsV1".to_owned(), self.set.encode());
        entry.into()
    }
}

/// Reads the entries of an object; what cannot be read counts as none.
pub(super) fn decode(object: Option<&Value>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for entry in raw(object) {
        let Some(entry) = Entry::decode(entry) else {
            return Vec::new();
        };
        entries.retain(|other| !other.same(&entry));
        entries.push(entry);
    }
    entries
}

/// The entries of an object as they are.
pub(super) fn raw(object: Option<&Value>) -> &[Value] {
    object
        .and_then(|object| object.get("metadata")?.get("managedFields")?.as_array())
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// Gives entries to an object.
pub(super) fn write(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|entry| !entry.set.is_empty());
    limit(&mut entries);
    entries.sort_by(|left, right| order(left).cmp(&order(right)));
    put(object, entries.into_iter().map(Entry::encode).collect());
}

/// Gives entries to an object as they are.
pub(super) fn put(object: &mut Value, entries: Vec<Value>) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        match entries.is_empty() {
            true => metadata.remove("managedFields"),
            false => metadata.insert("managedFields".to_owned(), entries.into()),
        };
    }
}

/// The order of entries: who applies first, then by age and name.
fn order(entry: &Entry) -> impl Ord {
    (
        entry.operation,
        entry.time.as_deref(),
        entry.manager.as_str(),
        entry.api_version.as_str(),
        entry.subresource.as_str(),
    )
}

/// Puts the oldest entries of each version together when there are too many.
fn limit(entries: &mut Vec<Entry>) {
    let updaters = |entries: &[Entry]| {
        let updaters = entries.iter().filter(|e| e.operation == Operation::Update);
        updaters.count()
    };
    if updaters(entries) <= MOST_UPDATERS {
        return;
    }
    entries.sort_by(|left, right| order(left).cmp(&order(right)));
    let mut at = 0;
    while updaters(entries) > MOST_UPDATERS
        && let Some(old) = entries.get(at)
    {
        let version = old.api_version.clone();
        let next = entries
            .iter()
            .enumerate()
            .skip(at + 1)
            .find(|(_, entry)| entry.api_version == version)
            .map(|(next, _)| next);
        if old.operation == Operation::Update
            && let Some(next) = next
        {
            let old = entries.remove(at);
            if let Some(bucket) = entries.get_mut(next - 1) {
                bucket.set.add(&old.set);
                ANCIENT.clone_into(&mut bucket.manager);
                bucket.subresource.clear();
            }
        } else {
            at += 1;
        }
    }
}
