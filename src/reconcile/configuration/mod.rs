//! The files that drive `covergence run`: documents of the kinds `Config` and `Sync`.

mod checks;
mod following;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

pub use following::Following;
pub use read::read;

use crate::api::{Config, ObjectId};
use crate::load::{Diagnostic, Origin, Severity};

/// What the files say, as far as it is in force.
///
/// What can be understood is in force; what cannot is told with its place and changes nothing. So after a reading with any
/// error (a file that cannot be read or parsed, a document that is refused, a folder with nothing in it) everything stays in
/// force that was before and that the reading does not replace: a Sync that is refused or missing, and a Config.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// The settings; the default ones if no file ever had others that are in force.
    pub config: Config,
    /// Whether a Config is there that is refused, or may be among what cannot be read, so that `config` is an earlier or the
    /// default one. Reason enough not to begin.
    pub config_is_refused: bool,
    /// The Syncs in force, each once, in the order of their identities. The controller applies them.
    pub syncs: Vec<ConfigSync>,
    /// The Syncs that were in force and are known to be removed: this reading is complete and without any error, and they are
    /// not in it. The controller deletes these Sync objects. Told once, by [`Following`] only; whoever has to find what was
    /// removed while nobody followed compares `syncs` with the cluster, and only if [`is_complete`](Self::is_complete).
    pub removed: Vec<ObjectId>,
    /// What is wrong with the files, each with its place.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that are empty, as one is that is just being written.
    empty: BTreeSet<Arc<str>>,
}

/// A Sync of the files.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigSync {
    /// Which one, with its namespace.
    pub id: ObjectId,
    /// The manifest as it will be applied.
    pub object: Value,
    /// Where it is written.
    pub origin: Origin,
}

impl Configuration {
    /// Tells whether all that the files hold was understood, so that `syncs` are all the Syncs there are.
    pub fn is_complete(&self) -> bool {
        is_complete(&self.diagnostics)
    }

    /// Tells whether somebody who knows the other one would learn anything.
    fn says_the_same_as(&self, other: &Self) -> bool {
        let Self {
            config,
            config_is_refused,
            syncs,
            removed,
            diagnostics,
            empty: _,
        } = self;
        removed.is_empty()
            && *config == other.config
            && *config_is_refused == other.config_is_refused
            && *syncs == other.syncs
            && *diagnostics == other.diagnostics
    }
}

/// What one reading gives by itself.
#[derive(Default)]
struct Reading {
    /// The one Config, if it is sound.
    config: Option<Config>,
    config_is_refused: bool,
    /// The sound Syncs.
    syncs: Vec<ConfigSync>,
    diagnostics: Vec<Diagnostic>,
    empty: BTreeSet<Arc<str>>,
}

impl Reading {
    /// Makes one that failed as a whole.
    fn failed(diagnostic: Diagnostic) -> Self {
        Self {
            diagnostics: vec![diagnostic],
            ..Self::default()
        }
    }

    /// Decides what is in force after this reading, and after what was before.
    fn after(self, before: Option<&Configuration>) -> Configuration {
        let Self {
            config,
            config_is_refused,
            mut syncs,
            diagnostics,
            empty,
        } = self;
        let is_complete = is_complete(&diagnostics);
        let is_missing = |old: &&ConfigSync| !syncs.iter().any(|new| new.id == old.id);
        let missing: Vec<ConfigSync> = before
            .into_iter()
            .flat_map(|before| before.syncs.iter().filter(is_missing))
            .cloned()
            .collect();
        let mut removed = Vec::new();
        match is_complete {
            true => removed.extend(missing.into_iter().map(|sync| sync.id)),
            false => syncs.extend(missing),
        }
        syncs.sort_by(|a, b| a.id.cmp(&b.id));
        // One that is not there any more stays in force as well: without it, tenants would act as the controller.
        let earlier = || before.map(|it| it.config.clone());
        let may_be_unread = config.is_none() && before.is_none() && !is_complete;
        Configuration {
            config: config.or_else(earlier).unwrap_or_default(),
            config_is_refused: config_is_refused || may_be_unread,
            syncs,
            removed,
            diagnostics,
            empty,
        }
    }
}

fn is_complete(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().all(|d| d.severity != Severity::Error)
}
