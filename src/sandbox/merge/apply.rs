//! Server-side apply.

use serde_json::Value;

use super::collect::collect;
use super::combine::combine;
use super::compare::compare;
use super::conflict::{MergeError, conflicts};
use super::managers::{self, Entry, Operation};
use super::prune::prune;
use super::shape::Type;
use super::stripped::strip;
use super::update::everything;
use super::{By, Typed, check};

/// Who manages the fields of an object that nobody had applied and of which nothing is known.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Applies an object: gives the live one with what is applied, and with the entries that follow. `live` is `None` when
/// there is none yet.
///
/// Fields that the manager applied before and does not apply now go, unless somebody else manages them. An apply that
/// changes nothing gives the live object as it is. What the endpoint does not write (`status`, or all but `status`) must not
/// be in `applied`.
///
/// # Errors
/// When others manage fields that would change, unless by force; when `applied` does not have its type.
pub fn apply(
    live: Option<&Value>,
    applied: &Value,
    typed: &Typed<'_>,
    by: &By<'_>,
    force: bool,
) -> Result<Value, MergeError> {
    let of = Type::root(typed);
    valid(of, applied, by)?;
    let mut entries = managers::decode(live);
    let tracked = !entries.is_empty();
    if let Some(live) = live
        && !tracked
    {
        entries.extend(before_first_apply(live, typed, by));
    }

    let set = collect(of, applied);
    let mut entry = Entry::new(by, Operation::Apply, set);
    let at = entries.iter().position(|other| other.same(&entry));
    let former = at.map(|at| entries.remove(at));
    let mut object = combine(of, live, applied);
    if let Some(former) = &former {
        let sets: Vec<_> = entries.iter().chain([&entry]).map(|e| &e.set).collect();
        prune(of, &mut object, &former.set, &sets);
    }

    let taken = take(of, live, &object, &mut entries, force)?;
    strip(&mut entry.set);
    let as_before = match &former {
        Some(former) => former.set == entry.set && former.api_version == entry.api_version,
        None => entry.set.is_empty(),
    };
    if let Some(live) = live
        && (tracked && as_before && !taken && *live == object)
    {
        return Ok(object);
    }
    entries.push(entry);
    managers::write(&mut object, entries);
    Ok(object)
}

fn valid(of: Type<'_>, applied: &Value, by: &By<'_>) -> Result<(), MergeError> {
    let metadata = applied.get("metadata");
    let part = |name| metadata.and_then(|metadata| metadata.get(name));
    if part("managedFields").is_some_and(|entries| !entries.is_null()) {
        let why = "metadata.managedFields must be nil";
        return Err(MergeError::Invalid(why.to_owned()));
    }
    let Some(wrong) = check::check(of, applied) else {
        return Ok(());
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
    let (namespace, name) = (text(part("namespace")), text(part("name")));
    let (version, kind) = (by.api_version, text(applied.get("kind")));
    Err(MergeError::Invalid(format!(
        "failed to create typed patch object ({namespace}/{name}; {version}, Kind={kind}): {wrong}"
    )))
}

/// Takes from the other managers what the apply changed; tells whether there was any.
fn take(
    of: Type<'_>,
    live: Option<&Value>,
    object: &Value,
    others: &mut [Entry],
    force: bool,
) -> Result<bool, MergeError> {
    if others.is_empty() {
        return Ok(false);
    }
    let changes = compare(of, live, Some(object));
    let written = changes.written();
    // Conflicts are listed by manager.
    others.sort_by(|left, right| left.identity().cmp(&right.identity()));
    let mut taken = false;
    let mut found = Vec::new();
    for other in others {
        let both = other.set.common(&written);
        if !both.is_empty() {
            found.extend(conflicts(other, &both));
            other.set.subtract(&both);
            taken = true;
        }
        if !other.set.common(&changes.removed).is_empty() {
            other.set.subtract(&changes.removed);
            taken = true;
        }
    }
    if force || found.is_empty() {
        return Ok(taken);
    }
    Err(MergeError::Conflicts(found))
}

fn before_first_apply(live: &Value, typed: &Typed<'_>, by: &By<'_>) -> Option<Entry> {
    let by = By {
        manager: BEFORE_FIRST_APPLY,
        ..*by
    };
    let set = everything(live, typed);
    (!set.is_empty()).then(|| Entry::new(&by, Operation::Update, set))
}
