//! What is wrong with security contexts.

use crate::kinds::causes::Causes;
use crate::kinds::spot::Spot;
use crate::words;

/// What is wrong with a pod's own context.
pub(super) fn check_pod(causes: &mut Causes, spec: &Spot<'_>) {
    let context = spec.field("securityContext");
    check_ids(causes, &context, &["fsGroup", "runAsUser", "runAsGroup"]);
    let groups = context.field("supplementalGroups");
    for group in groups.items() {
        check_id(causes, &group);
    }
    if spec.field("shareProcessNamespace").is_true() && spec.field("hostPID").is_true() {
        let shared = context.named(
            "shareProcessNamespace",
            spec.field("shareProcessNamespace").value,
        );
        causes.invalid(
            &shared,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        );
    }
    check_sysctls(causes, &context.field("sysctls"));
    let policy = context.field("fsGroupChangePolicy");
    if policy.present() {
        causes.one_of(&policy, &["Always", "OnRootMismatch"]);
    }
    check_seccomp(causes, &context.field("seccompProfile"));
}

/// What is wrong with a container's context.
pub(super) fn check_container(causes: &mut Causes, context: &Spot<'_>) {
    if context.absent() {
        return;
    }
    check_ids(causes, context, &["runAsUser", "runAsGroup"]);
    check_seccomp(causes, &context.field("seccompProfile"));
    let escalates = context.field("allowPrivilegeEscalation");
    if escalates.value == &serde_json::Value::Bool(false) {
        if context.field("privileged").is_true() {
            causes.invalid(
                context,
                "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
            );
        }
        let capabilities = context.field("capabilities");
        let added = capabilities.field("add");
        if added
            .items()
            .any(|capability| capability.text() == "CAP_SYS_ADMIN")
        {
            causes.invalid(
                context,
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
            );
        }
    }
}

fn check_ids(causes: &mut Causes, context: &Spot<'_>, fields: &[&str]) {
    for field in fields {
        check_id(causes, &context.field(field));
    }
}

fn check_id(causes: &mut Causes, id: &Spot<'_>) {
    if let Some(number) = id.int() {
        causes.all_invalid(id, &words::range(number, 0, i32::MAX.into()));
    }
}

fn check_seccomp(causes: &mut Causes, profile: &Spot<'_>) {
    if profile.absent() {
        return;
    }
    let (kind, local) = (profile.field("type"), profile.field("localhostProfile"));
    if kind.text().is_empty() {
        causes.required(&kind, "type is required when seccompProfile is set");
    } else {
        causes.one_of(&kind, &["Localhost", "RuntimeDefault", "Unconfined"]);
    }
    if kind.text() != "Localhost" {
        if local.present() {
            let said = profile.named("localhostProfile", profile.value);
            causes.invalid(&said, "can only be set when seccomp type is Localhost");
        }
    } else if local.text().is_empty() {
        causes.required(&local, "must be set when seccomp type is Localhost");
    } else {
        super::volume_source::check_local_path(causes, &local);
    }
}

fn check_sysctls(causes: &mut Causes, sysctls: &Spot<'_>) {
    let is_part = |part: &str| {
        let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(edge)
            && part.ends_with(edge)
            && part.chars().all(|c| edge(c) || matches!(c, '-' | '_'))
    };
    for sysctl in sysctls.items() {
        let name = sysctl.field("name");
        if name.text().is_empty() {
            causes.required(&name, "");
        } else if name.text().len() > 253 || !name.text().split(['.', '/']).all(is_part) {
            causes.invalid(
                &name,
                "must have at most 253 characters and match regex ([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*[a-z0-9]([-_a-z0-9]*[a-z0-9])?",
            );
        }
    }
}
