//! The pipeline without a cluster: what a source asks for, as far as it tells by itself.

use std::collections::BTreeSet;

use serde_json::Value;

use super::args::SchemaArgs;
use super::error::CliError;
use crate::api::{GroupKind, Scope, crds, split_api_version};
use crate::load::{
    Diagnostic, Document, Limits, Schemas, Severity, Snapshot, add_excerpts, check, keep_most, load,
};
use crate::plan::{
    Action, Body, Inputs, Known, Plan, PruneRules, build, compose_agents, depends_on,
    deployment_of, index, unreadable_wave,
};
use crate::policy::{
    Gathered, Old, Report, Set, Subject, Surroundings, evaluate, gather, resource_of,
};
use crate::reconcile::Settings;
use crate::render::{Composed, Desired, NoService, Resolved, coverage_service, resolve};
use crate::source::{self, directory};

/// What a source asks for.
pub struct Offline {
    /// Everything to be made, in order, as if the cluster were empty.
    pub plan: Plan,
    /// What policies say of it.
    pub policies: Report,
    /// What is wrong with the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The objects that the source holds.
    pub desired: Vec<Desired>,
    /// What is known of their kinds.
    pub schemas: Schemas,
}

/// Reads the CustomResourceDefinitions that were named.
pub fn definitions(args: &SchemaArgs) -> Result<Vec<Value>, CliError> {
    let mut definitions = Vec::new();
    for path in &args.schemas {
        let snapshot = directory::read(path, &source::Limits::default())?;
        let loaded = load(&snapshot, &Limits::default());
        let faults = snapshot.diagnostics.iter().chain(&loaded.diagnostics);
        if let Some(fault) = faults.into_iter().find(|d| d.severity == Severity::Error) {
            let at = fault
                .position
                .map(|at| format!(":{}:{}", at.line, at.column));
            let (at, message) = (at.unwrap_or_default(), &fault.message);
            let message = format!("--schema {}: {}{at}: {message}", path.display(), fault.file);
            return Err(CliError::usage(message));
        }
        let is_definition = |d: &&Document| d.id.group_kind.kind == "CustomResourceDefinition";
        let before = definitions.len();
        definitions.extend(
            loaded
                .documents
                .iter()
                .filter(is_definition)
                .map(|d| d.root.to_json()),
        );
        if definitions.len() == before {
            let message = format!(
                "--schema {}: holds no CustomResourceDefinition",
                path.display()
            );
            return Err(CliError::usage(message));
        }
    }
    Ok(definitions)
}

/// Reads, resolves and renders a snapshot; with `strict` it is also checked. `definitions` are CustomResourceDefinitions
/// that count beside those of the source.
pub fn prepare(
    snapshot: &Snapshot,
    settings: &Settings,
    definitions: &[Value],
    strict: bool,
) -> Result<Offline, CliError> {
    let Gathered {
        documents,
        diagnostics: faults,
        policies,
    } = gather(
        load(snapshot, &settings.limits),
        snapshot,
        &settings.policies,
        &settings.limits,
        &settings.target_namespace,
    );
    let known: Vec<Value> = crds()?
        .into_iter()
        .chain(definitions.iter().cloned())
        .collect();
    let schemas = Schemas::of_source(&documents, &known);

    let checked = documents.iter().filter(|_| strict);
    let checked = checked.flat_map(|document| schemas.check(document));
    let meant = match strict {
        true => check(&documents, &schemas, &settings.target_namespace),
        false => unknown_scopes(&documents, &schemas),
    };
    let scope = |api_version: &str, kind: &str| {
        let (group, _) = split_api_version(api_version);
        // Most custom kinds have namespaces; whether this one does, only its definition can tell.
        schemas
            .scope(&GroupKind::new(group, kind))
            .or(Some(Scope::Namespaced))
    };
    let applyset = settings.applyset();
    let Resolved {
        mut desired,
        diagnostics,
    } = resolve(&documents, scope, &settings.target_namespace, &applyset);

    let known = Known::default();
    let composed = compose_agents(&mut desired, &known, &applyset, &settings.agent_image);
    let inputs = Inputs {
        desired: &desired,
        index: &index(&desired),
        known: &known,
        applyset: &applyset,
        force_conflicts: false,
        serve_targets: true,
        agents: None,
        prune: PruneRules {
            enabled: false,
            complete: false,
            unseen: None,
            other_source: None,
            empty: false,
            allow_empty: false,
            limits: &[],
            approved: false,
            own_namespace: &settings.namespace,
            home: None,
        },
    };
    let plan = build(&inputs);
    let planned = impossible_services(&inputs, &plan)
        .chain(impossible_agents(&inputs, &composed))
        .chain(impossible_orders(&inputs, &plan));
    let findings = checked.chain(meant).chain(diagnostics);
    // Counted one by one, and never all together in memory.
    let most = settings.limits.faults;
    let mut findings = keep_most(findings.chain(planned.filter(|_| strict)), most);
    let mut diagnostics = snapshot.diagnostics.clone();
    diagnostics.extend(faults);
    diagnostics.extend(policies.diagnostics.iter().cloned());
    findings.sort_by(|a, b| (&a.file, a.position).cmp(&(&b.file, b.position)));
    add_excerpts(&mut findings, snapshot);
    diagnostics.extend(findings);
    let report = judge(&policies, &inputs, &plan, &schemas);
    let mut verdicts = keep_most(report.diagnostics(), most);
    settings.policies.add_excerpts(&mut verdicts, snapshot);
    diagnostics.extend(verdicts);
    Ok(Offline {
        plan,
        policies: report,
        diagnostics,
        desired,
        schemas,
    })
}

/// What policies say of the objects and of the Services of Targets, as if all of them were new.
fn judge(policies: &Set, inputs: &Inputs<'_>, plan: &Plan, schemas: &Schemas) -> Report {
    let members = inputs.desired.iter().map(|desired| Subject {
        id: &desired.id,
        api_version: &desired.api_version,
        resource: resource_of(
            &desired.id.group_kind.kind,
            schemas.plural(&desired.id.group_kind),
        ),
        origin: Some(desired.origin.clone()),
        object: &desired.object,
        old: Old::Absent,
    });
    let children = plan.steps.iter().filter_map(|step| {
        let Body::Child { object, target, .. } = &step.body else {
            return None;
        };
        Some(Subject {
            id: &step.id,
            api_version: "v1",
            resource: "services".to_owned(),
            origin: inputs.index.get(target).map(|target| target.origin.clone()),
            object,
            old: Old::Absent,
        })
    });
    let subjects: Vec<_> = members.chain(children).collect();
    let namespaces = inputs.desired.iter();
    let namespaces = namespaces.filter(|it| it.id.group_kind.is_namespace());
    let around = Surroundings {
        namespaces: namespaces
            .map(|it| (it.id.name.clone(), Value::clone(&it.object)))
            .collect(),
        params: inputs
            .desired
            .iter()
            .map(|it| (&it.id, &*it.object))
            .collect(),
        user: None,
    };
    evaluate(policies, &subjects, &around)
}

impl Offline {
    /// Tells whether the source has errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }
}

fn unknown_scopes(documents: &[Document], schemas: &Schemas) -> Vec<Diagnostic> {
    let mut told = BTreeSet::new();
    documents
        .iter()
        .filter(|d| d.id.namespace.is_none() && schemas.scope(&d.id.group_kind).is_none())
        .filter(|d| told.insert(&d.id.group_kind))
        .map(|d| {
            let message = format!("{} is taken to have namespaces", d.id.group_kind);
            Diagnostic::warning_at(&d.origin, message).with_hint(
                "add its CustomResourceDefinition to the source, or say metadata.namespace",
            )
        })
        .collect()
}

/// Targets whose Deployment stands beside them and has a selector that no Service can have.
fn impossible_services(inputs: &Inputs<'_>, plan: &Plan) -> impl Iterator<Item = Diagnostic> {
    let why = move |target| {
        let deployment = deployment_of(target, inputs.index, inputs.known);
        coverage_service(target, deployment.as_ref())
            .err()
            .filter(|no| matches!(no, NoService::SelectorNotExpressible { .. }))
    };
    plan.targets.iter().filter_map(move |target| {
        let origin = &inputs.index.get(&target.id())?.origin;
        Some(Diagnostic::warning_at(origin, why(target)?.to_string()))
    })
}

/// Targets whose Deployment stands beside them and cannot carry the agent.
fn impossible_agents(inputs: &Inputs<'_>, composed: &Composed) -> impl Iterator<Item = Diagnostic> {
    composed.iter().filter_map(|(target, patch)| {
        let origin = &inputs.index.get(target)?.origin;
        let no = patch.as_ref().err()?;
        let message = format!("its Deployment does not get the agent: {no}");
        Some(Diagnostic::warning_at(origin, message))
    })
}

/// What a sync would refuse whatever the cluster holds, and marks of order that mean nothing.
fn impossible_orders(inputs: &Inputs<'_>, plan: &Plan) -> impl Iterator<Item = Diagnostic> {
    let refused = plan
        .steps
        .iter()
        .filter(|step| step.action == Action::Refuse);
    let refused = refused.filter_map(|step| {
        Some(Diagnostic::error_at(
            step.origin.as_ref()?,
            step.reason.as_str(),
        ))
    });
    let marks = inputs.desired.iter().flat_map(move |d| {
        let absent = depends_on(&d.object).unwrap_or_default().into_iter();
        let absent = absent
            .filter(move |need| !inputs.index.contains_key(need))
            .map(move |need| {
                let message = format!("it depends on {need}, which the source does not hold");
                Diagnostic::warning_at(&d.origin, message)
            });
        let wave = unreadable_wave(&d.object).map(|text| {
            let message = format!("its sync wave is no integer and counts as 0: {text:?}");
            Diagnostic::warning_at(&d.origin, message)
        });
        absent.chain(wave)
    });
    refused.chain(marks)
}
