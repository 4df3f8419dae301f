//! Evaluates every policy for every object that it is about.

use serde_json::Value as Json;

use super::cel::{self, Budget, Env, Fault};
use super::evaluator::{Evaluator, Finding};
use super::matching::is_meant;
use super::model::{Binding, Formula, Policy};
use super::params::params;
use super::set::{Set, is_exempt};
use super::subject::{Subject, Surroundings};
use super::values::Values;
use super::verdict::{Note, Report, Verdict};
use crate::load::Origin;
use crate::plan::is_secret;

/// Evaluates all policies for all objects.
pub fn evaluate(set: &Set, subjects: &[Subject<'_>], around: &Surroundings<'_>) -> Report {
    let run = Budget::new(cel::RUN);
    let mut report = Report::default();
    for subject in subjects.iter().filter(|it| !is_exempt(&it.id.group_kind)) {
        let values = Values::new(subject, around);
        for binding in &set.bindings {
            let policy = set.policies.iter().find(|it| it.name == binding.policy);
            if let Some(policy) = policy {
                let judge = Judge {
                    policy,
                    binding,
                    values: &values,
                    run: &run,
                };
                judge.judge(set, &mut report);
            }
        }
    }
    report
}

/// A policy by one of its bindings, for one object.
struct Judge<'a> {
    policy: &'a Policy,
    binding: &'a Binding,
    values: &'a Values<'a>,
    run: &'a Budget,
}

impl Judge<'_> {
    fn judge(&self, set: &Set, report: &mut Report) {
        let Values {
            subject, around, ..
        } = *self.values;
        let Self {
            policy, binding, ..
        } = *self;
        let meant = is_meant(&policy.constraints, subject, around).and_then(|meant| match &binding
            .resources
        {
            Some(resources) if meant => is_meant(resources, subject, around),
            _ => Ok(meant),
        });
        match meant {
            Ok(true) => {}
            Ok(false) => return,
            Err(why) => {
                let finding = Finding::Failed(Fault::Unknown(why));
                report.verdicts.push(self.verdict(finding, None, None));
                return;
            }
        }
        match params(binding, policy, subject, set, around) {
            Ok(params) => {
                for param in params {
                    self.judge_with(param, report);
                }
            }
            Err(why) => {
                let finding = Finding::Failed(Fault::Unknown(why));
                report.verdicts.push(self.verdict(finding, None, None));
            }
        }
    }

    fn judge_with(&self, param: Option<&Json>, report: &mut Report) {
        let policy = self.policy;
        let hides = self.values.subject.is_secret() || param.is_some_and(is_secret);
        let env = Env::new(self.values.with(param), &policy.variables);
        let budget = self.run.part(cel::POLICY);
        let began_with = budget.left();
        let evaluator = Evaluator {
            env: &env,
            budget: &budget,
            hides,
        };
        if self.applies(&evaluator, report) {
            for validation in &policy.validations {
                if let Some(finding) = evaluator.check(validation) {
                    let formula = Some(&validation.formula);
                    let reason = validation.reason.clone();
                    report.verdicts.push(self.verdict(finding, formula, reason));
                }
            }
            for (key, formula) in &policy.annotations {
                match evaluator.annotation(formula) {
                    Ok(None) => {}
                    Ok(Some(value)) => report.notes.push(Note {
                        policy: policy.name.clone(),
                        object: self.values.subject.id.clone(),
                        key: key.clone(),
                        value,
                    }),
                    Err(fault) => {
                        let finding = Finding::Failed(fault);
                        report
                            .verdicts
                            .push(self.verdict(finding, Some(formula), None));
                    }
                }
            }
        }
        self.run.settle(&budget, began_with);
    }

    /// Tells whether all conditions hold. One that does not decides even when another cannot be evaluated.
    fn applies(&self, evaluator: &Evaluator<'_>, report: &mut Report) -> bool {
        let mut failed = None;
        for condition in &self.policy.conditions {
            match evaluator.truth(condition) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(fault) => failed = failed.or(Some((condition, fault))),
            }
        }
        let Some((condition, fault)) = failed else {
            return true;
        };
        let finding = Finding::Failed(fault);
        let verdict = self.verdict(finding, Some(condition), None);
        report.verdicts.push(verdict);
        false
    }

    fn verdict(
        &self,
        finding: Finding,
        formula: Option<&Formula>,
        reason: Option<String>,
    ) -> Verdict {
        let Self {
            policy,
            binding,
            values,
            ..
        } = self;
        let (evaluated, message) = match finding {
            Finding::Violated(message) => (true, message),
            Finding::Failed(fault) => (false, fault.to_string()),
        };
        let enforced = evaluated || policy.fails_closed;
        Verdict {
            policy: policy.name.clone(),
            binding: binding.name.clone(),
            object: values.subject.id.clone(),
            origin: values.subject.origin.clone(),
            actions: match enforced {
                true => binding.actions.clone(),
                false => Vec::new(),
            },
            evaluated,
            message,
            reason,
            expression: formula.map(|formula| formula.source.trim().to_owned()),
            place: formula.map_or_else(|| policy.origin.clone(), |it| Origin::clone(&it.origin)),
        }
    }
}
