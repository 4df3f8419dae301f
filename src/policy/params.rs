//! The parameters of a binding.

use serde_json::Value;

use super::model::{Binding, Policy};
use super::set::Set;
use super::subject::{Subject, Surroundings, labels_of};

/// The parameters with which a policy is evaluated for an object; one that is absent is `null`.
///
/// # Errors
/// When there are none, and the binding wants some.
pub fn params<'a>(
    binding: &Binding,
    policy: &Policy,
    subject: &Subject<'_>,
    set: &'a Set,
    around: &'a Surroundings<'_>,
) -> Result<Vec<Option<&'a Value>>, String> {
    let (Some(kind), Some(wanted)) = (&policy.param_kind, &binding.params) else {
        return Ok(vec![None]);
    };
    let namespace = wanted.namespace.as_ref().or(subject.id.namespace.as_ref());
    let beside = set.params.iter().map(|param| (&param.id, &param.object));
    let others = around.params.iter().copied();
    let found = beside.chain(others).filter(|(id, object)| {
        let is_there = id.namespace.is_none() || id.namespace.as_ref() == namespace;
        let is_named = wanted.name.as_ref().is_none_or(|name| *name == id.name);
        let selector = wanted.selector.as_ref();
        let is_selected = selector.is_none_or(|it| it.selects(&labels_of(object)));
        id.group_kind == *kind && is_there && is_named && is_selected
    });
    let found: Vec<_> = found.map(|(_, object)| Some(object)).collect();
    if found.is_empty() && wanted.wanted {
        let which = wanted.name.as_deref().unwrap_or("that is selected");
        return Err(format!(
            "there is no {kind} {which} to take parameters from"
        ));
    }
    Ok(found)
}
