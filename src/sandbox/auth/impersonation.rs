//! Requests in somebody else's place (`Impersonate-User` and what goes with it).

use std::collections::BTreeMap;

use http::HeaderMap;
use percent_encoding::percent_decode_str;

use super::attributes::{Attributes, Target};
use super::tokens::{account_groups, account_of};
use super::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, require};
use crate::error::ApiError;
use crate::request::User;
use crate::state::State;

const EXTRA: &str = "impersonate-extra-";

/// Whom the headers name, if anybody, and else the sender.
///
/// # Errors
/// 403 without the right to impersonate them, 500 for headers without a user, as the API server has it.
pub fn impersonate(state: &State, sender: User, headers: &HeaderMap) -> Result<User, ApiError> {
    let all = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).into_iter();
        let values = values.filter_map(|value| value.to_str().ok());
        values.map(str::to_owned).collect()
    };
    let first = |name: &str| all(name).into_iter().next().unwrap_or_default();
    let name = first("impersonate-user");
    let mut groups = all("impersonate-group");
    let uid = first("impersonate-uid");
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for header in headers.keys() {
        if let Some(key) = header.as_str().strip_prefix(EXTRA) {
            let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
            extra.entry(key).or_default().extend(all(header.as_str()));
        }
    }
    if name.is_empty() {
        if groups.is_empty() && uid.is_empty() && extra.is_empty() {
            return Ok(sender);
        }
        let message = "requested groups, a uid or extra fields without impersonating a user";
        return Err(ApiError::new(500, "InternalError", message));
    }
    let may = |group, resource, subresource, namespace, name| {
        let target = Target::Resource {
            group,
            resource,
            subresource,
            namespace,
            name,
        };
        let verb = "impersonate";
        require(state, &sender, &Attributes { verb, target })
    };
    match account_of(&name) {
        Some((namespace, name)) => may("", "serviceaccounts", "", namespace, name)?,
        None => may("", "users", "", "", &name)?,
    }
    for group in &groups {
        may("", "groups", "", "", group)?;
    }
    for (key, values) in &extra {
        for value in values {
            may("authentication.k8s.io", "userextras", key, "", value)?;
        }
    }
    if !uid.is_empty() {
        may("authentication.k8s.io", "uids", "", "", &uid)?;
    }
    if groups.is_empty()
        && let Some((namespace, _)) = account_of(&name)
    {
        groups.extend(account_groups(namespace));
    }
    let known = match name.as_str() {
        ANONYMOUS => UNAUTHENTICATED,
        _ => AUTHENTICATED,
    };
    if !groups
        .iter()
        .any(|group| group == AUTHENTICATED || group == UNAUTHENTICATED)
    {
        groups.push(known.to_owned());
    }
    Ok(User {
        name,
        uid,
        groups,
        extra,
        sender: Some(Box::new(sender)),
    })
}
