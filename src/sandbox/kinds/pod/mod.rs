//! Pods and the templates of pods.

mod admission;
mod affinity;
mod container;
mod defaults;
mod env;
mod image;
mod probe;
mod resources;
mod scheduling;
mod security;
mod spec;
mod update;
mod volume;
mod volume_defaults;
mod volume_source;

pub(super) use self::admission::{create, prepare_update};
pub(super) use self::affinity::check_required as check_node_selector;
pub(super) use self::defaults::{default_pod, default_spec};
pub(super) use self::probe::check_port;
pub(super) use self::resources::check_quantity;
pub(super) use self::scheduling::check_tolerations;
pub(super) use self::spec::{check_new, check_pod, check_template, check_template_metadata};
pub(super) use self::update::check as check_update;
pub(super) use self::volume_defaults::default_source;
pub(super) use self::volume_source::{check_driver, check_one_source, check_shared};
