//! The programs that build overlays, as they are found on PATH.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::source::OverlayKind;

/// Where programs are when nobody says.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program that builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Absolute.
    pub(super) path: PathBuf,
    /// Its words before those of the build.
    pub(super) arguments: &'static [&'static str],
    /// As people know it, such as `kustomize build`.
    pub(super) name: &'static str,
    /// Which version it is: another one is another file.
    pub(super) version: Version,
}

/// Device, inode, size and time of change of a program's file.
pub(super) type Version = (u64, u64, u64, i64, i64);

/// Where programs are looked for: `PATH`, read once.
pub(super) fn search_path() -> OsString {
    env::var_os("PATH")
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| PATH.into())
}

/// Finds what builds an overlay; says what to install when nothing does.
pub(super) fn find(kind: OverlayKind, search: &OsString) -> Result<Program, Missing> {
    let candidates: &[(&str, &[&str], &str)] = match kind {
        OverlayKind::Kustomize => &[
            ("kustomize", &["build"], "kustomize build"),
            ("kubectl", &["kustomize"], "kubectl kustomize"),
        ],
        OverlayKind::Helm => &[("helm", &["template"], "helm template")],
    };
    let mut found = candidates.iter().filter_map(|(file, arguments, name)| {
        let (path, version) =
            env::split_paths(search).find_map(|folder| executable(&folder.join(file)))?;
        Some(Program {
            path,
            arguments,
            name,
            version,
        })
    });
    found.next().ok_or(match kind {
        OverlayKind::Kustomize => Missing {
            message: "this is a kustomize overlay, and neither kustomize nor kubectl is on PATH to build it",
            hint: "install kustomize (https://kubectl.docs.kubernetes.io/installation/kustomize/), or kubectl, which has it built in",
        },
        OverlayKind::Helm => Missing {
            message: "this is a Helm chart, and helm is not on PATH to render it",
            hint: "install helm (https://helm.sh/docs/intro/install/)",
        },
    })
}

/// Nothing that can build it is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    pub(super) message: &'static str,
    pub(super) hint: &'static str,
}

/// A file that can be executed; a relative entry of PATH counts for nothing, since the build has a directory of its own.
fn executable(path: &Path) -> Option<(PathBuf, Version)> {
    let found = fs::metadata(path).ok()?;
    let is_program =
        path.is_absolute() && found.is_file() && found.permissions().mode() & 0o111 != 0;
    let version = (
        found.dev(),
        found.ino(),
        found.size(),
        found.mtime(),
        found.mtime_nsec(),
    );
    is_program.then(|| (path.to_owned(), version))
}
