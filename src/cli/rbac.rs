//! `covergence rbac`.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::Value;

use super::args::{Format, RbacArgs};
use super::error::CliError;
use super::offline::{Offline, definitions, prepare};
use super::{ERRORS, OK, diagnostics, json, settings};
use crate::api::names::{GROUP, SYNC};
use crate::api::sync::{DeletionPolicy, SyncSpec};
use crate::api::{GroupKind, ObjectId};
use crate::load::{Diagnostic, Snapshot, add_excerpts, to_yaml};
use crate::plan::{Account, Terms, least_rights, roles};
use crate::policy::Asked;
use crate::reconcile::Settings;

pub async fn run(args: &RbacArgs) -> Result<u8, CliError> {
    let found = settings::read_source(&args.source)?;
    let mut settings = settings::offline(&args.source, &args.set).await?;
    let definitions = definitions(&args.schema)?;
    let snapshot = settings::built(found, &args.source, &settings)?;
    let mut offline = prepare(&snapshot, &settings, &definitions, false)?;
    let spec = sync_in(&offline, &settings);
    if spec.target_namespace.is_some() || !spec.policies.is_empty() {
        if let Some(namespace) = &spec.target_namespace {
            settings.target_namespace = namespace.clone();
        }
        // What the files of its policies hold is not made, and takes no rights.
        settings.policies = Arc::new(Asked {
            inside: spec.policies.clone(),
            ..Asked::default()
        });
        offline = prepare(&snapshot, &settings, &definitions, false)?;
    }
    let account = account(args, &settings, &spec);
    let prune = args.prune || spec.prune || spec.deletion_policy == Some(DeletionPolicy::Delete);
    let secrets = secrets(args, &spec);
    let (rules, findings) = least_rights(&Terms {
        desired: &offline.desired,
        targets: &offline.plan.targets,
        schemas: &offline.schemas,
        namespace: &settings.namespace,
        name: &settings.name,
        prune,
        any_name: args.any_name,
        one_shot: args.one_shot,
        secrets: &secrets,
    });
    report(&offline, findings, &snapshot)?;
    let name = format!("covergence:{}:{}", settings.namespace, settings.name);
    let objects = roles(&rules, &account, &name);
    match args.output {
        Format::Json => json::list(&objects)?,
        Format::Yaml => {
            let head = head(&account, &settings, args, prune);
            print(&head, &objects)?;
        }
    }
    Ok(if offline.has_errors() { ERRORS } else { OK })
}

/// The Sync itself, when the source holds it: it says what it does, and as whom.
fn sync_in(offline: &Offline, settings: &Settings) -> SyncSpec {
    let id = ObjectId {
        group_kind: GroupKind::new(GROUP, SYNC),
        namespace: Some(settings.namespace.clone()),
        name: settings.name.clone(),
    };
    let found = offline.desired.iter().find(|desired| desired.id == id);
    let spec = found.and_then(|sync| sync.object.get("spec").cloned());
    spec.and_then(|spec| serde_json::from_value(spec).ok())
        .unwrap_or_default()
}

fn account(args: &RbacArgs, settings: &Settings, spec: &SyncSpec) -> Account {
    let given = args.service_account.as_ref();
    let name = given.map(|account| &account.name);
    let name = name.or(spec.service_account_name.as_ref());
    Account {
        namespace: given
            .and_then(|account| account.namespace.as_ref())
            .unwrap_or(&settings.namespace)
            .clone(),
        name: name.unwrap_or(&settings.name).clone(),
    }
}

fn secrets(args: &RbacArgs, spec: &SyncSpec) -> BTreeSet<String> {
    let git = spec.source.as_ref().and_then(|source| source.git.as_ref());
    let named = git
        .into_iter()
        .flat_map(|git| [&git.secret_ref, &git.verify]);
    let named = named.flatten().map(|secret| secret.name.clone());
    named.chain(args.secrets.iter().cloned()).collect()
}

fn report(offline: &Offline, mut findings: Vec<Diagnostic>, snapshot: &Snapshot) -> io::Result<()> {
    add_excerpts(&mut findings, snapshot);
    let mut err = anstream::stderr().lock();
    diagnostics::print(&mut err, &offline.diagnostics)?;
    diagnostics::print(&mut err, &findings)
}

/// Says what the rights are, and why they are no fewer.
fn head(account: &Account, settings: &Settings, args: &RbacArgs, prune: bool) -> String {
    let Settings {
        namespace, name, ..
    } = settings;
    let names = if args.any_name {
        "for any name in these namespaces; what lives in none is limited to the source's names."
    } else {
        "limited to the source's names: server-side apply names also what it creates.\n\
         # Print this anew before another object comes into the source, and after one that left it is pruned."
    };
    let deletes = match (prune, args.one_shot) {
        (true, _) => "",
        (false, true) => "# Nothing is deleted but the Services of Targets: that takes --prune.\n",
        (false, false) => "# Nothing is deleted: that takes --prune.\n",
    };
    format!(
        "\
# What ServiceAccount {}/{} needs to sync this source as Sync {namespace}/{name}.
#
# Reads (get, list, watch) are for all objects of a kind: a list cannot be limited to names, and holds objects whole.
# A set may have members of each of its kinds in each of its namespaces, so they are looked for there.
# Writes (create, patch, delete) are {names}
{deletes}",
        account.namespace, account.name
    )
}

fn print(head: &str, objects: &[Value]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(head.as_bytes())?;
    for object in objects {
        write!(out, "---\n{}", to_yaml(object))?;
    }
    Ok(())
}
