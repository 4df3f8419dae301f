//! Drift that is left as it is: because the Sync says so, or because whoever makes it would make it again.

use super::step::{Action, Body, Plan, Step};

/// Keeps those drifted objects as they are for which a reason is given. What was `applied` before as it is to be now has
/// drifted as well when it is missing, or has lost our marks. Such steps are marked as drift, repaired or not.
pub fn hold_back(
    plan: &mut Plan,
    applied: impl Fn(&Step) -> bool,
    held: impl Fn(&Step) -> Option<String>,
) {
    for step in &mut plan.steps {
        step.drift |= matches!(step.action, Action::Create | Action::Configure) && applied(step);
        if !(step.drift && step.action.is_write()) {
            continue;
        }
        if let Some(why) = held(step) {
            step.action = Action::Keep;
            step.reason = format!("{}; {why}", step.reason);
            step.body = Body::None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{GroupKind, ObjectId};

    #[test]
    fn only_drift_is_held_back_and_what_was_never_applied_is_no_drift() {
        let step = |name: &str, action, drift| {
            let id = ObjectId {
                group_kind: GroupKind::new("", "ConfigMap"),
                namespace: Some("n".into()),
                name: name.into(),
            };
            Step {
                drift,
                ..Step::new(id, action, "why")
            }
        };
        let mut plan = Plan {
            steps: vec![
                step("new", Action::Create, false),
                step("deleted", Action::Create, false),
                step("unmarked", Action::Configure, false),
                step("edited", Action::Configure, true),
                step("changed", Action::Configure, false),
                step("taken", Action::Refuse, true),
            ],
            ..Plan::default()
        };
        hold_back(
            &mut plan,
            |step| matches!(&*step.id.name, "deleted" | "unmarked"),
            |_| Some("it is only told".into()),
        );
        let told: Vec<_> = plan.steps.iter().map(|s| (s.action, s.drift)).collect();
        assert_eq!(
            told,
            [
                (Action::Create, false),
                (Action::Keep, true),
                (Action::Keep, true),
                (Action::Keep, true),
                (Action::Configure, false),
                (Action::Refuse, true),
            ]
        );
        assert_eq!(plan.steps[1].reason, "why; it is only told");
    }
}
