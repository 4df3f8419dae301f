//! The service: how soon it does what it has to do, what it takes, and how that grows with what it looks after.

mod changes;
mod content;
mod controller;
mod report;
mod repository;
mod watch;

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use self::changes::Changes;
use self::content::{Content, What};
use self::controller::{Controller, Memory};
pub use self::report::ServiceReport;
use self::repository::Repository;
use crate::Res;
use crate::audit::Requests;
use crate::tools::{SERVICE, Tools};

/// After all has been looked at, what is still under way has passed.
const AT_REST: Duration = Duration::from_secs(2);

/// How much is measured.
struct Extent {
    members: &'static [usize],
    targets: &'static [usize],
    syncs: &'static [usize],
    changes: usize,
    deletions: usize,
    /// How long it is watched doing nothing; the largest content for longer.
    idle: Duration,
    idle_at_last: Duration,
}

const FULL: Extent = Extent {
    members: &[100, 1_000, 10_000],
    targets: &[100, 1_000],
    syncs: &[100, 1_000],
    changes: 10,
    deletions: 20,
    idle: Duration::from_secs(10),
    idle_at_last: Duration::from_secs(30),
};

const QUICK: Extent = Extent {
    members: &[100, 300],
    targets: &[100, 300],
    syncs: &[100, 300],
    changes: 3,
    deletions: 5,
    idle: Duration::from_secs(3),
    idle_at_last: Duration::from_secs(10),
};

/// What was measured with one content.
struct Figures {
    what: What,
    size: usize,
    /// From the start of the first controller until all was applied.
    first: Duration,
    restart: Restart,
    idle: Idle,
    /// What the API server takes for the applies of one change.
    directly: Vec<Duration>,
    /// One file of a directory is changed.
    by_file: Changes,
    /// Memory right after these changes.
    resident_after_kib: u64,
    /// The same by a commit; there is one repository, for the one Sync.
    by_commit: Option<Changes>,
    /// Services are deleted, where there are Targets.
    deletions: Vec<Duration>,
}

/// What it takes to come back.
struct Restart {
    /// Until it says that it is ready.
    ready: Duration,
    /// Until everything has been looked at.
    looked_at: Duration,
    requests: Requests,
}

/// What it takes to do nothing.
struct Idle {
    resident_kib: u64,
    peak_kib: u64,
    window: Duration,
    processor: Duration,
    requests: Requests,
}

/// Measures everything, each kind of content on a control plane of its own.
pub fn measure(folder: &Path, quick: bool) -> Res<ServiceReport> {
    let extent = if quick { QUICK } else { FULL };
    let mut report = ServiceReport::default();
    for (what, sizes) in [
        (What::Members, extent.members),
        (What::Targets, extent.targets),
        (What::Syncs, extent.syncs),
    ] {
        let folder = folder.join(format!("{what:?}"));
        std::fs::create_dir(&folder)?;
        let mut tools = Tools::start(&folder)?;
        for &size in sizes {
            eprintln!("service: {size} {what:?}");
            let idle = if sizes.last() == Some(&size) {
                extent.idle_at_last
            } else {
                extent.idle
            };
            report.add(measure_one(&mut tools, what, size, &extent, idle)?);
        }
    }
    Ok(report)
}

fn measure_one(
    tools: &mut Tools,
    what: What,
    size: usize,
    extent: &Extent,
    idle: Duration,
) -> Res<Figures> {
    let content = Content::write(&tools.folder().join("sources"), what, size)?;
    let syncs = content.syncs();
    let start = |tools: &Tools| Controller::start(tools, &content.namespaces(), &syncs);
    let looked_at =
        |controller: &mut Controller| controller.looked_at(syncs.len(), content.targets());

    let mut controller = start(tools)?;
    let first = looked_at(&mut controller)?;
    tools.settle()?;
    controller.kill()?;

    let ((mut controller, ready, at), events) = tools.watch(SERVICE, |tools| {
        let mut controller = start(tools)?;
        let ready = controller.ready()?;
        let at = looked_at(&mut controller)?;
        sleep(AT_REST);
        Ok((controller, ready, at))
    })?;
    let restart = Restart {
        ready,
        looked_at: at,
        requests: Requests::of(&events),
    };
    let idle = stay_idle(tools, &controller, idle)?;

    let n = extent.changes;
    let directly = changes::apply_directly(tools, &content, n)?;
    let by_file = changes::change(tools, &content, None, 1..n + 1)?;
    let resident_after_kib = controller.memory()?.resident_kib;
    let deletions = if what == What::Targets {
        changes::delete_services(tools, &content, extent.deletions)?
    } else {
        Vec::new()
    };
    controller.kill()?;

    let by_commit = if what == What::Syncs {
        None
    } else {
        let repository = Repository::new(tools.folder().join("repository"), content.directory())?;
        let syncs = Content::sync_of_repository(&repository.path);
        controller = Controller::start(tools, &content.namespaces(), &syncs)?;
        looked_at(&mut controller)?;
        let changes = changes::change(tools, &content, Some(&repository), n + 1..2 * n + 1)?;
        controller.kill()?;
        Some(changes)
    };
    Ok(Figures {
        what,
        size,
        first,
        restart,
        idle,
        directly,
        by_file,
        resident_after_kib,
        by_commit,
        deletions,
    })
}

fn stay_idle(tools: &mut Tools, controller: &Controller, window: Duration) -> Res<Idle> {
    let (processor, events) = tools.watch(SERVICE, |_| {
        let before = controller.processor_time()?;
        sleep(window);
        Ok(controller.processor_time()? - before)
    })?;
    let Memory {
        resident_kib,
        peak_kib,
    } = controller.memory()?;
    Ok(Idle {
        resident_kib,
        peak_kib,
        window,
        processor,
        requests: Requests::of(&events),
    })
}
